"""Pairs of nearest neighbours in z: every sample gets partners, in dense regions and in sparse."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from chsic._util.validate import Array, Index, RNGLike, as_generator
from chsic.data.arguments import Data, as_columns
from chsic.kernels.bandwidth import standard_deviations
from chsic.pairs.graph import Intervals, PairGraph, count_pairs
from chsic.pairs.neighbour_lists import CHUNK, Neighbours, narrow_type
from chsic.pairs.strata import strata_of

JITTER = 1e-12  # of the largest value: far below any distance that means something


def nearest_pairs(z: Data, alpha: float, *, rng: RNGLike | None = None) -> PairGraph:
    """Pair every sample with its neighbours in z.

    The closest pairs of the paper lie where z is dense, and samples in sparse regions have no
    partner: z is weighted by the square of its density. Here every sample counts about equally.

    Parameters
    ----------
    z : array_like, shape (n,) or (n, d)
        The confounder. Several columns are compared by Euclidean distance after dividing each by
        its standard deviation.
    alpha : float
        Number of neighbours. On a line, alpha / 2 on each side (rounded); in several dimensions
        the alpha nearest (rounded), and those whose neighbour a sample is.
    rng : None, int or numpy.random.Generator
        Orders samples with equal z; None with a fixed seed, as for `closest_pairs`.

    Returns
    -------
    PairGraph

    Examples
    --------
    >>> import chsic
    >>> graph = chsic.nearest_pairs([0.0, 0.1, 0.2, 5.0, 9.0], alpha=2)
    >>> sorted(zip(graph.i.tolist(), graph.j.tolist()))
    [(0, 1), (1, 2), (2, 3), (3, 4)]
    """
    columns = as_columns("z", z)
    count_pairs(len(columns), alpha)
    generator = as_generator(0 if rng is None else rng)
    if columns.shape[1] == 1:
        return nearest_on_line(sorted_with_ties(columns[:, 0], generator), alpha)
    return nearest_in_space(columns / standard_deviations("z", columns), alpha, generator)


def nearest_on_line(order: Index, alpha: float, categories: Index | None = None) -> PairGraph:
    """Pair with the next alpha / 2 in an order: a run, however large alpha is.

    The order is that of `categories`, if there are any, and pairs do not cross them.
    """
    n = len(order)
    reach = max(1, round(alpha / 2))
    stops: Index = np.minimum(np.arange(1, n + 1) + reach, n)
    if categories is not None:
        ends = np.cumsum(np.bincount(categories))
        stops = np.minimum(stops, ends[categories[order]])
    none = np.empty(0, np.intp)
    return PairGraph.from_intervals(Intervals(order, stops), none, none)


def nearest_in_space(z: Array, alpha: float, rng: np.random.Generator) -> PairGraph:
    """Pair with the alpha nearest rows of `z`."""
    return PairGraph.from_lists(Neighbours.of_directed(_nearest(z, alpha, rng)))


def nearest_in_categories(
    z: Array, categories: Index, alpha: float, rng: np.random.Generator
) -> PairGraph:
    """Pair with the alpha nearest rows of `z` in the same category, or all if there are fewer."""
    n = len(z)
    order = np.argsort(categories, kind="stable")
    ends = np.cumsum(np.bincount(categories)).tolist()
    nearest = np.repeat(np.arange(n, dtype=narrow_type(n))[:, np.newaxis], _number(alpha), axis=1)
    for start, end in zip([0, *ends], ends, strict=False):
        inside = order[start:end]
        if len(inside) > 1:
            here = inside[_nearest(z[inside], min(alpha, len(inside) - 1), rng)]
            nearest[inside, : here.shape[1]] = here
    return PairGraph.from_lists(Neighbours.of_directed(nearest))


def _number(alpha: float) -> int:
    """Return how many rows to look for: the sample itself is among them."""
    return max(1, round(alpha)) + 1


def _nearest(z: Array, alpha: float, rng: np.random.Generator) -> NDArray[np.integer]:
    """Return for each row of `z` the nearest ones, most often itself and alpha others."""
    n = len(z)
    if strata_of(z).max() + 1 < n:
        # A tree would give the same few neighbours to all samples of equal z.
        z = z + JITTER * np.abs(z).max() * rng.uniform(-1, 1, z.shape)
    # A tree returns ties in the order of its rows, which must not carry information.
    shuffled = rng.permutation(n)
    tree = KDTree(z[shuffled])
    asked = tree.indices  # one leaf after the other, so that what is looked at is in the cache
    nearest = np.empty((n, _number(alpha)), narrow_type(n))
    for start in range(0, n, CHUNK):
        rows = asked[start : start + CHUNK]
        _, neighbours = tree.query(tree.data[rows], nearest.shape[1])
        nearest[shuffled[rows]] = shuffled[neighbours]
    return nearest


def sorted_with_ties(z: Array, rng: np.random.Generator) -> Index:
    """Return an order that sorts `z`, equal values in random order."""
    shuffled = rng.permutation(len(z))
    return shuffled[np.argsort(z[shuffled], kind="stable")]
