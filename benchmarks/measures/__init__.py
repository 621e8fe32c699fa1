"""Measures of conditional dependence side by side: ``python -m benchmarks.measures``.

What the paper's introduction names and newer measures of the same kind, each as a number on the
same data: how it moves with the models' parameters, how well it tells dependent data from
independent, and what it costs. Where a measure has settings they are its authors' or, where those
leave a choice, written beside the formula.
"""
