"""Engines: each adds up what is additive over shards of pairs; `choose` says which one to use."""
