"""Engines: from samples and pairs to terms, the same from every engine."""
