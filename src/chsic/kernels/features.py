"""Feature maps: from samples to vectors whose inner products are kernel values.

Samples are in units of the bandwidth. A map is fitted once, then applied to any rows, so that
features of all samples never need to be held together.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Protocol

import numpy as np
import scipy.linalg
from array_api_compat import array_namespace, device, is_numpy_array
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from chsic._util.validate import Array, Index
from chsic.kernels.kernel import CATEGORICAL, GAUSSIAN, Kernel

CANDIDATES = 10_000  # samples that landmarks are chosen from; a hundredth of them at each end
FULL_MATRIX_UP_TO = 500  # candidates whose whole kernel matrix is cheaper than one row at a time
LARGEST_RANK = 512  # landmarks above which random features take over
HOPELESS_RANK = 64  # if that many landmarks miss more than half, many more would be needed
RANDOM_FREQUENCIES = 256
EPSILON = 32 * float(np.finfo(np.float64).eps)  # of a sum of some hundred terms, relative
ROUNDING = 1e-13  # what all landmarks there are may seem to miss; random features would miss more
CACHED_ROWS = 2**12  # samples whose distances to all landmarks a cache holds


class FeatureMap(Protocol):
    """Features of samples, one row each."""

    @property
    def n_features(self) -> int:
        """Number of features."""
        ...

    @property
    def n_draws(self) -> int:
        """Number of independent random frequencies behind the features, 0 if none are random."""
        ...

    @property
    def kappa_0(self) -> float:
        """kappa(0), what the square of a feature vector should be."""
        ...

    @property
    def dtype(self) -> type[np.floating]:
        """Precision of the features."""
        ...

    def __call__(self, x: Array) -> NDArray[np.floating]:
        """Return the features of the rows of `x`, of shape (rows, n_features)."""
        ...


@dataclasses.dataclass(frozen=True, eq=False)
class OneHot:
    """Exact features of the kernel that is 1 for equal samples and 0 for others."""

    levels: Array
    n_draws: int = 0
    kappa_0: float = 1.0
    dtype: type[np.floating] = np.float64

    @property
    def n_features(self) -> int:
        """One for each level."""
        return len(self.levels)

    def __call__(self, x: Array) -> Array:
        """Return 1 in the column of each sample's level."""
        equal: Array = (x[:, np.newaxis, :] == self.levels).all(axis=2).astype(self.dtype)
        return equal


@dataclasses.dataclass(frozen=True, eq=False)
class Landmarks:
    """Features by pivoted Cholesky: u(x) = R^(-T) kappa(landmarks, x), K_landmarks = R^T R."""

    points: Array
    inverse: Array  # R^(-1)
    kernel: Kernel
    n_draws: int = 0
    dtype: type[np.floating] = np.float64

    @property
    def n_features(self) -> int:
        """One for each landmark."""
        return len(self.points)

    @property
    def kappa_0(self) -> float:
        """kappa(0), which a kernel of one's own may set as it likes."""
        return float(self.kernel.kappa(np.zeros(1))[0])

    @property
    def rounding(self) -> Array:
        """What rounding may add to each feature: it is a sum of terms that are at most so large."""
        largest: Array = self.kappa_0 * np.abs(self.inverse).sum(axis=0)
        return EPSILON * largest

    def __call__(self, x: Any) -> Any:
        """Return the features of the rows of `x`, an array of any library.

        In NumPy some rows at a time, to stay in the cache.
        """
        if not is_numpy_array(x):
            return self._of_any_library(x)
        features = np.empty((len(x), self.n_features), self.dtype)
        for start in range(0, len(x), CACHED_ROWS):
            rows = slice(start, start + CACHED_ROWS)
            kappa = kernel_matrix(self.kernel, x[rows], self.points)
            np.matmul(kappa.astype(self.dtype, copy=False), self.inverse, out=features[rows])
        return features

    def _of_any_library(self, x: Any) -> Any:
        if self.kernel is not GAUSSIAN:
            raise TypeError(f"kernel: {self.kernel.name!r} takes NumPy arrays, got {type(x)}.")
        xp = array_namespace(x)
        points = xp.asarray(self.points, dtype=x.dtype, device=device(x))
        squares = xp.sum((x[:, None, :] - points[None, :, :]) ** 2, axis=2)
        return xp.exp(-squares) @ xp.asarray(self.inverse, dtype=x.dtype, device=device(x))


def kernel_matrix(kernel: Kernel, x: Array, points: Array) -> Array:
    """Return kappa between rows of `x` and `points`; of the Gaussian from squared distances."""
    one_column = x.shape[1] == 1
    distances: Array = x - points[:, 0] if one_column else cdist(x, points, "sqeuclidean")
    if kernel is not GAUSSIAN:  # one's own may have its name
        return kernel.kappa(np.abs(distances) if one_column else np.sqrt(distances))
    if one_column:  # in place, which is several times faster
        np.multiply(distances, distances, out=distances)
    np.negative(distances, out=distances)
    return np.exp(distances, out=distances)


@dataclasses.dataclass(frozen=True, eq=False)
class RandomFourier:
    """Cosines and sines at random frequencies: unbiased for kappa, with an error of chance."""

    frequencies: Array  # (n_draws, d), angular
    kappa_0: float = 1.0
    dtype: type[np.floating] = np.float32

    @property
    def n_draws(self) -> int:
        """Number of frequencies."""
        return len(self.frequencies)

    @property
    def n_features(self) -> int:
        """A cosine and a sine for each frequency, the cosines first."""
        return 2 * len(self.frequencies)

    def __call__(self, x: Array) -> NDArray[np.floating]:
        """Return the features; single precision is far more exact than chance."""
        phases = x.astype(self.dtype) @ self.frequencies.T.astype(self.dtype)
        waves = np.empty((len(x), self.n_features), self.dtype)
        np.cos(phases, out=waves[:, : self.n_draws])
        np.sin(phases, out=waves[:, self.n_draws :])
        waves *= self.dtype(self.n_draws**-0.5)
        return waves


def fit_features(
    x: Array, kernel: Kernel, accuracy: float, dtype: type[np.floating] = np.float64
) -> FeatureMap:
    """Choose features that miss at most `accuracy` of kappa(0), or random ones if that fails."""
    if kernel is CATEGORICAL:
        levels = np.unique(x, axis=0)
        if len(levels) <= LARGEST_RANK:
            return OneHot(levels)
    landmarks, residual = fit_landmarks(x, kernel, accuracy, dtype=dtype)
    if residual > max(accuracy, ROUNDING) and kernel.frequencies is not None:
        rng = np.random.default_rng(0)
        return RandomFourier(kernel.frequencies(rng, RANDOM_FREQUENCIES, x.shape[1]))
    return landmarks


def fit_landmarks(
    x: Array,
    kernel: Kernel,
    accuracy: float,
    largest_rank: int = LARGEST_RANK,
    n_candidates: int = CANDIDATES,
    dtype: type[np.floating] = np.float64,
) -> tuple[Landmarks, float]:
    """Pivoted Cholesky: the next landmark is the sample that the features so far miss most.

    Returns also the mean residual kappa(0) - |u|^2 of the candidates, which the features miss.
    """
    candidates = x[candidate_rows(x, n_candidates)]
    choose = _pivots_at_once if len(candidates) <= FULL_MATRIX_UP_TO else _pivots_one_by_one
    pivots, factor, residual = choose(candidates, kernel, accuracy, largest_rank)
    inverse = scipy.linalg.solve_triangular(factor, np.eye(len(pivots)))
    landmarks = Landmarks(candidates[pivots], inverse.astype(dtype), kernel, dtype=dtype)
    return landmarks, residual


def _pivots_at_once(
    candidates: Array, kernel: Kernel, accuracy: float, largest_rank: int
) -> tuple[list[int], Array, float]:
    """Let LAPACK factor the kernel matrix of a few candidates, and keep the first pivots."""
    matrix = kernel_matrix(kernel, candidates, candidates)
    return pivoted_cholesky(matrix, accuracy, largest_rank)


def pivoted_cholesky(
    matrix: Array, accuracy: float, largest_rank: int, smallest: float = 1e-15
) -> tuple[list[int], Array, float]:
    """Return pivots, their factor R and the mean of the diagonal that they miss.

    There are so many that it is at most `accuracy`, if that takes no more than the largest rank and
    no pivot below the smallest.
    """
    total = float(np.trace(matrix))
    factor, order, numerical_rank, _ = scipy.linalg.lapack.dpstrf(matrix, tol=smallest)
    factor = np.triu(factor[: min(numerical_rank, largest_rank)])
    squares = np.cumsum(np.einsum("ij,ij->i", factor, factor))
    enough = int(np.searchsorted(squares, total - accuracy * len(matrix))) + 1
    rank = max(1, min(len(factor), enough))
    pivots = (order[:rank] - 1).tolist()
    residual = max(0.0, (total - float(squares[rank - 1])) / len(matrix))
    return pivots, factor[:rank, :rank], residual


def _pivots_one_by_one(
    candidates: Array, kernel: Kernel, accuracy: float, largest_rank: int
) -> tuple[list[int], Array, float]:
    """Compute only the rows of the kernel matrix that are pivots, for many candidates."""
    n = len(candidates)
    residual = kernel.kappa(np.zeros(n))
    rows = np.empty((min(n, largest_rank), n))
    pivots: list[int] = []
    while len(pivots) < len(rows) and residual.mean() > accuracy:
        pivot = int(np.argmax(residual))
        hopeless = len(pivots) == HOPELESS_RANK and residual.mean() > 0.5
        if residual[pivot] <= 1e-15 or hopeless:
            break
        row = kernel.matrix(candidates[pivot : pivot + 1], candidates)[0]
        row -= rows[: len(pivots), pivot] @ rows[: len(pivots)]
        rows[len(pivots)] = row / np.sqrt(residual[pivot])
        residual = np.maximum(residual - rows[len(pivots)] ** 2, 0)
        residual[pivot] = 0
        pivots.append(pivot)
    # Upper triangular, K_landmarks = factor' factor.
    return pivots, rows[: len(pivots), pivots], float(residual.mean())


def candidate_rows(x: Array, number: int) -> Index | slice:
    """Return some of the samples, those at the ends of each column included."""
    n = len(x)
    if n <= number:
        return slice(None)
    rows = [np.random.default_rng(0).choice(n, number, replace=False)]
    extremes = max(1, number // 100)
    for column in x.T:
        order = np.argpartition(column, [extremes, n - extremes])
        rows += [order[:extremes], order[n - extremes :]]
    return np.unique(np.concatenate(rows))
