"""Where the Fourier engine samples the spectrum of a kernel, and how exact that is.

The steering vectors of the paper (eq. 1) with frequencies m / T, |m| <= M: their inner products
are the kernel made periodic with period T, without its frequencies above M / T. Both errors fall
fast once T exceeds the range of the data by the reach of kappa, and M / T the reach of G.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from chsic._validate import Array
from chsic.kernels import Kernel

LARGEST_MODE = 2**11  # in each of x and y: 0.3 GB of values, 1 GB while they are transformed
CONDENSE_ABOVE = 2**9  # modes from which it pays to look for gaps in the data


class GridTooLargeError(ValueError):
    """The data or the kernel need more frequencies than can be held."""


@dataclasses.dataclass(frozen=True, eq=False)
class Axis:
    """One variable on its frequencies.

    Attributes
    ----------
    angles : array, shape (n,)
        2 pi x / T, so that frequency m is exp(j m angle).
    weights : array, shape (M + 1,)
        G^2(m / T) / T for m = 0, ..., M.
    accuracy : float
        Largest error of the kernel, up to a constant, which a Laplacian does not see.
    """

    angles: Array
    weights: Array
    accuracy: float

    @property
    def n_modes(self) -> int:
        """The highest frequency M."""
        return len(self.weights) - 1


def fit_axis(x: Array, kernel: Kernel, accuracy: float) -> Axis:
    """Choose period and frequencies for samples `x`, in bandwidths, so that kappa is that exact."""
    if kernel.spectrum is None or kernel.tail is None:
        raise ValueError(
            f"kernel: the spectrum of {kernel.name!r} is not known, so engine='fourier' cannot be "
            "used; use engine='dense'."
        )
    spectrum, tail = kernel.spectrum, kernel.tail
    highest = _smallest(lambda f: float(tail(np.array(f))) <= accuracy)
    positions, period = x - x.min(), _period(float(np.ptp(x)), kernel, accuracy)
    if highest * period > CONDENSE_ABOVE:
        positions = condense(x, _smallest(lambda s: float(kernel.kappa(np.array(s))) <= accuracy))
        period = _period(float(positions.max()), kernel, accuracy)
    if highest * period > LARGEST_MODE:
        raise GridTooLargeError(
            f"engine: with {kernel.name!r} and this accuracy engine='fourier' needs frequencies up "
            f"to {highest * period:.3g}, more than {LARGEST_MODE}; use engine='auto', a larger "
            "tol, a wider bandwidth or a smoother kernel, or drop outliers."
        )
    m = np.arange(int(np.ceil(highest * period)) + 1)
    angles = (positions - positions.max() / 2) * (2 * np.pi / period)
    return Axis(angles, spectrum(m / period) / period, 2 * accuracy)


def _smallest(good: Callable[[float], bool]) -> float:
    """Return about the smallest positive number that is good, all larger ones being good too."""
    low, high = 0.0, 1.0
    while not good(high):
        low, high = high, 2 * high
        if high > 1e18:
            break
    while high - low > 1e-3 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if good(middle) else (middle, high)
    return high


def _period(spread: float, kernel: Kernel, accuracy: float) -> float:
    """Smallest period whose copies of kappa, s + pT, add only a constant on |s| <= spread."""
    s = np.linspace(0, spread, 65)

    def good(excess: float) -> bool:
        copies = np.outer(np.arange(1, 5), np.full(len(s), spread + excess))
        added = (kernel.kappa(copies - s) + kernel.kappa(copies + s)).sum(axis=0)
        return float(np.ptp(added)) <= accuracy

    return spread + _smallest(good)


def condense(x: Array, reach: float) -> Array:
    """Shorten gaps between samples that no kernel value bridges.

    Samples farther apart than the reach of kappa are unrelated however far apart they are, so an
    outlier may be moved near without changing any kernel value by more than the accuracy.
    """
    order = np.argsort(x)
    gaps = np.minimum(np.diff(x[order]), reach)
    positions = np.empty_like(x)
    positions[order] = np.concatenate([[0.0], np.cumsum(gaps)])
    return positions
