"""The non-zero entries of a graph Laplacian, some at a time and block by block."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from chsic._util.line import expand
from chsic._util.validate import Array, Index
from chsic.pairs.graph import PairGraph


@dataclasses.dataclass(frozen=True, eq=False)
class Entries:
    """Entries Lap[rows[e], columns[e]] = values[e], all of one block."""

    block: int
    rows: Index
    columns: Index
    values: Array


def local_order(graph: PairGraph, lap: csr_array) -> Index:
    """Return the samples with partners by block and, inside, so that partners are near."""
    order: Index = reverse_cuthill_mckee(lap, symmetric_mode=True)
    order = order[lap.diagonal()[order] > 0]
    return order[np.argsort(graph.blocks[order], kind="stable")]


def laplacian_entries(graph: PairGraph, size: int) -> Iterator[Entries]:
    """List the entries of the Laplacian in pieces of about `size` entries.

    A piece depends on the graph and the size only, so sums over pieces do not depend on who adds
    them up.
    """
    yield from diagonal_entries(graph, graph.degrees.astype(float), size)
    if graph.intervals is not None:
        yield from _run_pieces(graph, size)
    yield from _both_ways(graph, *graph.listed, size)


def diagonal_entries(graph: PairGraph, values: Array, size: int) -> Iterator[Entries]:
    """List entries of the diagonal, `values` of the samples, in pieces of about `size` entries."""
    samples = np.arange(graph.n_samples)
    yield from entries_in_pieces(graph, *_by_block(graph, samples, samples, values), size)


def _run_pieces(graph: PairGraph, size: int) -> Iterator[Entries]:
    runs = graph.intervals
    assert runs is not None
    followers = runs.stops - np.arange(1, len(runs.stops) + 1)
    ends: Index = np.cumsum(followers)
    start = 0
    while start < len(ends):
        before = ends[start - 1] if start else 0
        # At least one position, however long its run.
        stop = max(start + 1, int(np.searchsorted(ends, before + size // 2, side="right")))
        rows, columns = expand(np.arange(start + 1, stop + 1), runs.stops[start:stop])
        yield from _both_ways(graph, runs.order[rows + start], runs.order[columns], size)
        start = stop


def _both_ways(graph: PairGraph, i: Index, j: Index, size: int) -> Iterator[Entries]:
    """List the entries -1 of some pairs, above and below the diagonal."""
    i, j, minus = _by_block(graph, i, j, np.full(len(i), -1.0))
    yield from entries_in_pieces(graph, i, j, minus, size)
    yield from entries_in_pieces(graph, j, i, minus, size)


def _by_block(
    graph: PairGraph, rows: Index, columns: Index, values: Array
) -> tuple[Index, Index, Array]:
    if graph.n_blocks == 1:
        return rows, columns, values
    order = np.argsort(graph.blocks[rows], kind="stable")
    return rows[order], columns[order], values[order]


def entries_in_pieces(
    graph: PairGraph, rows: Index, columns: Index, values: Array, size: int
) -> Iterator[Entries]:
    """Cut entries whose rows are sorted by block at the blocks, and where they are too many."""
    cuts: list[int] = []
    if graph.n_blocks > 1:
        blocks = graph.blocks[rows]
        cuts = (np.flatnonzero(blocks[1:] != blocks[:-1]) + 1).tolist()
    for begin, end in itertools.pairwise([0, *cuts, len(rows)]):
        for start in range(begin, end, size):
            part = slice(start, min(start + size, end))
            block = int(graph.blocks[rows[start]])
            yield Entries(block, rows[part], columns[part], values[part])
