"""Measure whether x is still related to y once z is known, and how strongly.

>>> import chsic
>>> x, y, z = chsic.datasets.m_minus(1000, gamma=10.0, rng=0)
>>> chsic.chsic(x, y, z) > 3 * chsic.hsic(x, y)
True
"""

from chsic import datasets, kernels, paper
from chsic.along_settings import Sensitivity, sensitivity
from chsic.calibration import Calibration, calibrate
from chsic.discovery import Answer, Discovery
from chsic.independence import chsic_test, hsic_test
from chsic.measure import chsic, explain, hsic
from chsic.pairs import (
    PairGraph,
    block_pairs,
    closest_pairs,
    complete_pairs,
    nearest_pairs,
    random_pairs,
)
from chsic.report import write_report
from chsic.result import IndependenceResult
from chsic.screened import Screen, ScreenedPair
from chsic.screening import screen
from chsic.terms import AccuracyWarning

__version__ = "0.1.0"

__all__ = [
    "AccuracyWarning",
    "Answer",
    "Calibration",
    "Discovery",
    "IndependenceResult",
    "PairGraph",
    "Screen",
    "ScreenedPair",
    "Sensitivity",
    "block_pairs",
    "calibrate",
    "chsic",
    "chsic_test",
    "closest_pairs",
    "complete_pairs",
    "datasets",
    "explain",
    "hsic",
    "hsic_test",
    "kernels",
    "nearest_pairs",
    "paper",
    "random_pairs",
    "screen",
    "sensitivity",
    "write_report",
]
