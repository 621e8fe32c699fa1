"""Data like the user's own, in which x and y are independent given z, or related as much as asked.

Values of x and of y are redrawn given z: what a regression on z explains is kept, and residuals
come from samples near in z.

What the regression misses would become noise that way, and the test look sound where it is not.
Where the samples next to a sample foretell both x and y better than the regression does, they are
therefore exchanged with those of the samples next to it alone: data are as rough as they were.

Rows of one group depend on each other by their ranks: where a residual is among those of similar z,
or among all of them in units of the spread that they have there. Whole groups give their ranks to
others, x and y to different ones, and values are read off at the z of who gets them.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy.spatial import KDTree

from chsic._util.validate import Array, Index
from chsic.data.arguments import Columns, side_by_side
from chsic.data.column import Column
from chsic.data.samples import Samples
from chsic.inference.adjustment import Adjustment, Fitted, all_residuals
from chsic.inference.arrangement import Arrangement, arrange
from chsic.inference.confounder import Confounder
from chsic.inference.given import Given
from chsic.inference.ridge_fit import RidgeFit
from chsic.inference.settings import Settings
from chsic.many.donors import Donors

NEIGHBOURS = 20  # samples near in z that a redrawn value comes from
FEW_VALUES = 20  # distinct ones that make a variable discrete: it is redrawn as it is
BESIDE_ON_LINE, BESIDE_IN_SPACE = 2, 4  # neighbours that foretell a sample
EXCHANGING = 2  # neighbours with which values are exchanged
CERTAIN = 2.0  # standard errors
LEAST_WEIGHT = 0.05  # of neighbours beside the regression
LEAST_LEFT = 0.5  # of a sample by its own fit: with less, it is the fit that is rough


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
class _Redrawn:
    """What redrawn values of one variable are made of: a fit, and residuals near in z."""

    columns: Columns
    units: Array
    fit: Array
    residuals: Array
    pools: _Pools
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
        groups: Index | None,
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
            ranks = None if groups is None else pools.ranks(order)
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
        if groups is not None:
            return cls._of_groups(columns, units, fit, residuals, z, groups)
        # Less the mean of the neighbours, which is a rough function of z, too.
        k = near.shape[1]
        residuals = residuals * (k / (k - 1)) ** 0.5
        fit -= residuals[near].mean(axis=1)
        return cls(columns, units, fit, residuals, _Pools.of_neighbours(near, _order(residuals)))

    @classmethod
    def _of_groups(
        cls,
        columns: Columns,
        units: Array,
        fit: Array,
        residuals: Array,
        z: Confounder,
        groups: Index,
    ) -> _Redrawn:
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
        order = _order(standard)
        pools = _Pools.of_strata(np.zeros(len(groups), np.intp), order)
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
        values = (self.fit + self.spread * self.residuals[self.pools.at(ranks)]) * self.units
        return [
            dataclasses.replace(column, values=made).rows(slice(None))
            for column, made in zip(self.columns, values.T, strict=True)
        ]


@dataclasses.dataclass(frozen=True, eq=False)
class _Exchange:
    """Samples next to each other in z exchange values of x and of y, two or a few at a time.

    No sample gets x and y of the same one: these are independent given z then, but for what both
    are a rough function of.
    """

    samples: Samples
    x: _Beside
    y: _Beside
    near: Index  # neighbours of each sample, the nearest first

    @classmethod
    def of(cls, samples: Samples, arranged: Arrangement) -> _Exchange:
        """Learn how well neighbours foretell x and y."""
        assert arranged.nearby is not None
        z = arranged.nearby.metric
        near = _others(z, BESIDE_ON_LINE if z.shape[1] == 1 else BESIDE_IN_SPACE)
        columns, adjustments = (samples.x, samples.y), arranged.adjustments_of(2)
        x, y = (_Beside.of(*one, near) for one in zip(columns, adjustments, strict=True))
        return cls(samples, x, y, near[:, :EXCHANGING])

    def draw(self, rng: np.random.Generator) -> tuple[_Redrawn, _Redrawn, Array, Array]:
        """Draw who exchanges with whom: what values come from, and at which ranks among those."""
        labels = _match(self.near, rng)
        sizes = np.bincount(labels)
        starts = (np.cumsum(sizes) - sizes)[labels]
        members, sizes = np.argsort(labels, kind="stable"), sizes[labels]
        place = _inverse(members) - starts
        of_block = rng.random((2, len(labels)))[:, labels]
        by = (of_block[0] * sizes).astype(np.intp)
        other = by + 1 + (of_block[1] * (sizes - 1)).astype(np.intp)
        made = []
        for columns, way, shift in ((self.samples.x, self.x, by), (self.samples.y, self.y, other)):
            pools = _Pools.of_strata(labels, _order(way.residuals))
            giver = members[starts + (place + shift) % sizes]
            ranks = (_inverse(pools.samples)[giver] - starts + rng.random(len(giver))) / sizes
            made.append((_Redrawn(columns, way.units, way.fit, way.residuals, pools), ranks))
        (x, ranks_of_x), (y, ranks_of_y) = made
        return x, y, ranks_of_x, ranks_of_y


def _match(near: Index, rng: np.random.Generator) -> Index:
    """Match samples with one of their neighbours at random; what is left joins its nearest."""
    n, k = near.shape
    i, j = np.repeat(np.arange(n), k), near.ravel()
    turn = rng.permutation(len(i))
    labels = np.full(n, -1, np.intp)
    while len(i):
        first = np.full(n, n * k)
        np.minimum.at(first, i, turn)
        np.minimum.at(first, j, turn)
        chosen = (first[i] == turn) & (first[j] == turn)
        labels[i[chosen]] = labels[j[chosen]] = i[chosen]
        free = (labels[i] < 0) & (labels[j] < 0)
        i, j, turn = i[free], j[free], turn[free]
    alone = labels < 0
    labels[alone] = labels[near[alone, 0]]
    numbers: Index = np.unique(labels, return_inverse=True)[1]
    return numbers


def _inverse(order: Index) -> Index:
    place = np.empty(len(order), np.intp)
    place[order] = np.arange(len(order))
    return place


@dataclasses.dataclass(frozen=True, eq=False)
class _Beside:
    """How well neighbours foretell a variable beside a regression on z.

    Attributes
    ----------
    units, fit, residuals : array
        What is kept of a sample, and what it gives to others.
    weight, score : float
        Of the neighbours in the best mean of them and the regression, and in standard errors.
    """

    units: Array
    fit: Array
    residuals: Array
    weight: float
    score: float

    @classmethod
    def of(cls, columns: Columns, adjustment: Adjustment, near: Index) -> _Beside:
        """Compare what is foretold of each sample by all others, with their values or residuals."""
        values, units = _values(columns)
        targets = values.__getitem__
        fitted = adjustment.fit(targets)
        residuals = fitted.residuals
        if residuals is None:
            residuals, _ = all_residuals(fitted, targets, adjustment)
        spread = np.where(np.ptp(values, axis=0) > 0, values.std(axis=0), 1.0)
        alone = residuals / (_without_itself(fitted)[:, np.newaxis] * spread)
        fit = values - residuals
        nothing, found = np.zeros_like(fit), []
        for kept in (nothing, fit):
            beside = (kept + (values - kept)[near].mean(axis=1) - values) / spread + alone
            found.append((*_weight(alone, beside), kept))
        weight, score, kept = max(found, key=lambda one: one[1])
        if _is_discrete(columns, values):
            kept = nothing  # they are given as they are
        return cls(units, kept, values - kept, weight, score)

    @property
    def is_rough(self) -> bool:
        """Whether neighbours know what the regression does not."""
        return self.score >= CERTAIN and self.weight >= LEAST_WEIGHT


def _without_itself(fitted: Fitted) -> Array:
    """Return 1 - S_ii: a residual over it is that of a regression without the sample."""
    if fitted.directions is None or not isinstance(fitted.fit, RidgeFit):
        return np.ones(1)
    own = fitted.directions.values**2 @ fitted.fit.shrinkage
    share: Array = np.maximum(1 - own, LEAST_LEFT)
    return share


def _weight(error: Array, beside: Array) -> tuple[float, float]:
    """Return the part of `beside` that explains most of an error, and that in standard errors."""
    products, squares = (error * beside).sum(axis=1), (beside**2).sum(axis=1)
    total = float(squares.sum())
    if not total > 0:
        return 0.0, 0.0
    weight = float(products.sum()) / total
    spread = float(np.sqrt(((products - weight * squares) ** 2).sum()))
    return weight, weight * total / spread if spread > 0 else 0.0


@dataclasses.dataclass(frozen=True, eq=False)
class Source:
    """Makes data sets in which x and y depend on z as in the user's own.

    Attributes
    ----------
    samples : Samples
        Those of the user that can be compared.
    x, y : _Redrawn
        What values are redrawn from.
    exchange : _Exchange or None
        Takes their place if the regression missed something of both x and y.
    missed : tuple of str
        Which of "x" and "y" neighbours foretell better than the regression.
    donors : Donors or None
        Which groups get ranks of which, if rows of one group depend on each other.
    """

    samples: Samples
    x: _Redrawn
    y: _Redrawn
    exchange: _Exchange | None = None
    missed: tuple[str, ...] = ()
    donors: Donors | None = None

    @classmethod
    def of(cls, samples: Samples, rng: np.random.Generator) -> Source:
        """Learn from samples how x and y depend on z."""
        given = Given.of(samples.z, Settings(), ordered=False, sampling=samples.sampling)
        samples = samples if given.rows is None else samples.rows(given.rows)
        z = given.confounder
        assert z is not None
        values = [_values(columns)[0] for columns in (samples.x, samples.y)]
        arranged = arrange(given, len(samples), given.learn(values), rng)
        groups = samples.sampling.groups
        x, y = (
            _Redrawn.of(columns, adjustment, z, given.in_strata, half, groups)
            for columns, adjustment, half in zip(
                (samples.x, samples.y),
                arranged.adjustments_of(2),
                _halves(len(samples), groups, rng),
                strict=True,
            )
        )
        if groups is not None:
            return cls(samples, x, y, donors=Donors.of(groups))
        if not given.uses_ridge:
            return cls(samples, x, y)
        exchange = _Exchange.of(samples, arranged)
        missed = tuple(a for a, way in (("x", exchange.x), ("y", exchange.y)) if way.is_rough)
        return cls(samples, x, y, exchange if len(missed) == 2 else None, missed)

    def draw(self, effect: float, rng: np.random.Generator) -> tuple[list[Column], list[Column]]:
        """Redraw x and y given z; in a share `effect` of the samples, y ranks as high as x."""
        n = len(self.samples)
        x, y = self.x, self.y
        if self.exchange is not None:
            x, y, ranks_of_x, ranks_of_y = self.exchange.draw(rng)
        elif self.donors is not None:
            ranks_of_x, ranks_of_y = (
                way.own_ranks(rng, self.donors.groups)[self.donors.draw(rng)] for way in (x, y)
            )
        else:
            ranks_of_x, ranks_of_y = rng.random((2, n))
        coupled = rng.random(n) < effect
        ranks_of_y[coupled] = ranks_of_x[coupled]
        return x.at(ranks_of_x), y.at(ranks_of_y)


def _halves(n: int, groups: Index | None, rng: np.random.Generator) -> list[Index]:
    """Deal samples out in two halves, of whole groups."""
    if groups is None:
        return np.array_split(rng.permutation(n), 2)
    first = rng.permutation(int(groups.max()) + 1) % 2
    return [np.flatnonzero(first[groups] == half) for half in (0, 1)]


def _others(z: Array, k: int) -> Index:
    """Return the nearest others of each row."""
    _, near = KDTree(z).query(z, k + 1)
    itself = near == np.arange(len(z))[:, np.newaxis]
    itself[~itself.any(axis=1), -1] = True
    return np.asarray(near[~itself].reshape(len(z), k), dtype=np.intp)


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


def _nearest(source: Array, z: Array, most: int = NEIGHBOURS) -> Index:
    """Return some rows of `source` that are near to each row of z."""
    k = min(most, max(2, len(source) // 5), len(source))
    _, nearest = KDTree(source).query(z, k)
    return np.asarray(nearest, dtype=np.intp).reshape(len(z), k)
