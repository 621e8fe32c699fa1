"""Closest pairs of a one-dimensional z, from its sorted values."""

from __future__ import annotations

import numpy as np

from chsic._line import expand, kth_smallest_distance, pick, reach
from chsic._validate import Array, Index
from chsic.pairs.intervals import Intervals

ROUNDING = 4 * np.finfo(float).eps  # of z + distance, relative
LONGEST_LIST = 4  # pairs listed for each sample at the most
PROBES = 4096  # points whose neighbours are counted to guess the distance sought


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

    A guess of that distance, made from a few points, encloses hardly more pairs than are wanted:
    they are listed, and the distance is selected from the list. Where the guess encloses far too
    many, as when ties abound, or too few, and where the list would be long, the distance is
    selected without a list.
    """
    next_point = np.arange(1, len(points) + 1)
    if n_pairs <= LONGEST_LIST * len(points):
        guess = _guess_distance(points, n_pairs)
        with np.errstate(over="ignore"):
            margin = ROUNDING * (np.abs(points) + guess)
            end = np.searchsorted(points, points + (guess + margin), side="right")
        end = np.maximum(end, next_point)
        if n_pairs <= (end - next_point).sum() <= 2 * n_pairs + len(points):
            rows, columns = expand(next_point, end)
            distances = points[columns] - points[rows]
            # Every pair within the guess is on the list: if those suffice, nothing is missed.
            if np.count_nonzero(distances <= guess) >= n_pairs:
                threshold = np.partition(distances, n_pairs - 1)[n_pairs - 1]
                closer, kept = rows[distances < threshold], rows[distances <= threshold]
                begin, end = (np.bincount(r, minlength=len(points)) for r in (closer, kept))
                return next_point + begin, next_point + end
    return reach(points, kth_smallest_distance(points, n_pairs))


def draw(starts: Index, stops: Index, size: int, rng: np.random.Generator) -> tuple[Index, Index]:
    """Draw `size` of the (row, column) with ``starts[row] <= column < stops[row]``."""
    available = int((stops - starts).sum())
    if available == size:
        return expand(starts, stops)
    ranks = rng.choice(available, size, replace=False, shuffle=False)
    return pick(starts, stops, np.sort(ranks))


def _guess_distance(points: Array, n_pairs: int) -> float:
    """Guess a distance that encloses slightly more than `n_pairs` pairs, from a few points."""
    n = len(points)
    probes = np.unique(np.linspace(0, n - 1, PROBES).astype(np.intp))
    wanted = 1.05 * n_pairs * len(probes) / n
    low, high = 0.0, float(points[-1] - points[0])
    for _ in range(50):
        middle = low + (high - low) / 2
        with np.errstate(over="ignore"):
            following = np.searchsorted(points, points[probes] + middle, side="right") - probes - 1
        if following.sum() < wanted:
            low = middle
        else:
            high = middle
    return high
