"""Disjoint blocks of neighbours in z, and all pairs inside them."""

from __future__ import annotations

import numpy as np
from scipy.spatial import KDTree

from chsic._util.validate import Array, Index, RNGLike, as_count, as_generator
from chsic.data.arguments import Data, as_columns
from chsic.kernels.bandwidth import standard_deviations
from chsic.pairs.graph import Intervals, PairGraph
from chsic.pairs.nearest_neighbours import sorted_with_ties


def block_pairs(z: Data, size: int, *, rng: RNGLike | None = None) -> PairGraph:
    """Split the samples into disjoint blocks of neighbours in z and keep all pairs inside.

    Parameters
    ----------
    z : array_like, shape (n,) or (n, d)
        The confounder. On a line blocks are contiguous. In several dimensions samples, each
        column divided by its standard deviation, are matched with their nearest, the pairs with
        the nearest pairs, and so on.
    size : int
        Number of samples in a block, about; in several dimensions the mean is between that and
        twice as many.
    rng : None, int or numpy.random.Generator
        Orders samples with equal z; None with a fixed seed.

    Returns
    -------
    PairGraph
        With its blocks in ``blocks``.

    Examples
    --------
    >>> import chsic
    >>> chsic.block_pairs([0.0, 0.1, 5.0, 5.1, 9.0, 9.1], 2).blocks
    array([0, 0, 1, 1, 2, 2])
    """
    columns = as_columns("z", z)
    size = as_count("size", size, minimum=2)
    generator = as_generator(0 if rng is None else rng)
    if size > len(columns):
        raise ValueError(f"size: at most the {len(columns)} samples, got {size}.")
    if columns.shape[1] == 1:
        return complete_in_blocks(blocks_on_line(columns[:, 0], size, generator))
    scaled = columns / standard_deviations("z", columns)
    return complete_in_blocks(blocks_in_space(scaled, size, generator))


def blocks_on_line(z: Array, size: int, rng: np.random.Generator) -> Index:
    """Cut the order of z into blocks of nearly equal size."""
    blocks = np.empty(len(z), np.intp)
    number = max(1, len(z) // size)
    blocks[sorted_with_ties(z, rng)] = np.arange(len(z)) * number // len(z)
    return blocks


def blocks_in_space(z: Array, size: int, rng: np.random.Generator) -> Index:
    """Match nearest groups with each other until they hold `size` samples on average."""
    blocks = rng.permutation(len(z))  # rows of equal z in an order that tells nothing
    n_blocks = len(z)
    while n_blocks > 1 and len(z) < size * n_blocks:
        sizes = np.bincount(blocks)
        centres = np.stack([np.bincount(blocks, column) / sizes for column in z.T], axis=1)
        blocks = _match(centres)[blocks]
        n_blocks = int(blocks.max()) + 1
    return blocks


def _match(points: Array) -> Index:
    """Give mutual nearest neighbours the same number, and so on among those without one."""
    partner = np.full(len(points), -1, np.intp)
    # Equal points first: each of them is nearest to the same one, and few would be mutual.
    order = np.lexsort(points.T)
    equal = np.all(points[order[1:]] == points[order[:-1]], axis=1)
    run = np.arange(len(equal)) - np.maximum.accumulate(np.where(equal, -1, np.arange(len(equal))))
    first = np.flatnonzero(equal & (run % 2 == 1))
    partner[order[first]], partner[order[first + 1]] = order[first + 1], order[first]
    single = np.flatnonzero(partner < 0)
    while len(single) > 1:
        _, neighbours = KDTree(points[single]).query(points[single], 2)
        here = np.arange(len(single))
        nearest = np.where(neighbours[:, 0] == here, neighbours[:, 1], neighbours[:, 0])
        mutual = nearest[nearest] == here
        if not mutual.any():  # only equal points can be in a circle
            mutual[here[0]] = mutual[nearest[here[0]]] = True
            nearest[nearest[here[0]]] = here[0]
        partner[single[mutual]] = single[nearest[mutual]]
        single = single[~mutual]
    if len(single):  # an odd one joins the group of its nearest
        others = np.delete(np.arange(len(points)), single)
        partner[single[0]] = others[KDTree(points[others]).query(points[single[0]])[1]]
    roots = np.minimum(np.arange(len(points)), partner)
    roots[single] = roots[partner[single]]
    return np.unique(roots, return_inverse=True)[1].astype(np.intp)


def complete_in_blocks(blocks: Index) -> PairGraph:
    """Return all pairs inside blocks, as runs."""
    order = np.argsort(blocks, kind="stable")
    ends = np.cumsum(np.bincount(blocks))
    none = np.empty(0, np.intp)
    runs = Intervals(order, ends[blocks[order]])
    return PairGraph.from_intervals(runs, none, none, blocks=blocks)
