"""Closest pairs of a one-dimensional z, from its sorted values."""

from __future__ import annotations

import numpy as np

from chsic._line import expand, kth_smallest_distance, pick, reach
from chsic._validate import Array, Index, RNGLike, as_generator


def closest_on_line(z: Array, n_pairs: int, rng: RNGLike) -> tuple[Index, Index]:
    """Return the `n_pairs` closest pairs of the values `z`; ties at the end are drawn by `rng`."""
    order = np.argsort(z, kind="stable")
    points = z[order]
    next_point = np.arange(1, len(z) + 1)
    begin, end = reach(points, kth_smallest_distance(points, n_pairs))
    rows, columns = expand(next_point, begin)
    tied_rows, tied_columns = draw(begin, end, n_pairs - len(rows), rng)
    return (
        order[np.concatenate([rows, tied_rows])],
        order[np.concatenate([columns, tied_columns])],
    )


def draw(starts: Index, stops: Index, size: int, rng: RNGLike) -> tuple[Index, Index]:
    """Draw `size` of the (row, column) with ``starts[row] <= column < stops[row]``."""
    available = int((stops - starts).sum())
    if available == size:
        return expand(starts, stops)
    ranks = as_generator(rng).choice(available, size, replace=False, shuffle=False)
    return pick(starts, stops, np.sort(ranks))
