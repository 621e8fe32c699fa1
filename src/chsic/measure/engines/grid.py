"""Where the Fourier engine samples the spectrum of a kernel, and how exact that is.

The steering vectors of the paper (eq. 1) with frequencies m / T, |m| <= M: their inner products
are the kernel made periodic with period T, without its frequencies above M / T. Both errors fall
fast once T exceeds the range of the data by the reach of kappa, and M / T the reach of G. Where
kappa falls too slowly for that, as 1 / (1 + s^2) does, what its copies add is taken off: it is
smooth on the range of the data, so that few frequencies describe it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from chsic._util.validate import Array
from chsic.kernels import Kernel

LARGEST_MODE = 2**11  # in each of x and y: 0.3 GB of values, 1 GB while they are transformed
CONDENSE_ABOVE = 2**9  # modes from which it pays to look for gaps in the data
CORRECTED_ABOVE = 2**8  # modes from which it pays to take off what copies of kappa add
CORRECTED_PERIOD = 3.0  # ranges of the data, if what copies of kappa add is taken off
CORRECTED_MODES = 48  # frequencies that describe it
COPIES = 2_000  # of kappa that are added up one by one; the rest is a constant


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
        G^2(m / T) / T for m = 0, ..., M, less what takes off copies of kappa: a few of them may
        then be negative.
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
    spread = float(positions.max())
    shorter = max(CORRECTED_PERIOD * spread, CORRECTED_MODES / highest)
    corrected = highest * period > CORRECTED_ABOVE and period > shorter
    if corrected:
        period = shorter
    if highest * period > LARGEST_MODE:
        raise GridTooLargeError(
            f"engine: with {kernel.name!r} and this accuracy engine='fourier' needs frequencies up "
            f"to {highest * period:.3g}, more than {LARGEST_MODE}; use engine='auto', a larger "
            "tol, a wider bandwidth or a smoother kernel, or drop outliers."
        )
    weights = spectrum(np.arange(int(np.ceil(highest * period)) + 1) / period) / period
    error = 2 * accuracy
    if corrected:
        weights, missed = _without_copies(weights, spread, period, kernel)
        error += missed
    angles = (positions - spread / 2) * (2 * np.pi / period)
    return Axis(angles, weights, error)


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


def _without_copies(
    weights: Array, spread: float, period: float, kernel: Kernel
) -> tuple[Array, float]:
    """Take off what copies of kappa add on |s| <= spread, up to a constant; also what is left.

    It is a least-squares fit of few cosines, whose common period is so long that they are nearly
    dependent: directions that only rounding tells apart are left out, which keeps weights small.
    """
    # Samples crowd at the ends, where a fit is worst.
    s = spread * np.sin(np.linspace(0, np.pi / 2, 8 * CORRECTED_MODES))
    copies = period * np.arange(COPIES, 0, -1)[:, np.newaxis]
    added = (kernel.kappa(copies - s) + kernel.kappa(copies + s)).sum(axis=0)
    m = np.arange(min(CORRECTED_MODES, len(weights)))
    cosines = np.where(m > 0, 2.0, 1.0) * np.cos(np.outer(s, 2 * np.pi * m / period))
    taken, *_ = np.linalg.lstsq(cosines, added - added[0], rcond=1e-14)
    missed = float(np.abs(cosines @ taken - (added - added[0])).max())
    corrected = weights.copy()
    corrected[m] -= taken
    return corrected, missed
