"""One variable: columns that belong together, as numbers for a regression and a kernel."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chsic._util.validate import Array, Index
from chsic.data.arguments import Columns, indicators, require_no_identifier, side_by_side
from chsic.data.cleaning import clip_limits, clip_outliers, compress_outliers, without_rounding
from chsic.data.column import Column
from chsic.kernels.bandwidth import joint_deviations, require_finite_range
from chsic.kernels.of_samples import SampleFeatures, SampleKernel, fit_sample_features
from chsic.pairs.strata import strata_of

LARGEST_RANK = 64  # features of a kernel


@dataclasses.dataclass(frozen=True, eq=False)
class Scaling:
    """From clean columns to numbers in standard deviations: small, and the same for all rows.

    Attributes
    ----------
    centre, limits, spread : array, shape (d,)
        Median of each column, how far from it the regression follows values, and the standard
        deviation, that of a category being over all its indicators.
    origin : array of int, shape (d,)
        Which column of the user's each of them comes from.
    unit : float
        What 1 stands for, in the user's unit, if there is one column.
    """

    centre: Array
    limits: Array
    spread: Array
    origin: Index
    unit: float

    @property
    def most_levels(self) -> int:
        """Number of levels of the category that has most of them; 1 if there are only numbers."""
        return int(np.bincount(self.origin).max())

    def apply(self, columns: Columns) -> Variable:
        """Scale rows of the same columns."""
        values, _ = indicators(_exact(columns))
        return self._scaled(values - self.centre)

    def _scaled(self, deviations: Array) -> Variable:
        near = clip_outliers(deviations, self.limits)  # theory.md, eq. 5
        scaled = deviations / self.spread
        inside = scaled if near is deviations else near / self.spread
        return Variable(compress_outliers(scaled), inside, self)  # theory.md, eq. 6


@dataclasses.dataclass(frozen=True, eq=False)
class Variable:
    """Columns of numbers, or indicators of a category's levels, which belong together.

    Attributes
    ----------
    columns : array, shape (n, d)
        The numbers in standard deviations from the median.
    clipped : array, shape (n, d)
        What a regression follows: the same, but for values far off.
    scaling : Scaling or Description
        What made them.
    """

    columns: Array
    clipped: Array
    scaling: Scaling | Description

    @property
    def is_described(self) -> bool:
        """Whether columns are features of a kernel of samples."""
        return isinstance(self.scaling, Description)

    @classmethod
    def of(cls, argument: str, columns: Columns) -> Variable:
        """Choose a scaling for clean columns, and apply it.

        They are shifted by their medians first, so that data far from zero keep all their digits.
        """
        require_no_identifier(argument, columns)
        values, origin = indicators(_exact(columns))
        require_finite_range(argument, values)
        # The median, the limits of 20 delta and sigma of theory.md, eq. 5.
        centre = np.median(values, axis=0)
        values = values - centre
        limits = clip_limits(values)
        spread = joint_deviations(argument, clip_outliers(values, limits), origin)
        unit = float(spread[0]) if len(spread) == 1 else 1.0
        spread[spread == 0] = 1.0  # constant among the rows that are used
        return Scaling(centre, limits, spread, origin, unit)._scaled(values)

    def rows(self, order: Index) -> Variable:
        """Return the samples in another order."""
        columns = self.columns[order]
        inside = columns if self.clipped is self.columns else self.clipped[order]
        return Variable(columns, inside, self.scaling)


@dataclasses.dataclass(frozen=True, eq=False)
class Description:
    """From samples to features of a kernel k(a, b), which takes the place of a scaling.

    Attributes
    ----------
    features : SampleFeatures
        The features.
    """

    features: SampleFeatures

    @classmethod
    def of(cls, argument: str, columns: Columns, kernel: SampleKernel, tol: float) -> Variable:
        """Choose features for clean columns, and compute them."""
        rows, values = _as_given(columns)
        return cls(fit_sample_features(argument, kernel, rows, values, tol, LARGEST_RANK)).apply(
            columns
        )

    def apply(self, columns: Columns) -> Variable:
        """Describe rows of the same columns: equal ones by the same bits, and once."""
        rows, values = _as_given(columns)
        _, first = np.unique(values, return_index=True)
        features = self.features(rows[first])[values]
        return Variable(features, features, self)


def _as_given(columns: Columns) -> tuple[NDArray[Any], Index]:
    """Return samples as a kernel sees them, numbers or texts, and which of their values they are.

    The array has objects if any column is of texts.
    """
    given = [
        np.array(column.levels, dtype=object)[column.values.astype(np.intp)]
        if column.kind == "category"
        else column.values
        for column in columns
    ]
    return np.column_stack(given), strata_of(side_by_side([column.values for column in columns]))


def _exact(columns: Columns) -> list[Column]:
    """Return columns whose numbers are equal if they differ by rounding alone."""
    return [
        column
        if column.kind == "category"
        else dataclasses.replace(column, values=without_rounding(column.values))
        for column in columns
    ]
