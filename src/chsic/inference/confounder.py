"""What z is made of: numbers that can be close, and categories that can only be equal."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
from numpy.typing import NDArray

from chsic._util.validate import Array, Index
from chsic.data.arguments import Columns, side_by_side
from chsic.data.cleaning import (
    clip_limits,
    clip_outliers,
    compress_outliers,
    has_far_values,
)
from chsic.data.column import Column
from chsic.inference import cautions
from chsic.kernels.bandwidth import require_finite_range, standard_deviations
from chsic.pairs.nearest_neighbours import sorted_with_ties
from chsic.pairs.strata import strata_of

MOST_INDICATORS = 12  # levels of a category that a regression tells apart; rare ones are one


@dataclasses.dataclass(frozen=True, eq=False)
class Confounder:
    """Clean columns of z; what is made of them is made when it is asked for.

    Attributes
    ----------
    columns : sequence of Column
        The columns, with nothing missing.
    within : array of int or None
        Group of each sample, if only samples of one group are compared: like a category, but no
        indicators are made of it.
    """

    columns: Columns
    within: Index | None = None

    def in_order(self, order: Index) -> Confounder:
        """Return the samples in another order."""
        columns = [dataclasses.replace(c, values=c.values[order]) for c in self.columns]
        ordered = Confounder(columns, None if self.within is None else self.within[order])
        if "strata" in vars(self):  # which take a sort, and are the same in any order
            vars(ordered)["strata"] = self.strata[order]
        return ordered

    @functools.cached_property
    def values(self) -> Array:
        """All columns side by side, shape (n, d), categories as codes."""
        return side_by_side([column.values for column in self.columns])

    @functools.cached_property
    def is_number(self) -> NDArray[np.bool_]:
        """Which of all columns are numbers, shape (d,)."""
        return np.array([column.kind == "number" for column in self.columns])

    @functools.cached_property
    def numbers(self) -> Array:
        """Columns that are numbers, shape (n, k)."""
        return self.values if self.is_number.all() else self.values[:, self.is_number]

    @functools.cached_property
    def categories(self) -> Index | None:
        """Which combination of categories a sample has, if any column is a category."""
        codes = self.values[:, ~self.is_number]
        if self.within is not None:
            codes = np.column_stack([codes, self.within])
        return strata_of(codes) if codes.shape[1] else None

    @functools.cached_property
    def scaled(self) -> Array:
        """Numbers in standard deviations beside indicators of categories, for a regression."""
        parts = [_scaled(column) for column in self.columns]
        return np.hstack(parts) if len(parts) > 1 else parts[0]

    @functools.cached_property
    def cautions(self) -> list[str]:
        """Sentences on values far off."""
        places = np.cumsum([0, *(_width(column) for column in self.columns)])
        sentences = []
        for column, place in zip(self.columns, places, strict=False):
            if column.kind == "number":
                values = self.scaled[:, place] - np.median(self.scaled[:, place])
                if has_far_values(values):
                    sentences.append(cautions.far_values(column.name, values))
        return sentences

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [column.name for column in self.columns]

    @functools.cached_property
    def strata(self) -> Index:
        """Number of each sample's z among its distinct values."""
        every = self.values if self.within is None else np.column_stack([self.values, self.within])
        return strata_of(every)

    @property
    def on_line(self) -> bool:
        """Whether only one column is a number, so that neighbours follow each other."""
        return bool(self.numbers.shape[1] == 1)

    def along_line(self) -> Index:
        """Return the order of categories and, inside them, of the one number; ties shuffled.

        Rows may come sorted by x or y, and neighbours among ties would then be alike in these. The
        seed is fixed, so that it does not decide.
        """
        order = sorted_with_ties(self.numbers[:, 0], np.random.default_rng(0))
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


def _width(column: Column) -> int:
    """Return how many columns a regression has for it."""
    return 1 if len(column.levels) <= 2 else min(len(column.levels), MOST_INDICATORS)


def _scaled(column: Column) -> Array:
    """Give a column variance 1, that of a category being the sum over all its indicators.

    Only the most frequent levels of a category have one, as there may be as many as samples.
    """
    if _width(column) == 1:
        values = column.values[:, np.newaxis]
        require_finite_range("z", values)
        # From the median on, so that values far from zero keep their digits.
        values = values - np.median(values, axis=0)
        # Among rows that are compared, z may be constant.
        near = clip_outliers(values, clip_limits(values))  # theory.md, eq. 5
        spread = standard_deviations("z", near)[0] or 1.0
    else:
        counts = np.bincount(column.values.astype(np.intp))
        n = len(column.values)
        spread = np.sqrt((counts * (1 - counts / n)).sum() / (n - 1))
        often = np.sort(np.argsort(-counts, kind="stable")[:MOST_INDICATORS])
        values = (column.values[:, np.newaxis] == often).astype(np.float64)
    scaled = compress_outliers(values / spread)  # theory.md, eq. 6
    scaled -= scaled.mean(axis=0)
    return scaled
