"""Which directions of z matter: a metric in which samples that z makes alike are close.

With several columns of z, neighbours are far apart and regression on all directions is poor. But
x and y rarely depend on all directions alike. The mean outer product of the gradients of a
regression tells along which directions they change; measured in that metric, distances ignore the
others, and a second regression does better. (Radhakrishnan et al., Science 2024, call the
iteration a recursive feature machine; theory.md, eq. 10.)

If x depends on many columns, each in a way of its own, there are no such directions. A sum of
functions of the columns may then do better than any metric, and is tried as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from chsic._util.validate import Array
from chsic.inference.ridge import AdditiveRidge, Ridge, some_rows
from chsic.kernels import KERNELS
from chsic.kernels.bandwidth import typical_distance
from chsic.kernels.features import fit_landmarks

SAMPLES = 1_000  # from which a metric is learned
RANK = 10  # features of a variable whose dependence on z decides the metric
ITERATIONS = 2
LARGEST_SUM = 80  # columns of which a sum of functions is tried
FLOOR = 0.05  # share of the plain metric that is kept, as gradients are estimates


Learned: TypeAlias = tuple[Array, Ridge]  # T, and regressions on all rows of z @ T


class MetricLearner:
    """Learns for any number of variables along which directions of one z they change."""

    def __init__(self, z: Array) -> None:
        self._z = z
        self._rows = some_rows(z, SAMPLES)
        self._some = z[self._rows]
        self._plain = Ridge(self._some)
        self._sum = AdditiveRidge(self._some) if z.shape[1] <= LARGEST_SUM else None

    @property
    def nbytes(self) -> int:
        """Bytes of what variables share."""
        return self._plain.nbytes + (0 if self._sum is None else self._sum.nbytes)

    def learn(self, values: Array) -> Learned:
        """Return the metric for one variable, and regressions in it, or on a sum of functions."""
        spreads = values.std(axis=0)
        standard = (values - values.mean(axis=0)) / np.where(spreads > 0, spreads, 1.0)
        targets = _summary(standard[self._rows])
        turn, ridge, error = learn_metric(self._some, targets, self._plain)
        # theory.md, eq. 11, if its error (eq. 9) is less
        is_sum = self._sum is not None and self._sum.fit(targets).fit.error < error
        if len(self._some) < len(self._z):
            return turn, AdditiveRidge(self._z) if is_sum else Ridge(self._z, metric=turn)
        return turn, self._sum if is_sum and self._sum is not None else ridge


def _summary(values: Array) -> Array:
    """Describe a standardised variable by itself and some features: what may depend on z."""
    scaled = values / (typical_distance(values) or 1.0)
    features, _ = fit_landmarks(scaled, KERNELS["gaussian"], 1e-4, RANK, 200)
    return np.column_stack([values, features(scaled)])


def learn_metric(
    z: Array, targets: Array, plain: Ridge | None = None
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
    ridge = Ridge(z) if plain is None else plain
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
            ridge = Ridge(z, metric=turn)
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
