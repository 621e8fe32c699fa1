"""One variable: columns that belong together, and what z leaves of them."""

from __future__ import annotations

import dataclasses

import numpy as np

from chsic._validate import Array, Index
from chsic.adjust import Adjuster, all_rows
from chsic.bandwidth import joint_deviations
from chsic.column import Column
from chsic.columns import Columns, called, indicators, require_no_identifier
from chsic.grams import residuals_alone
from chsic.pairs import PairGraph
from chsic.rounding import without_rounding

NOTHING_LEFT = 1e-20  # of a column's variance: it is a function of z up to rounding
MOST_OF_VARIANCE, FEW_SAMPLES = 0.5, 30  # of one sample, and where that is nothing special
HARDLY_LEFT = 1e-4  # so little that a regression may not tell it from its own error


@dataclasses.dataclass(frozen=True, eq=False)
class Variable:
    """Columns of numbers, or indicators of a category's levels, which belong together.

    Attributes
    ----------
    columns : array, shape (n, d)
        The numbers.
    origin : array of int, shape (d,)
        Which column of the user's each of them comes from.
    unit : float
        What 1 stands for, in the user's unit, if there is one column.
    """

    columns: Array
    origin: Index
    unit: float

    @classmethod
    def of(cls, argument: str, columns: Columns) -> Variable:
        """Take clean columns, in standard deviations.

        They are shifted by their medians first, so that data far from zero keep all their digits.
        """
        require_no_identifier(argument, columns)
        values, origin = indicators([_exact(column) for column in columns])
        spreads = joint_deviations(argument, values, origin)
        spreads[spreads == 0] = 1.0  # constant among the rows that are used
        scaled = values - np.median(values, axis=0)
        scaled /= spreads
        return cls(scaled, origin, float(spreads[0]) if len(spreads) == 1 else 1.0)

    def rows(self, order: Index) -> Variable:
        """Return the samples in another order."""
        return Variable(self.columns[order], self.origin, self.unit)

    def standardised(self) -> Variable:
        """Give every column variance 1; one column alone keeps its unit."""
        variances = self.columns.var(axis=0)
        spread = np.sqrt(np.bincount(self.origin, variances)[self.origin])
        unit = self.unit * float(spread[0]) if len(spread) == 1 else 1.0
        centred = self.columns - np.median(self.columns, axis=0)
        centred /= spread
        return Variable(centred, self.origin, unit)


def _exact(column: Column) -> Column:
    """Return a column whose numbers are equal if they differ by rounding alone."""
    if column.kind == "category":
        return column
    return dataclasses.replace(column, values=without_rounding(column.values))


def left_given_z(
    argument: str,
    variable: Variable,
    named: Columns,
    adjuster: Adjuster,
    graph: PairGraph | None,
    workers: int = 1,
) -> tuple[Variable, list[str]]:
    """Take off what z explains, and the columns of which nothing is left; also say so.

    Without a regression, the `graph` tells what is left.
    """
    columns, origin = variable.columns, variable.origin
    residuals, left = all_rows(adjuster.fit(columns.__getitem__), len(columns), workers)
    alone = residuals
    if left is None and graph is not None:
        alone = residuals_alone(residuals, left, graph).alone
    variances = columns.var(axis=0)
    share = np.divide(
        alone.var(axis=0), variances, where=variances > 0, out=np.zeros(len(variances))
    )
    varies = share > NOTHING_LEFT
    found = _about_far_values(argument, variable, named)
    for position in np.unique(origin[share <= HARDLY_LEFT]):
        which = called(argument, named[position])
        most = float(share[origin == position].max())
        if most > HARDLY_LEFT:
            continue  # other levels of the category do vary
        if most > NOTHING_LEFT:
            found.append(
                f"{which} is nearly a function of z: {most:.1g} of its variance is left, "
                "much of which may be what the regression misses; do not trust a small p-value."
            )
        else:
            found.append(
                f"{which} is a function of z up to rounding, so nothing of it is left that could "
                "depend on the other."
            )
    compared = residuals if adjuster.of_columns else columns
    if not varies.all():
        compared, origin = compared[:, varies], origin[varies]
    return Variable(compared, origin, variable.unit), found


def _about_far_values(argument: str, variable: Variable, named: Columns) -> list[str]:
    """Say if one sample of a number is so far off that the others hardly matter beside it."""
    n = len(variable.columns)
    if n < FEW_SAMPLES:
        return []
    squares = (variable.columns - variable.columns.mean(axis=0)) ** 2
    total = squares.sum(axis=0)
    largest = squares.max(axis=0) / np.where(total > 0, total, 1.0)
    return [
        f"One sample has {largest[k]:.0%} of the variance of {called(argument, named[position])}: "
        "if it is not a mistake, give the logarithm or the ranks instead."
        for k, position in enumerate(variable.origin)
        if largest[k] > MOST_OF_VARIANCE and named[position].kind == "number"
    ]
