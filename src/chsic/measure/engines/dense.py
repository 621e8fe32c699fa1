"""Dense engine: exact for any kernel, from kernel values, one row tile at a time.

Nothing of size L x L is ever held: memory is a few tiles, and the pairs. Time grows as L^2 for
pairs that are local in some order, as closest pairs are, plus alpha L^2 cheap operations of a
sparse product. Random pairs are not local: up to alpha times as many kernel values are computed.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array

from chsic._util.arrays import sorted_unique
from chsic._util.parallel import in_order
from chsic._util.validate import Array, Index
from chsic.kernels import Kernel
from chsic.measure.engines.partial import TileSum
from chsic.pairs import PairGraph
from chsic.pairs.laplacian import local_order

CACHED_TILE_BYTES = 2**21  # of the size of a core's cache
LARGEST_TILE_BYTES = 2**25  # bounds the memory: about eight tiles are alive at once


def dense_sum(
    x: Array,
    y: Array,
    graph: PairGraph,
    kernel: Kernel,
    accuracy: float = 0.0,
    workers: int = 1,
    rows: tuple[int, int] | None = None,
) -> TileSum:
    """Add up rows of (Lap K Lap) * Q, exact up to the rounding of K and Q.

    Parameters
    ----------
    x, y : array, shape (n, d)
        Samples in bandwidths.
    graph : PairGraph
        All pairs.
    kernel : Kernel
        Any.
    accuracy : float
        Not needed.
    workers : int
        Threads.
    rows : pair of int, optional
        The first row of a shard and the one behind its last, counted in the order in which partners
        are near; all n rows if not given. What lies below the diagonal belongs to the row that it
        mirrors.
    """
    start, stop = (0, graph.n_samples) if rows is None else rows
    if graph.is_complete:
        value = len(x) ** 2 * centred_trace(x, y, kernel, workers, (start, stop))  # Lap = L P
        degrees = graph.degrees[start:stop]
    else:
        lap = graph.laplacian()
        order = local_order(lap)  # samples without partners contribute nothing
        lap = lap[order][:, order]
        value = laplacian_trace(x[order], y[order], lap, kernel, workers, (start, stop))
        degrees = graph.degrees[order[start:stop]]
    squares = float(degrees.astype(np.float64) @ (degrees + 1.0))
    return TileSum(value, 0.0, int(degrees.sum()), squares)


def laplacian_trace(
    x: Array, y: Array, lap: csr_array, kernel: Kernel, workers: int, rows: tuple[int, int]
) -> float:
    """Sum (Lap K Lap) * Q over some rows, and over the columns that mirror them.

    With D the incidence matrix of the pairs, the paper's 4-tuple matrices are Kb = D' K D and
    Qb = D' Q D, so tr(Kb Qb) = tr(D D' K D D' Q) = tr(Lap K Lap Q): L^2 kernel values instead of
    four for each pair of pairs.
    """
    # For each row, the lowest column that it or any later row has an entry in.
    lowest: Index = np.minimum.reduceat(lap.indices, lap.indptr[:-1])
    first_needed = np.minimum.accumulate(lowest[::-1])[::-1]

    def strip_sum(tile: tuple[int, int]) -> float:
        start, stop = tile
        first = int(first_needed[start])
        lap_k = _laplacian_times_kernel(lap[start:stop], x, x[first:], kernel)
        strip = (lap[start:, first:] @ lap_k.T).T
        strip = strip * kernel.matrix(y[start:stop], y[start:])
        return _symmetric_sum(strip)

    # Rows outside a tile that its pairs reach are computed for that tile alone, about one for
    # each partner of a sample; a tile of several times that height keeps this small.
    rows = rows[0], min(rows[1], len(x))
    tiles = _tiles(rows, len(x), least_height=4 * lap.nnz // len(x))
    return sum(in_order(strip_sum, tiles, workers))


def centred_trace(
    x: Array, y: Array, kernel: Kernel, workers: int, rows: tuple[int, int] | None = None
) -> float:
    """Return tr(P K P Q) with P the centring matrix, as in eq. 6, or what some rows add to it.

    The first pass gives the row means, the second adds up the products of centred entries:
    no large numbers are subtracted at the end.
    """
    n = len(x)
    mean_k, mean_q = _row_means(x, kernel, workers), _row_means(y, kernel, workers)

    def strip_sum(tile: tuple[int, int]) -> float:
        strip = _centred_strip(x, mean_k, *tile, kernel)
        strip *= _centred_strip(y, mean_q, *tile, kernel)
        return _symmetric_sum(strip)

    return sum(in_order(strip_sum, _tiles((0, n) if rows is None else rows, n), workers))


def _symmetric_sum(strip: Array) -> float:
    """Add up rows of a symmetric matrix from the diagonal on, and the columns that mirror them."""
    height = len(strip)
    return float(strip[:, :height].sum() + 2 * strip[:, height:].sum())


def _tiles(
    rows: tuple[int, int], n_columns: int, least_height: int = 1
) -> Iterator[tuple[int, int]]:
    """Cut rows into tiles that a cache holds."""
    row_bytes = 8 * n_columns
    height = max(least_height, CACHED_TILE_BYTES // row_bytes)
    height = max(1, min(height, LARGEST_TILE_BYTES // row_bytes))
    for start in range(rows[0], rows[1], height):
        yield start, min(start + height, rows[1])


def _laplacian_times_kernel(rows: csr_array, x: Array, columns: Array, kernel: Kernel) -> Array:
    """Return rows of Lap K, evaluating K only in the rows of `x` that they need."""
    product = np.zeros((rows.shape[0], len(columns)))
    partners = sorted_unique(rows.indices)
    for start, stop in _tiles((0, len(partners)), len(columns)):
        chunk = partners[start:stop]
        product += rows[:, chunk] @ kernel.matrix(x[chunk], columns)
    return product


def _row_means(x: Array, kernel: Kernel, workers: int) -> Array:
    n = len(x)

    def strip_sums(tile: tuple[int, int]) -> tuple[int, Array, Array]:
        start, stop = tile
        strip = kernel.matrix(x[start:stop], x[start:])
        return start, strip.sum(axis=1), strip[:, stop - start :].sum(axis=0)

    sums = np.zeros(n)
    for start, of_rows, of_columns in in_order(strip_sums, _tiles((0, n), n), workers):
        stop = start + len(of_rows)
        sums[start:stop] += of_rows
        sums[stop:] += of_columns
    return sums / n


def _centred_strip(x: Array, mean: Array, start: int, stop: int, kernel: Kernel) -> Array:
    strip = kernel.matrix(x[start:stop], x[start:])
    strip -= mean[start:stop, np.newaxis]
    strip -= mean[start:] - mean.mean()
    return strip
