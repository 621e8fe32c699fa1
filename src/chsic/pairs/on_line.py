"""Closest pairs of a one-dimensional z, from its sorted values."""

from __future__ import annotations

import numpy as np

from chsic._line import expand, kth_smallest_distance, pick, reach
from chsic._validate import Array, Index, RNGLike, as_generator

ROUNDING = 4 * np.finfo(float).eps  # of z + distance, relative
PROBES = 4096  # points whose neighbours are counted to guess the distance sought


def closest_on_line(z: Array, n_pairs: int, rng: RNGLike) -> tuple[Index, Index]:
    """Return the `n_pairs` closest pairs of the values `z`; ties at the end are drawn by `rng`.

    A guess of the largest distance to be kept, made from a few points, encloses hardly more pairs
    than that: they are listed, and the closest of the list are kept. Where it encloses far too
    many, as when ties abound, or too few, the exact distance is selected without a list.
    """
    order = np.argsort(z)
    points = z[order]
    if np.any(points[1:] == points[:-1]):
        order = np.argsort(z, kind="stable")  # slower; tied samples in the order they came
    next_point = np.arange(1, len(z) + 1)
    guess = _guess_distance(points, n_pairs)
    margin = ROUNDING * (np.abs(points) + guess)
    end = np.maximum(np.searchsorted(points, points + (guess + margin), side="right"), next_point)
    if n_pairs <= (end - next_point).sum() <= 2 * n_pairs + len(z):
        rows, columns = expand(next_point, end)
        distances = points[columns] - points[rows]
        # Every pair within the guess is on the list, so if those suffice nothing closer is missed.
        if np.count_nonzero(distances <= guess) >= n_pairs:
            kept = smallest(distances, n_pairs, rng)
            return order[rows[kept]], order[columns[kept]]
    begin, end = reach(points, kth_smallest_distance(points, n_pairs))
    rows, columns = expand(next_point, begin)
    tied_rows, tied_columns = draw(begin, end, n_pairs - len(rows), rng)
    return (
        order[np.concatenate([rows, tied_rows])],
        order[np.concatenate([columns, tied_columns])],
    )


def smallest(distances: Array, size: int, rng: RNGLike) -> Index:
    """Return where the `size` smallest distances stand; ties at the end are drawn by `rng`."""
    threshold = np.partition(distances, size - 1)[size - 1]
    closer, tied = np.flatnonzero(distances < threshold), np.flatnonzero(distances == threshold)
    missing = size - len(closer)
    if missing < len(tied):
        tied = tied[_sample(len(tied), missing, rng)]
    return np.concatenate([closer, tied])


def draw(starts: Index, stops: Index, size: int, rng: RNGLike) -> tuple[Index, Index]:
    """Draw `size` of the (row, column) with ``starts[row] <= column < stops[row]``."""
    available = int((stops - starts).sum())
    if available == size:
        return expand(starts, stops)
    return pick(starts, stops, _sample(available, size, rng))


def _sample(available: int, size: int, rng: RNGLike) -> Index:
    return np.sort(as_generator(rng).choice(available, size, replace=False, shuffle=False))


def _guess_distance(points: Array, n_pairs: int) -> float:
    """Guess a distance that encloses slightly more than `n_pairs` pairs, from a few points."""
    n = len(points)
    probes = np.unique(np.linspace(0, n - 1, PROBES).astype(np.intp))
    wanted = 1.05 * n_pairs * len(probes) / n
    low, high = 0.0, float(points[-1] - points[0])
    for _ in range(50):
        middle = (low + high) / 2
        following = np.searchsorted(points, points[probes] + middle, side="right") - probes - 1
        if following.sum() < wanted:
            low = middle
        else:
            high = middle
    return high
