"""Regress first, prune second: take off what z explains before differences are formed.

Pairs close in z are not equal in z, and what is left of z's influence is the bias of the test; a
regression is never perfect, and what it misses is the bias of a test on residuals. Together the two
errors multiply. Whatever is taken off is a function of z, so that conditional independence of x
and y given z is not touched.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from chsic._validate import Array
from chsic.smooth import Smoother

ADJUSTMENTS = ("auto", "none", "ridge")
FOLDS = 5


class Adjuster(Protocol):
    """Takes off what z explains."""

    def residuals(self, targets: Array) -> tuple[Array, Array | None]:
        """Return what is left of the columns, and of the variance of each sample's noise.

        The latter is None if nothing was fitted.
        """
        ...


class Unadjusted:
    """Takes off the mean alone, which differences over pairs do not see."""

    def residuals(self, targets: Array) -> tuple[Array, Array | None]:
        """Return centred columns."""
        return targets - targets.mean(axis=0), None


class RidgeAdjuster:
    """Kernel ridge regression on z, penalty and width by generalised cross-validation."""

    def __init__(self, z: Array) -> None:
        self._smoother = Smoother(z)

    def residuals(self, targets: Array) -> tuple[Array, Array | None]:
        """Return residuals, and what the fit left of each sample's noise."""
        fit = self._smoother.fit(targets)
        return fit.residuals, fit.left


class CrossFitted:
    """Any scikit-learn regressor, fitted on other samples than those whose residuals are taken."""

    def __init__(self, regressor: Any, z: Array, rng: np.random.Generator) -> None:
        try:
            from sklearn.base import clone
        except ImportError as error:
            raise ImportError(
                "adjust: a regressor needs scikit-learn; install it, or use adjust='ridge'."
            ) from error
        self._regressor, self._z = clone(regressor), z
        if self._regressor.get_params().get("random_state", 0) is None:
            self._regressor.set_params(random_state=int(rng.integers(2**31)))
        n = len(z)
        self._held = np.array_split(rng.permutation(n), min(FOLDS, n))

    def residuals(self, targets: Array) -> tuple[Array, Array | None]:
        """Return residuals; no sample took part in its own fit."""
        from sklearn.base import clone

        left = np.empty_like(targets)
        for held in self._held:
            train = np.setdiff1d(np.arange(len(targets)), held)
            for k, column in enumerate(targets.T):
                fitted = clone(self._regressor).fit(self._z[train], column[train])
                left[held, k] = column[held] - np.ravel(fitted.predict(self._z[held]))
        return left, np.ones(len(targets))
