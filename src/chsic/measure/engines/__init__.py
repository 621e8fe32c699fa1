"""Engines: each adds up what is additive over shards (`partial`); `choose` says which one to use."""
