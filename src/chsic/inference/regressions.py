"""Residuals of x and y by regressions on z: ridge regressions, or any of scikit-learn.

theory.md, section 3, has the formulas; `chsic.inference.adjustment` says what adjustments are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from chsic._util.arrays import Rows, row_blocks
from chsic._util.validate import Array, Index
from chsic.inference.adjustment import Columns, Plain
from chsic.inference.batches import Batch
from chsic.inference.ridge import Ridge
from chsic.inference.ridge_fit import Fitted
from chsic.inference.units import Units

FOLDS = 5  # of cross-fitting


class RidgeAdjustment:
    """Kernel ridge regression on z, penalty and width by generalised cross-validation."""

    of_columns = True

    def __init__(
        self,
        ridge: Ridge,
        z: Array,
        groups: Units | None = None,
        weights: Array | None = None,
    ) -> None:
        self.ridge, self._z, self._groups, self._weights = ridge, z, groups, weights

    def fit(self, targets: Callable[[Rows], Array]) -> Fitted:
        """Fit the samples that the regression looks at."""
        return self.ridge.fit(targets(self.ridge.rows))

    def parts(self) -> Iterator[Batch]:
        """Yield rows that follow each other, or all if groups may have levels of their own."""
        if self._groups is not None:
            every = slice(0, len(self._z))
            return iter(
                [Batch.at(every, z=self._z, groups=self._groups, fit_weights=self._weights)]
            )
        return (
            Batch.at(
                rows,
                z=self._z[rows],
                fit_weights=None if self._weights is None else self._weights[rows],
            )
            for rows in row_blocks(len(self._z))
        )


@dataclasses.dataclass(frozen=True, eq=False)
class CrossFit:
    """A cross-fitted regressor, whose residuals are known for the samples it was fitted on."""

    name: str

    def residuals(self, values: Any, batch: Batch) -> tuple[Any, Any]:
        """Refuse other rows."""
        raise ValueError(
            f"adjust: {self.name} was cross-fitted on the samples of the plan, and has no "
            "residuals of other rows; use adjust='ridge'."
        )


class CrossFittedAdjustment:
    """Any scikit-learn regressor, fitted on other samples than those whose residuals are taken.

    With groups, it is fitted on other groups.
    """

    of_columns = True

    def __init__(
        self,
        regressor: Any,
        z: Array,
        rng: np.random.Generator,
        groups: Index | None = None,
        weights: Array | None = None,
    ) -> None:
        try:
            from sklearn.base import clone
            from sklearn.utils.validation import has_fit_parameter
        except ImportError as error:
            raise ImportError(
                "adjust: a regressor needs scikit-learn; install it, or use adjust='ridge'."
            ) from error
        if weights is not None and not has_fit_parameter(regressor, "sample_weight"):
            raise ValueError(
                f"adjust: fit of {type(regressor).__name__} takes no sample_weight, and rows have "
                "weights; use adjust='ridge', or a regressor that takes it."
            )
        self._regressor, self._z, self._weights = clone(regressor), z, weights
        for name, value in sorted(self._regressor.get_params().items()):
            if name.endswith("random_state") and value is None:  # also inside a pipeline
                self._regressor.set_params(**{name: int(rng.integers(2**31))})
        labels = np.arange(len(z)) if groups is None else groups
        number = int(labels.max()) + 1
        folds = np.array_split(rng.permutation(number), min(FOLDS, number))
        self._folds = (
            folds if groups is None else [np.flatnonzero(np.isin(groups, f)) for f in folds]
        )

    def fit(self, targets: Columns) -> Plain:
        """Return residuals; no sample took part in its own fit."""
        from sklearn.base import clone

        values = targets(slice(None))
        residuals = np.empty_like(values)
        for fold in self._folds:
            train = np.setdiff1d(np.arange(len(values)), fold)
            for k, column in enumerate(values.T):
                known = {} if self._weights is None else {"sample_weight": self._weights[train]}
                fitted = clone(self._regressor).fit(self._z[train], column[train], **known)
                residuals[fold, k] = column[fold] - self._predictions(fitted, fold)
        fit = CrossFit(type(self._regressor).__name__)
        return Plain(fit, residuals, np.ones(len(values)))

    def parts(self) -> Iterator[Batch]:
        """Yield all rows: residuals are known."""
        return iter([Batch.at(slice(0, len(self._z)))])

    def _predictions(self, fitted: Any, fold: Index) -> Array:
        predictions: Array = np.ravel(fitted.predict(self._z[fold]))
        if predictions.shape != fold.shape or not np.isfinite(predictions).all():
            what = (
                "values that are not finite"
                if predictions.shape == fold.shape
                else (f"{len(predictions)} values for {len(fold)} rows")
            )
            raise ValueError(
                f"adjust: predict of {type(fitted).__name__} returned {what}; one finite number "
                "for each row of z is needed."
            )
        return predictions
