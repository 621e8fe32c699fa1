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
import itertools

import numpy as np
from numpy.typing import NDArray

from chsic._util.parallel import in_order
from chsic._util.validate import Array
from chsic.kernels import Kernel
from chsic.measure.engines.grid import GridTooLargeError, condense
from chsic.measure.engines.samples import SampleCovariances
from chsic.pairs.entries import laplacian_entries

FAR = 45.0  # distance in bandwidths at which both kernels are below rounding
LARGEST_RANGE = 300.0  # of which the exponential, and its inverse, can still be multiplied
PIECE = 2**20  # entries listed at a time
SEEN = 2**12  # entries on which rounding is estimated
ROUNDING = 16 * np.finfo(float).eps
LARGEST_LIST = 2**27  # entries that are held together: 3 GB, and as much while they are sorted


@dataclasses.dataclass(frozen=True, eq=False)
class ExponentialCovariances(SampleCovariances):
    """The C_b of a shard by the entries of the Laplacian; x and y are in bandwidths."""

    def inner_products(self, other: ExponentialCovariances) -> tuple[Array, float]:
        """Return <C_b, C_b'> = tr(Lap_b K Lap_b' Q), exact up to rounding."""
        if other is self and self.graph.is_complete:
            return self._complete()
        ours = self._entries()
        theirs = ours if other is self else other._entries()
        rounding = self._rounding * _size(_joined(*ours, *theirs), self.kernel)
        alone = [self._sums(parts) for parts in (ours, theirs)]
        gram = np.empty((len(ours), len(theirs)))
        tasks = list(itertools.product(range(len(ours)), range(len(theirs))))

        def between(task: tuple[int, int]) -> float:
            # |C_b + C_b'|^2 has the inner product in it, and is a sum of the same kind.
            a, b = task
            if other is self and a == b:
                return alone[0][a]
            joined = _joined(ours[a], theirs[b])
            return (self._sum(joined) - alone[0][a] - alone[1][b]) / 2

        for task, value in zip(tasks, in_order(between, tasks, self.workers), strict=True):
            gram[task] = value
        return gram, rounding

    def _entries(self) -> list[tuple[Array, Array, Array]]:
        """List x_i, y_j and Lap_ij for each block."""
        n_entries = self.graph.n_samples + 2 * self.graph.n_pairs
        if n_entries > LARGEST_LIST:
            raise GridTooLargeError(
                f"pairs: engine='exponential' lists {n_entries:.3g} entries of the Laplacian, more "
                f"than {LARGEST_LIST:.3g}; use engine='auto', or fewer pairs."
            )
        found: list[list[tuple[Array, Array, Array]]] = [[] for _ in range(self.graph.n_blocks)]
        for piece in laplacian_entries(self.graph, PIECE):
            x, y = self.x[piece.rows, 0], self.y[piece.columns, 0]
            found[piece.block].append((x, y, piece.values))
        return [_joined(*parts) for parts in found]

    def _sums(self, blocks: list[tuple[Array, Array, Array]]) -> list[float]:
        return list(in_order(self._sum, blocks, self.workers))

    def _sum(self, entries: tuple[Array, Array, Array]) -> float:
        x, y, weights = entries
        return pair_sum(x, y, weights, self.kernel)

    def _complete(self) -> tuple[Array, float]:
        """All pairs: n^2 tr(P K P Q) from the sum of K * Q and the sums of rows of K and Q."""
        n = len(self.x)
        rows_k, rows_q = (row_sums(values[:, 0], self.kernel) for values in (self.x, self.y))
        both = pair_sum(self.x[:, 0], self.y[:, 0], np.ones(n), self.kernel)
        centred = both - 2 / n * (rows_k @ rows_q) + rows_k.sum() * rows_q.sum() / n**2
        return np.array([[n**2 * centred]]), self._rounding * n**2 * both

    @property
    def _rounding(self) -> float:
        """Relative to the sum of absolute values; along y, a slope is a difference of such sums."""
        return ROUNDING * (1 + _slope(self.kernel) * float(np.ptp(_near(self.y[:, 0]))))


def _joined(*parts: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
    x, y, weights = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return x, y, weights


def _size(entries: tuple[Array, Array, Array], kernel: Kernel) -> float:
    """Estimate the sum of the absolute values of all terms, which rounding is relative to."""
    x, y, weights = entries
    some = np.random.default_rng(0).permutation(len(x))[:SEEN]
    share = len(x) / len(some)
    return share**2 * pair_sum(x[some], y[some], np.abs(weights[some]), kernel)


def pair_sum(x: Array, y: Array, weights: Array, kernel: Kernel) -> float:
    """Return sum_ab w_a w_b kappa(|x_a - x_b|) kappa(|y_a - y_b|), w_a^2 included."""
    slope = _slope(kernel)
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


def row_sums(x: Array, kernel: Kernel) -> Array:
    """Return sum_b kappa(|x_a - x_b|) for each a."""
    slope = _slope(kernel)
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


def _slope(kernel: Kernel) -> float:
    if kernel.slope is None:
        raise ValueError(
            f"kernel: engine='exponential' is for 'laplace' and 'matern32', got {kernel.name!r}; "
            "use engine='auto'."
        )
    return kernel.slope


def _near(x: Array) -> Array:
    """Shorten gaps that no kernel value bridges, and measure from the middle."""
    points = x - x.min()
    if points.max() > LARGEST_RANGE:
        points = condense(x, FAR)
    if points.max() > LARGEST_RANGE:
        raise GridTooLargeError(
            f"engine: the data reach over {points.max():.3g} bandwidths, more than "
            f"{LARGEST_RANGE:g}, for which engine='exponential' is not made; use engine='dense', a "
            "wider bandwidth, or drop outliers."
        )
    centred: Array = points - points.max() / 2
    return centred


def _filled(values: Array, size: int) -> Array:
    return np.concatenate([values, np.full(size - len(values), values[-1])])
