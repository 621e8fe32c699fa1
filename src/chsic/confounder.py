"""What z is made of: numbers that can be close, and categories that can only be equal."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
from numpy.typing import NDArray

from chsic._validate import Array, Index
from chsic.bandwidth import standard_deviations
from chsic.columns import Columns, side_by_side
from chsic.pairs.nearest import sorted_with_ties
from chsic.pairs.strata import strata_of

MOST_INDICATORS = 12  # levels of a category that a regression tells apart; rare ones are one


@dataclasses.dataclass(frozen=True, eq=False)
class Confounder:
    """Clean columns of z.

    Attributes
    ----------
    values : array, shape (n, d)
        All columns, categories as codes.
    numbers : array, shape (n, k)
        Those that are numbers.
    categories : array of int, shape (n,), or None
        Which combination of categories a sample has, if any column is a category.
    scaled : array, shape (n, m)
        Numbers in standard deviations beside indicators of categories, for a regression.
    is_number : array of bool, shape (d,)
        Which of all columns are numbers.
    """

    values: Array
    numbers: Array
    categories: Index | None
    scaled: Array
    is_number: NDArray[np.bool_]

    @classmethod
    def of(cls, columns: Columns) -> Confounder:
        """Take the columns of z apart."""
        values = side_by_side([column.values for column in columns])
        is_number = np.array([column.kind == "number" for column in columns])
        if is_number.all():
            return cls(values, values, None, _scaled(columns), is_number)
        categories = strata_of(values[:, ~is_number])
        return cls(values, values[:, is_number], categories, _scaled(columns), is_number)

    def rows(self, order: Index) -> Confounder:
        """Return the samples in another order."""
        values = self.values[order]
        if self.categories is None:
            return Confounder(values, values, None, self.scaled[order], self.is_number)
        numbers, categories = self.numbers[order], self.categories[order]
        return Confounder(values, numbers, categories, self.scaled[order], self.is_number)

    @functools.cached_property
    def strata(self) -> Index:
        """Number of each sample's z among its distinct values."""
        return strata_of(self.values)

    @property
    def on_line(self) -> bool:
        """Whether only one column is a number, so that neighbours follow each other."""
        return bool(self.numbers.shape[1] == 1)

    def along_line(self, rng: np.random.Generator) -> Index:
        """Return the order of categories and, inside them, of the one number; ties at random."""
        order = sorted_with_ties(self.numbers[:, 0], rng)
        if self.categories is None:
            return order
        return order[np.argsort(self.categories[order], kind="stable")]

    @property
    def is_along_line(self) -> bool:
        """Whether samples are in that order."""
        z = self.numbers[:, 0]
        follows = z[1:] >= z[:-1]
        if self.categories is not None:
            step = np.diff(self.categories)
            follows = (step > 0) | ((step == 0) & follows)
        return bool(np.all(follows))


def _scaled(columns: Columns) -> Array:
    """Every column has variance 1, that of a category being the sum over all its indicators.

    Only the most frequent levels of a category have one, as there may be as many as samples.
    """
    parts = []
    for column in columns:
        if len(column.levels) <= 2:
            values = column.values[:, np.newaxis]
            spread = standard_deviations("z", values)
        else:
            counts = np.bincount(column.values.astype(np.intp))
            n = len(column.values)
            spread = np.sqrt((counts * (1 - counts / n)).sum() / (n - 1))
            often = np.sort(np.argsort(-counts, kind="stable")[:MOST_INDICATORS])
            values = (column.values[:, np.newaxis] == often).astype(np.float64)
        in_units = values / spread  # first, as the sum of large values may overflow
        in_units -= in_units.mean(axis=0)
        parts.append(in_units)
    scaled: Array = np.hstack(parts) if len(parts) > 1 else parts[0]
    return scaled
