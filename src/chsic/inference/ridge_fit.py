"""A ridge regression on z: its functions of z, its coefficients, and what it leaves of rows.

A straight line in z and indicators of regions where columns jump, which are not penalised, and
features of z, which are (theory.md, eqs. 7 and 8). `chsic.inference.ridge` chooses them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from chsic._util.namespaces import beside, namespace
from chsic._util.validate import Array
from chsic.inference.batches import Batch
from chsic.inference.restored import restored
from chsic.inference.steps import Steps
from chsic.inference.units import means_at_samples

LARGEST_LINE = 0.3  # of n that the line, which is not penalised, may spend

Features: TypeAlias = Callable[[Any], Any]  # of rows of z


@dataclasses.dataclass(frozen=True, eq=False)
class Line:
    """Orthonormal basis of straight lines in z: that of the constant, and those of `slopes`.

    Directions in which columns repeat each other are left out, and all of them if they would take
    too large a share of the samples; the penalised features then have to do.
    """

    constant: float
    slopes: Array  # (d, k), the first column zero

    @classmethod
    def of(cls, z: Array) -> Line:
        """Orthonormalise over the rows of centred `z`."""
        n, d = z.shape
        if d + 1 > LARGEST_LINE * n:
            return cls(n**-0.5, np.zeros((d, 1)))
        _, sizes, right = np.linalg.svd(z, full_matrices=False)
        independent = sizes > 1e-10 * max(sizes[0], 1e-300)
        slopes = right[independent].T / sizes[independent]
        return cls(n**-0.5, np.column_stack([np.zeros(d), slopes]))

    def __call__(self, z: Any) -> Any:
        """Return the basis at rows of centred z."""
        xp = namespace(z)
        constant = xp.full_like(z[:, :1], self.constant)
        return xp.concat([constant, z @ beside(z, self.slopes[:, 1:])], axis=1)


@dataclasses.dataclass(frozen=True, eq=False)
class Basis:
    """Functions of z that a regression combines, small enough to be sent to other processes.

    Attributes
    ----------
    metric : array, shape (d, d), or None
        Turns the columns of z before anything else; None if they stay as they are.
    centre : array, shape (d,)
        Mean of z over the fitted samples.
    line : Line
        The part that is not penalised.
    steps : Steps
        Indicators of regions where columns jump, which are not penalised either.
    features : callable
        The part that is: features of rows of z, in units of the width.
    unit : float
        Width of the kernel, in the unit of z.
    turn : array, shape (functions, directions)
        Makes directions of all functions that are orthonormal over the fitted samples.
    shrinkage : array, shape (penalties, directions)
        What each penalty leaves of each direction: 1 for line and steps.
    """

    metric: Array | None
    centre: Array
    line: Line
    steps: Steps
    features: Features
    unit: float
    turn: Array
    shrinkage: Array

    def design(self, z: Any) -> Any:
        """Return line, steps and features at rows of z, side by side."""
        steps = [self.steps(z)] if len(self.steps) else []
        if self.metric is not None:
            z = z @ beside(z, self.metric)
        z = z - beside(z, self.centre)
        return namespace(z).concat([self.line(z), *steps, self.features(z / self.unit)], axis=1)


@dataclasses.dataclass(frozen=True, eq=False)
class RidgeFit:
    """A regression of some columns on z, small enough to be sent to other processes.

    Attributes
    ----------
    basis : Basis
        Functions of z.
    shrinkage : array, shape (directions,)
        The diagonal of S in the basis: what the penalty leaves of each direction.
    spent : array, shape (directions,)
        Numbers c with (I - S)^2 = I + D diag(c) D', D the orthonormal directions.
    coefficients : array, shape (functions, q)
        Of line, steps and features.
    error : float
        Generalised cross-validation error.
    of_all : bool
        Whether all samples were fitted. If not, they are so many that each of them kept nearly all
        of its noise.
    within : bool
        Whether groups have levels of their own, which are subtracted.
    weighed : array, shape (directions, directions), or None
        If rows have weights w, D is orthonormal once its rows are multiplied by their roots; this
        is then diag(s) D'diag(w^2) D diag(s), s the shrinkage (theory.md, eq. 56).
    """

    basis: Basis
    shrinkage: Array
    spent: Array
    coefficients: Array
    error: float
    of_all: bool
    within: bool = False
    weighed: Array | None = None

    def residuals(self, values: Any, batch: Batch) -> tuple[Any, Any]:
        """Return what z does not explain of rows, and the share of each one's noise variance left.

        With residuals (I - S) values, the share is the sum of squares of a row of I - S
        (theory.md, eq. 20).
        """
        design = batch.design(self.basis)
        residuals = values - design @ beside(values, self.coefficients)
        if self.within:
            residuals, _ = self._less_means(residuals, batch)
        if not self.of_all:
            return residuals, namespace(values).ones_like(values[:, 0])
        directions = design @ beside(values, self.basis.turn)
        if not self.within:
            return residuals, self._noise(directions, batch)
        directions, own_share = self._less_means(directions, batch)
        return residuals, self._noise(directions, batch) - own_share

    def _noise(self, directions: Any, batch: Batch) -> Any:
        """Return the sum of squares of each row of I - S, with S = D diag(s) D'diag(w)."""
        if self.weighed is None:
            return 1 + directions**2 @ beside(directions, self.spent)
        assert batch.fit_weights is not None
        xp, weights = namespace(directions), beside(directions, batch.fit_weights)
        own = weights * (directions**2 @ beside(directions, self.shrinkage))
        return 1 - 2 * own + xp.vecdot(directions @ beside(directions, self.weighed), directions)

    def restored(self, residuals: Any, batch: Batch) -> Any:
        """Return residuals whose noise is, in every group, what it was before the fit."""
        if not self.of_all:
            return residuals
        assert batch.groups is not None
        directions = batch.design(self.basis) @ beside(residuals, self.basis.turn)
        if self.within:
            directions, _ = self._less_means(directions, batch)
        if self.weighed is None:
            spent = np.diag(self.spent)
            return restored(residuals, directions, spent, batch.groups, within=self.within)
        # (I - S)(I - S)' = I - D s F' - F s D' + D weighed D', F the directions times weights
        assert batch.fit_weights is not None
        weighted = directions * beside(directions, batch.fit_weights)[:, None]
        shrinkage = np.diag(self.shrinkage)
        spent = np.block([[self.weighed, -shrinkage], [-shrinkage, np.zeros_like(shrinkage)]])
        both = namespace(directions).concat([directions, weighted], axis=1)
        return restored(residuals, both, spent, batch.groups)

    def _less_means(self, values: Any, batch: Batch) -> tuple[Any, Any]:
        """Subtract means of groups; also the share of each sample in the mean of its group."""
        assert batch.groups is not None
        groups, weights = batch.groups, batch.fit_weights
        share = 1 / groups.sizes[groups.labels]
        if weights is not None:
            share = weights / np.bincount(groups.labels, weights)[groups.labels]
        return values - means_at_samples(groups, values, weights), beside(values, share)


@dataclasses.dataclass(frozen=True, eq=False)
class Directions:
    """Orthonormal directions D of a basis at all samples, shape (n, directions).

    Two of them are equal if they are the same object, so that what follows from one can be cached.
    """

    values: Array


@dataclasses.dataclass(frozen=True, eq=False)
class Fitted:
    """A fit, and what is known of all samples if all of them were fitted.

    Attributes
    ----------
    fit : RidgeFit
        The regression.
    residuals, noise : array or None
        What `RidgeFit.residuals` gives for all rows.
    directions : Directions or None
        Orthonormal directions D at all samples.
    slopes : array, shape (n, d, q), or None
        Gradients of the fitted columns at the samples, if asked for.
    """

    fit: RidgeFit
    residuals: Array | None = None
    noise: Array | None = None
    directions: Directions | None = None
    slopes: Array | None = None
