"""Closest pairs of a z of several columns, with a k-d tree."""

from __future__ import annotations

import numpy as np
from scipy.spatial import KDTree

from chsic._util.validate import Array, Index
from chsic.kernels.line_distances import pick
from chsic.pairs.graph import expand

PROBES = 1000  # points whose neighbourhoods give a first guess of the distance sought
ROUNDING = 1e-14  # of coordinates; the tree's distances and ours differ by less than this


def closest_in_space(
    z: Array, scale: Array, n_pairs: int, rng: np.random.Generator
) -> tuple[Index, Index]:
    """Return the `n_pairs` closest pairs of the rows of `z`; ties at the end are drawn by `rng`.

    Distance is Euclidean after dividing columns by `scale`. Rows that repeat are handled once, as
    one point with a weight: a z with few distinct rows has far too many pairs at distance zero to
    list.
    """
    order = np.lexsort(z.T[::-1])
    starts = np.flatnonzero(np.r_[True, np.any(np.diff(z[order], axis=0) != 0, axis=1)])
    ends = np.r_[starts[1:], len(z)]
    weights = ends - starts

    # Pairs of equal rows: in sorted order, row p goes with every later row of its group.
    next_row = np.arange(1, len(z) + 1)
    group_end = np.repeat(ends, weights)
    n_equal = int((group_end - next_row).sum())
    rows, columns = draw(next_row, group_end, min(n_equal, n_pairs), rng)
    missing = n_pairs - len(rows)
    if missing:
        points = z[order[starts]]
        a, b, distance = _near_pairs(points, weights, scale, missing)
        # Pair (a, b) of points stands for weights[a] weights[b] pairs of rows.
        products = weights[a] * weights[b]
        threshold = distance[np.searchsorted(np.cumsum(products), missing)]
        closer, tied = distance < threshold, distance == threshold
        n_closer = int(products[closer].sum())
        for chosen, size in ((closer, n_closer), (tied, missing - n_closer)):
            pair, member = draw(np.zeros_like(a[chosen]), products[chosen], size, rng)
            of_a, of_b = np.divmod(member, weights[b[chosen]][pair])
            rows = np.concatenate([rows, starts[a[chosen]][pair] + of_a])
            columns = np.concatenate([columns, starts[b[chosen]][pair] + of_b])
    return order[rows], order[columns]


def _near_pairs(
    points: Array, weights: Index, scale: Array, n_pairs: int
) -> tuple[Index, Index, Array]:
    """Return the pairs within a radius that holds at least `n_pairs`, ascending in distance."""
    # Centred, so that values far from the origin do not lose their digits in the division.
    tree = KDTree((points - np.median(points, axis=0)) / scale)
    margin = ROUNDING * float(np.abs(tree.data).max())
    radius = margin + _enclosing_radius(tree, weights.astype(float), n_pairs, margin)
    a, b = tree.query_pairs(radius, output_type="ndarray").T
    # Differences before scaling: equal gaps of, say, integer columns stay exactly equal.
    distance = np.sqrt((((points[a] - points[b]) / scale) ** 2).sum(axis=1))
    if not distance.all():
        raise ValueError(
            "z: some values are so large that the distances between the others vanish beside them; "
            "drop the outliers, or replace z by its ranks."
        )
    ascending = np.lexsort((b, a, distance))
    return a[ascending], b[ascending], distance[ascending]


def _enclosing_radius(tree: KDTree, weights: Array, n_pairs: int, margin: float) -> float:
    """Return a radius with at least `n_pairs`, and if ties allow it not many more, pairs in it."""

    def count(radius: float) -> float:
        ordered = tree.count_neighbors(tree, max(radius - margin, 0), weights=weights)
        return float((ordered - weights @ weights) / 2)

    low, high = 0.0, _guess_radius(tree, weights, n_pairs)
    while count(high) < n_pairs:
        low, high = high, 1.2 * high
    while count(high) > 2 * n_pairs + tree.n and high - low > 1e-9 * high + margin:
        middle = (low + high) / 2
        if count(middle) < n_pairs:
            low = middle
        else:
            high = middle
    return high


def _guess_radius(tree: KDTree, weights: Array, n_pairs: int) -> float:
    """Guess the radius from the neighbourhoods of a few points; only the speed depends on it."""
    probes = np.unique(np.linspace(0, tree.n - 1, PROBES).astype(np.intp))
    n_neighbours = min(tree.n, 2 + 8 * n_pairs // tree.n)
    distances, neighbours = tree.query(tree.data[probes], k=n_neighbours)
    distances, neighbours = distances[:, 1:].ravel(), neighbours[:, 1:].ravel()
    ascending = np.argsort(distances)
    pairs_inside = np.repeat(weights[probes], n_neighbours - 1) * weights[neighbours]
    # Each pair is met from both of its ends, and only len(probes) of the points were asked.
    reached = np.cumsum(pairs_inside[ascending]) * tree.n / (2 * len(probes))
    rank = min(int(np.searchsorted(reached, n_pairs)), len(reached) - 1)
    return 1.05 * float(distances[ascending][rank])


def draw(starts: Index, stops: Index, size: int, rng: np.random.Generator) -> tuple[Index, Index]:
    """Draw `size` of the (row, column) with ``starts[row] <= column < stops[row]``."""
    available = int((stops - starts).sum())
    if available == size:
        return expand(starts, stops)
    ranks = rng.choice(available, size, replace=False, shuffle=False)
    return pick(starts, stops, np.sort(ranks))
