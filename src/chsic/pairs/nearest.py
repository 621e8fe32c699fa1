"""Pairs of nearest neighbours in z: every sample gets partners, in dense regions and in sparse."""

from __future__ import annotations

import numpy as np
from scipy.spatial import KDTree

from chsic._validate import Array, Index, RNGLike, as_generator
from chsic.bandwidth import standard_deviations
from chsic.columns import Data, as_columns
from chsic.distinct import distinct
from chsic.pairs.graph import PairGraph, count_pairs
from chsic.pairs.intervals import Intervals
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
    n = len(z)
    k = max(1, round(alpha))
    if strata_of(z).max() + 1 < n:
        # A tree would give the same few neighbours to all samples of equal z.
        z = z + JITTER * np.abs(z).max() * rng.uniform(-1, 1, z.shape)
    # A tree returns ties in the order of its rows, which must not carry information.
    shuffled = rng.permutation(n)
    tree = KDTree(z[shuffled])
    asked = tree.indices  # one leaf after the other, so that what is looked at is in the cache
    _, found = tree.query(tree.data[asked], k + 1)
    i, j = shuffled[np.repeat(asked, k + 1)], shuffled[found.ravel()]
    keys = distinct(np.minimum(i, j) * n + np.maximum(i, j))
    i, j = np.divmod(keys, n)
    apart = i != j
    return PairGraph.from_listed(i[apart], j[apart], n)


def nearest_in_categories(
    z: Array, categories: Index, alpha: float, rng: np.random.Generator
) -> PairGraph:
    """Pair with the alpha nearest rows of `z` in the same category, or all if there are fewer."""
    order = np.argsort(categories, kind="stable")
    ends = np.cumsum(np.bincount(categories)).tolist()
    found = [np.empty((2, 0), np.intp)]
    for start, end in zip([0, *ends], ends, strict=False):
        inside = order[start:end]
        if len(inside) > 1:
            graph = nearest_in_space(z[inside], min(alpha, len(inside) - 1), rng)
            found.append(inside[np.array(graph.listed)])
    i, j = np.concatenate(found, axis=1)
    return PairGraph.from_listed(np.minimum(i, j), np.maximum(i, j), len(z))


def sorted_with_ties(z: Array, rng: np.random.Generator) -> Index:
    """Return an order that sorts `z`, equal values in random order."""
    shuffled = rng.permutation(len(z))
    return shuffled[np.argsort(z[shuffled], kind="stable")]
