"""Engines: from samples and pairs to the trace that the measures need."""

ENGINES = ("auto", "dense")
