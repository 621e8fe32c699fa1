"""Which engine computes a value, and why; and from an engine's sums to C-HSIC."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable
from typing import TypeAlias

from chsic._util.parallel import blas_on_one_thread
from chsic._util.validate import Array, as_count, as_tolerance
from chsic.kernels import Kernel
from chsic.measure.engines.dense import dense_sum
from chsic.measure.engines.exponential import exponential_sums
from chsic.measure.engines.features import feature_products
from chsic.measure.engines.fourier import can_transform, fourier_sums
from chsic.measure.engines.limits import EngineLimitError
from chsic.measure.engines.partial import Partial
from chsic.pairs import PairGraph

Engine: TypeAlias = Callable[[Array, Array, PairGraph, Kernel, float, int], Partial]

# What adds up all pairs, and by how much more exact than `tol` it is asked to be at first.
PARTIALS: dict[str, tuple[Engine, int]] = {
    "dense": (dense_sum, 1),
    "fourier": (fourier_sums, 2),
    "exponential": (exponential_sums, 1),
    "features": (feature_products, 10),
}
ENGINES = ("auto", *PARTIALS)
ONE_COLUMN = ("fourier", "exponential")

SMALLEST_ACCURACY = 1e-15
CANCELLED = 1e-8

# For one column: from how many samples these engines are faster than the dense one.
FOURIER_FROM = {"gaussian": 300, "cauchy": 3_000}
TIGHT_TOL, TIGHT_FOURIER_FROM = 1e-8, 400  # below that accuracy its transforms are larger
EXPONENTIAL_FROM = {"laplace": 1_500, "matern32": 2_000}
# From how many samples features are faster than the dense engine, where they are exact enough.
FEATURES_FROM = {"cauchy": 800}
CATEGORIES_FROM = 2_000  # for categories of several columns; of one they always are
# Samples up to which the dense engine, which is exact, takes seconds.
DENSE_UP_TO = 20_000


class AccuracyWarning(UserWarning):
    """A value is less exact than was asked for."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Choice:
    """An engine and the reason for it.

    Attributes
    ----------
    engine : str
        Its name.
    reason : str
        Why, in words.
    """

    engine: str
    reason: str


def choose(*, n_samples: int, d_x: int, d_y: int, kernel: Kernel, tol: float) -> Choice:
    """Choose the faster engine, by sizes, kernel and accuracy, and by whether finufft is installed.

    Examples
    --------
    >>> from chsic.measure.engines.choose import choose
    >>> from chsic.kernels import KERNELS
    >>> choose(n_samples=10**6, d_x=1, d_y=1, kernel=KERNELS["gaussian"], tol=1e-6).engine
    'fourier'
    >>> choose(n_samples=10**6, d_x=2, d_y=1, kernel=KERNELS["gaussian"], tol=1e-6).engine
    'features'
    """
    several = d_x > 1 or d_y > 1
    if kernel.name == "categorical" and (not several or n_samples >= CATEGORIES_FROM):
        return Choice(engine="features", reason="features of categories are exact")
    least = FOURIER_FROM.get(kernel.name)
    if least is not None and tol < TIGHT_TOL:
        least = max(least, TIGHT_FOURIER_FROM)
    features_from = FEATURES_FROM.get(kernel.name, n_samples + 1)
    if not several and features_from <= n_samples and (least is None or n_samples < least):
        return Choice(engine="features", reason=f"few features describe {kernel.name!r}")
    if not several and n_samples >= EXPONENTIAL_FROM.get(kernel.name, n_samples + 1):
        return Choice(
            engine="exponential", reason=f"sums of {kernel.name!r} are exact and near-linear"
        )
    if several:
        why = f"x has {d_x} and y {d_y} columns, and the Fourier engine takes one each"
    elif least is None or kernel.tail is None:
        why = f"the Fourier engine is not made for the kernel {kernel.name!r}"
    elif n_samples < least:
        why = f"{n_samples} samples are fewer than the {least} from which Fourier is faster"
    elif not can_transform():
        reason = (
            "finufft is not installed, which the Fourier engine needs; features give the value to "
            "the same accuracy and take longer, and where they do not, the dense engine takes over"
        )
        return Choice(engine="features", reason=reason)
    else:
        reason = (
            f"one column each and {n_samples} samples, at least the {least} from which it is "
            "faster; if outliers make its grid too large, another engine takes over"
        )
        return Choice(engine="fourier", reason=reason)
    return _without_fourier(n_samples, why)


def _without_fourier(n_samples: int, why: str) -> Choice:
    if n_samples <= DENSE_UP_TO:
        reason = f"{why}; {n_samples} samples are few enough for the dense engine, which is exact"
        return Choice(engine="dense", reason=reason)
    reason = f"{why}; {n_samples} samples are too many for the dense engine"
    return Choice(engine="features", reason=reason)


def compute(
    x: Array, y: Array, graph: PairGraph, kernel: Kernel, engine: str, tol: float, workers: int
) -> float:
    """Compute C-HSIC of samples in bandwidths with the named or the chosen engine."""
    if engine not in ENGINES:
        known = ", ".join(map(repr, ENGINES))
        raise ValueError(f"engine: unknown name {engine!r}; known are {known}.")
    tol, workers = as_tolerance(tol), as_count("workers", workers, minimum=1)
    d_x, d_y = x.shape[1], y.shape[1]
    automatic = engine == "auto"
    if automatic:
        engine = choose(n_samples=len(x), d_x=d_x, d_y=d_y, kernel=kernel, tol=tol).engine
    if engine in ONE_COLUMN and (d_x > 1 or d_y > 1):
        raise ValueError(
            f"engine: {engine!r} needs x and y of one column, got {d_x} and {d_y}; use 'features' "
            "or 'dense'."
        )
    with blas_on_one_thread():
        try:
            value, error = _refine(engine, x, y, graph, kernel, tol, workers)
        except EngineLimitError as limit:
            if not automatic:
                raise
            engine = _without_fourier(len(x), str(limit)).engine
            value, error = _refine(engine, x, y, graph, kernel, tol, workers)
        useless = engine == "features" and error >= 1
        if useless and not automatic:
            raise ValueError(
                "engine: the features of this kernel are too few for these data, the error would "
                "be as large as the value; use engine='dense', or a wider bandwidth."
            )
        # Features may be too few, and so much may cancel that the rounding of exponentials counts.
        dense_is_quick = engine != "fourier" and len(x) <= DENSE_UP_TO
        if error > tol and automatic and (dense_is_quick or useless):
            value, error = _refine("dense", x, y, graph, kernel, tol, workers)
    if error > tol:
        warnings.warn(
            f"the value has an estimated relative error of {error:.2g}, more than tol = {tol:g}; "
            "use engine='dense' for an exact value, a wider bandwidth, or a larger tol to silence "
            "this.",
            AccuracyWarning,
            stacklevel=4,  # the caller of `hsic` or `chsic`
        )
    return value


def _refine(
    engine: str, x: Array, y: Array, graph: PairGraph, kernel: Kernel, tol: float, workers: int
) -> tuple[float, float]:
    """Return C-HSIC and its relative error, at most `tol` if the engine can do that."""
    partial, first = PARTIALS[engine]
    accuracy = tol / first
    while True:
        total = partial(x, y, graph, kernel, accuracy, workers)
        value, error = c_hsic(total)
        if error <= tol or not total.improvable or accuracy <= SMALLEST_ACCURACY:
            return value, error
        # The measure is small beside what cancels in it. The error is proportional to accuracy.
        accuracy = max(accuracy * tol / (2 * error), SMALLEST_ACCURACY)


def c_hsic(total: Partial) -> tuple[float, float]:
    """Return C-HSIC (eq. 18), which is HSIC (eq. 6) when all pairs are kept, and its error.

    The error is relative to the value. Where nearly everything cancels in it, it is relative to
    `CANCELLED` times what the value would be if nothing did, which is tr(Lap^2) for K = Q = I.
    """
    trace, error = total.trace()
    relative = error / max(trace, CANCELLED * total.lap_squares)
    return trace / total.lap_trace**2, relative  # tr(Lap K Lap Q) / (4 K^2), as tr(Lap) = 2K
