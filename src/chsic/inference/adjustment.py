"""Regress first, prune second: residuals of x and y given z, before differences are formed.

theory.md, sections 3 and 4, has the formulas.

Pairs close in z are not equal in z, and what is left of z's influence is the bias of the test; a
regression is never perfect, and what it misses is the bias of a test on residuals. Together the two
errors multiply. Whatever is subtracted is a function of z, so that conditional independence of x
and y given z is not touched.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, TypeAlias

import numpy as np

from chsic._util.arrays import Rows, row_blocks
from chsic._util.namespaces import beside, namespace
from chsic._util.parallel import in_order
from chsic._util.validate import Array, Index
from chsic.inference.batches import Batch, Strata
from chsic.inference.ridge_fit import Directions

ADJUSTMENTS = ("auto", "none", "ridge")
FOLDS = 5

Columns: TypeAlias = Callable[[Rows], Array]  # makes some rows of a matrix


class Fit(Protocol):
    """What z explains of some columns: small, and picklable."""

    def residuals(self, values: Any, batch: Batch) -> tuple[Any, Any]:
        """Return residuals of rows, and the share of each one's noise variance that is left.

        The share is None if nothing was fitted.
        """
        ...


class Fitted(Protocol):
    """A fit, and what is known of all samples if it was computed on the way."""

    @property
    def fit(self) -> Fit:
        """The fit."""

    @property
    def residuals(self) -> Array | None:
        """Residuals of all samples."""

    @property
    def noise(self) -> Array | None:
        """Share of the noise variance that is left of each sample."""

    @property
    def directions(self) -> Directions | None:
        """Directions D of a ridge regression, at all samples."""


class Adjustment(Protocol):
    """Makes residuals given z.

    Attributes
    ----------
    of_columns : bool
        Whether columns are replaced by their residuals before kernels compare them, and not only
        their features. Where all samples that are compared have the same z, there is no need to.
    """

    of_columns: bool

    def fit(self, targets: Columns) -> Fitted:
        """Fit columns."""
        ...

    def parts(self) -> Iterator[Batch]:
        """Cut all samples into rows whose residuals can be computed together."""
        ...


@dataclasses.dataclass(frozen=True, eq=False)
class Plain:
    """A fit alone, or with the residuals of all samples."""

    fit: Fit
    residuals: Array | None = None
    noise: Array | None = None
    directions: Directions | None = None


def all_residuals(
    fitted: Fitted, targets: Columns, adjustment: Adjustment, workers: int = 1
) -> tuple[Array, Array | None]:
    """Compute the residuals of all samples, and shares of their noise, part by part."""

    def of_part(part: Batch) -> tuple[Rows, Array, Array | None]:
        return part.rows, *fitted.fit.residuals(targets(part.rows), part)

    # A part is gone once its residuals are known, with the functions of z that it holds.
    made = list(in_order(of_part, adjustment.parts(), workers))
    n = sum(len(residuals) for _, residuals, _ in made)
    all_rows, shares = np.empty((n, made[0][1].shape[1])), np.empty(n)
    for rows, residuals, noise in made:
        all_rows[rows] = residuals
        if noise is not None:
            shares[rows] = noise
    return all_rows, None if made[0][2] is None else shares


@dataclasses.dataclass(frozen=True, eq=False)
class CentredFit:
    """The mean of all samples, which differences over pairs do not see."""

    mean: Array

    def residuals(self, values: Any, batch: Batch) -> tuple[Any, None]:
        """Subtract the mean."""
        return values - beside(values, self.mean), None


class NoAdjustment:
    """Subtracts the mean of all n samples alone."""

    of_columns = False

    def __init__(self, n: int) -> None:
        self._n = n

    def fit(self, targets: Columns) -> Plain:
        """Compute the mean."""
        return Plain(CentredFit(_mean(targets, row_blocks(self._n))))

    def parts(self) -> Iterator[Batch]:
        """Yield rows that follow each other."""
        return (Batch.at(rows) for rows in row_blocks(self._n))


@dataclasses.dataclass(frozen=True, eq=False)
class StratumFit:
    """Means of strata: those of strata that are cut into several batches, others where they are.

    Attributes
    ----------
    means : mapping
        From the number of a stratum to its mean.
    """

    means: Mapping[int, Array]

    def residuals(self, values: Any, batch: Batch) -> tuple[Any, Any]:
        """Subtract means, which leave 1 - 1 / size of each sample's noise (theory.md, eq. 20).

        A weighted mean leaves 1 - 2 w / W + Q / W^2 of that of a sample of weight w, W and Q the
        sums of weights and of their squares (theory.md, eq. 57).
        """
        xp, part = namespace(values), batch.stratum_rows
        weights, total, squares = part.of_rows
        if part.weights is None:
            noise = beside(values, (1 - 1 / part.sizes)[part.labels])
        else:
            noise = beside(values, 1 - 2 * weights / total + squares / total**2)
        if part.part_of is not None:
            return values - beside(values, self.means[part.part_of]), noise
        # From the first of its stratum on, so that what is constant becomes zero.
        values = values - xp.take(values, beside(values, part.starts[part.labels]), axis=0)
        if part.weights is None:
            means = part.sums(values) / beside(values, part.sizes[:, None].astype(np.float64))
        else:
            shares = beside(values, weights / total)
            means = part.sums(shares[:, None] * values)
        return values - xp.take(means, beside(values, part.labels), axis=0), noise


class StratumAdjustment:
    """Subtracts the mean of each stratum: a regression on which of them a sample is in.

    From columns as well, if asked for: where strata lie far apart, bandwidths would be too wide for
    what differs inside of them.
    """

    def __init__(self, strata: Strata, *, of_columns: bool = False) -> None:
        self._strata, self.of_columns = strata, of_columns

    def fit(self, targets: Columns) -> Plain:
        """Compute the means of strata that are cut."""
        cut: dict[int, list[Rows]] = {}
        for part in self._strata.parts:
            if part.part_of is not None:
                cut.setdefault(part.part_of, []).append(part.rows)
        weights = self._strata.weights
        means = {one: _mean(targets, rows, weights) for one, rows in cut.items()}
        return Plain(StratumFit(means))

    def parts(self) -> Iterator[Batch]:
        """Yield whole strata, or parts of large ones."""
        return (Batch.at(part.rows, pairs=part) for part in self._strata.parts)


def _mean(targets: Columns, parts: list[Rows], weights: Array | None = None) -> Array:
    """Return the mean of columns over all rows of some parts.

    Sums are of differences to the first row: where columns are constant, there is no rounding.
    """
    origin, total, number = None, 0.0, 0.0
    for rows in parts:
        values = targets(rows)
        origin = values[0] if origin is None else origin
        if weights is None:
            total = total + (values - origin).sum(axis=0)
            number += len(values)
        else:
            total = total + weights[rows] @ (values - origin)
            number += float(weights[rows].sum())
    assert origin is not None
    mean: Array = origin + total / number
    return mean


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
