"""Whether rows that follow each other are alike: then they are not independent.

Given z, what a regression leaves of x, times what it leaves of y, has nothing in common with the
same product of the next rows, unless rows have a memory or come in groups. Rows further away, but
as near in z, show how much of what they have in common is due to z (theory.md, eq. 54).
"""

from __future__ import annotations

import dataclasses
import functools
from typing import NamedTuple

import numpy as np
from scipy.spatial import KDTree

from chsic._util.validate import Array, Index
from chsic.inference.batches import Batch
from chsic.inference.plan import PlannedVariable
from chsic.inference.units import Units

ROWS = 5_000  # that follow each other, at most
FEWEST_ROWS = 50
LAGS = 3  # rows that follow
APART = 10  # rows from a row to one further away
OTHERS = 8  # of these, as near in z as a row that follows
CERTAIN = 2.5  # standard errors: six in a thousand by chance
LEAST_SHARE = 0.1  # of the squares of the products


class Likeness(NamedTuple):
    """What products of residuals of one row and the next have in common.

    Attributes
    ----------
    share : float
        Their first autocorrelations, less those of rows with the same z.
    score : float
        In standard errors.
    """

    share: float
    score: float

    @property
    def is_seen(self) -> bool:
        """Whether it is more than chance, and enough to matter."""
        return self.score >= CERTAIN and self.share >= LEAST_SHARE


@dataclasses.dataclass(frozen=True, eq=False)
class Succession:
    """Samples in the order of the rows of the user.

    Attributes
    ----------
    places : array of int
        Where each of these rows is among all samples.
    z : array, shape (n, d), or None
        z of all samples, as regressions see it.
    strata : array of int or None
        Strata of all samples, if their means are subtracted.
    weights : array or None
        Of all samples; None if they weigh the same.
    """

    places: Index
    z: Array | None
    strata: Index | None = None
    weights: Array | None = None

    @classmethod
    def of(
        cls,
        n: int,
        order: Index | None,
        z: Array | None,
        strata: Index | None = None,
        weights: Array | None = None,
    ) -> Succession:
        """Take the rows in the middle, if there are many."""
        rows = np.arange(n) if order is None else np.argsort(order)
        start = max(0, (n - ROWS) // 2)
        return cls(rows[start : start + ROWS], z, strata, weights)

    @functools.cached_property
    def others(self) -> list[Index]:
        """For each lag and rows 0, 1, ...: some that are far, but as near in z as the row there."""
        n, rng = len(self.places), np.random.default_rng(0)
        rows = np.arange(n - LAGS)
        far = (rows[:, np.newaxis] + rng.integers(APART + 1, n - APART, (len(rows), OTHERS))) % n
        if self.z is None:
            return [far] * LAGS
        z, shuffled = self.z[self.places], rng.permutation(n)
        _, found = KDTree(z[shuffled]).query(z[1:], min(2 * APART + 1 + OTHERS, n))
        near, others = shuffled[found], []
        for lag in range(1, LAGS + 1):
            candidates = near[lag - 1 : lag - 1 + len(rows)]
            close = np.abs(candidates - rows[:, np.newaxis]) <= APART
            first = np.argsort(close, axis=1, kind="stable")[:, :OTHERS]
            others.append(np.take_along_axis(candidates, first, axis=1))
        return others

    def residuals(self, variable: PlannedVariable) -> Array:
        """Return residual features of the widest kernel, which has the longest memory."""
        widest = variable.plan.n_bandwidths - 1
        kernel, known = variable.plan.kernels[widest], variable.features[widest].residuals
        if known is not None:
            return known[self.places]
        made: Array = kernel.landmarks(variable.standardised[self.places] / kernel.width)
        if self.strata is not None:
            units = Units.of(np.unique(self.strata[self.places], return_inverse=True)[1])
            return made - units.means(made)[units.labels]
        z = None if self.z is None else self.z[self.places]
        weights = None if self.weights is None else self.weights[self.places]
        batch = Batch.at(self.places, z=z, fit_weights=weights)
        residuals: Array = kernel.fit.residuals(made, batch)[0]
        return residuals

    def likeness(self, x: PlannedVariable, y: PlannedVariable) -> Likeness:
        """Compare products of each row with those of the next ones, and of others near in z."""
        if len(self.places) < FEWEST_ROWS or any(_is_sorted(of, self.places) for of in (x, y)):
            return Likeness(0.0, 0.0)
        u, v = self.residuals(x), self.residuals(y)
        here, products = slice(0, len(u) - LAGS), np.zeros(len(u) - LAGS)
        for lag, others in enumerate(self.others, start=1):
            after = slice(lag, len(u) - LAGS + lag)
            products += _inner(u[here], u[after]) * _inner(v[here], v[after])
            for other in others.T:
                products -= _inner(u[here], u[other]) * _inner(v[here], v[other]) / OTHERS
        squares = float(_inner(u, u) @ _inner(v, v))
        error = float(np.sqrt((products**2).sum()))
        if not (squares > 0 and error > 0):
            return Likeness(0.0, 0.0)
        total = float(products.sum())
        return Likeness(total / squares, total / error)


def _inner(u: Array, v: Array) -> Array:
    inner: Array = np.einsum("ij,ij->i", u, v)
    return inner


def _is_sorted(variable: PlannedVariable, places: Index) -> bool:
    """Whether rows are in the order of a variable: one that follows is alike for that reason."""
    steps = np.diff(variable.columns[places], axis=0)
    return bool(np.any((steps >= 0).all(axis=0) | (steps <= 0).all(axis=0)))
