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

from chsic._util.arrays import Rows, row_blocks
from chsic._util.parallel import in_order
from chsic._util.validate import Array, Index
from chsic.inference.smooth import Columns, Smoother
from chsic.inference.strata import Strata

ADJUSTMENTS = ("auto", "none", "ridge")
FOLDS = 5


@dataclasses.dataclass(frozen=True, eq=False)
class Adjusted:
    """Columns less what z explains of them.

    Attributes
    ----------
    rows : callable
        Given rows, what is left of them, and of the variance of each one's noise: None if nothing
        was fitted.
    taken : pair of arrays or None
        What the fit took from the noise, as `chsic.inference.smooth.Fit` has it.
    parts : list of rows, optional
        Those that have to be asked for together; if there are none, any may be.
    """

    rows: Callable[[Rows], tuple[Array, Array | None]]
    taken: tuple[Array, Array] | None = None
    parts: list[Rows] | None = None


class Adjuster(Protocol):
    """Takes off what z explains.

    Attributes
    ----------
    of_columns : bool
        Whether it is taken off the columns before kernels compare them, and not only off their
        features. Where all samples that are compared have the same z, there is no need to.
    """

    of_columns: bool

    def fit(self, targets: Columns) -> Adjusted:
        """Return what makes rows of residuals from rows of targets."""
        ...


def all_rows(adjusted: Adjusted, n: int, workers: int = 1) -> tuple[Array, Array | None]:
    """Return the residuals of all n samples, made some at a time."""
    parts = adjusted.parts or row_blocks(n)
    made = list(in_order(adjusted.rows, parts, workers))
    residuals, left = np.empty((n, made[0][0].shape[1])), np.empty(n)
    for rows, (of_rows, left_of_rows) in zip(parts, made, strict=True):
        residuals[rows] = of_rows
        if left_of_rows is not None:
            left[rows] = left_of_rows
    return residuals, None if made[0][1] is None else left


class Unadjusted:
    """Takes off the mean of all n samples alone, which differences over pairs do not see."""

    of_columns = False

    def __init__(self, n: int) -> None:
        self._n = n

    def fit(self, targets: Columns) -> Adjusted:
        """Return centred columns."""
        mean = _mean(targets, row_blocks(self._n))
        return Adjusted(lambda rows: (targets(rows) - mean, None))


class StratumMeans:
    """Takes off the mean of each stratum: a regression on which of them a sample is in."""

    of_columns = False

    def __init__(self, strata: Strata) -> None:
        self._strata = strata

    def fit(self, targets: Columns) -> Adjusted:
        """Return residuals, and what the means left of each sample's noise: 1 - 1 / size."""
        cut: dict[int, list[Rows]] = {}
        for part in self._strata.parts:
            if part.part_of is not None:
                cut.setdefault(part.part_of, []).append(part.rows)
        means = {stratum: _mean(targets, rows) for stratum, rows in cut.items()}

        def residuals(rows: Rows) -> tuple[Array, Array]:
            part, values = self._strata.part(rows), targets(rows)
            left = (1 - 1 / part.sizes)[part.labels]
            if part.part_of is not None:
                return values - means[part.part_of], left
            # From the first of its stratum on, so that what is constant becomes zero.
            values = values - values[part.starts][part.labels]
            values -= (np.add.reduceat(values, part.starts) / part.sizes[:, None])[part.labels]
            return values, left

        return Adjusted(residuals, parts=[part.rows for part in self._strata.parts])


def _mean(targets: Columns, parts: list[Rows]) -> Array:
    """Return the mean of columns over all rows of some parts.

    Sums are of differences to the first row: where columns are constant, there is no rounding.
    """
    origin, total, number = None, 0.0, 0
    for rows in parts:
        values = targets(rows)
        origin = values[0] if origin is None else origin
        total = total + (values - origin).sum(axis=0)
        number += len(values)
    assert origin is not None
    mean: Array = origin + total / number
    return mean


class RidgeAdjuster:
    """Kernel ridge regression on z, penalty and width by generalised cross-validation."""

    of_columns = True

    def __init__(self, smoother: Smoother) -> None:
        self._smoother = smoother

    def fit(self, targets: Columns) -> Adjusted:
        """Return residuals, and what the fit left of each sample's noise."""
        fit = self._smoother.fit(targets)
        return Adjusted(fit.rows, fit.taken)


class CrossFitted:
    """Any scikit-learn regressor, fitted on other samples than those whose residuals are taken."""

    of_columns = True

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
