"""Measure whether x is still related to y once z is known, and how strongly.

>>> import chsic
>>> x, y, z = chsic.datasets.m_minus(1000, gamma=10.0, rng=0)
>>> chsic.chsic(x, y, z) > 3 * chsic.hsic(x, y)
True
"""

from chsic import datasets, kernels, paper
from chsic.measure import chsic, explain, hsic
from chsic.pairs import PairGraph, closest_pairs, complete_pairs, random_pairs
from chsic.terms import AccuracyWarning

__version__ = "0.1.0"

__all__ = [
    "AccuracyWarning",
    "PairGraph",
    "chsic",
    "closest_pairs",
    "complete_pairs",
    "datasets",
    "explain",
    "hsic",
    "kernels",
    "paper",
    "random_pairs",
]
