"""Values of one variable redrawn given z: a regression is kept, and residuals change places."""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy.spatial import KDTree

from chsic._util.validate import Array, Index
from chsic.data.arguments import Columns, side_by_side
from chsic.data.column import Column
from chsic.inference.adjustment import Adjustment, all_residuals
from chsic.inference.clusters import Clusters
from chsic.inference.confounder import Confounder

NEIGHBOURS = 20  # samples near in z that a redrawn value comes from
FEW_VALUES = 20  # distinct ones that make a variable discrete: it is redrawn as it is


@dataclasses.dataclass(frozen=True, eq=False)
class Pools:
    """For each sample, those that a redrawn value may come from, in increasing order of it."""

    samples: Index  # one pool after the other
    starts: Index  # where that of each sample begins
    sizes: Index

    @classmethod
    def of_strata(cls, strata: Index, order: Array) -> Pools:
        """All samples with the same z."""
        sizes = np.bincount(strata)
        return cls(np.lexsort((order, strata)), (np.cumsum(sizes) - sizes)[strata], sizes[strata])

    @classmethod
    def of_neighbours(cls, near: Index, order: Array) -> Pools:
        """Rows of `near`."""
        n, k = near.shape
        ranked = np.take_along_axis(near, np.argsort(order[near], axis=1, kind="stable"), axis=1)
        return cls(ranked.ravel(), k * np.arange(n), np.full(n, k))

    def at(self, ranks: Array) -> Index:
        """Return the sample at a rank, between 0 and 1, of each pool."""
        chosen: Index = self.samples[self.starts + (ranks * self.sizes).astype(np.intp)]
        return chosen

    def ranks(self, order: Array) -> tuple[Array, Array]:
        """Return between which ranks of its own pool each sample is; ties share theirs."""
        below, upto = (self._count(order, compare) for compare in (np.less, np.less_equal))
        return below / self.sizes, upto / self.sizes

    def _count(self, order: Array, compare: np.ufunc) -> Index:
        """Count members of each pool that are below its sample, by bisection."""
        low, high = np.zeros_like(self.sizes), self.sizes.copy()
        while (low < high).any():
            middle = (low + high) // 2
            member = self.samples[self.starts + np.minimum(middle, self.sizes - 1)]
            is_below = compare(order[member], order) & (low < high)
            low, high = np.where(is_below, middle + 1, low), np.where(is_below, high, middle)
        return low


@dataclasses.dataclass(frozen=True, eq=False)
class Redrawn:
    """What redrawn values of one variable are made of: a fit, and residuals near in z."""

    columns: Columns
    units: Array
    fit: Array
    residuals: Array
    pools: Pools
    spread: Array | float = 1.0  # of residuals near in z, if they are in units of it
    ranks: tuple[Array, Array] | None = None  # of each sample's own residual, from and to

    @classmethod
    def of(
        cls,
        columns: Columns,
        adjustment: Adjustment,
        z: Confounder,
        in_strata: bool,
        half: Index,
        clusters: Clusters | None,
    ) -> Redrawn:
        """Take residuals of a regression, or values themselves if these are few or z has strata."""
        values, units = in_units(columns)
        if in_strata or is_discrete(columns, values):
            order = order_of(values)
            if in_strata:
                pools = Pools.of_strata(z.strata, order)
            else:
                # How often a value occurs nearby is a rough function of z. x and y that are
                # related would share it, if they did not have it from different samples.
                pools = Pools.of_neighbours(half[_nearest(z.scaled[half], z.scaled)], order)
            ranks = None if clusters is None else pools.ranks(order)
            return cls(columns, units, np.zeros_like(values), values, pools, ranks=ranks)
        near = _nearest(z.scaled, z.scaled)
        targets = values.__getitem__
        fitted = adjustment.fit(targets)
        residuals, noise = fitted.residuals, fitted.noise
        if residuals is None:
            residuals, noise = all_residuals(fitted, targets, adjustment)
        fit = values - residuals
        if noise is not None:  # what the fit took from the noise is given back
            residuals = residuals / np.sqrt(np.maximum(noise, 0.1))[:, np.newaxis]
        if clusters is not None:
            if clusters.within:  # means of groups stay zero, and have no noise to be given back
                residuals = residuals * np.sqrt(1 - clusters.shares)[:, np.newaxis]
            return cls._of_groups(columns, units, fit, residuals, z, clusters.labels)
        # Less the mean of the neighbours, which is a rough function of z, too.
        k = near.shape[1]
        residuals = residuals * (k / (k - 1)) ** 0.5
        fit -= residuals[near].mean(axis=1)
        return cls(columns, units, fit, residuals, Pools.of_neighbours(near, order_of(residuals)))

    @classmethod
    def _of_groups(
        cls,
        columns: Columns,
        units: Array,
        fit: Array,
        residuals: Array,
        z: Confounder,
        groups: Index,
    ) -> Redrawn:
        """Draw from all residuals, in units of their spread near in z.

        A pool of neighbours would be of few groups, and ranks in it too coarse to tell how alike
        rows of one group are.
        """
        each = len(groups) / len(np.unique(groups))
        near = _nearest(z.scaled, z.scaled, round(NEIGHBOURS * each))
        spread = np.sqrt((residuals**2)[near].mean(axis=1))
        standard = residuals / np.where(spread > 0, spread, 1.0)
        standard -= standard.mean(axis=0)
        size = np.sqrt((standard**2).mean(axis=0))
        standard /= np.where(size > 0, size, 1.0)
        order = order_of(standard)
        pools = Pools.of_strata(np.zeros(len(groups), np.intp), order)
        return cls(columns, units, fit, standard, pools, spread, pools.ranks(order))

    def own_ranks(self, rng: np.random.Generator, groups: Index) -> Array:
        """Draw a rank for each sample at which its own value is.

        All rows of a group draw alike, so that a variable that is constant in groups stays so.
        """
        assert self.ranks is not None
        low, high = self.ranks
        drawn: Array = low + rng.random(len(groups))[groups] * (high - low)
        return np.minimum(drawn, np.nextafter(1.0, 0.0))

    def at(self, ranks: Array) -> list[Column]:
        """Return the columns in which each sample has what is at its rank."""
        values = (self.fit + self.spread * self.residuals[self.pools.at(ranks)]) * self.units
        return [
            dataclasses.replace(column, values=made).rows(slice(None))
            for column, made in zip(self.columns, values.T, strict=True)
        ]


def in_units(columns: Columns) -> tuple[Array, Array]:
    """Return columns in units in which they are at most about 1, and those: exact powers of two."""
    values = side_by_side([column.values for column in columns])
    largest = np.abs(values).max(axis=0)
    units = np.ldexp(1.0, np.where(largest > 0, np.frexp(largest)[1] - 1, 0))
    return values / units, units


def is_discrete(columns: Columns, values: Array) -> bool:
    """Whether values repeat: categories, few numbers, or one that most samples have."""
    if any(column.kind == "category" for column in columns):
        return True
    counts = np.unique(values, axis=0, return_counts=True)[1]
    return len(counts) <= min(FEW_VALUES, len(values) // 3) or 2 * counts.max() >= len(values)


def order_of(values: Array) -> Array:
    """Rank several columns, which stay together, by their first principal direction."""
    centred = values - values.mean(axis=0)
    order: Array = centred @ np.linalg.svd(centred, full_matrices=False)[2][0]
    return order


def _nearest(source: Array, z: Array, most: int = NEIGHBOURS) -> Index:
    """Return some rows of `source` that are near to each row of z."""
    k = min(most, max(2, len(source) // 5), len(source))
    _, nearest = KDTree(source).query(z, k)
    return np.asarray(nearest, dtype=np.intp).reshape(len(z), k)
