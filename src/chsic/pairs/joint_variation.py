"""Whether x and y differ within the same pairs: if they never do, C-HSIC is exactly zero."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chsic._util.validate import Array, Index
from chsic.pairs.graph import Intervals, PairGraph

CHUNK = 2**20  # pairs that are looked at together


def vary_together(graph: PairGraph, x: Array, y: Array) -> bool:
    """Tell whether any pair differs in both `x` and `y`, of shape (n, d) each.

    C-HSIC is a sum of products of differences over pairs (eq. 18), which are zero if it does not.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.pairs import PairGraph
    >>> from chsic.pairs.joint_variation import vary_together
    >>> x, y = np.array([[0.0, 1.0, 1.0, 1.0]]).T, np.array([[0.0, 0.0, 0.0, 5.0]]).T
    >>> [vary_together(PairGraph(*pairs, 4), x, y) for pairs in (([0, 2], [1, 3]), ([0], [3]))]
    [False, True]
    """
    if graph.is_complete_in_blocks:
        # In a block in which both vary: of samples i, j that differ in x, and k that differs in y
        # from i and j if those are equal in y, one pair differs in both.
        return bool(np.any(_blocks_that_vary(graph, x) & _blocks_that_vary(graph, y)))
    if graph.intervals is not None and _in_runs(graph.intervals, x, y):
        return True
    i, j = graph.listed
    return any(
        differ_in_both(x, y, i[start : start + CHUNK], j[start : start + CHUNK])
        for start in range(0, len(i), CHUNK)
    )


def differ_in_both(x: Array, y: Array, i: Index, j: Index) -> bool:
    """Tell whether any of some pairs differs in both."""
    return bool(np.any(_differ(x[i], x[j]) & _differ(y[i], y[j])))


def _differ(a: Array, b: Array) -> NDArray[np.bool_]:
    differ: NDArray[np.bool_] = (a != b).any(axis=1)
    return differ


def _blocks_that_vary(graph: PairGraph, values: Array) -> NDArray[np.bool_]:
    """Tell for each block whether rows of `values` in it differ."""
    order = np.argsort(graph.blocks, kind="stable")
    ordered, blocks = values[order], graph.blocks[order]
    changes = _differ(ordered[1:], ordered[:-1]) & (blocks[1:] == blocks[:-1])
    return np.bincount(blocks[1:][changes], minlength=graph.n_blocks) > 0


def _in_runs(runs: Intervals, x: Array, y: Array) -> bool:
    """Look at partners that are 1, 2, 3, ... positions behind a sample."""
    x, y = x[runs.order], y[runs.order]
    first, lag = np.arange(len(runs.order)), 1
    while len(first := first[runs.stops[first] > first + lag]):
        if differ_in_both(x, y, first, first + lag):
            return True
        lag += 1
    return False
