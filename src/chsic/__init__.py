"""Measure whether x is still related to y once z is known, and how strongly.

>>> import chsic
>>> x, y, z = chsic.datasets.m_minus(1000, gamma=10.0, rng=0)
>>> chsic.chsic(x, y, z) > 3 * chsic.hsic(x, y)
True
"""

from importlib import import_module

TYPE_CHECKING = False  # as type checkers take it for True; typing itself takes long to load
if TYPE_CHECKING:
    from chsic import adapters, datasets, kernels
    from chsic.inference.independence import chsic_test, hsic_test
    from chsic.inference.result import IndependenceResult
    from chsic.many.calibration import Calibration, calibrate
    from chsic.many.discovery import Answer, Discovery
    from chsic.many.screen_result import Screen, ScreenedPair
    from chsic.many.screening import screen
    from chsic.many.sensitivity import Sensitivity, sensitivity
    from chsic.measure import paper
    from chsic.measure.engines.choose import AccuracyWarning
    from chsic.measure.measures import chsic, explain, hsic
    from chsic.pairs import (
        PairGraph,
        block_pairs,
        closest_pairs,
        complete_pairs,
        nearest_pairs,
        random_pairs,
    )
    from chsic.show import plot
    from chsic.show.report import write_report
else:

    def __getattr__(name):
        """Load what is asked for when it is first used, so that the package itself loads at once.

        See https://scientific-python.org/specs/spec-0001/.
        """
        if name not in _HOMES:
            raise AttributeError(f"module 'chsic' has no attribute {name!r}")
        module, _, attribute = _HOMES[name].partition(":")
        value = import_module(f"chsic.{module}")
        if attribute:
            value = getattr(value, attribute)
        globals()[name] = value
        return value

    def __dir__():
        return sorted(__all__)


# Where the public names are: modules, and what modules hold.
_HOMES = {
    "AccuracyWarning": "measure.engines.choose:AccuracyWarning",
    "Answer": "many.discovery:Answer",
    "Calibration": "many.calibration:Calibration",
    "Discovery": "many.discovery:Discovery",
    "IndependenceResult": "inference.result:IndependenceResult",
    "PairGraph": "pairs:PairGraph",
    "Screen": "many.screen_result:Screen",
    "ScreenedPair": "many.screen_result:ScreenedPair",
    "Sensitivity": "many.sensitivity:Sensitivity",
    "adapters": "adapters",
    "block_pairs": "pairs:block_pairs",
    "calibrate": "many.calibration:calibrate",
    "chsic": "measure.measures:chsic",
    "chsic_test": "inference.independence:chsic_test",
    "closest_pairs": "pairs:closest_pairs",
    "complete_pairs": "pairs:complete_pairs",
    "datasets": "datasets",
    "explain": "measure.measures:explain",
    "hsic": "measure.measures:hsic",
    "hsic_test": "inference.independence:hsic_test",
    "kernels": "kernels",
    "nearest_pairs": "pairs:nearest_pairs",
    "paper": "measure.paper",
    "plot": "show.plot",
    "random_pairs": "pairs:random_pairs",
    "screen": "many.screening:screen",
    "sensitivity": "many.sensitivity:sensitivity",
    "write_report": "show.report:write_report",
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
    "adapters",
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
    "plot",
    "random_pairs",
    "screen",
    "sensitivity",
    "write_report",
]
