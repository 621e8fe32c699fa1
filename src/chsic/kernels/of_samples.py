"""Kernels k(a, b) of samples of any kind, such as texts, and their features at landmarks.

A kernel kappa(s) sees a distance. A kernel k(a, b) sees the samples as they were given, and needs
no distance nor bandwidth: what is compared may be strings, or probabilities that add up to one.
"""

from __future__ import annotations

import dataclasses
import inspect
import zlib
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from chsic._util.names import readable
from chsic._util.validate import Array, Index
from chsic.kernels.features import EPSILON, pivoted_cholesky
from chsic.kernels.kernel import CATEGORICAL, Kernel, as_kernel

Rows: TypeAlias = NDArray[Any]  # samples, one row each: numbers, or objects if some are texts
CANDIDATES = 200  # samples that landmarks are chosen from
BLOCK = 2**12  # samples that a kernel is asked for at a time
ASYMMETRY = 1e-6  # of the largest value: single precision is exact enough
NEGATIVE = 1e-3  # of the largest eigenvalue, beyond which one is no rounding
SMALLEST_RESOLUTION = 1e-8  # share of a kernel that tells samples apart
CONSTANT = 1e-12  # share below which nothing does
FEWEST_ALIKE = 1.5  # other samples that are alike


@dataclasses.dataclass(frozen=True, eq=False)
class SampleKernel:
    """A kernel k(a, b) of samples.

    Attributes
    ----------
    name : str
        What it is called in messages and results.
    function : callable
        ``function(a, b)`` for samples of shapes (m, d) and (p, d) returns the m x p values.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.kernels.of_samples import SampleKernel
    >>> linear = SampleKernel("linear", lambda a, b: a @ b.T)
    >>> linear.matrix(np.array([[1.0], [2.0]]), np.array([[3.0]]))
    array([[3.],
           [6.]])
    """

    name: str
    function: Callable[[Rows, Rows], Any]

    def matrix(self, a: Rows, b: Rows) -> Array:
        """Return the kernel between all rows of `a` and of `b`, if it is one finite number each."""
        values = np.asarray(self.function(a, b))
        if values.shape != (len(a), len(b)) or values.dtype.kind not in "biuf":
            raise ValueError(
                f"kernel: {self.name}(a, b) must give one real number for each row of a and each "
                f"of b; for {len(a)} and {len(b)} rows it gave shape {values.shape} and dtype "
                f"{values.dtype}; return an array of shape (len(a), len(b))."
            )
        values = values.astype(np.float64)
        if not np.all(np.isfinite(values)):
            i, j = np.argwhere(~np.isfinite(values))[0]
            raise ValueError(
                f"kernel: {self.name}(a, b) gave NaN or infinity, first for {_shown(a[i])} and "
                f"{_shown(b[j])}; it must be finite for all samples."
            )
        return values


# The kernel of a test: of distances, with a bandwidth, or of samples, without.
AnyKernel: TypeAlias = Kernel | SampleKernel
KernelLike: TypeAlias = str | Kernel | Callable[..., Any]


def _equal(a: Rows, b: Rows) -> Array:
    """Tell which samples are equal."""
    same: Array = (a[:, np.newaxis, :] == b).all(axis=2).astype(np.float64)
    return same


EQUAL = SampleKernel("categorical", _equal)


def as_any_kernel(kernel: KernelLike) -> AnyKernel:
    """Return a kernel by name, or one's own: k(a, b) if it takes two arguments, else kappa(s).

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.kernels.of_samples import as_any_kernel
    >>> type(as_any_kernel("laplace")).__name__, type(as_any_kernel(np.cos)).__name__
    ('Kernel', 'Kernel')
    >>> type(as_any_kernel(lambda a, b: a @ b.T)).__name__
    'SampleKernel'
    """
    if isinstance(kernel, SampleKernel):
        return kernel
    if callable(kernel) and _takes_two(kernel):
        return SampleKernel(getattr(kernel, "__name__", type(kernel).__name__), kernel)
    one = as_kernel(kernel)
    # Residuals, which the distance of samples would be one of, are never equal.
    return EQUAL if one is CATEGORICAL else one


def kernel_pair(
    kernel: KernelLike | tuple[KernelLike, KernelLike],
) -> tuple[AnyKernel, AnyKernel]:
    """Return the kernels of x and of y, given for both or as a pair.

    Examples
    --------
    >>> from chsic.kernels.of_samples import kernel_pair
    >>> [one.name for one in kernel_pair(("laplace", "gaussian"))]
    ['laplace', 'gaussian']
    """
    if not isinstance(kernel, tuple):
        one = as_any_kernel(kernel)
        return one, one
    if len(kernel) != 2:
        raise ValueError(
            f"kernel: a tuple is (for x, for y), got {len(kernel)} values; give two, or one for "
            "both without a tuple."
        )
    return as_any_kernel(kernel[0]), as_any_kernel(kernel[1])


def _takes_two(function: Callable[..., Any]) -> bool:
    """Tell whether a second argument is needed, or is None as in the kernels of scikit-learn."""
    if isinstance(function, np.ufunc):
        return False  # whose second argument is None, too, but for the result
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except ValueError:  # functions of C that do not tell
        return False
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return len(positional) >= 2 and positional[1].default in (inspect.Parameter.empty, None)


@dataclasses.dataclass(frozen=True, eq=False)
class SampleFeatures:
    """Features by pivoted Cholesky, as `chsic.kernels.features.Landmarks`, of a kernel of samples.

    Attributes
    ----------
    kernel : SampleKernel
        The kernel; its mean k(x, x) is 1 in the features.
    points : array, shape (r, d)
        The landmarks.
    inverse : array, shape (r, r)
        R^(-1) for K_landmarks = R'R, divided by the root of the mean k(x, x).
    largest : float
        Largest value of the kernel.
    missed : float
        Share of what tells samples apart that the features miss.
    """

    kernel: SampleKernel
    points: Rows
    inverse: Array
    largest: float
    missed: float

    @property
    def n_features(self) -> int:
        """One for each landmark."""
        return len(self.points)

    @property
    def rounding(self) -> Array:
        """What rounding may add to each feature: it is a sum of terms that are at most so large."""
        most: Array = EPSILON * self.largest * np.abs(self.inverse).sum(axis=0)
        return most

    def __call__(self, rows: Rows) -> Array:
        """Return the features of samples, the kernel being asked for some of them at a time."""
        features = np.empty((len(rows), self.n_features))
        for start in range(0, len(rows), BLOCK):
            some = slice(start, start + BLOCK)
            np.matmul(self.kernel.matrix(rows[some], self.points), self.inverse, out=features[some])
        return features


def fit_sample_features(
    argument: str, kernel: SampleKernel, rows: Rows, values: Index, tol: float, largest_rank: int
) -> SampleFeatures:
    """Choose landmarks among some samples, after a look at whether the kernel is one.

    Parameters
    ----------
    argument : str
        What the samples are called in messages.
    kernel : SampleKernel
        Any.
    rows : array, shape (n, d)
        The samples.
    values : array of int, shape (n,)
        Which of their distinct values they have.
    tol : float
        Share of what tells samples apart that features may miss.
    largest_rank : int
        Most landmarks.
    """
    n = len(rows)
    if n > CANDIDATES:
        chosen = np.random.default_rng(0).choice(n, CANDIDATES, replace=False)
        rows, values = rows[chosen], values[chosen]
    # An order that is a variable's own: see `chsic.inference.planning`.
    own = np.random.default_rng(zlib.crc32(values.astype(np.int32).tobytes()))
    candidates = rows[own.permutation(len(rows))]
    matrix = kernel.matrix(candidates, candidates)
    lowest = require_kernel(argument, f"{kernel.name}(a, b)", matrix)
    size = float(np.trace(matrix)) / len(matrix)
    centred = matrix - matrix.mean(axis=0)
    centred -= centred.mean(axis=1)[:, np.newaxis]
    _require_some_alike(argument, kernel, centred, size, n)
    # What tells samples apart is what differs from the mean feature: theory.md, below eq. 15.
    resolution = max(float(np.trace(centred)) / len(matrix), SMALLEST_RESOLUTION * size)
    # Below what it is negative by, a kernel is not known.
    smallest = max(1e-15 * size, 10 * lowest)
    pivots, factor, residual = pivoted_cholesky(matrix, tol * resolution, largest_rank, smallest)
    inverse = scipy.linalg.solve_triangular(factor, np.eye(len(pivots))) / np.sqrt(size)
    points, largest = candidates[pivots], float(np.abs(matrix).max())
    again = kernel.matrix(points, points)
    if not np.abs(again - matrix[np.ix_(pivots, pivots)]).max() <= ASYMMETRY * largest:
        raise ValueError(
            f"kernel: {kernel.name}(a, b) gives other values for the same samples of {argument} "
            "when it is asked for fewer of them; let k of two samples depend on those two alone, "
            "so that nothing in it (a bandwidth, a mean) is made of the others."
        )
    return SampleFeatures(kernel, points, inverse, largest, residual / resolution)


def require_kernel(argument: str, name: str, matrix: Array) -> float:
    """Raise unless a matrix is symmetric and positive semi-definite; return how far it is not."""
    largest = float(np.abs(matrix).max())
    apart = np.abs(matrix - matrix.T)
    if apart.max() > ASYMMETRY * largest:
        i, j = np.unravel_index(int(np.argmax(apart)), matrix.shape)
        raise ValueError(
            f"kernel: {name} is not symmetric on {argument}: it gave {matrix[i, j]:g} for two "
            f"samples, and {matrix[j, i]:g} in the other order; use the mean of the two."
        )
    eigenvalues = np.linalg.eigvalsh(matrix)
    lowest, highest = float(eigenvalues[0]), float(eigenvalues[-1])
    if highest <= 0 or lowest < -NEGATIVE * highest:
        raise ValueError(
            f"kernel: {name} is not positive semi-definite on {argument}: eigenvalues of its "
            f"matrix for {len(matrix)} samples reach from {lowest:g} to {highest:g}; use inner "
            "products of features, or exp(-d**2) of a Euclidean distance d between features."
        )
    return max(0.0, -lowest)


def _require_some_alike(
    argument: str, kernel: SampleKernel, centred: Array, size: float, n: int
) -> None:
    """Refuse kernels in which all samples are alike, or hardly any two of them.

    The number of other samples that are alike is n times the mean squared cosine between features,
    less their mean: n over the number of directions in which they vary. Of what is left of 0 we
    know that it is chance, see `chsic.inference.planning`.
    """
    m, lengths = len(centred), np.sqrt(np.maximum(np.diag(centred), 0.0))
    varies = lengths > 1e-7 * max(float(lengths.max()), 1e-300)
    if not float(np.trace(centred)) > CONSTANT * m * size:
        raise ValueError(
            f"kernel: {kernel.name}(a, b) is the same for all samples of {argument} that were "
            "looked at; use one that tells them apart."
        )
    cosines = centred[np.ix_(varies, varies)] / np.outer(lengths[varies], lengths[varies])
    squares = (float((cosines**2).sum()) - int(varies.sum())) / (m * (m - 1))
    alike = n * (squares - 1 / (m - 1) ** 2)  # centring alone makes the last term
    if alike < FEWEST_ALIKE:
        raise ValueError(
            f"kernel: by {kernel.name}(a, b), a sample of {argument} is like "
            f"{max(round(alike, 2), 0):g} others on average, so that there is nothing "
            "to compare; use a kernel in which more samples are alike, such as one of shorter "
            "parts of them or of a wider bandwidth."
        )


def _shown(row: Rows) -> str:
    return repr(readable(", ".join(str(value) for value in row)))
