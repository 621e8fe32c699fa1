"""Distances between points on a line: the k-th smallest of them, and which pairs are that close.

There are n (n - 1) / 2 distances, but with the points sorted, those of point p to the points after
it increase along p + 1, p + 2, ...: a sorted matrix that is never written down. Comparing a
distance with all of them is one pass, and selecting the k-th smallest takes a few passes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from chsic._util.validate import Array, Index

SAMPLE_SIZE = 2**16  # distances looked at to guess where the k-th smallest lies


def partners_within(points: Array, distance: float) -> tuple[Index, Index]:
    """For each p of sorted `points`, find where the points at that distance begin and end.

    Returns the first q > p with ``points[q] - points[p] >= distance``, and the first with ``>``.
    """
    # Work on distinct values: with ties, one answer serves all the points that share a value.
    starts = np.flatnonzero(np.r_[True, points[1:] != points[:-1]])
    levels = points[starts]
    # The answer must agree with the *rounded* difference of every single pair, because that is
    # what sorting all distances would see. searchsorted on levels + distance rounds elsewhere, so
    # it only brackets the answer; bisection closes the brackets that rounding left open.
    with np.errstate(over="ignore"):
        slack = 4 * np.finfo(float).eps * (np.abs(levels) + distance)
        low = np.searchsorted(levels, levels + (distance - slack), side="left")
        high = np.searchsorted(levels, levels + (distance + slack), side="right")
    begin = _bisect(low, high, lambda p, q: levels[q] - levels[p] < distance)
    end = _bisect(begin, high, lambda p, q: levels[q] - levels[p] <= distance)
    ends = np.r_[starts, len(points)]
    repeats, next_point = np.diff(ends), np.arange(1, len(points) + 1)
    return (
        np.maximum(np.repeat(ends[begin], repeats), next_point),
        np.maximum(np.repeat(ends[end], repeats), next_point),
    )


def _bisect(low: Index, high: Index, before: Callable[[Index, Index], NDArray[np.bool_]]) -> Index:
    """For each p, the first q in [low[p], high[p]) that is not ``before(p, q)``, else high[p]."""
    low, high = low.copy(), high.copy()
    while len(pending := np.flatnonzero(low < high)):
        middle = (low[pending] + high[pending]) // 2
        inside = before(pending, middle)
        low[pending] = np.where(inside, middle + 1, low[pending])
        high[pending] = np.where(inside, high[pending], middle)
    return low


def pick(starts: Index, stops: Index, ranks: Index) -> tuple[Index, Index]:
    """Return some (row, column) with ``starts[row] <= column < stops[row]``.

    `ranks` are their positions in the list of all of them, row by row.
    """
    ends: Index = np.cumsum(stops - starts)
    rows = np.searchsorted(ends, ranks, side="right")
    columns = stops[rows] - (ends[rows] - ranks)
    return rows, columns


def kth_smallest_distance(points: Array, k: int) -> float:
    """Return the k-th smallest (k = 1 for the smallest) distance between sorted `points`.

    Randomised selection on the implicit sorted matrix: the distances still in question are, in
    row p, the columns low[p] to high[p]. Quantiles of a random sample of them bracket the k-th;
    one pass counts, and the bracket shrinks a hundredfold until what is left can be listed.
    The sample only decides how fast the answer is found, never what it is.
    """
    n = len(points)
    rng = np.random.default_rng(0)
    next_point = np.arange(1, n + 1)
    low, high = next_point, np.full(n, n)
    while (remaining := int((high - low).sum())) > max(n, SAMPLE_SIZE):
        below = int((low - next_point).sum())
        rows, columns = pick(low, high, rng.integers(remaining, size=SAMPLE_SIZE))
        sample = np.sort(points[columns] - points[rows])
        quantile = (k - below) / remaining
        margin = 3 * np.sqrt(SAMPLE_SIZE * quantile * (1 - quantile)) + 1
        for rank in (quantile * SAMPLE_SIZE + margin, quantile * SAMPLE_SIZE - margin):
            if not 0 <= rank < SAMPLE_SIZE:
                continue
            pivot = float(sample[int(rank)])
            begin, end = partners_within(points, pivot)
            if (end - next_point).sum() < k:
                low = np.maximum(low, end)
            elif (begin - next_point).sum() >= k:
                high = np.minimum(high, begin)
            else:
                return pivot
    rows, columns = pick(low, high, np.arange(remaining))
    rank = k - 1 - int((low - next_point).sum())
    return float(np.partition(points[columns] - points[rows], rank)[rank])
