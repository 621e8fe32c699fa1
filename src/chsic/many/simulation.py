"""Data like the user's own, in which x and y are independent given z, or related as much as asked.

Values of x and of y are redrawn given z: what a regression on z explains is kept, and residuals
come from samples near in z.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy.spatial import KDTree

from chsic._util.validate import Array, Index
from chsic.data.arguments import Columns, side_by_side
from chsic.data.column import Column
from chsic.data.samples import Samples
from chsic.inference.adjustment import Adjustment, all_residuals
from chsic.inference.arrangement import arrange
from chsic.inference.confounder import Confounder
from chsic.inference.given import Given
from chsic.inference.settings import Settings

NEIGHBOURS = 20  # samples near in z that a redrawn value comes from
FEW_VALUES = 20  # distinct ones that make a variable discrete: it is redrawn as it is


@dataclasses.dataclass(frozen=True, eq=False)
class _Pools:
    """For each sample, those that a redrawn value may come from, in increasing order of it."""

    samples: Index  # one pool after the other
    starts: Index  # where that of each sample begins
    sizes: Index

    @classmethod
    def of_strata(cls, strata: Index, order: Array) -> _Pools:
        """All samples with the same z."""
        sizes = np.bincount(strata)
        return cls(np.lexsort((order, strata)), (np.cumsum(sizes) - sizes)[strata], sizes[strata])

    @classmethod
    def of_neighbours(cls, near: Index, order: Array) -> _Pools:
        """Rows of `near`."""
        n, k = near.shape
        ranked = np.take_along_axis(near, np.argsort(order[near], axis=1, kind="stable"), axis=1)
        return cls(ranked.ravel(), k * np.arange(n), np.full(n, k))

    def at(self, ranks: Array) -> Index:
        """Return the sample at a rank, between 0 and 1, of each pool."""
        chosen: Index = self.samples[self.starts + (ranks * self.sizes).astype(np.intp)]
        return chosen


@dataclasses.dataclass(frozen=True, eq=False)
class _Redrawn:
    """What redrawn values of one variable are made of: a fit, and residuals near in z."""

    columns: Columns
    units: Array
    fit: Array
    residuals: Array
    pools: _Pools

    @classmethod
    def of(
        cls, columns: Columns, adjustment: Adjustment, z: Confounder, in_strata: bool, half: Index
    ) -> _Redrawn:
        values, units = _values(columns)
        if in_strata or _is_discrete(columns, values):
            order = _order(values)
            if in_strata:
                pools = _Pools.of_strata(z.strata, order)
            else:
                # How often a value occurs nearby is a rough function of z. x and y that are
                # related would share it, if they did not have it from different samples.
                pools = _Pools.of_neighbours(half[_nearest(z.scaled[half], z.scaled)], order)
            return cls(columns, units, np.zeros_like(values), values, pools)
        near = _nearest(z.scaled, z.scaled)
        targets = values.__getitem__
        fitted = adjustment.fit(targets)
        residuals, noise = fitted.residuals, fitted.noise
        if residuals is None:
            residuals, noise = all_residuals(fitted, targets, adjustment)
        fit = values - residuals
        if noise is not None:  # what the fit took from the noise is given back
            residuals = residuals / np.sqrt(np.maximum(noise, 0.1))[:, np.newaxis]
        # Less the mean of the neighbours, which is a rough function of z, too.
        k = near.shape[1]
        residuals = residuals * (k / (k - 1)) ** 0.5
        fit -= residuals[near].mean(axis=1)
        return cls(columns, units, fit, residuals, _Pools.of_neighbours(near, _order(residuals)))

    def at(self, ranks: Array) -> list[Column]:
        values = (self.fit + self.residuals[self.pools.at(ranks)]) * self.units
        return [
            dataclasses.replace(column, values=made).rows(slice(None))
            for column, made in zip(self.columns, values.T, strict=True)
        ]


@dataclasses.dataclass(frozen=True, eq=False)
class Source:
    """Makes data sets in which x and y depend on z as in the user's own.

    Attributes
    ----------
    samples : Samples
        Those of the user that can be compared.
    x, y : _Redrawn
        What values are redrawn from.
    """

    samples: Samples
    x: _Redrawn
    y: _Redrawn

    @classmethod
    def of(cls, samples: Samples, rng: np.random.Generator) -> Source:
        """Learn from samples how x and y depend on z."""
        given = Given.of(samples.z, Settings(), ordered=False)
        samples = samples if given.rows is None else samples.rows(given.rows)
        z = given.confounder
        assert z is not None
        values = [_values(columns)[0] for columns in (samples.x, samples.y)]
        arranged = arrange(given, len(samples), given.learn(values), rng)
        halves = np.array_split(rng.permutation(len(samples)), 2)
        x, y = (
            _Redrawn.of(columns, adjustment, z, given.in_strata, half)
            for columns, adjustment, half in zip(
                (samples.x, samples.y), arranged.adjustments_of(2), halves, strict=True
            )
        )
        return cls(samples, x, y)

    def draw(self, effect: float, rng: np.random.Generator) -> tuple[list[Column], list[Column]]:
        """Redraw x and y given z; in a share `effect` of the samples, y ranks as high as x."""
        n = len(self.x.fit)
        ranks_of_x, ranks_of_y = rng.random((2, n))
        coupled = rng.random(n) < effect
        ranks_of_y[coupled] = ranks_of_x[coupled]
        return self.x.at(ranks_of_x), self.y.at(ranks_of_y)


def _values(columns: Columns) -> tuple[Array, Array]:
    """Return columns in units in which they are at most about 1, and those: exact powers of two."""
    values = side_by_side([column.values for column in columns])
    largest = np.abs(values).max(axis=0)
    units = np.ldexp(1.0, np.where(largest > 0, np.frexp(largest)[1] - 1, 0))
    return values / units, units


def _is_discrete(columns: Columns, values: Array) -> bool:
    """Whether values repeat: categories, few numbers, or one that most samples have."""
    if any(column.kind == "category" for column in columns):
        return True
    counts = np.unique(values, axis=0, return_counts=True)[1]
    return len(counts) <= min(FEW_VALUES, len(values) // 3) or 2 * counts.max() >= len(values)


def _order(values: Array) -> Array:
    """Rank several columns, which stay together, by their first principal direction."""
    centred = values - values.mean(axis=0)
    order: Array = centred @ np.linalg.svd(centred, full_matrices=False)[2][0]
    return order


def _nearest(source: Array, z: Array) -> Index:
    """Return some rows of `source` that are near to each row of z."""
    k = min(NEIGHBOURS, max(2, len(source) // 5))
    _, nearest = KDTree(source).query(z, k)
    return np.asarray(nearest, dtype=np.intp).reshape(len(z), k)
