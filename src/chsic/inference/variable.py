"""One variable: columns that belong together, and what z leaves of them."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from chsic._util.validate import Array, Index
from chsic.data.arguments import Columns, called, indicators, require_no_identifier
from chsic.data.cleaning import about_far_values, clip_outliers, compress_outliers, without_rounding
from chsic.data.column import Column
from chsic.inference.adjust import Adjuster, all_rows
from chsic.inference.grams import residuals_alone
from chsic.kernels.bandwidth import joint_deviations, require_finite_range
from chsic.pairs import PairGraph

MOST_LEVELS_TOLD_APART = 60  # of a category; fewer than a kernel has features
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
    before : array, shape (n, d)
        The same before what z explains was taken off.
    origin : array of int, shape (d,)
        Which column of the user's each of them comes from.
    unit : float
        What 1 stands for, in the user's unit, if there is one column.
    """

    columns: Array
    clipped: Array
    before: Array
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
        near = clip_outliers(values)
        spreads = joint_deviations(argument, near, origin)
        unit = float(spreads[0]) if len(spreads) == 1 else 1.0
        spreads[spreads == 0] = 1.0  # constant among the rows that are used
        scaled = values / spreads
        inside = scaled if near is values else near / spreads
        scaled = compress_outliers(scaled)
        return cls(scaled, inside, scaled, origin, unit)

    def rows(self, order: Index) -> Variable:
        """Return the samples in another order."""
        columns = self.columns[order]
        inside = columns if self.clipped is self.columns else self.clipped[order]
        return Variable(columns, inside, columns, self.origin, self.unit)

    @functools.cached_property
    def spread(self) -> Array:
        """Standard deviation of every column, that of a category being over all its indicators."""
        return np.sqrt(np.bincount(self.origin, self.columns.var(axis=0))[self.origin])

    def standardised(self) -> Variable:
        """Give every column variance 1; one column alone keeps its unit."""
        unit = self.unit * float(self.spread[0]) if len(self.spread) == 1 else 1.0
        centred = self.columns - np.median(self.columns, axis=0)
        centred /= self.spread
        return Variable(centred, centred, self.before, self.origin, unit)


def _exact(column: Column) -> Column:
    """Return a column whose numbers are equal if they differ by rounding alone."""
    if column.kind == "category":
        return _pooled(column)
    return dataclasses.replace(column, values=without_rounding(column.values))


def _pooled(column: Column) -> Column:
    """Make one level of the rarest, if there are more of them than a kernel has features.

    Levels without a feature would be alike, and which ones that are depends on z: with 75 levels
    in 100 samples, a third of all true nulls was rejected.
    """
    codes = column.values.astype(np.intp)
    counts = np.bincount(codes)
    if np.count_nonzero(counts) <= MOST_LEVELS_TOLD_APART:
        return column
    rank = np.empty(len(counts), np.intp)
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    rank = np.minimum(rank, MOST_LEVELS_TOLD_APART - 1)
    levels = tuple(map(str, range(MOST_LEVELS_TOLD_APART)))
    return dataclasses.replace(column, values=rank[codes].astype(np.float64), levels=levels)


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
    found = _about_levels(argument, named) + _about_far_values(argument, variable, named)
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
        compared, columns, origin = compared[:, varies], columns[:, varies], origin[varies]
    return Variable(compared, compared, columns, origin, variable.unit), found


def _about_levels(argument: str, named: Columns) -> list[str]:
    """Say if rare levels of a category were taken as one."""
    return [
        f"{called(argument, column)}: of its {len(column.levels)} categories, the "
        f"{len(column.levels) - MOST_LEVELS_TOLD_APART + 1} rarest are compared as one."
        for column in named
        if column.kind == "category" and len(column.levels) > MOST_LEVELS_TOLD_APART
    ]


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
