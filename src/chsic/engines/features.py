"""Feature engine: any kernel, any number of columns, linear in the number of samples.

C_b = U Lap_b V^H with explicit features, a chunk of rows at a time. Pairs given as runs cost two
differences of prefix sums for each row, however many they are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from chsic._validate import Array, Index
from chsic.features import FeatureMap, fit_features
from chsic.kernels import Kernel
from chsic.pairs import PairGraph
from chsic.pairs.intervals import Intervals
from chsic.terms import Terms, merge, pairs_in_blocks, squared_entries

CHUNK = 2**13  # rows whose features are held at once
SMALLEST_ACCURACY = 1e-15
BESIDE_CHANCE = 1e-4  # what they may miss beside random ones, whose error is some percent


@dataclasses.dataclass(frozen=True, eq=False)
class FeatureCovariances:
    """The C_b of a shard as matrices between the features of x and those of y."""

    matrices: Array  # (blocks, features of x, features of y)
    maps: tuple[FeatureMap, FeatureMap]
    missed: float  # of kernel values by the features, of x and y together
    squares: float  # sum of the squared entries of the Laplacian
    n_pairs: Index

    def inner_products(self, other: FeatureCovariances) -> tuple[Array, float]:
        """Return <C_b, C_b'> and an estimate of the error of their sum."""
        ours, theirs = (shard.matrices.reshape(len(shard.matrices), -1) for shard in (self, other))
        error = _chance(self.matrices.sum(axis=0) * other.matrices.sum(axis=0), self.maps)
        if other is self:
            # What is missed of the kernels acts most on the terms nothing cancels in.
            error += 3 * self.missed * self.squares
        return ours @ theirs.T, error


def feature_terms(x: Array, y: Array, graph: PairGraph, kernel: Kernel, tol: float) -> Terms:
    """Compute terms with features that are exact to `tol` where their number allows it."""
    accuracy = tol / 10
    while True:
        maps = fit_maps(x, y, kernel, accuracy)
        terms = merge([feature_covariances(x, y, graph, maps)])
        by_chance = any(features.n_draws for features in maps)
        if terms.error <= tol or by_chance or accuracy <= SMALLEST_ACCURACY:
            return terms
        # The measure is small beside what cancels in it. The error is proportional to accuracy.
        accuracy = max(accuracy * tol / (2 * terms.error), SMALLEST_ACCURACY)


def fit_maps(x: Array, y: Array, kernel: Kernel, accuracy: float) -> tuple[FeatureMap, FeatureMap]:
    """Fit features for x and y."""
    of_x, of_y = (fit_features(values, kernel, accuracy) for values in (x, y))
    # Beside the error of chance in one of them, a smaller one in the other is wasted.
    if of_x.n_draws and not of_y.n_draws:
        of_y = fit_features(y, kernel, max(accuracy, BESIDE_CHANCE))
    if of_y.n_draws and not of_x.n_draws:
        of_x = fit_features(x, kernel, max(accuracy, BESIDE_CHANCE))
    return of_x, of_y


def feature_covariances(
    x: Array, y: Array, graph: PairGraph, maps: tuple[FeatureMap, FeatureMap]
) -> FeatureCovariances:
    """Add up u (Lap v)^H over the samples of each block."""
    of_x, of_y = (_Tracked(features) for features in maps)
    matrices = np.zeros((graph.n_blocks, *(features.n_features for features in maps)))
    for rows, lap_v in _laplacian_times(graph, lambda samples: of_y(y[samples])):
        u = of_x(x[rows])
        lap_v = lap_v.astype(u.dtype, copy=False)
        blocks = graph.blocks[rows]
        cuts = np.flatnonzero(blocks[1:] != blocks[:-1]) + 1
        for part in np.split(np.arange(len(rows)), cuts):
            matrices[blocks[part[0]]] += u[part].T @ lap_v[part]
    missed = of_x.missed + of_y.missed
    return FeatureCovariances(
        matrices, maps, missed, squared_entries(graph), pairs_in_blocks(graph)
    )


class _Tracked:
    """A feature map that takes note of what it misses on the samples it meets.

    The map was fitted to some of them only.
    """

    def __init__(self, features: FeatureMap) -> None:
        self.features, self.total, self.count = features, 0.0, 0

    def __call__(self, x: Array) -> NDArray[np.floating]:
        vectors = self.features(x)
        if not self.features.n_draws:  # random features are right on average, and miss nothing
            self.total += float((1 - np.einsum("ij,ij->i", vectors, vectors)).sum())
            self.count += len(x)
        return vectors

    @property
    def missed(self) -> float:
        """Mean of kappa(0) - |u|^2, kappa(0) being 1."""
        return max(self.total / self.count, 0.0) if self.count else 0.0


Features = Callable[[Index], NDArray[np.floating]]


def _laplacian_times(
    graph: PairGraph, features: Features
) -> Iterator[tuple[Index, NDArray[np.floating]]]:
    """Yield samples, sorted by block, and their rows of Lap V, for V the features of samples."""
    if graph.is_complete_in_blocks:
        yield from _complete_rows(graph, features)
        return
    if graph.intervals is not None:
        yield from _run_rows(graph.intervals, features)
    if len(graph.listed[0]):
        i, j = graph.listed
        yield from _listed_rows(PairGraph(i, j, graph.n_samples, blocks=graph.blocks), features)


def _complete_rows(
    graph: PairGraph, features: Features
) -> Iterator[tuple[Index, NDArray[np.floating]]]:
    """Lap_b = n_b I - 11': n_b times the features less their sum."""
    order = np.argsort(graph.blocks, kind="stable")
    sizes = np.bincount(graph.blocks)
    ends = np.cumsum(sizes)
    for size, end in zip(sizes.tolist(), ends.tolist(), strict=True):
        inside = order[end - size : end]
        chunks = [inside[start : start + CHUNK] for start in range(0, size, CHUNK)]
        mean = sum(features(chunk).sum(axis=0, dtype=np.float64) for chunk in chunks) / size
        for chunk in chunks:
            yield chunk, size * (features(chunk) - mean)


def _run_rows(runs: Intervals, features: Features) -> Iterator[tuple[Index, NDArray[np.floating]]]:
    """Neighbours of a position are a run around it: a difference of two prefix sums."""
    n = len(runs.order)
    for start in range(0, n, CHUNK):
        stop = min(start + CHUNK, n)
        first, last = int(runs.starts[start]), int(runs.stops[stop - 1])
        window = features(runs.order[first:last])
        here = slice(start - first, stop - first)
        # Relative to a value in the window, so that sums stay small and lose no digits.
        window = window - window[here].mean(axis=0, dtype=np.float64)
        sums = np.concatenate([np.zeros((1, window.shape[1])), np.cumsum(window, axis=0)])
        begin, end = runs.starts[start:stop] - first, runs.stops[start:stop] - first
        size = (end - begin)[:, np.newaxis]  # the position itself is one of them
        yield runs.order[start:stop], size * window[here] - (sums[end] - sums[begin])


def _listed_rows(
    graph: PairGraph, features: Features
) -> Iterator[tuple[Index, NDArray[np.floating]]]:
    """Sparse rows times the features of the samples they need, in an order that keeps those few."""
    lap: csr_array = graph.laplacian()
    order = reverse_cuthill_mckee(lap, symmetric_mode=True)
    order = order[lap.diagonal()[order] > 0]
    order = order[np.argsort(graph.blocks[order], kind="stable")]
    for start in range(0, len(order), CHUNK):
        rows = order[start : start + CHUNK]
        part = lap[rows]
        partners = np.unique(part.indices)
        yield rows, part[:, partners] @ features(partners)


def _chance(products: Array, maps: tuple[FeatureMap, FeatureMap]) -> float:
    """Two standard errors of the sum of `products` due to random frequencies of x and of y."""
    variance = 0.0
    for axis, features in enumerate(maps):
        if features.n_draws:
            by_feature = products.sum(axis=1 - axis)
            by_draw = by_feature.reshape(2, features.n_draws).sum(axis=0)
            variance += float(by_draw.var(ddof=1)) * features.n_draws
    return 2 * float(np.sqrt(variance))
