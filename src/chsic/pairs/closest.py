"""The paper's choice of pairs: the K closest in the confounder z (eqs. 12 and 13)."""

from __future__ import annotations

import numpy as np

from chsic._util.validate import RNGLike, as_generator
from chsic.data.arguments import Data, as_columns
from chsic.kernels.bandwidth import standard_deviations
from chsic.pairs.blind import complete_pairs
from chsic.pairs.graph import PairGraph, count_pairs, max_pairs
from chsic.pairs.in_space import closest_in_space
from chsic.pairs.on_line import closest_on_line


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
    columns = as_columns("z", z)
    n = len(columns)
    n_pairs = count_pairs(n, alpha)
    if n_pairs == max_pairs(n):
        return complete_pairs(n)
    scale = standard_deviations("z", columns)
    tie_rng = as_generator(0 if rng is None else rng)
    if columns.shape[1] == 1:
        return PairGraph.from_intervals(*closest_on_line(columns[:, 0], n_pairs, tie_rng))
    a, b = closest_in_space(columns, scale, n_pairs, tie_rng)
    return PairGraph(np.minimum(a, b), np.maximum(a, b), n)
