"""Feature engine: any kernel, any number of columns, linear in the number of samples.

U Lap V^H with explicit features, a chunk of rows at a time. Pairs given as runs cost a few sums for
each row, however many they are.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from chsic._util.parallel import in_order
from chsic._util.validate import Array, Index
from chsic.kernels import Kernel
from chsic.kernels.features import FeatureMap, fit_features
from chsic.pairs import PairGraph
from chsic.pairs.laplacian import Chunk, Rows, laplacian_chunks

# What features miss of different samples may add up. Over random data of the kinds in the tests the
# error was up to twice the sum over single samples.
COHERENCE = 4
CHECKED = 50_000  # samples at the most at which what the features of y miss is computed
CHECKED_BESIDE_CHANCE = 5_000  # where that is small beside an error of chance
BESIDE_CHANCE = 1e-4  # what they may miss beside random ones, whose error is some percent


@dataclasses.dataclass(frozen=True, eq=False)
class FeatureProducts:
    """U Lap V^H = sum_ij Lap_ij u_i v_j^H, a matrix of features of x and of y, over some pairs.

    Each pair (i, j) adds (u_i - u_j) (v_i - v_j)^H, so that shards of the pairs add up, if the
    features are the same. So does the residual of the features: each pair adds its share of the
    squared entries of Lap.
    """

    matrix: Array  # (features of x, features of y)
    residual: float  # what the features of x and y together miss of the trace
    rounding: float  # of one kernel value
    n_draws: tuple[int, int]  # random frequencies of x and of y
    lap_trace: int
    lap_squares: float

    @property
    def improvable(self) -> bool:
        """Whether more features make it more exact: not if some are drawn at random."""
        return not any(self.n_draws)

    def __add__(self, other: FeatureProducts) -> FeatureProducts:
        if other.matrix.shape != self.matrix.shape or other.n_draws != self.n_draws:
            raise ValueError("shards: products of the same features only add up; fit them once.")
        return FeatureProducts(
            self.matrix + other.matrix,
            self.residual + other.residual,
            self.rounding,
            self.n_draws,
            self.lap_trace + other.lap_trace,
            self.lap_squares + other.lap_squares,
        )

    def trace(self) -> tuple[float, float]:
        """Return tr(Lap K Lap Q), the squared norm of the matrix, and an estimate of its error."""
        residual = max(self.residual, self.rounding * self.lap_squares)
        error = _chance(self.matrix**2, self.n_draws) + COHERENCE * residual
        return float(np.vdot(self.matrix, self.matrix)), error


def feature_products(
    x: Array, y: Array, graph: PairGraph, kernel: Kernel, accuracy: float, workers: int = 1
) -> FeatureProducts:
    """Fit features to samples in bandwidths, and add up all pairs."""
    return products_of(x, y, graph, fit_maps(x, y, kernel, accuracy), workers)


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


def products_of(
    x: Array,
    y: Array,
    graph: PairGraph,
    maps: tuple[FeatureMap, FeatureMap],
    workers: int = 1,
    degrees: Index | None = None,
) -> FeatureProducts:
    """Add up u_i (Lap v)_i^H over the samples.

    If the graph is a shard of another one, `degrees` are those of the whole.
    """
    order, graph = graph.relabelled()
    x, y = x[order], y[order]
    whole = graph.degrees if degrees is None else degrees[order]
    traces = graph.laplacian_traces(whole)
    row_squares = graph.degrees * (whole + 1.0)  # of the rows of Lap
    of_x, of_y = maps
    n_draws = of_x.n_draws, of_y.n_draws
    every = -(-graph.n_samples // (CHECKED_BESIDE_CHANCE if any(n_draws) else CHECKED))
    samples = np.arange(graph.n_samples)

    def features_of_y(rows: Rows) -> NDArray[np.floating]:
        return of_y(y[rows])

    def products(chunk: Chunk) -> tuple[NDArray[np.floating], float]:
        rows, laplacian_times = samples[chunk[0]], chunk[1]
        lap_v, u = laplacian_times(features_of_y), of_x(x[chunk[0]])
        some = rows[::every]  # the features of y in all rows are at hand in Lap V only
        residual = _residual(u, of_x, row_squares[rows])
        residual += _residual(features_of_y(some), of_y, row_squares[some]) * len(rows) / len(some)
        return u.T @ lap_v.astype(u.dtype, copy=False), residual

    matrix, residual = np.zeros((of_x.n_features, of_y.n_features)), 0.0
    for part, part_residual in in_order(products, laplacian_chunks(graph, features_of_y), workers):
        matrix += part
        residual += part_residual
    rounding = max(float(np.finfo(features.dtype).eps) * features.kappa_0 for features in maps)
    return FeatureProducts(matrix, residual, rounding, n_draws, *traces)


def _residual(vectors: NDArray[np.floating], features: FeatureMap, row_squares: Array) -> float:
    """Sum of kappa(0) - |u|^2, weighted by how much the sample counts in Lap^2.

    It is computed for samples that landmarks were not chosen from, too.
    """
    if features.n_draws:
        return 0.0  # random features are right on average
    squares = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
    return float(row_squares @ (features.kappa_0 - squares))


def _chance(products: Array, n_draws: tuple[int, int]) -> float:
    """Two standard errors of the sum of `products` due to random frequencies of x and of y."""
    variance = 0.0
    for axis, number in enumerate(n_draws):
        if number:
            by_feature = products.sum(axis=1 - axis)
            by_draw = by_feature.reshape(2, number).sum(axis=0)
            variance += float(by_draw.var(ddof=1)) * number
    return 2 * float(np.sqrt(variance))
