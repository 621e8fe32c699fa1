"""Measure whether x is still related to y once z is known, and how strongly.

>>> import chsic
>>> x, y, z = chsic.datasets.m_minus(1000, gamma=10.0, rng=0)
>>> chsic.chsic(x, y, z) > 3 * chsic.hsic(x, y)
True
"""

from importlib import import_module

TYPE_CHECKING = False  # as type checkers take it for True; typing itself takes long to load
if TYPE_CHECKING:
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
else:

    def __getattr__(name):
        """Load what is asked for when it is first used, so that the package itself loads at once.

        See https://scientific-python.org/specs/spec-0001/.
        """
        if name in _HOMES:
            value = getattr(import_module(f"chsic.{_HOMES[name]}"), name)
            globals()[name] = value
            return value
        try:
            return import_module(f"chsic.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"chsic.{name}":
                raise  # a module of that name needs another one
        raise AttributeError(f"module 'chsic' has no attribute {name!r}")

    def __dir__():
        return sorted({*globals(), *__all__})


# Modules of the public names that are not modules themselves.
_HOMES = {
    "AccuracyWarning": "terms",
    "Answer": "discovery",
    "Calibration": "calibration",
    "Discovery": "discovery",
    "IndependenceResult": "result",
    "PairGraph": "pairs",
    "Screen": "screened",
    "ScreenedPair": "screened",
    "Sensitivity": "along_settings",
    "block_pairs": "pairs",
    "calibrate": "calibration",
    "chsic": "measure",
    "chsic_test": "independence",
    "closest_pairs": "pairs",
    "complete_pairs": "pairs",
    "explain": "measure",
    "hsic": "measure",
    "hsic_test": "independence",
    "nearest_pairs": "pairs",
    "random_pairs": "pairs",
    "screen": "screening",
    "sensitivity": "along_settings",
    "write_report": "report",
}

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
