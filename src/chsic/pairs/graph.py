"""The pairs of samples that are kept, as a graph: nodes are samples, edges are pairs."""

from __future__ import annotations

import dataclasses

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike

from chsic._validate import (
    MIN_SAMPLES,
    Index,
    RNGLike,
    as_count,
    as_generator,
    as_number,
)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class PairGraph:
    """Which pairs of samples are compared: the f1(k), f2(k) of the paper (its Section III).

    Parameters
    ----------
    i, j : array_like of int, shape (n_pairs,)
        Pair k compares samples i[k] and j[k], counted from 0. No sample is paired with itself
        and no pair is listed twice, in either order.
    n_samples : int
        Number of samples L.

    Attributes
    ----------
    n_pairs : int
        Number of pairs K.

    Examples
    --------
    >>> import chsic
    >>> graph = chsic.PairGraph([0, 1], [1, 2], n_samples=4)
    >>> graph
    PairGraph(n_samples=4, n_pairs=2)
    >>> graph.laplacian().toarray()
    array([[ 1., -1.,  0.,  0.],
           [-1.,  2., -1.,  0.],
           [ 0., -1.,  1.,  0.],
           [ 0.,  0.,  0.,  0.]])
    """

    i: Index
    j: Index
    n_samples: int

    def __init__(self, i: ArrayLike, j: ArrayLike, n_samples: int) -> None:
        n = as_count("n_samples", n_samples, minimum=MIN_SAMPLES)
        ends = _as_indices("i", i, n), _as_indices("j", j, n)
        _require_distinct_pairs(*ends, n)
        for name, value in zip(("i", "j", "n_samples"), (*ends, n), strict=True):
            object.__setattr__(self, name, value)

    @property
    def n_pairs(self) -> int:
        """Number of pairs K."""
        return len(self.i)

    @property
    def is_complete(self) -> bool:
        """Whether all K_max = L (L - 1) / 2 pairs are kept, so that C-HSIC is HSIC."""
        return self.n_pairs == max_pairs(self.n_samples)

    def laplacian(self) -> scipy.sparse.csr_array:
        """Return the graph Laplacian D D', D the signed incidence matrix of the pairs.

        Returns
        -------
        scipy.sparse.csr_array of shape (n_samples, n_samples)
            Degrees on the diagonal, -1 for every pair.

        Examples
        --------
        >>> import chsic
        >>> print(chsic.complete_pairs(4).laplacian().toarray().diagonal())
        [3. 3. 3. 3.]
        """
        n = self.n_samples
        rows, columns = np.concatenate([self.i, self.j]), np.concatenate([self.j, self.i])
        adjacency = scipy.sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, n))
        degrees = scipy.sparse.diags_array(np.bincount(rows, minlength=n).astype(float))
        return scipy.sparse.csr_array(degrees - adjacency)

    def __repr__(self) -> str:
        return f"PairGraph(n_samples={self.n_samples}, n_pairs={self.n_pairs})"


def max_pairs(n: int) -> int:
    """K_max = L (L - 1) / 2."""
    return n * (n - 1) // 2


def count_pairs(n: int, alpha: float) -> int:
    """K = floor(L alpha / 2), paper eq. 13."""
    alpha = as_number("alpha", alpha)
    if not 1 <= alpha <= n - 1:
        raise ValueError(
            f"alpha: must lie between 1 and n - 1 = {n - 1} for {n} samples (alpha is the mean "
            f"number of partners of a sample, n - 1 keeps all pairs), got {alpha:g}."
        )
    return int(n * alpha / 2)


def complete_pairs(n: int) -> PairGraph:
    """Keep all L (L - 1) / 2 pairs: no conditioning, C-HSIC becomes HSIC.

    This lists every pair, 16 bytes each; ``chsic(..., pairs="complete")`` and `hsic` compute the
    same value without the list.

    Parameters
    ----------
    n : int
        Number of samples.

    Returns
    -------
    PairGraph

    Examples
    --------
    >>> import chsic
    >>> chsic.complete_pairs(5)
    PairGraph(n_samples=5, n_pairs=10)
    """
    i, j = np.triu_indices(as_count("n", n, minimum=MIN_SAMPLES), k=1)
    return PairGraph(i, j, n)


def random_pairs(n: int, alpha: float, rng: RNGLike | None = None) -> PairGraph:
    """Keep K = floor(n alpha / 2) pairs drawn at random: the paper's control.

    Pairs that ignore z measure marginal dependence, like HSIC but with a larger variance.

    Parameters
    ----------
    n : int
        Number of samples.
    alpha : float
        Mean number of partners of a sample, between 1 and n - 1.
    rng : None, int or numpy.random.Generator
        Source of randomness; an integer makes the draw repeatable, None draws afresh.

    Returns
    -------
    PairGraph

    Examples
    --------
    >>> import chsic
    >>> chsic.random_pairs(100, 4, rng=0)
    PairGraph(n_samples=100, n_pairs=200)
    """
    n = as_count("n", n, minimum=MIN_SAMPLES)
    n_pairs = count_pairs(n, alpha)
    ranks = as_generator(rng).choice(max_pairs(n), n_pairs, replace=False, shuffle=False)
    # Pair (i, j), i < j, has rank j (j - 1) / 2 + i. The square root finds j up to rounding.
    j = ((1 + np.sqrt(1 + 8.0 * ranks)) / 2).astype(np.intp)
    j -= ranks < j * (j - 1) // 2
    j += ranks >= j * (j + 1) // 2
    return PairGraph(ranks - j * (j - 1) // 2, j, n)


def _as_indices(name: str, values: ArrayLike, n: int) -> Index:
    array = np.asarray(values)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise TypeError(
            f"{name}: expected a 1-D array of whole numbers, got shape {array.shape} and dtype "
            f"{array.dtype}."
        )
    if array.size and not (array.min() >= 0 and array.max() < n):
        raise ValueError(
            f"{name}: sample numbers must lie between 0 and n_samples - 1 = {n - 1}, "
            f"got {array.min()} to {array.max()}."
        )
    indices = array.astype(np.intp)
    indices.setflags(write=False)
    return indices


def _require_distinct_pairs(i: Index, j: Index, n: int) -> None:
    if len(i) != len(j):
        raise ValueError(f"i and j: must have the same length, got {len(i)} and {len(j)}.")
    if len(i) < 1:
        raise ValueError("i and j: at least one pair is needed (K >= 1), got none.")
    if np.any(i == j):
        raise ValueError(f"i and j: sample {i[i == j][0]} is paired with itself; drop that pair.")
    keys = np.sort(np.minimum(i, j) * n + np.maximum(i, j))
    repeated = np.flatnonzero(keys[1:] == keys[:-1])
    if len(repeated):
        a, b = divmod(int(keys[repeated[0]]), n)
        raise ValueError(
            f"i and j: the pair ({a}, {b}) is listed more than once; list each pair once, in "
            "either order."
        )
