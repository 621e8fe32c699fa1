"""Pairs chosen without looking at z: all of them, or some at random."""

from __future__ import annotations

import numpy as np

from chsic._util.validate import MIN_SAMPLES, RNGLike, as_count, as_generator
from chsic.pairs.graph import Intervals, PairGraph, count_pairs, max_pairs


def complete_pairs(n: int) -> PairGraph:
    """Keep all L (L - 1) / 2 pairs: no conditioning, C-HSIC becomes HSIC.

    The pairs are listed, 16 bytes each, only if `i` or `j` is asked for.

    Parameters
    ----------
    n : int
        Number of samples.

    Returns
    -------
    PairGraph

    Examples
    --------
    >>> import chsic
    >>> chsic.complete_pairs(5)
    PairGraph(n_samples=5, n_pairs=10)
    """
    n = as_count("n", n, minimum=MIN_SAMPLES)
    none = np.empty(0, np.intp)
    return PairGraph.from_intervals(Intervals(np.arange(n), np.full(n, n)), none, none)


def random_pairs(n: int, alpha: float, rng: RNGLike | None = None) -> PairGraph:
    """Keep K = floor(n alpha / 2) pairs drawn at random: the paper's control.

    Pairs that ignore z measure marginal dependence, like HSIC but with a larger variance.

    Parameters
    ----------
    n : int
        Number of samples.
    alpha : float
        Mean number of partners of a sample, between 1 and n - 1.
    rng : None, int or numpy.random.Generator
        Source of randomness; an integer makes the draw repeatable, None draws afresh.

    Returns
    -------
    PairGraph

    Examples
    --------
    >>> import chsic
    >>> chsic.random_pairs(100, 4, rng=0)
    PairGraph(n_samples=100, n_pairs=200)
    """
    n = as_count("n", n, minimum=MIN_SAMPLES)
    n_pairs = count_pairs(n, alpha)
    ranks = as_generator(rng).choice(max_pairs(n), n_pairs, replace=False, shuffle=False)
    # Pair (i, j), i < j, has rank j (j - 1) / 2 + i. The square root finds j up to rounding.
    j = ((1 + np.sqrt(1 + 8.0 * ranks)) / 2).astype(np.intp)
    j -= ranks < j * (j - 1) // 2
    j += ranks >= j * (j + 1) // 2
    return PairGraph(ranks - j * (j - 1) // 2, j, n)
