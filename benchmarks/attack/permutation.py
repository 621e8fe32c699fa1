"""The exact test within strata, from the definition: y is permuted among samples of equal z.

Independent of the library, and slow. A small p-value of a true null is chance if this test has a
small one as well, and a defect if it has not.
"""

from typing import Any

import numpy as np
import pandas as pd

CONFIRMED = 0.01  # p-values of permutations up to which a small p-value is taken for chance
PERMUTATIONS = 2_000


def permutation_pvalue(x: Any, y: Any, strata: np.ndarray, rng: np.random.Generator) -> float:
    """Return the smallest p-value over a narrow and a wide kernel, times two."""
    pvalues = []
    for multiple in (0.6, 2.0):
        k, q = (_kernel(values, multiple) for values in (x, y))
        for matrix in (k, q):
            _centre_in_strata(matrix, strata)
        observed = float((k * q).sum())
        as_large = 0
        for _ in range(PERMUTATIONS):
            order = _permuted(strata, rng)
            as_large += float((k * q[np.ix_(order, order)]).sum()) >= observed * (1 - 1e-9)
        pvalues.append((1 + as_large) / (1 + PERMUTATIONS))
    return min(1.0, 2 * min(pvalues))


def _kernel(values: Any, multiple: float) -> np.ndarray:
    series = pd.Series(values)
    numeric = pd.to_numeric(series, errors="coerce") if series.dtype != bool else series
    if numeric.isna().any() or series.dtype == object:
        codes = pd.factorize(series)[0]
        return (codes[:, np.newaxis] == codes).astype(float)
    numbers = numeric.to_numpy(dtype=float)
    numbers = numbers / (np.abs(numbers).max() or 1.0)
    apart = np.abs(numbers[:, np.newaxis] - numbers)
    typical = np.median(apart[apart > 0]) if (apart > 0).any() else 1.0
    return np.exp(-((apart / (multiple * typical)) ** 2))


def _centre_in_strata(kernel: np.ndarray, strata: np.ndarray) -> None:
    member = (strata[:, np.newaxis] == np.unique(strata)).astype(float)
    mean = member @ np.diag(1 / member.sum(axis=0)) @ member.T
    centring = np.eye(len(strata)) - mean
    kernel[:] = centring @ kernel @ centring
    # The paper weights strata by their size: Lap_b = n_b I - 11'.
    sizes = member @ member.sum(axis=0)
    kernel *= np.sqrt(np.outer(sizes, sizes))


def _permuted(strata: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    shuffled = rng.permutation(len(strata))
    order = np.empty_like(shuffled)
    order[np.argsort(strata, kind="stable")] = shuffled[np.argsort(strata[shuffled], kind="stable")]
    return order
