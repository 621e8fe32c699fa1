r"""The equations of the paper as it states them, to be read beside it.

De Cabrera, Vilà-Insa and Riba, *Conditional Dependence via U-Statistics Pruning*
(arXiv:2410.15888). Nothing here is fast, and nothing here uses the fast code: it is the reference
that the fast code is tested against. Names and shapes are the paper's: data matrices U and V are
M x L, one column for each sample.

One correction: the paper writes :math:`e^{j \pi m x / \sqrt M}` in eq. 1 and
:math:`2 \pi` in the kernel that follows from it (eq. 5). Only :math:`2 \pi` gives that limit, so it
is used throughout.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chsic._util.validate import Array, Index, as_count

Complex: TypeAlias = NDArray[np.complex128]
Kappa: TypeAlias = Callable[[Array], Array]
Window: TypeAlias = Callable[[Array], Array]


def steering_vectors(x: ArrayLike, window: Window, M: int) -> Complex:
    r"""Map scalar samples to windowed steering vectors, eqs. 1 and 2.

    .. math:: [d(x)]_m = M^{-1/4}\, G(m/\sqrt M)\, e^{j 2 \pi (m/\sqrt M) x},
        \quad m = -M/2, \dots, M/2 - 1

    Parameters
    ----------
    x : array_like, shape (L,)
        Samples.
    window : callable
        G: even, with unit L2 norm; ``chsic.kernels.KERNELS["gaussian"].window(h)`` gives the one
        whose kernel is kappa(s) = exp(-(s / h)^2).
    M : int
        Number of features, even. Inner products approach kappa once :math:`\sqrt M`, the period of
        the features, exceeds the range of x by the reach of kappa, and :math:`\sqrt M / 2`, the
        highest frequency, exceeds the reach of G.

    Returns
    -------
    array of complex, shape (M, L)

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.kernels import KERNELS
    >>> from chsic.measure.paper import steering_vectors
    >>> U = steering_vectors([0.0, 1.0, 0.5, -1.0], KERNELS["gaussian"].window(1.0), M=64)
    >>> K = U.conj().T @ U  # eq. 5
    >>> bool(abs(K[0, 1] - np.exp(-1)) < 1e-14)
    True
    """
    samples = np.asarray(x, dtype=float)
    if samples.ndim != 1 or not np.all(np.isfinite(samples)):
        raise ValueError(
            "x: steering vectors are defined for finite scalars, one for each sample; got shape "
            f"{samples.shape}."
        )
    M = as_count("M", M, minimum=2)
    if M % 2:
        raise ValueError(f"M: must be even (m runs from -M/2 to M/2 - 1), got {M}; use {M + 1}.")
    f = np.arange(-M // 2, M // 2) / np.sqrt(M)
    vectors: Complex = (M**-0.25 * window(f))[:, np.newaxis] * np.exp(
        2j * np.pi * np.outer(f, samples)
    )
    return vectors


def sample_cross_covariance(U: Complex, V: Complex) -> Complex:
    """Sample cross-covariance of the feature vectors, eq. 3: U P V^H / (L - 1).

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.measure.paper import sample_cross_covariance
    >>> sample_cross_covariance(np.array([[1.0, 2.0, 6.0]]), np.array([[1.0, 2.0, 6.0]]))
    array([[7.]])
    """
    L = U.shape[1]
    P = np.eye(L) - np.ones((L, L)) / L
    covariance: Complex = U @ P @ V.conj().T / (L - 1)
    return covariance


def squared_frobenius_norm(C: Complex) -> float:
    """Return tr(C^H C), eq. 4: the measure of dependence in the feature space.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.measure.paper import squared_frobenius_norm
    >>> squared_frobenius_norm(np.array([[3.0, 4.0j]]))
    25.0
    """
    return float(np.trace(C.conj().T @ C).real)


def kernel_matrix(a: Array, b: Array, kappa: Kappa) -> Array:
    """Return kappa(a(l) - b(l')) for all l and l', eqs. 5 and 17.

    `kappa` gets the differences, of shape (len(a), len(b)) for scalar samples and
    (len(a), len(b), d) for samples of d columns.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.measure.paper import kernel_matrix
    >>> kernel_matrix(np.array([0.0, 1.0]), np.array([0.0]), lambda s: np.exp(-(s**2)))
    array([[1.        ],
           [0.36787944]])
    """
    return kappa(a[:, np.newaxis] - b[np.newaxis, :])


def hsic(x: Array, y: Array, kappa_x: Kappa, kappa_y: Kappa) -> float:
    """HSIC, eq. 6: tr(P K P Q) / (L - 1)^2.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic import paper
    >>> x = np.array([0.0, 1.0, 2.0, 4.0])
    >>> def kappa(s): return np.exp(-(s**2))
    >>> round(paper.hsic(x, x, kappa, kappa), 12)
    0.276893831034
    """
    L = len(x)
    P = np.eye(L) - np.ones((L, L)) / L
    K, Q = kernel_matrix(x, x, kappa_x), kernel_matrix(y, y, kappa_y)
    return float(np.trace(P @ K @ P @ Q)) / (L - 1) ** 2


def pairwise_differences(U: Complex, f1: Index, f2: Index) -> Complex:
    """Columns of the virtual data, eq. 7: (u_f1(k) - u_f2(k)) / sqrt 2.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.measure.paper import pairwise_differences
    >>> pairwise_differences(np.array([[1.0, 3.0]]), np.array([1]), np.array([0])).round(3)
    array([[1.414]])
    """
    differences: Complex = (U[:, f1] - U[:, f2]) / np.sqrt(2)
    return differences


def u_statistic_covariance(U: Complex, V: Complex, f1: Index, f2: Index) -> Complex:
    """Incomplete U-statistic of the cross-covariance, eq. 8, over the pairs f1(k), f2(k).

    With all L (L - 1) / 2 pairs it equals `sample_cross_covariance`.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.measure.paper import u_statistic_covariance
    >>> U = np.array([[1.0, 2.0, 6.0]])
    >>> u_statistic_covariance(U, U, np.array([0, 0, 1]), np.array([1, 2, 2])).round(12)
    array([[7.]])
    """
    K = _count(f1)
    covariance: Complex = (
        pairwise_differences(U, f1, f2) @ pairwise_differences(V, f1, f2).conj().T / K
    )
    return covariance


def sorted_pairs(z: Array, alpha: float) -> tuple[Index, Index]:
    """Prune by the confounder: sort all abs(z(l) - z(l')) and keep the K smallest, eqs. 12 and 13.

    Tied pairs stay in the order (0, 1), (0, 2), ..., (1, 2), ...

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.measure.paper import sorted_pairs
    >>> f1, f2 = sorted_pairs(np.array([0.0, 3.0, 1.0, 9.0]), alpha=1)
    >>> f1.tolist(), f2.tolist()
    ([0, 1], [2, 2])
    """
    L = len(z)
    if np.ndim(z) != 1 or not 1 <= alpha <= L - 1:
        raise ValueError(
            f"z and alpha: scalar z and alpha from 1 to L - 1 = {L - 1} are needed, got z of shape "
            f"{np.shape(z)} and alpha = {alpha}."
        )
    K = int(L * alpha / 2)
    l, l_prime = np.triu_indices(L, k=1)
    order = np.argsort(np.abs(z[l] - z[l_prime]), kind="stable")[:K]
    return l[order], l_prime[order]


def tuple_kernel_matrix(x: Array, f1: Index, f2: Index, kappa: Kappa) -> Array:
    """Kernel matrix on 4-tuples, below eq. 18: K11 + K22 - K12 - K12^H.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.measure.paper import tuple_kernel_matrix
    >>> x, f1, f2 = np.array([0.0, 1.0]), np.array([0]), np.array([1])
    >>> tuple_kernel_matrix(x, f1, f2, lambda s: np.exp(-(s**2)))  # 2 (1 - exp(-1))
    array([[1.26424112]])
    """
    x1, x2 = x[f1], x[f2]
    K12 = kernel_matrix(x1, x2, kappa)
    return kernel_matrix(x1, x1, kappa) + kernel_matrix(x2, x2, kappa) - K12 - K12.T


def c_hsic(x: Array, y: Array, f1: Index, f2: Index, kappa_x: Kappa, kappa_y: Kappa) -> float:
    """C-HSIC, eq. 18 literally: the trace over 4-tuples, K^2 of them, divided by 4 K^2.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic import paper
    >>> x = np.array([0.0, 1.0, 2.0, 4.0])
    >>> def kappa(s): return np.exp(-(s**2))
    >>> f1, f2 = np.triu_indices(4, k=1)  # all pairs: HSIC
    >>> round(paper.c_hsic(x, x, f1, f2, kappa, kappa), 12)
    0.276893831034
    """
    K = _count(f1)
    Kb = tuple_kernel_matrix(x, f1, f2, kappa_x)
    Qb = tuple_kernel_matrix(y, f1, f2, kappa_y)
    # tr(Kb Qb) is the sum of all [Kb]_kk' [Qb]_k'k, and Qb is symmetric.
    return float(np.sum(Kb * Qb)) / (4 * K**2)


def _count(f1: Index) -> int:
    if len(f1) < 1:
        raise ValueError("f1 and f2: at least one pair is needed (K >= 1), got none.")
    return len(f1)
