"""Regress first, prune second: take off what z explains before differences are formed.

Pairs close in z are not equal in z, and what is left of z's influence is the bias of the test; a
regression is never perfect, and what it misses is the bias of a test on residuals. Together the two
errors multiply. Whatever is taken off is a function of z, so that conditional independence of x
and y given z is not touched.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from chsic._validate import Array, Index
from chsic.engines.parallel import in_order
from chsic.smooth import Columns, Rows, Smoother

ADJUSTMENTS = ("auto", "none", "ridge")
FOLDS = 5
ROWS = 2**14  # that are worked on at once


@dataclasses.dataclass(frozen=True, eq=False)
class Adjusted:
    """Columns less what z explains of them.

    Attributes
    ----------
    rows : callable
        Given rows, what is left of them, and of the variance of each one's noise: None if nothing
        was fitted.
    taken : pair of arrays or None
        What the fit took from the noise, as `chsic.smooth.Fit` has it.
    """

    rows: Callable[[Rows], tuple[Array, Array | None]]
    taken: tuple[Array, Array] | None = None


class Adjuster(Protocol):
    """Takes off what z explains."""

    def fit(self, targets: Columns) -> Adjusted:
        """Return what makes rows of residuals from rows of targets."""
        ...


def all_rows(adjusted: Adjusted, n: int, workers: int = 1) -> tuple[Array, Array | None]:
    """Return the residuals of all n samples, made some at a time."""
    pieces = [slice(start, min(start + ROWS, n)) for start in range(0, n, ROWS)]
    parts = list(in_order(adjusted.rows, pieces, workers))
    left = [left for _, left in parts if left is not None]
    return np.concatenate([made for made, _ in parts]), np.concatenate(left) if left else None


class Unadjusted:
    """Takes off the mean alone, which differences over pairs do not see."""

    def fit(self, targets: Columns) -> Adjusted:
        """Return centred columns."""
        values = targets(slice(None))
        centred = values - values.mean(axis=0)
        return Adjusted(lambda rows: (centred[rows], None))


class RidgeAdjuster:
    """Kernel ridge regression on z, penalty and width by generalised cross-validation."""

    def __init__(self, smoother: Smoother) -> None:
        self._smoother = smoother

    def fit(self, targets: Columns) -> Adjusted:
        """Return residuals, and what the fit left of each sample's noise."""
        fit = self._smoother.fit(targets)
        return Adjusted(fit.rows, fit.taken)


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
        for name, value in sorted(self._regressor.get_params().items()):
            if name.endswith("random_state") and value is None:  # also inside a pipeline
                self._regressor.set_params(**{name: int(rng.integers(2**31))})
        n = len(z)
        self._held = np.array_split(rng.permutation(n), min(FOLDS, n))

    def fit(self, targets: Columns) -> Adjusted:
        """Return residuals; no sample took part in its own fit."""
        from sklearn.base import clone

        values = targets(slice(None))
        residuals, left = np.empty_like(values), np.ones(len(values))
        for held in self._held:
            train = np.setdiff1d(np.arange(len(values)), held)
            for k, column in enumerate(values.T):
                fitted = clone(self._regressor).fit(self._z[train], column[train])
                residuals[held, k] = column[held] - self._predicted(fitted, held)
        return Adjusted(lambda rows: (residuals[rows], left[rows]))

    def _predicted(self, fitted: Any, held: Index) -> Array:
        predicted: Array = np.ravel(fitted.predict(self._z[held]))
        if predicted.shape != held.shape or not np.isfinite(predicted).all():
            what = (
                "values that are not finite"
                if predicted.shape == held.shape
                else (f"{len(predicted)} values for {len(held)} rows")
            )
            raise ValueError(
                f"adjust: predict of {type(fitted).__name__} returned {what}; one finite number "
                "for each row of z is needed."
            )
        return predicted
