"""One variable: columns that belong together, and what z leaves of them."""

from __future__ import annotations

import dataclasses

import numpy as np

from chsic._validate import Array, Index
from chsic.adjust import Adjuster, all_rows
from chsic.bandwidth import joint_deviations, require_finite_range
from chsic.column import Column
from chsic.columns import Columns, called, indicators, require_no_identifier
from chsic.grams import residuals_alone
from chsic.outliers import about_far_values, clipped, drawn_in
from chsic.pairs import PairGraph
from chsic.rounding import without_rounding

NOTHING_LEFT = 1e-20  # of a column's variance: it is a function of z up to rounding
FEW_SAMPLES = 30  # of which one may well be far from the others
HARDLY_LEFT = 1e-4  # so little that a regression may not tell it from its own error


@dataclasses.dataclass(frozen=True, eq=False)
class Variable:
    """Columns of numbers, or indicators of a category's levels, which belong together.

    Attributes
    ----------
    columns : array, shape (n, d)
        The numbers.
    clipped : array, shape (n, d)
        What a regression follows: the same, but for values far off.
    origin : array of int, shape (d,)
        Which column of the user's each of them comes from.
    unit : float
        What 1 stands for, in the user's unit, if there is one column.
    """

    columns: Array
    clipped: Array
    origin: Index
    unit: float

    @classmethod
    def of(cls, argument: str, columns: Columns) -> Variable:
        """Take clean columns, in standard deviations.

        They are shifted by their medians first, so that data far from zero keep all their digits.
        """
        require_no_identifier(argument, columns)
        values, origin = indicators([_exact(column) for column in columns])
        require_finite_range(argument, values)
        values = values - np.median(values, axis=0)
        near = clipped(values)
        spreads = joint_deviations(argument, near, origin)
        unit = float(spreads[0]) if len(spreads) == 1 else 1.0
        spreads[spreads == 0] = 1.0  # constant among the rows that are used
        scaled = values / spreads
        inside = scaled if near is values else near / spreads
        return cls(drawn_in(scaled), inside, origin, unit)

    def rows(self, order: Index) -> Variable:
        """Return the samples in another order."""
        columns = self.columns[order]
        inside = columns if self.clipped is self.columns else self.clipped[order]
        return Variable(columns, inside, self.origin, self.unit)

    def standardised(self) -> Variable:
        """Give every column variance 1; one column alone keeps its unit."""
        variances = self.columns.var(axis=0)
        spread = np.sqrt(np.bincount(self.origin, variances)[self.origin])
        unit = self.unit * float(spread[0]) if len(spread) == 1 else 1.0
        centred = self.columns - np.median(self.columns, axis=0)
        centred /= spread
        return Variable(centred, centred, self.origin, unit)


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
    fitted = adjuster.fit(variable.clipped.__getitem__)
    residuals, left = all_rows(fitted, len(columns), workers)
    if variable.clipped is not columns:
        residuals += columns - variable.clipped
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
    return Variable(compared, compared, origin, variable.unit), found


def _about_far_values(argument: str, variable: Variable, named: Columns) -> list[str]:
    """Say if values of a number are so far off that they may not be meant."""
    if len(variable.columns) < FEW_SAMPLES:
        return []
    found = []
    for k, position in enumerate(variable.origin):
        column = variable.columns[:, k]
        if named[position].kind == "number" and (text := about_far_values(column)):
            found.append(f"{called(argument, named[position])}: {text}")
    return found
