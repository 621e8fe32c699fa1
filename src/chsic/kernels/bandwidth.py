"""Bandwidth rules: from samples to the h of kappa(s / h), one for each column."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from scipy.spatial.distance import pdist

from chsic._util.validate import Array, Index, as_number
from chsic.kernels.line_distances import kth_smallest_distance

Bandwidth: TypeAlias = str | float | tuple[str | float, str | float]

MEDIAN_SAMPLES = 4000  # rows used by the median rule for several columns: 8 million distances
TYPICAL_PAIRS = 20_000  # distances whose median is a typical one: known to a percent
WIDEST = 1e5  # widest bandwidth in units of the data's range
LARGEST = 1e150  # largest value in bandwidths, whose square can still be computed
SMALLEST = 1000 * np.finfo(np.float64).smallest_subnormal  # below, three digits are not left


def standard_deviations(name: str, values: Array) -> Array:
    """Return the n - 1 standard deviation of each column, 0 only if it is constant."""
    low, spread = require_finite_range(name, values)
    scaled = values - low  # one temporary array: with many samples they cost more than sums do
    scaled /= np.where(spread > 0, spread, 1.0)
    scaled -= scaled.mean(axis=0)
    variances = np.einsum("ij,ij->j", scaled, scaled) / (len(values) - 1)
    deviations: Array = spread * np.sqrt(variances)
    if np.any((spread > 0) & (deviations < SMALLEST)):
        raise ValueError(
            f"{name}: values differ by {spread[spread > 0].min():g} at the most, so that their "
            "standard deviation underflows; rescale them."
        )
    return deviations


def require_finite_range(name: str, values: Array) -> tuple[Array, Array]:
    """Return the smallest value of each column and the range above it, if that is finite."""
    low = values.min(axis=0)
    with np.errstate(over="ignore"):
        spread = values.max(axis=0) - low
    if not np.all(np.isfinite(spread)):
        raise ValueError(
            f"{name}: values reach {np.abs(values).max():g} and overflow; rescale them."
        )
    return low, spread


def joint_deviations(name: str, values: Array, origin: Index) -> Array:
    """Return standard deviations, columns of one origin sharing the root of their summed variances.

    Such columns are the indicators of a category, which then counts as one column.
    """
    deviations = standard_deviations(name, values)
    for group in np.flatnonzero(np.bincount(origin) > 1):
        own = origin == group
        deviations[own] = np.sqrt((deviations[own] ** 2).sum())
    return deviations


def paper_rule(name: str, values: Array) -> Array:
    """sigma_hat L^(-1/5) for each column: the paper's choice (its Section V)."""
    bandwidths: Array = standard_deviations(name, values) * len(values) ** -0.2
    return bandwidths


def median_rule(name: str, values: Array) -> Array:
    """Median distance between two samples, in units of each column's standard deviation.

    Exact for one column. For several, distances are Euclidean on standardised columns, and above
    `MEDIAN_SAMPLES` rows they are those between that many rows, drawn with a fixed seed.
    """
    scale = standard_deviations(name, values)
    n, d = values.shape
    if d == 1:
        n_distances = n * (n - 1) // 2
        middle = {(n_distances + 1) // 2, n_distances // 2 + 1}  # two of them if it is even
        points = np.sort(values[:, 0])
        median = np.mean([kth_smallest_distance(points, k) for k in middle])
        return _nonzero(name, np.array([median]))
    if n > MEDIAN_SAMPLES:
        values = np.random.default_rng(0).choice(values, MEDIAN_SAMPLES, replace=False)
    standardised = (values - values[0]) / scale
    return _nonzero(name, scale * np.median(pdist(standardised)))


def _nonzero(name: str, bandwidths: Array) -> Array:
    if not np.all(bandwidths > 0):
        raise ValueError(
            f"bandwidth: the median distance between samples of {name} is zero, because at least "
            'half of all pairs are equal; use bandwidth="paper" or a number.'
        )
    return bandwidths


RULES: dict[str, Callable[[str, Array], Array]] = {"paper": paper_rule, "median": median_rule}


def typical_distance(
    points: Array,
    n_pairs: int = TYPICAL_PAIRS,
    distinct_in: Array | None = None,
    weights: Array | None = None,
) -> float:
    """Return the median distance between samples; never zero if columns vary.

    If there are more than `n_pairs` pairs of samples, that many are drawn, so that the order of the
    samples does not matter. Only pairs are looked at whose rows of `distinct_in` differ, if that is
    given. If most distances are zero, as for events that are rare, it is the root of the mean
    squared distance. With `weights`, a pair counts as often as the product of its two, and
    `n_pairs` are drawn, however few samples there are.
    """
    if weights is None:
        distances = some_distances(points, n_pairs, distinct_in)
    else:
        distances = _distances(points, *_weighted_pairs(weights, n_pairs), distinct_in)
    middle = float(np.median(distances)) if len(distances) else 0.0
    return middle if middle > 0 else float(np.sqrt(2 * variances(points, weights).sum()))


def variances(columns: Array, weights: Array | None = None) -> Array:
    """Return the variance of each column, weighted if rows have weights.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.kernels.bandwidth import variances
    >>> variances(np.array([[0.0], [3.0]]), np.array([2.0, 1.0]))
    array([2.])
    """
    if weights is None:
        equally: Array = columns.var(axis=0)
        return equally
    shares = weights / weights.sum()
    weighted: Array = shares @ (columns - shares @ columns) ** 2
    return weighted


def some_distances(points: Array, n_pairs: int, distinct_in: Array | None = None) -> Array:
    """Return the distances that `typical_distance` looks at."""
    n = len(points)
    if n * (n - 1) // 2 <= n_pairs:
        distances: Array = pdist(points)
        return distances if distinct_in is None else distances[pdist(distinct_in) > 0]
    return _distances(points, *_random_pairs(n, n_pairs), distinct_in)


def _distances(points: Array, i: Index, j: Index, distinct_in: Array | None) -> Array:
    if distinct_in is not None:
        differ = (_rows(distinct_in, i) != _rows(distinct_in, j)).any(axis=1)
        if not differ.all():
            i, j = i[differ], j[differ]
    apart = _rows(points, i) - _rows(points, j)
    if apart.shape[1] == 1:
        return np.abs(apart[:, 0])
    distances: Array = np.sqrt(np.einsum("ij,ij->i", apart, apart))
    return distances


def _rows(points: Array, which: Index) -> Array:
    """Return some rows: of one column by `take`, which is several times faster there."""
    return points.take(which)[:, np.newaxis] if points.shape[1] == 1 else points[which]


@functools.lru_cache(maxsize=4)  # one test asks for the same ones a dozen times
def _random_pairs(n: int, number: int) -> tuple[Index, Index]:
    """Draw pairs of different samples, always the same ones."""
    rng = np.random.default_rng(0)
    i, j = rng.integers(n, size=number), rng.integers(n - 1, size=number)
    j += j >= i  # no sample with itself
    i.setflags(write=False)
    j.setflags(write=False)
    return i, j


def _weighted_pairs(weights: Array, number: int) -> tuple[Index, Index]:
    """Draw pairs of different samples, each as often as the product of its weights, always alike.

    The places of one end in the sum of weights are those of a grid, so that little is left to
    chance; samples stand in the order of their weights, so that the order of rows does not matter.
    """
    order, rng = np.argsort(weights, kind="stable"), np.random.default_rng(0)
    ends = np.cumsum(weights[order])
    places = ends[-1] * (np.arange(number) + 0.5) / number, ends[-1] * rng.random(number)
    i, j = (order[np.searchsorted(ends, at).clip(max=len(ends) - 1)] for at in places)
    apart = i != j
    return i[apart], j[apart]


def in_bandwidths(x: Array, y: Array, bandwidth: Bandwidth) -> tuple[Array, Array]:
    """Return `x` and `y` divided by their bandwidths, ready for ``kappa``.

    They are first shifted by their medians: translation-invariant kernels do not see it, and
    data far from the origin keep all their digits.
    """
    of_x, of_y = bandwidths_of(x, y, bandwidth)
    return _scaled("x", x, of_x), _scaled("y", y, of_y)


def bandwidths_of(x: Array, y: Array, bandwidth: Bandwidth) -> tuple[Array, Array]:
    """Return the h of each column of `x` and of `y`."""
    return bandwidth_of("x", x, bandwidth), bandwidth_of("y", y, bandwidth)


def bandwidth_of(name: str, values: Array, bandwidth: Bandwidth) -> Array:
    """Return the h of each column of what is called "x" or "y", as a pair is for both of them."""
    if not isinstance(bandwidth, tuple):
        return _resolve(name, values, bandwidth)
    if len(bandwidth) != 2:
        raise ValueError(
            f"bandwidth: a tuple is (for x, for y), got {len(bandwidth)} values; write a list for "
            "several bandwidths."
        )
    return _resolve(name, values, bandwidth["xy".index(name)])


def require_several(bandwidths: list[Bandwidth]) -> None:
    """Raise unless a list of bandwidths has any."""
    if not bandwidths:
        raise ValueError("bandwidth: the list is empty; give at least one.")


def _scaled(name: str, values: Array, h: Array) -> Array:
    with np.errstate(over="ignore"):
        scaled: Array = (values - np.median(values, axis=0)) / h
    if not np.abs(scaled).max() < LARGEST:
        raise ValueError(
            f"bandwidth: {h.min():g} is too small for {name}, whose values reach "
            f"{np.abs(values).max():g}; rescale {name} or use a wider bandwidth."
        )
    return scaled


def _resolve(name: str, values: Array, bandwidth: str | float) -> Array:
    if isinstance(bandwidth, str):
        if bandwidth not in RULES:
            known = ", ".join(map(repr, RULES))
            raise ValueError(
                f"bandwidth: unknown rule {bandwidth!r}; known are {known}, or give a number or a "
                "pair (for x, for y)."
            )
        return RULES[bandwidth](name, values)
    h = as_number("bandwidth", bandwidth)
    if h <= 0:
        raise ValueError(
            f"bandwidth: must be positive, got {h:g}; a bandwidth of zero divides by "
            "zero in the kernel."
        )
    with np.errstate(over="ignore"):
        widest = WIDEST * float(np.max(np.ptp(values, axis=0)))
    if h > widest:
        # The Gaussian 1 - exp(-(s/h)^2) then keeps fewer than six digits, and soon none: the answer
        # would be 0 for rounding alone, which reads as independence.
        raise ValueError(
            f"bandwidth: {h:g} is more than {WIDEST:g} times the range of {name}, so its kernel "
            "is constant up to rounding; use a bandwidth near the standard deviation of the data."
        )
    return np.full(values.shape[1], h)
