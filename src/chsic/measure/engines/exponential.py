"""Exponential engine: exact and near-linear, for scalar x and y and kernels made of exponentials.

The Laplace kernel exp(-s) and the Matérn kernel (1 + s) exp(-s) have a kink at 0, so that their
spectra fall slowly and Fourier sums of them need too many frequencies. But exp(-(b - a)) is a
product of something of a and something of b: for points in two halves of a line, one pass adds up
all kernel values between them. In two dimensions, split by x in halves again and again, and make
that pass along y: the sum over all pairs of the n + 2K entries of the Laplacian takes
O((n + K) log^2 n) operations, and is exact up to rounding.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from chsic._util.validate import Array, Index
from chsic.kernels import Kernel
from chsic.measure.engines.limits import EngineLimitError, condense
from chsic.measure.engines.partial import TileSum
from chsic.pairs import PairGraph

FAR = 45.0  # distance in bandwidths at which both kernels are below rounding
LARGEST_RANGE = 300.0  # of which the exponential, and its inverse, can still be multiplied
PIECE = 2**20  # entries listed at a time
PROBES = 2**12  # entries on which rounding is estimated
UNSURE = 4  # times what they show is allowed for
ROUNDING = 16 * np.finfo(float).eps
LARGEST_LIST = 2**27  # entries that are held together: 3 GB, and as much while they are sorted


@dataclasses.dataclass(frozen=True, eq=False)
class WeightedPoints:
    """Entries of the Laplacian as points (x_i, y_j) with weights Lap_ij, from some pairs.

    tr(Lap K Lap Q) is a sum over all pairs of points. It is not additive over the points, but the
    list of them is: shards are put one behind the other, and a point that comes up in several of
    them, as those of the diagonal do, has the sum of its weights.
    """

    x: Array  # in bandwidths, as y
    y: Array
    weights: Array
    slope: float  # of the kernel
    lap_trace: int
    lap_squares: float
    improvable: bool = False

    def __add__(self, other: WeightedPoints) -> WeightedPoints:
        return WeightedPoints(
            np.concatenate([self.x, other.x]),
            np.concatenate([self.y, other.y]),
            np.concatenate([self.weights, other.weights]),
            self.slope,
            self.lap_trace + other.lap_trace,
            self.lap_squares + other.lap_squares,
        )

    def trace(self) -> tuple[float, float]:
        """Return the sum over all pairs of points, and an estimate of its rounding."""
        # Rounding is relative to the sum of absolute values, which some of the points show.
        some = np.random.default_rng(0).permutation(len(self.x))[:PROBES]
        share = len(self.x) / len(some)
        absolute = pair_sum(self.x[some], self.y[some], np.abs(self.weights[some]), self.slope)
        rounding = UNSURE * _rounding(self.y, self.slope) * share**2 * absolute
        return pair_sum(self.x, self.y, self.weights, self.slope), rounding


def exponential_sums(
    x: Array,
    y: Array,
    graph: PairGraph,
    kernel: Kernel,
    accuracy: float = 0.0,
    workers: int = 1,
    degrees: Index | None = None,
) -> WeightedPoints | TileSum:
    """List the entries of the Laplacian; where all pairs are kept, there is no need to.

    Parameters
    ----------
    x, y : array, shape (n, 1)
        Samples in bandwidths.
    graph : PairGraph
        The pairs.
    kernel : Kernel
        One with a `slope`.
    accuracy, workers
        Not needed: sums are exact up to rounding, and made on one thread.
    degrees : array of int, optional
        Those of the whole graph, if this one is a shard of it.
    """
    if kernel.slope is None:
        raise ValueError(
            f"kernel: engine='exponential' is for 'laplace' and 'matern32', got {kernel.name!r}; "
            "use engine='auto'."
        )
    if graph.is_complete:
        return _complete_sum(x[:, 0], y[:, 0], graph, kernel.slope)
    n_entries = graph.n_samples + 2 * graph.n_pairs
    if n_entries > LARGEST_LIST:
        raise EngineLimitError(
            f"pairs: engine='exponential' lists {n_entries:.3g} entries of the Laplacian, more "
            f"than {LARGEST_LIST:.3g}; use engine='auto', or fewer pairs."
        )
    pieces = [
        (x[rows, 0], y[columns, 0], values)
        for rows, columns, values in graph.laplacian_entries(PIECE)
    ]
    of_x, of_y, weights = (np.concatenate(arrays) for arrays in zip(*pieces, strict=True))
    return WeightedPoints(of_x, of_y, weights, kernel.slope, *graph.laplacian_traces(degrees))


def _complete_sum(x: Array, y: Array, graph: PairGraph, slope: float) -> TileSum:
    """All pairs: n^2 tr(P K P Q) from the sum of K * Q and the sums of rows of K and Q."""
    n = len(x)
    rows_k, rows_q = row_sums(x, slope), row_sums(y, slope)
    both = pair_sum(x, y, np.ones(n), slope)
    centred = both - 2 / n * (rows_k @ rows_q) + rows_k.sum() * rows_q.sum() / n**2
    rounding = _rounding(y, slope) * n**2 * both
    return TileSum(n**2 * centred, rounding, *graph.laplacian_traces())


def _rounding(y: Array, slope: float) -> float:
    """Relative to the sum of absolute values; along y, a slope is a difference of such sums."""
    return ROUNDING * (1 + slope * float(np.ptp(_near(y))))


def pair_sum(x: Array, y: Array, weights: Array, slope: float) -> float:
    """Return sum_ab w_a w_b kappa(|x_a - x_b|) kappa(|y_a - y_b|), w_a^2 included."""
    order = np.argsort(x, kind="stable")
    size = 1 << max(1, (len(x) - 1).bit_length())
    # Filled up with points that weigh nothing, to halves of equal size.
    x, y, w = (_filled(values[order], size) for values in (_near(x), _near(y), weights))
    w[len(weights) :] = 0
    total = float(w @ w)
    half = 1
    while half < size:
        x, y, w = (values.reshape(-1, 2 * half) for values in (x, y, w))
        middle = x[:, half:].min(axis=1, keepdims=True)
        # Each half was sorted by y before, so this merges two sorted runs.
        by_y = np.argsort(y, axis=1, kind="stable")
        x, y, w = (np.take_along_axis(values, by_y, axis=1) for values in (x, y, w))
        total += 2 * _between_halves(x - middle, y, w, by_y < half, slope)
        half *= 2
    return total


def _between_halves(x: Array, y: Array, w: Array, left: NDArray[np.bool_], slope: float) -> float:
    """Sum the terms of one point of the left half, x <= 0, and one of the right half, x >= 0."""
    decayed = w * np.exp(-np.abs(x))
    of_left, of_right = np.where(left, decayed, 0.0), np.where(left, 0.0, decayed)
    if slope == 0:
        return _along_y(y, of_left, of_right, slope)
    # 1 + (x_b - x_a) = (1 + x_b) 1 + 1 (-x_a), a in the left half and b in the right.
    return _along_y(y, of_left, of_right * (1 + slope * x), slope) + _along_y(
        y, of_left * (-slope * x), of_right, slope
    )


def _along_y(y: Array, p: Array, q: Array, slope: float) -> float:
    """Sum p_a q_b kappa(|y_a - y_b|) over all a and b of a row, the rows sorted by y."""
    rising, falling = np.exp(y), np.exp(-y)
    total = 0.0
    for first, second in ((p, q), (q, p)):  # the first one before the second one
        sums = np.cumsum(first * rising, axis=1)
        along = sums if slope == 0 else (1 + slope * y) * sums
        if slope:
            along = along - slope * np.cumsum(first * rising * y, axis=1)
        total += float((second * falling * along).sum())
    return total


def row_sums(x: Array, slope: float) -> Array:
    """Return sum_b kappa(|x_a - x_b|) for each a."""
    order = np.argsort(x, kind="stable")
    points = _near(x)[order]
    rising, falling = np.exp(points), np.exp(-points)
    before, after = np.cumsum(rising), np.cumsum(falling[::-1])[::-1]
    sums = falling * before + rising * after - 1  # a itself was counted twice
    if slope:
        before_s, after_s = np.cumsum(rising * points), np.cumsum((falling * points)[::-1])[::-1]
        sums += slope * (falling * (points * before - before_s))
        sums += slope * (rising * (after_s - points * after))
    result: Array = np.empty_like(sums)
    result[order] = sums
    return result


def _near(x: Array) -> Array:
    """Shorten gaps that no kernel value bridges, and measure from the middle."""
    points = x - x.min()
    if points.max() > LARGEST_RANGE:
        points = condense(x, FAR)
    if points.max() > LARGEST_RANGE:
        raise EngineLimitError(
            f"engine: the data reach over {points.max():.3g} bandwidths, more than "
            f"{LARGEST_RANGE:g}, for which engine='exponential' is not made; use engine='dense', a "
            "wider bandwidth, or drop outliers."
        )
    centred: Array = points - points.max() / 2
    return centred


def _filled(values: Array, size: int) -> Array:
    return np.concatenate([values, np.full(size - len(values), values[-1])])
