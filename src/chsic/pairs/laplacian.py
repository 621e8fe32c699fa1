"""The graph Laplacian times a matrix: Lap V, by the quickest way for how the pairs are given.

All pairs inside blocks need the means of the blocks, runs of an order a few sums for each row,
however long the runs are, and other pairs a sparse product. `laplacian_times` takes arrays of any
library that follows the array API standard; `laplacian_chunks` never holds V as a whole.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias, TypeVar

import numpy as np
from array_api_compat import array_namespace, device, is_numpy_array
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from chsic._util.arrays import sorted_unique
from chsic._util.validate import Index
from chsic.pairs.graph import Intervals, PairGraph
from chsic.pairs.neighbour_lists import sum_of_differences

CHUNK = 2**13  # rows that are computed together

Values = TypeVar("Values")
Rows: TypeAlias = Index | slice
# Rows of V, an array of any library.
GetRows: TypeAlias = Callable[[Rows], Any]
# Samples, and what makes their rows of Lap V from rows of V.
Chunk: TypeAlias = tuple[Rows, Callable[[GetRows], Any]]


def laplacian_times(graph: PairGraph, values: Values) -> Values:
    """Return Lap V for a matrix V that is held whole.

    Parameters
    ----------
    graph : PairGraph
        The pairs, in whichever way they are given.
    values : array, shape (n_samples, r)
        V, of floating-point numbers, as an array of any library that follows the array API
        standard: NumPy, PyTorch, CuPy, ...

    Returns
    -------
    array, shape (n_samples, r)
        Of the same library and on the same device.

    Examples
    --------
    >>> import chsic, numpy as np
    >>> from chsic.pairs.laplacian import laplacian_times
    >>> laplacian_times(chsic.PairGraph([0, 1], [1, 2], 4), np.array([[1.0], [2.0], [5.0], [7.0]]))
    array([[-1.],
           [-2.],
           [ 3.],
           [ 0.]])
    """
    product: Values
    if graph.lists is not None:
        product = graph.lists.laplacian_times(values)
    elif is_numpy_array(values):
        product = _numpy_product(graph, values)
    else:
        product = _product(graph, values)
    return product


def _numpy_product(graph: PairGraph, values: Any) -> Any:
    if graph.intervals is None and not graph.is_complete_in_blocks:
        return graph.listed_laplacian @ values
    once = not len(graph.listed[0])  # every row is then in one chunk
    product = np.empty_like(values) if once else np.zeros_like(values)
    for rows, times in laplacian_chunks(graph, values.__getitem__):
        chunk = times(values.__getitem__)
        product[rows] = chunk if once else product[rows] + chunk
    return product


def _product(graph: PairGraph, values: Any) -> Any:
    """Return Lap V in the operations of the array API standard, which has no item assignment."""
    if graph.is_complete_in_blocks:
        return _times_complete_blocks(graph, values)
    runs, lap = graph.intervals, graph.listed_laplacian
    of_listed = sum_of_differences(lap.indptr, lap.indices, values)
    if runs is None:
        return of_listed
    get_rows = functools.partial(_take, values)
    chunks = [times(get_rows) for _, times in _run_chunks(runs)]
    of_runs = array_namespace(values).concat(chunks, axis=0)
    if not runs.in_order:
        of_runs = _take(of_runs, np.argsort(runs.order))
    return of_runs + of_listed if lap.nnz else of_runs


def _take(values: Any, rows: Rows) -> Any:
    if isinstance(rows, slice):
        return values[rows, ...]
    xp = array_namespace(values)
    return xp.take(values, xp.asarray(rows, device=device(values)), axis=0)


def _times_complete_blocks(graph: PairGraph, values: Any) -> Any:
    """Lap_b = n_b I - 11': n_b times V less its mean in the block."""
    xp = array_namespace(values)
    if graph.n_blocks == 1:
        return graph.n_samples * (values - xp.mean(values, axis=0, keepdims=True))
    order = np.argsort(graph.blocks, kind="stable")
    sizes = np.bincount(graph.blocks)
    ends = np.cumsum(sizes)
    # Relative to the mean of all, so that sums stay small and lose no digits.
    centred = _take(values, order) - xp.mean(values, axis=0, keepdims=True)
    sums = _sums_between(ends - sizes, ends, centred)
    counts = _column(sizes, values)
    means = _take(sums / counts, graph.blocks)
    centred = _take(centred, np.argsort(order))
    return _take(counts, graph.blocks) * (centred - means)


def laplacian_chunks(graph: PairGraph, get_rows: GetRows) -> Iterator[Chunk]:
    """Cut the rows of Lap V into chunks, each with the quickest way to compute it.

    Where runs and listed pairs are mixed, a row is in two chunks, which add up.

    Parameters
    ----------
    graph : PairGraph
        The pairs.
    get_rows : callable
        Returns rows of V.
    """
    if graph.is_complete_in_blocks:
        yield from _complete_chunks(graph, get_rows)
        return
    if graph.intervals is not None:
        yield from _run_chunks(graph.intervals)
    if len(graph.listed[0]):
        yield from _listed_chunks(graph)


def _complete_chunks(graph: PairGraph, get_rows: GetRows) -> Iterator[Chunk]:
    """Lap_b = n_b I - 11': n_b times V less its mean in the block."""
    order = np.argsort(graph.blocks, kind="stable")
    sizes = np.bincount(graph.blocks)
    for size, end in zip(sizes.tolist(), np.cumsum(sizes).tolist(), strict=True):
        inside = order[end - size : end]
        chunks = [inside[start : start + CHUNK] for start in range(0, size, CHUNK)]
        mean = sum(get_rows(chunk).sum(axis=0, dtype=np.float64) for chunk in chunks) / size
        for chunk in chunks:
            yield chunk, functools.partial(_complete_rows, chunk, size, mean)


def _complete_rows(rows: Index, size: int, mean: Any, get_rows: GetRows) -> Any:
    return size * (get_rows(rows) - mean)


def _run_chunks(runs: Intervals) -> Iterator[Chunk]:
    n = len(runs.order)
    for start in range(0, n, CHUNK):
        stop = min(start + CHUNK, n)
        yield runs.samples(start, stop), functools.partial(_run_rows, runs, start, stop)


def _run_rows(runs: Intervals, start: int, stop: int, get_rows: GetRows) -> Any:
    """Return rows of Lap V where the partners of a position, and itself, are a run around it."""
    first, last = int(runs.starts[start]), int(runs.stops[stop - 1])
    window = get_rows(runs.samples(first, last))
    begin, end = runs.starts[start:stop] - first, runs.stops[start:stop] - first
    here = slice(start - first, stop - first)
    xp = array_namespace(window)
    if runs.reach is None:
        # Relative to their mean, so that sums stay small and lose no digits.
        window = window - xp.mean(xp.astype(window[here, ...], xp.float64, copy=False), axis=0)
        sums = _sums_between(begin, end, window)
    else:
        # Runs that are cut off at an end go on in zeros there.
        before, after = runs.reach - here.start, runs.reach + here.stop - window.shape[0]
        sums = _sums_of(2 * runs.reach + 1, _with_zeros(window, before, after))
    rows = _column(end - begin, window) * window[here, ...]
    rows -= sums
    return rows


def _column(counts: Index, like: Any) -> Any:
    """Return whole numbers as a column that rows can be multiplied by."""
    if is_numpy_array(like):
        return counts[:, np.newaxis]
    return array_namespace(like).asarray(
        counts[:, np.newaxis].astype(np.float64), device=device(like)
    )


def _with_zeros(values: Any, before: int, after: int) -> Any:
    if not before and not after:
        return values
    xp, width = array_namespace(values), values.shape[1]
    like = {"dtype": values.dtype, "device": device(values)}
    zeros = (xp.zeros((rows, width), **like) for rows in (before, after))
    return xp.concat([next(zeros), values, next(zeros)], axis=0)


def _sums_between(begin: Index, end: Index, values: Any) -> Any:
    """Add up runs of any lengths: each is a difference of two prefix sums."""
    if not is_numpy_array(values):
        xp = array_namespace(values)
        prefix = xp.cumulative_sum(values, axis=0, include_initial=True)
        return _take(prefix, end) - _take(prefix, begin)
    prefix = np.empty((len(values) + 1, values.shape[1]))
    prefix[0] = 0
    np.cumsum(values, axis=0, out=prefix[1:])
    sums = prefix.take(end, axis=0)
    sums -= prefix.take(begin, axis=0)
    return sums


def _sums_of(length: int, values: Any) -> Any:
    """Add up every run of `length` rows, from sums of 1, 2, 4, ... of them.

    It loses no digits and takes a fraction of the time of prefix sums. Nor do threads wait for each
    other, as they do for NumPy's ``cumsum``, which keeps the lock of Python.
    """
    n_sums = values.shape[0] - length + 1
    sums = array_namespace(values).zeros_like(values[:n_sums, ...])
    of_power, power, done = values, 1, 0
    while True:
        if length & power:
            sums += of_power[done : done + n_sums, ...]
            done += power
        if done == length:
            return sums
        of_power = of_power[:-power, ...] + of_power[power:, ...]
        power *= 2


def _listed_chunks(graph: PairGraph) -> Iterator[Chunk]:
    """Sparse rows, in an order that keeps the samples they need together few."""
    lap = graph.listed_laplacian
    order = local_order(lap)
    for start in range(0, len(order), CHUNK):
        rows = order[start : start + CHUNK]
        yield rows, functools.partial(_listed_rows, lap[rows])


def _listed_rows(part: csr_array, get_rows: GetRows) -> Any:
    partners = sorted_unique(part.indices)
    return part[:, partners] @ get_rows(partners)


def local_order(lap: csr_array) -> Index:
    """Return the samples with partners, so that partners are near (reverse Cuthill-McKee).

    Examples
    --------
    >>> import chsic
    >>> from chsic.pairs.laplacian import local_order
    >>> local_order(chsic.PairGraph([0, 3], [4, 1], 5).laplacian()).tolist()
    [3, 1, 4, 0]
    """
    order: Index = reverse_cuthill_mckee(lap, symmetric_mode=True)
    with_partners: Index = order[lap.diagonal()[order] > 0]
    return with_partners
