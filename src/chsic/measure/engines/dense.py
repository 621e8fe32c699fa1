"""Dense engine: exact for any kernel, from kernel values, one row tile at a time.

Nothing of size L x L is ever held: memory is a few tiles, and the pairs. Time grows as L^2 for
pairs that are local in some order, as closest pairs are, plus alpha L^2 cheap operations of a
sparse product. Random pairs are not local: up to alpha times as many kernel values are computed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array

from chsic._util.arrays import sorted_unique
from chsic._util.parallel import in_order
from chsic._util.validate import Array, Index
from chsic.kernels import Kernel
from chsic.measure.engines.samples import SampleCovariances
from chsic.pairs.entries import local_order

CACHED_TILE_BYTES = 2**21  # of the size of a core's cache
LARGEST_TILE_BYTES = 2**25  # bounds the memory: about eight tiles are alive at once


@dataclasses.dataclass(frozen=True, eq=False)
class DenseCovariances(SampleCovariances):
    """The C_b of a shard by kernel values, a tile at a time."""

    def inner_products(self, other: DenseCovariances) -> tuple[Array, float]:
        """Return <C_b, C_b'> = tr(Lap_b K Lap_b' Q), exact up to the rounding of K and Q."""
        rounding = 4 * np.finfo(float).eps * np.sqrt(self.squares * other.squares)
        if other is self and self.graph.is_complete:
            # Lap = L I - 11' = L P.
            trace = len(self.x) ** 2 * centred_trace(self.x, self.y, self.kernel, self.workers)
            return np.array([[trace]]), rounding
        ours = _Ordered.of(self)
        theirs = ours if other is self else _Ordered.of(other)
        return _block_sums(ours, theirs, self.kernel, self.workers), rounding


@dataclasses.dataclass(frozen=True, eq=False)
class _Ordered:
    """Samples sorted by block and, inside, so that partners are near each other."""

    x: Array
    y: Array
    lap: csr_array
    blocks: Index
    n_blocks: int

    @classmethod
    def of(cls, shard: DenseCovariances) -> _Ordered:
        lap, blocks = shard.graph.laplacian(), shard.graph.blocks
        order = local_order(shard.graph, lap)  # samples without partners contribute nothing
        lap = lap[order][:, order]
        return cls(shard.x[order], shard.y[order], lap, blocks[order], shard.graph.n_blocks)

    def first_needed(self) -> Index:
        """Return for each row the lowest column that it or any later row has an entry in."""
        lowest: Index = np.minimum.reduceat(self.lap.indices, self.lap.indptr[:-1])
        return np.minimum.accumulate(lowest[::-1])[::-1]


def _block_sums(a: _Ordered, b: _Ordered, kernel: Kernel, workers: int) -> Array:
    """Sum (Lap_a K Lap_b) * Q over the blocks of its rows and columns.

    With D the incidence matrix of the pairs, the paper's 4-tuple matrices are Kb = D' K D and
    Qb = D' Q D, so tr(Kb Qb) = tr(D D' K D D' Q) = tr(Lap K Lap Q): L^2 kernel values instead of
    four for each pair of pairs.
    """
    symmetric = a is b
    first_needed = b.first_needed()

    def strip_sums(tile: tuple[int, int]) -> Array:
        start, stop = tile
        left = start if symmetric else 0  # the part below the diagonal is known already
        first = int(first_needed[left])
        lap_k = _laplacian_times_kernel(a.lap[start:stop], a.x, b.x[first:], kernel)
        strip = (b.lap[left:, first:] @ lap_k.T).T
        strip = strip * kernel.matrix(a.y[start:stop], b.y[left:])
        sums = np.zeros((a.n_blocks, b.n_blocks))
        if symmetric:
            square, strip = strip[:, : stop - start], strip[:, stop - start :]
            _add_by_block(sums, square, a.blocks[start:stop], a.blocks[start:stop])
            _add_by_block(sums, strip.T, b.blocks[stop:], a.blocks[start:stop])
            left = stop
        _add_by_block(sums, strip, a.blocks[start:stop], b.blocks[left:])
        return sums

    # Rows outside a tile that its pairs reach are computed for that tile alone, about one for
    # each partner of a sample; a tile of several times that height keeps this small.
    tiles = _tiles(len(a.x), len(b.x), least_height=4 * a.lap.nnz // len(a.x))
    return sum(in_order(strip_sums, tiles, workers), start=np.zeros((a.n_blocks, b.n_blocks)))


def _add_by_block(sums: Array, part: Array, row_blocks: Index, column_blocks: Index) -> None:
    """Add the entries of `part`, whose rows and columns are sorted by block, to their sums."""
    if not part.size:
        return
    for axis, blocks in enumerate((row_blocks, column_blocks)):
        starts = np.flatnonzero(np.r_[True, blocks[1:] != blocks[:-1]])
        # A plain sum adds in pairs, which loses fewer digits than reduceat.
        single = len(starts) == 1
        part = part.sum(axis, keepdims=True) if single else np.add.reduceat(part, starts, axis)
    sums[np.ix_(np.unique(row_blocks), np.unique(column_blocks))] += part


def centred_trace(x: Array, y: Array, kernel: Kernel, workers: int) -> float:
    """Return tr(P K P Q) with P the centring matrix, as in eq. 6.

    The first pass gives the row means, the second adds up the products of centred entries:
    no large numbers are subtracted at the end.
    """
    n = len(x)
    mean_k, mean_q = _row_means(x, kernel, workers), _row_means(y, kernel, workers)

    def strip_sum(tile: tuple[int, int]) -> float:
        start, stop = tile
        strip = _centred_strip(x, mean_k, start, stop, kernel)
        strip *= _centred_strip(y, mean_q, start, stop, kernel)
        width = stop - start
        return float(strip[:, :width].sum() + 2 * strip[:, width:].sum())  # symmetric

    return sum(in_order(strip_sum, _tiles(n, n), workers))


def _tiles(n_rows: int, n_columns: int, least_height: int = 1) -> Iterator[tuple[int, int]]:
    row_bytes = 8 * n_columns
    height = max(least_height, CACHED_TILE_BYTES // row_bytes)
    height = max(1, min(height, LARGEST_TILE_BYTES // row_bytes))
    for start in range(0, n_rows, height):
        yield start, min(start + height, n_rows)


def _laplacian_times_kernel(rows: csr_array, x: Array, columns: Array, kernel: Kernel) -> Array:
    """Return rows of Lap K, evaluating K only in the rows of `x` that they need."""
    product = np.zeros((rows.shape[0], len(columns)))
    partners = sorted_unique(rows.indices)
    for start, stop in _tiles(len(partners), len(columns)):
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
    for start, of_rows, of_columns in in_order(strip_sums, _tiles(n, n), workers):
        stop = start + len(of_rows)
        sums[start:stop] += of_rows
        sums[stop:] += of_columns
    return sums / n


def _centred_strip(x: Array, mean: Array, start: int, stop: int, kernel: Kernel) -> Array:
    strip = kernel.matrix(x[start:stop], x[start:])
    strip -= mean[start:stop, np.newaxis]
    strip -= mean[start:] - mean.mean()
    return strip
