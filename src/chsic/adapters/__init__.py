"""Translations for other libraries, one short module each, imported only if you ask for it.

``chsic.adapters.causal_learn``, ``tigramite``, ``pgmpy``, ``dowhy``, ``gcastle``, ``sklearn``.
"""
