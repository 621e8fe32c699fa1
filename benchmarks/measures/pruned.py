"""C-HSIC as the paper has it, without its floor, as a coefficient, and as our test gives it."""

import numpy as np
from benchmarks.measures.kernel import median_distance
from scipy.spatial.distance import pdist

import chsic
from chsic.data.arguments import as_columns
from chsic.kernels import KERNELS
from chsic.kernels.bandwidth import in_bandwidths
from chsic.measure.engines.overlap import overlap_sum


def hsic(x, y, z):
    """HSIC, eq. 6: what remains when z is ignored."""
    return chsic.hsic(x, y)


def raw(x, y, z, *, alpha=4, bandwidth="paper"):
    """C-HSIC, eq. 18."""
    return chsic.chsic(x, y, z, alpha=alpha, bandwidth=_resolved(x, y, bandwidth))


def debiased(x, y, z, *, alpha=4, bandwidth="paper"):
    """C-HSIC over pairs of pairs that share no sample: zero on average under independence.

    (T - overlap) / (4 (K^2 - sum_i d_i^2 + K)), with C-HSIC = T / (4 K^2) and d_i the degrees.
    """
    bandwidth = _resolved(x, y, bandwidth)
    graph = chsic.closest_pairs(z, alpha)
    scaled = in_bandwidths(as_columns("x", x), as_columns("y", y), bandwidth)
    overlap = overlap_sum(*scaled, graph, KERNELS["gaussian"])
    degrees = np.bincount(np.concatenate([graph.i, graph.j]))
    n_disjoint = graph.n_pairs**2 - int((degrees**2).sum()) + graph.n_pairs
    total = 4 * graph.n_pairs**2 * chsic.chsic(x, y, z, pairs=graph, bandwidth=bandwidth)
    return (total - overlap) / (4 * n_disjoint)


def coefficient(x, y, z, **settings):
    """D(x, y) / sqrt(D(x, x) D(y, y)), D the debiased estimate: free of the kernels' scale."""
    d_xy, d_xx, d_yy = (debiased(a, b, z, **settings) for a, b in ((x, y), (x, x), (y, y)))
    return d_xy / np.sqrt(d_xx * d_yy)


def _resolved(x, y, bandwidth):
    """Take medians over different values, as the other measures do: discrete samples have ties."""
    if bandwidth != "median":
        return bandwidth
    return tuple(median_distance(pdist(values[:, np.newaxis])) for values in (x, y))


def adjusted_coefficient(x, y, z):
    """`coefficient` of `chsic.chsic_test`: z is regressed out before pairs are compared."""
    return chsic.chsic_test(x, y, z, rng=0).coefficient
