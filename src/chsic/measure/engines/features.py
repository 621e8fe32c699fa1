"""Feature engine: any kernel, any number of columns, linear in the number of samples.

C_b = U Lap_b V^H with explicit features, a chunk of rows at a time. Pairs given as runs cost a few
sums for each row, however many they are.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from chsic._util.arrays import sorted_unique
from chsic._util.parallel import in_order
from chsic._util.validate import Array, Index
from chsic.kernels import Kernel
from chsic.kernels.features import FeatureMap, fit_features
from chsic.measure.terms import Terms, merge, pairs_in_blocks, squared_entries
from chsic.pairs import PairGraph
from chsic.pairs.entries import local_order
from chsic.pairs.intervals import Intervals

CHUNK = 2**13  # rows whose features are held at once
SMALLEST_ACCURACY = 1e-15
# What features miss of different samples may add up. Over random data of the kinds in the tests the
# error was up to twice the sum over single samples.
COHERENCE = 4
SEEN = 50_000  # samples at the most at which it is seen what the features of y miss
SEEN_BESIDE_CHANCE = 5_000  # where that is small beside an error of chance
BESIDE_CHANCE = 1e-4  # what they may miss beside random ones, whose error is some percent


@dataclasses.dataclass(frozen=True, eq=False)
class FeatureCovariances:
    """The C_b of a shard as matrices between the features of x and those of y."""

    matrices: Array  # (blocks, features of x, features of y)
    maps: tuple[FeatureMap, FeatureMap]
    missed: float  # of the sum of inner products by the features of x and y together
    squares: float  # sum of the squared entries of the Laplacian
    n_pairs: Index

    def inner_products(self, other: FeatureCovariances) -> tuple[Array, float]:
        """Return <C_b, C_b'> and an estimate of the error of their sum."""
        ours, theirs = (shard.matrices.reshape(len(shard.matrices), -1) for shard in (self, other))
        error = _chance(self.matrices.sum(axis=0) * other.matrices.sum(axis=0), self.maps)
        if other is self:
            error += COHERENCE * self.missed
        return ours @ theirs.T, error


def feature_terms(
    x: Array, y: Array, graph: PairGraph, kernel: Kernel, tol: float, workers: int = 1
) -> Terms:
    """Compute terms with features that are exact to `tol` where their number allows it."""
    accuracy = tol / 10
    while True:
        maps = fit_maps(x, y, kernel, accuracy)
        terms = merge([feature_covariances(x, y, graph, maps, workers)])
        by_chance = any(features.n_draws for features in maps)
        if terms.error <= tol or by_chance or accuracy <= SMALLEST_ACCURACY:
            return terms
        # The measure is small beside what cancels in it. The error is proportional to accuracy.
        accuracy = max(accuracy * tol / (2 * terms.error), SMALLEST_ACCURACY)


def fit_maps(x: Array, y: Array, kernel: Kernel, accuracy: float) -> tuple[FeatureMap, FeatureMap]:
    """Fit features for x and y."""
    # Beside the error of chance in one of them, a smaller one in the other is wasted, and so is
    # double precision. The wider one is the likelier to have it, so it is fitted first.
    swapped = y.shape[1] > x.shape[1]
    first, second = (y, x) if swapped else (x, y)
    of_first = fit_features(first, kernel, accuracy)
    beside = max(accuracy, BESIDE_CHANCE)
    if of_first.n_draws:
        of_second = fit_features(second, kernel, beside, np.float32)
    else:
        of_second = fit_features(second, kernel, accuracy)
        if of_second.n_draws:
            of_first = fit_features(first, kernel, beside, np.float32)
    return (of_second, of_first) if swapped else (of_first, of_second)


def feature_covariances(
    x: Array,
    y: Array,
    graph: PairGraph,
    maps: tuple[FeatureMap, FeatureMap],
    workers: int = 1,
) -> FeatureCovariances:
    """Add up u (Lap v)^H over the samples of each block."""
    order, graph = graph.relabelled()
    x, y = x[order], y[order]
    of_x, of_y = maps
    matrices = np.zeros((graph.n_blocks, of_x.n_features, of_y.n_features))
    partners = graph.degrees.astype(np.float64)
    row_squares = partners**2 + partners  # of the rows of Lap
    by_chance = any(features.n_draws for features in maps)
    every = -(-graph.n_samples // (SEEN_BESIDE_CHANCE if by_chance else SEEN))

    everything = np.arange(graph.n_samples)

    def features_of_y(samples: Rows) -> NDArray[np.floating]:
        return of_y(y[samples])

    def products(chunk: Chunk) -> tuple[list[tuple[int, NDArray[np.floating]]], float]:
        samples, laplacian_times = chunk
        rows = everything[samples]
        lap_v, u = laplacian_times(features_of_y), of_x(x[samples])
        some = rows[::every]  # the features of y in all rows are at hand in Lap V only
        missed = _missed(u, of_x, row_squares[rows])
        missed += _missed(features_of_y(some), of_y, row_squares[some]) * len(rows) / len(some)
        lap_v = lap_v.astype(u.dtype, copy=False)
        blocks = graph.blocks[rows]
        cuts = np.flatnonzero(blocks[1:] != blocks[:-1]) + 1
        parts = itertools.pairwise([0, *cuts.tolist(), len(rows)])
        return [(int(blocks[a]), u[a:b].T @ lap_v[a:b]) for a, b in parts], missed

    missed = 0.0
    for found, missed_here in in_order(products, _chunks(graph, features_of_y), workers):
        missed += missed_here
        for block, matrix in found:
            matrices[block] += matrix
    squares = squared_entries(graph)
    rounding = max(float(np.finfo(features.dtype).eps) * features.kappa_0 for features in maps)
    missed = max(missed, rounding * squares)
    return FeatureCovariances(matrices, maps, missed, squares, pairs_in_blocks(graph))


def laplacian_times(graph: PairGraph, values: Array) -> Array:
    """Return Lap V for a matrix V that is held whole."""
    if graph.lists is not None:
        return graph.lists.laplacian_times(values)
    if graph.intervals is None and not graph.is_complete_in_blocks:
        product: Array = graph.listed_laplacian @ values
        return product
    once = not len(graph.listed[0])  # every row is then in one chunk
    product = np.empty_like(values) if once else np.zeros_like(values)
    for rows, times in _chunks(graph, values.__getitem__):
        made = times(values.__getitem__)
        product[rows] = made if once else product[rows] + made
    return product


def _missed(vectors: NDArray[np.floating], features: FeatureMap, row_squares: Array) -> float:
    """Sum of kappa(0) - |u|^2, weighted by how much the sample counts in Lap^2.

    It is seen on all samples, as landmarks were fitted to some of them only.
    """
    if features.n_draws:
        return 0.0  # random features are right on average
    squares = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
    return float(row_squares @ (features.kappa_0 - squares))


Rows = Index | slice
Features = Callable[[Rows], NDArray[np.floating]]
# Samples, sorted by block, and what makes their rows of Lap V from the features V of samples.
Chunk = tuple[Rows, Callable[[Features], NDArray[np.floating]]]


def _chunks(graph: PairGraph, features: Features) -> Iterator[Chunk]:
    """Cut the rows of Lap V into chunks, each with the quickest way to compute it."""
    if graph.is_complete_in_blocks:
        yield from _complete_chunks(graph, features)
        return
    if graph.intervals is not None:
        for start in range(0, graph.n_samples, CHUNK):
            stop = min(start + CHUNK, graph.n_samples)
            yield (
                graph.intervals.samples(start, stop),
                functools.partial(_run_rows, graph.intervals, start, stop),
            )
    if len(graph.listed[0]):
        yield from _listed_chunks(graph)


def _complete_chunks(graph: PairGraph, features: Features) -> Iterator[Chunk]:
    """Lap_b = n_b I - 11': n_b times the features less their mean."""
    order = np.argsort(graph.blocks, kind="stable")
    sizes = np.bincount(graph.blocks)
    for size, end in zip(sizes.tolist(), np.cumsum(sizes).tolist(), strict=True):
        inside = order[end - size : end]
        chunks = [inside[start : start + CHUNK] for start in range(0, size, CHUNK)]
        mean = sum(features(chunk).sum(axis=0, dtype=np.float64) for chunk in chunks) / size
        for chunk in chunks:
            yield chunk, functools.partial(_complete_rows, chunk, size, mean)


def _complete_rows(rows: Index, size: int, mean: Array, features: Features) -> NDArray[np.floating]:
    return size * (features(rows) - mean)


def _run_rows(runs: Intervals, start: int, stop: int, features: Features) -> NDArray[np.floating]:
    """Neighbours of a position, and itself, are a run around it."""
    first, last = int(runs.starts[start]), int(runs.stops[stop - 1])
    window = features(runs.samples(first, last))
    begin, end = runs.starts[start:stop] - first, runs.stops[start:stop] - first
    here = slice(start - first, stop - first)
    if runs.reach is None:
        # Relative to their mean, so that sums stay small and lose no digits.
        window = window - window[here].mean(axis=0, dtype=np.float64)
        sums: NDArray[np.floating] = _sums_between(begin, end, window)
    else:
        # Runs that are cut off at an end go on in zeros there.
        before, after = runs.reach - here.start, runs.reach + here.stop - len(window)
        filled = np.pad(window, ((before, after), (0, 0))) if before or after else window
        sums = _sums_of(2 * runs.reach + 1, filled)
    rows: NDArray[np.floating] = (end - begin)[:, np.newaxis] * window[here]
    rows -= sums
    return rows


def _sums_between(begin: Index, end: Index, values: NDArray[np.floating]) -> Array:
    """Add up runs of any lengths: each is a difference of two prefix sums."""
    prefix = np.empty((len(values) + 1, values.shape[1]))
    prefix[0] = 0
    np.cumsum(values, axis=0, out=prefix[1:])
    sums: Array = prefix.take(end, axis=0)
    sums -= prefix.take(begin, axis=0)
    return sums


def _sums_of(length: int, values: NDArray[np.floating]) -> NDArray[np.floating]:
    """Add up every run of `length` rows, from sums of 1, 2, 4, ... of them.

    It loses no digits and takes a fraction of the time of prefix sums. Nor do threads wait for each
    other, as they do for NumPy's ``cumsum``, which keeps the lock of Python.
    """
    sums = np.zeros((len(values) - length + 1, values.shape[1]), values.dtype)
    of_power, power, done = values, 1, 0
    while True:
        if length & power:
            sums += of_power[done : done + len(sums)]
            done += power
        if done == length:
            return sums
        of_power = of_power[:-power] + of_power[power:]
        power *= 2


def _listed_chunks(graph: PairGraph) -> Iterator[Chunk]:
    """Sparse rows, in an order that keeps the samples they need together few."""
    lap = graph.listed_laplacian
    order = local_order(graph, lap)
    for start in range(0, len(order), CHUNK):
        rows = order[start : start + CHUNK]
        yield rows, functools.partial(_listed_rows, lap[rows])


def _listed_rows(part: csr_array, features: Features) -> NDArray[np.floating]:
    partners = sorted_unique(part.indices)
    product: NDArray[np.floating] = part[:, partners] @ features(partners)
    return product


def _chance(products: Array, maps: tuple[FeatureMap, FeatureMap]) -> float:
    """Two standard errors of the sum of `products` due to random frequencies of x and of y."""
    variance = 0.0
    for axis, features in enumerate(maps):
        if features.n_draws:
            by_feature = products.sum(axis=1 - axis)
            by_draw = by_feature.reshape(2, features.n_draws).sum(axis=0)
            variance += float(by_draw.var(ddof=1)) * features.n_draws
    return 2 * float(np.sqrt(variance))
