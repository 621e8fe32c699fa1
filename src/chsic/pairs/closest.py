"""The paper's choice of pairs: the K closest in the confounder z (eqs. 12 and 13).

On a line they follow from the sorted values of z: each sample goes with a run of those behind it.
"""

from __future__ import annotations

import numpy as np

from chsic._util.validate import Array, Index, RNGLike, as_generator
from chsic.data.arguments import Data, as_columns
from chsic.kernels.bandwidth import standard_deviations
from chsic.kernels.line_distances import kth_smallest_distance, partners_within
from chsic.pairs.closest_kdtree import closest_in_space, draw
from chsic.pairs.graph import Intervals, PairGraph, count_pairs, expand, max_pairs
from chsic.pairs.unconditional import complete_pairs

ROUNDING = 4 * np.finfo(float).eps  # of z + distance, relative
LONGEST_LIST = 0.5  # pairs listed for each sample at the most
PROBES = 4096  # points whose neighbours are counted to guess the distance sought
GUESS_MARGIN = 0.05  # of the pairs enclosed by a guess: four times what the probes leave unsure
PART = 2**17  # points looked at together


def closest_pairs(z: Data, alpha: float, *, rng: RNGLike | None = None) -> PairGraph:
    """Keep the K = floor(n alpha / 2) pairs of samples whose z are closest.

    The same pairs as sorting all n (n - 1) / 2 distances would give, found in O(n log n + K) for
    one column and with a k-d tree for several.

    Parameters
    ----------
    z : array_like, shape (n,) or (n, d)
        The confounder. Distance is abs(z_l - z_l') for one column, and Euclidean on columns divided
        by their standard deviations for several, so that units do not matter.
    alpha : float
        Mean number of partners of a sample, between 1 and n - 1 (eq. 13).
    rng : None, int or numpy.random.Generator
        Decides between *tied* pairs, when more pairs lie exactly at the largest distance kept
        than there is room for (a discrete z, say): that many are drawn from them, each set of
        them being equally likely. None draws with a fixed seed, so that the same z always gives
        the same pairs. Ties are distances equal in double precision: 0.3 - 0.2 and 0.2 - 0.1 are
        not, so give a z measured in tenths as whole numbers if its ties should be treated as such.

    Returns
    -------
    PairGraph

    Examples
    --------
    >>> import chsic
    >>> graph = chsic.closest_pairs([0.0, 0.1, 5.0, 5.3], alpha=1)
    >>> [(int(i), int(j)) for i, j in zip(graph.i, graph.j)]
    [(0, 1), (2, 3)]
    """
    return closest_rows(as_columns("z", z), alpha, rng)


def closest_rows(z: Array, alpha: float, rng: RNGLike | None) -> PairGraph:
    """Return `closest_pairs` of a z of clean columns.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.pairs.closest import closest_rows
    >>> closest_rows(np.array([[0.0], [0.1], [5.0], [5.3]]), 1.0, None)
    PairGraph(n_samples=4, n_pairs=2)
    """
    n = len(z)
    n_pairs = count_pairs(n, alpha)
    if n_pairs == max_pairs(n):
        return complete_pairs(n)
    scale = standard_deviations("z", z)
    tie_rng = as_generator(0 if rng is None else rng)
    if z.shape[1] == 1:
        return PairGraph.from_intervals(*_closest_on_line(z[:, 0], n_pairs, tie_rng))
    a, b = closest_in_space(z, scale, n_pairs, tie_rng)
    return PairGraph(np.minimum(a, b), np.maximum(a, b), n)


def _closest_on_line(
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
    begin, end = _partners_of_closest(points, n_pairs)
    missing = n_pairs - Intervals(order, begin).n_pairs
    if missing == (end - begin).sum():
        none = np.empty(0, np.intp)
        return Intervals(order, end), none, none
    rows, columns = draw(begin, end, missing, rng)
    a, b = order[rows], order[columns]
    return Intervals(order, begin), np.minimum(a, b), np.maximum(a, b)


def _partners_of_closest(points: Array, n_pairs: int) -> tuple[Index, Index]:
    """Return `partners_within` the `n_pairs`-th smallest distance.

    Two guesses of that distance, made from a few points, hold it between them as a rule: only the
    pairs between the two are listed, and the distance is selected from the list. Where they do
    not, or where the list would be long, as when ties abound, it is selected without a list.
    """
    if n_pairs <= LONGEST_LIST / (2 * GUESS_MARGIN) * len(points):
        partners = _partners_between(points, n_pairs, *_guess_distances(points, n_pairs))
        if partners is not None:
            return partners
    return partners_within(points, kth_smallest_distance(points, n_pairs))


def _partners_between(
    points: Array, n_pairs: int, low: float, high: float
) -> tuple[Index, Index] | None:
    """Return `partners_within` the `n_pairs`-th smallest distance if it is in [low, high]."""
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
