"""The law of the smallest p-value of a family whose members are correlated.

Members of a family are squared lengths of nearly normal vectors under the same signs, so that they
are large together. A model with this property and any correlations is a complex normal variable
for each member: its squared length is an exponential variable, exp(-|g|^2 / 2) is uniform like a
p-value, and |g_k|^2 and |g_l|^2 have the squared correlation of g_k and g_l (theory.md, eq. 37; a
chi-square copula).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from chsic._util.validate import Array

DRAWS = 20_000
TAIL_DRAWS = 200  # the most extreme ones, below which the law is continued in proportion


def as_shares(weights: Sequence[float]) -> Array:
    """Return weights that are 1 on average.

    Examples
    --------
    >>> from chsic.inference.smallest_pvalue import as_shares
    >>> as_shares([3.0, 1.0]).tolist()
    [1.5, 0.5]
    """
    shares = np.array(weights, dtype=np.float64)
    shares /= shares.mean()
    return shares


def pvalue_of_smallest(smallest: float, correlations: Array, shares: Array | None = None) -> float:
    """Return the probability that the smallest p-value of a family is at most this one.

    Parameters
    ----------
    smallest : float
        The smallest p-value of the members, each divided by its share.
    correlations : array, shape (k, k)
        Of the members under the null hypothesis; those below zero count as zero.
    shares : array, shape (k,), optional
        From `as_shares`; all 1 if not given.

    Returns
    -------
    float
        At least what the member of the largest share would give alone, and at most what independent
        members would give.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.inference.smallest_pvalue import pvalue_of_smallest
    >>> round(pvalue_of_smallest(0.01, np.eye(3)), 3)  # 1 - 0.99^3 = 0.0297
    0.03
    >>> round(pvalue_of_smallest(0.01, np.ones((3, 3))), 3)
    0.01
    """
    k = len(correlations)
    shares = np.ones(k) if shares is None else shares
    alone = smallest * shares  # p-values of the members that are as small
    largest_alone = float(alone.max())
    if k == 1 or largest_alone >= 1:
        return min(largest_alone, 1.0)
    independent = float(-np.expm1(np.log1p(-alone).sum()))
    largest = _largest_under_null(correlations, shares)
    # exp(-|g|^2 / 2) <= p is |g|^2 >= -2 log(p).
    number = int(np.count_nonzero(largest >= -2 * np.log(smallest)))
    joint = number / (DRAWS + 1)
    if number < TAIL_DRAWS:
        tail = float(np.exp(-np.partition(largest, DRAWS - TAIL_DRAWS)[DRAWS - TAIL_DRAWS] / 2))
        joint = smallest / tail * TAIL_DRAWS / (DRAWS + 1)
    return float(min(max(joint, largest_alone), independent))


def _largest_under_null(correlations: Array, shares: Array) -> Array:
    """Return the largest |g_k|^2 + 2 log(share) of each draw."""
    values, vectors = np.linalg.eigh(np.sqrt(np.maximum(correlations, 0.0)))
    turn = vectors * np.sqrt(np.maximum(values, 0.0))
    turn /= np.linalg.norm(turn, axis=1, keepdims=True)
    real, imaginary = (turn @ part for part in _normal_draws(len(turn)))
    real *= real
    imaginary *= imaginary
    real += imaginary
    real += 2 * np.log(shares)[:, np.newaxis]
    largest: Array = real.max(axis=0)
    return largest


@functools.lru_cache(maxsize=4)
def _normal_draws(k: int) -> Array:
    """Return the same draws at every call, so that no seed decides an answer."""
    draws = np.random.default_rng(0).standard_normal((2, k, DRAWS))
    draws.setflags(write=False)
    return draws
