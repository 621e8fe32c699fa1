"""Dense engine: exact traces of kernel matrices for any kernel, one row tile at a time.

Nothing of size L x L is ever held. Time grows as L^2, plus alpha L^2 cheap operations of a
sparse product; memory is a few tiles.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from chsic._validate import Array, Index
from chsic.kernels import Kernel
from chsic.pairs import PairGraph

CACHED_TILE_BYTES = 2**21  # fits a cache: 1 to 4 MB were equally fast, 32 MB twice as slow
LARGEST_TILE_BYTES = 2**25  # bounds the memory: about eight tiles are alive at once


def laplacian_trace(x: Array, y: Array, graph: PairGraph, kernel: Kernel) -> float:
    """Return tr(Lap K Lap Q), which is tr(Kb Qb) of eq. 18 in Laplacian form.

    With D the incidence matrix of the pairs, the paper's 4-tuple matrices are Kb = D' K D and
    Qb = D' Q D, so tr(Kb Qb) = tr(D D' K D D' Q) = tr(Lap K Lap Q): L^2 kernel values instead of
    four for each pair of pairs.

    Parameters
    ----------
    x, y : array, shape (L, d)
        Samples in units of their bandwidths.
    """
    lap = graph.laplacian()
    order = reverse_cuthill_mckee(lap, symmetric_mode=True)
    order = order[lap.diagonal()[order] > 0]  # a sample without partners contributes nothing
    # In this order the partners of a tile's rows are few and nearby, so little is computed twice.
    x, y, lap = x[order], y[order], lap[order][:, order]
    n = len(order)
    lowest = _lowest_partner_from(lap)
    total = 0.0
    # Rows outside a tile that its pairs reach are computed for that tile alone, about one for
    # each partner of a sample; a tile of several times that height keeps this small.
    for start, stop in _tiles(n, n, least_height=4 * lap.nnz // n):
        first = lowest[start]
        lap_k = _laplacian_times_kernel(lap[start:stop], x, first, kernel)
        lap_k_lap = lap[start:, first:] @ lap_k.T
        q = kernel.matrix(y[start:stop], y[start:])
        total += _symmetric_sum(q * lap_k_lap.T, stop - start)
    return total


def centred_trace(x: Array, y: Array, kernel: Kernel) -> float:
    """Return tr(P K P Q) with P the centring matrix, as in eq. 6.

    The first pass gives the row means, the second adds up the products of centred entries:
    no large numbers are subtracted at the end.
    """
    n = len(x)
    mean_k, mean_q = _row_means(x, kernel), _row_means(y, kernel)
    total = 0.0
    for start, stop in _tiles(n, n):
        centred = _centred_tile(x, mean_k, start, stop, kernel)
        centred *= _centred_tile(y, mean_q, start, stop, kernel)
        total += _symmetric_sum(centred, stop - start)
    return total


def _tiles(n_rows: int, n_columns: int, least_height: int = 1) -> Iterator[tuple[int, int]]:
    row_bytes = 8 * n_columns
    height = max(least_height, CACHED_TILE_BYTES // row_bytes)
    height = max(1, min(height, LARGEST_TILE_BYTES // row_bytes))
    for start in range(0, n_rows, height):
        yield start, min(start + height, n_rows)


def _symmetric_sum(strip: Array, width: int) -> float:
    """Sum a symmetric matrix from a strip of its rows, from the diagonal on."""
    return float(strip[:, :width].sum() + 2 * strip[:, width:].sum())


def _lowest_partner_from(lap: csr_array) -> Index:
    """Return for each row the lowest column that it or any later row needs."""
    lowest: Index = np.minimum.reduceat(lap.indices, lap.indptr[:-1])
    return np.minimum.accumulate(lowest[::-1])[::-1]


def _laplacian_times_kernel(rows: csr_array, x: Array, first: int, kernel: Kernel) -> Array:
    """Return rows of Lap K from column `first` on, evaluating K only where the rows need it."""
    product = np.zeros((rows.shape[0], len(x) - first))
    partners = np.unique(rows.indices)
    for start, stop in _tiles(len(partners), len(x)):
        chunk = partners[start:stop]
        product += rows[:, chunk] @ kernel.matrix(x[chunk], x[first:])
    return product


def _row_means(x: Array, kernel: Kernel) -> Array:
    n = len(x)
    sums = np.zeros(n)
    for start, stop in _tiles(n, n):
        strip = kernel.matrix(x[start:stop], x[start:])
        sums[start:stop] += strip.sum(axis=1)
        sums[stop:] += strip[:, stop - start :].sum(axis=0)
    return sums / n


def _centred_tile(x: Array, mean: Array, start: int, stop: int, kernel: Kernel) -> Array:
    strip = kernel.matrix(x[start:stop], x[start:])
    strip -= mean[start:stop, np.newaxis]
    strip -= mean[start:] - mean.mean()
    return strip
