"""The part of C-HSIC that is positive whether or not x and y are related."""

from __future__ import annotations

import numpy as np

from chsic._util.validate import Array, Index
from chsic.kernels import Kernel
from chsic.kernels.line_distances import pick
from chsic.pairs import PairGraph

CHUNK = 2**20  # triples of samples looked at together


def overlap_sum(x: Array, y: Array, graph: PairGraph, kernel: Kernel) -> float:
    """Return the part of tr(Kb Qb), eq. 18, from pairs of pairs that share a sample.

    Pairs of pairs without a common sample average to zero when x and y are independent given z
    (and z is equal within pairs); the others do not. They are counted by their common sample i:
    the sum over i and its partners j, j' of [Kb] [Qb] at (ij, ij'), in which a pair with itself
    comes up from both of its ends and is taken off once. Costs the sum of squared degrees.
    """
    ends = np.concatenate([graph.i, graph.j])
    by_sample = np.argsort(ends, kind="stable")
    centre, partner = ends[by_sample], np.concatenate([graph.j, graph.i])[by_sample]
    degree_ends = np.searchsorted(centre, centre, side="right")
    degree_starts = np.searchsorted(centre, centre, side="left")
    total = -_products(x, y, kernel, graph.i, graph.j, graph.j)
    n_triples = int((degree_ends - degree_starts).sum())
    for start in range(0, n_triples, CHUNK):
        ranks = np.arange(start, min(start + CHUNK, n_triples))
        edge, other = pick(degree_starts, degree_ends, ranks)
        total += _products(x, y, kernel, centre[edge], partner[edge], partner[other])
    return total


def _products(x: Array, y: Array, kernel: Kernel, i: Index, j: Index, k: Index) -> float:
    """Sum of [Kb] [Qb] between the pairs (i, j) and (i, k)."""
    of_x, of_y = (_entries(values, kernel, i, j, k) for values in (x, y))
    return float((of_x * of_y).sum())


def _entries(x: Array, kernel: Kernel, i: Index, j: Index, k: Index) -> Array:
    def kappa(a: Index, b: Index) -> Array:
        return kernel.kappa(np.sqrt(((x[a] - x[b]) ** 2).sum(axis=1)))

    # K11 + K22 - K12 - K12^H at the pairs (i, j) and (i, k): kappa of i and i, j and k, ...
    return kappa(i, i) + kappa(j, k) - kappa(i, k) - kappa(j, i)
