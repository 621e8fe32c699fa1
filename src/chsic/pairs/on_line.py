"""Closest pairs of a one-dimensional z, from its sorted values."""

from __future__ import annotations

import numpy as np

from chsic._util.line import expand, kth_smallest_distance, pick, reach
from chsic._util.validate import Array, Index
from chsic.pairs.intervals import Intervals

ROUNDING = 4 * np.finfo(float).eps  # of z + distance, relative
LONGEST_LIST = 0.5  # pairs listed for each sample at the most
PROBES = 4096  # points whose neighbours are counted to guess the distance sought
GUESS_MARGIN = 0.05  # of the pairs enclosed by a guess: four times what the probes leave unsure
PART = 2**17  # points looked at together


def closest_on_line(
    z: Array, n_pairs: int, rng: np.random.Generator
) -> tuple[Intervals, Index, Index]:
    """Find the `n_pairs` closest pairs of the values `z`; ties at the end are drawn by `rng`.

    Returns the pairs closer than the largest distance kept, as runs of the order of z, and lists
    those drawn from the pairs tied at that distance (none where all of them are kept: they belong
    to the runs then).
    """
    order = np.argsort(z)
    points = z[order]
    if np.any(points[1:] == points[:-1]):
        order = np.argsort(z, kind="stable")  # slower; tied samples in the order they came
    begin, end = _reach_of_closest(points, n_pairs)
    missing = n_pairs - Intervals(order, begin).n_pairs
    if missing == (end - begin).sum():
        none = np.empty(0, np.intp)
        return Intervals(order, end), none, none
    rows, columns = draw(begin, end, missing, rng)
    a, b = order[rows], order[columns]
    return Intervals(order, begin), np.minimum(a, b), np.maximum(a, b)


def _reach_of_closest(points: Array, n_pairs: int) -> tuple[Index, Index]:
    """Return `reach` at the `n_pairs`-th smallest distance.

    Two guesses of that distance, made from a few points, hold it between them as a rule: only the
    pairs between the two are listed, and the distance is selected from the list. Where they do
    not, or where the list would be long, as when ties abound, it is selected without a list.
    """
    if n_pairs <= LONGEST_LIST / (2 * GUESS_MARGIN) * len(points):
        found = _reach_between(points, n_pairs, *_guess_distances(points, n_pairs))
        if found is not None:
            return found
    return reach(points, kth_smallest_distance(points, n_pairs))


def _reach_between(
    points: Array, n_pairs: int, low: float, high: float
) -> tuple[Index, Index] | None:
    """Return `reach` at the `n_pairs`-th smallest distance if it lies in [low, high], else None."""
    n = len(points)
    begin = np.empty(n, np.intp)
    rows, distances = [], []
    listed = 0
    # A part at a time, whose arrays stay in the cache: with many points memory costs the most.
    for start in range(0, n, PART):
        own = points[start : start + PART]
        inside = slice(start, start + len(own))
        with np.errstate(over="ignore"):
            margin = ROUNDING * (np.abs(own) + high)
            # Nothing that any point of this part reaches lies outside.
            last = np.searchsorted(points, (own + (high + margin)).max(), side="right")
            near = points[start:last]
            first = np.searchsorted(near, own + (low - margin), side="left") + start
            stop = np.searchsorted(near, own + (high + margin), side="right") + start
        following = np.arange(start + 1, start + 1 + len(own))
        np.maximum(first, following, out=begin[inside])
        np.maximum(stop, begin[inside], out=stop)
        listed += int((stop - begin[inside]).sum())
        if listed > LONGEST_LIST * n:
            return None
        row, column = expand(begin[inside], stop)
        rows.append(row + start)
        distances.append(points[column] - own[row])
    row, distance = np.concatenate(rows), np.concatenate(distances)
    rank = n_pairs - 1 - Intervals(begin, begin).n_pairs
    if not 0 <= rank < len(distance):
        return None
    threshold = np.partition(distance, rank)[rank]
    if not low <= threshold <= high:
        return None
    begin += np.bincount(row[distance < threshold], minlength=n)
    return begin, begin + np.bincount(row[distance == threshold], minlength=n)


def draw(starts: Index, stops: Index, size: int, rng: np.random.Generator) -> tuple[Index, Index]:
    """Draw `size` of the (row, column) with ``starts[row] <= column < stops[row]``."""
    available = int((stops - starts).sum())
    if available == size:
        return expand(starts, stops)
    ranks = rng.choice(available, size, replace=False, shuffle=False)
    return pick(starts, stops, np.sort(ranks))


def _guess_distances(points: Array, n_pairs: int) -> tuple[float, float]:
    """Guess distances that enclose slightly less and slightly more than `n_pairs` pairs."""
    n = len(points)
    probes = np.unique(np.linspace(0, n - 1, PROBES).astype(np.intp))
    wanted = n_pairs * len(probes) / n

    def enclosed(distance: float) -> int:
        with np.errstate(over="ignore"):
            stops = np.searchsorted(points, points[probes] + distance, side="right")
        return int((stops - probes - 1).sum())

    def guess(count: float) -> tuple[float, float]:
        if enclosed(0.0) >= count:  # halving would take a thousand steps to get there
            return 0.0, 0.0
        low, high = 0.0, float(points[-1] - points[0])
        middle = high / 2
        while low < middle < high and high - low > GUESS_MARGIN / 10 * high:
            if enclosed(middle) < count:
                low = middle
            else:
                high = middle
            middle = low + (high - low) / 2
        return low, high

    return guess((1 - GUESS_MARGIN) * wanted)[0], guess((1 + GUESS_MARGIN) * wanted)[1]
