"""Which directions of z matter: a metric in which samples that z makes alike are close.

With several columns of z, neighbours are far apart and regression on all directions is poor. But
x and y rarely depend on all directions alike. The mean outer product of the gradients of a
regression tells along which directions they change; measured in that metric, distances ignore the
others, and a second regression does better. (Radhakrishnan et al., Science 2024, call the
iteration a recursive feature machine; theory.md, eq. 10.)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chsic._util.validate import Array
from chsic.inference.clusters import Clusters
from chsic.inference.ridge import Ridge

ITERATIONS = 2
FLOOR = 0.05  # share of the plain metric that is kept, as gradients are estimates


def learn_metric(
    z: Array, targets: Array, plain: Ridge | None = None, groups: Clusters | None = None
) -> tuple[Array, Ridge, float]:
    """Return a matrix T such that ``targets`` change alike in all directions of ``z @ T``.

    Parameters
    ----------
    z : array, shape (n, d)
        Standardised columns.
    targets : array, shape (n, q)
        What depends on z.
    plain : Ridge, optional
        Regressions on `z` as it is, if the caller has them.
    groups : Clusters, optional
        Groups of samples that may depend on each other.

    Returns
    -------
    turn : array, shape (d, d)
        The best of the plain metric and the learned ones, by generalised cross-validation; the
        sum of its squared entries is d.
    ridge : Ridge
        Regressions on ``z @ turn``.
    error : float
        Their generalised cross-validation error.

    Examples
    --------
    Only the sum of the columns matters here:

    >>> import numpy as np
    >>> from chsic.inference.metric import learn_metric
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(300, 3))
    >>> x = np.sin(z.sum(axis=1, keepdims=True)) + rng.normal(size=(300, 1)) / 3
    >>> T, _, _ = learn_metric(z, x)
    >>> along, across = np.linalg.norm([1, 1, 1] @ T), np.linalg.norm([1, -1, 0] @ T)
    >>> bool(along > 3 * across)
    True
    """
    turn = np.eye(z.shape[1])
    ridge = Ridge(z, groups=groups) if plain is None else plain
    if len(turn) == 1:
        return turn, ridge, ridge.fit(targets).fit.error
    best, least = (turn, ridge), np.inf
    for iteration in range(ITERATIONS + 1):
        fitted = ridge.fit(targets, slopes=iteration < ITERATIONS)
        if fitted.fit.error < least:
            best, least = (turn, ridge), fitted.fit.error
        if fitted.slopes is not None:
            # theory.md, eq. 10
            turn = _normalised(turn @ _root(_mean_outer_product(fitted.slopes)))
            ridge = Ridge(z, metric=turn, groups=groups)
    return *best, least


def join_metrics(turns: Sequence[Array]) -> Array:
    """Return a metric that sees the directions of all (theory.md, eq. 12)."""
    return _normalised(_root(np.sum([turn @ turn.T for turn in turns], axis=0)))


def _mean_outer_product(slopes: Array) -> Array:
    d = slopes.shape[1]
    product: Array = np.einsum("nak,nbk->ab", slopes, slopes)
    total = float(np.trace(product))
    if total == 0:
        return np.eye(d)
    # theory.md, eq. 10: what is under the root
    mixed: Array = (1 - FLOOR) * product * (d / total) + FLOOR * np.eye(d)
    return mixed


def _root(matrix: Array) -> Array:
    values, vectors = np.linalg.eigh(matrix)
    root: Array = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    return root


def _normalised(turn: Array) -> Array:
    normalised: Array = turn * np.sqrt(len(turn) / (turn**2).sum())
    return normalised
