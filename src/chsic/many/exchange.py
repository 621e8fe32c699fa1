"""Neighbours that exchange values: simulated data that are as rough as the user's own."""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy.spatial import KDTree

from chsic._util.validate import Array, Index
from chsic.data.arguments import Columns
from chsic.data.samples import Samples
from chsic.inference.adjustment import Adjustment, Fitted, all_residuals
from chsic.inference.arrangement import Arrangement
from chsic.inference.ridge_fit import RidgeFit
from chsic.many.redrawn import Pools, Redrawn, in_units, is_discrete, order_of

BESIDE_ON_LINE, BESIDE_IN_SPACE = 2, 4  # neighbours that foretell a sample
EXCHANGING = 2  # neighbours with which values are exchanged
CERTAIN = 2.0  # standard errors
LEAST_WEIGHT = 0.05  # of neighbours beside the regression
LEAST_LEFT = 0.5  # of a sample by its own fit: with less, it is the fit that is rough


@dataclasses.dataclass(frozen=True, eq=False)
class Exchange:
    """Samples next to each other in z exchange values of x and of y, two or a few at a time.

    No sample gets x and y of the same one: these are independent given z then, but for what both
    are a rough function of.
    """

    samples: Samples
    x: _Beside
    y: _Beside
    near: Index  # neighbours of each sample, the nearest first

    @classmethod
    def of(cls, samples: Samples, arranged: Arrangement) -> Exchange:
        """Learn how well neighbours foretell x and y."""
        assert arranged.nearby is not None
        z = arranged.nearby.metric
        near = _others(z, BESIDE_ON_LINE if z.shape[1] == 1 else BESIDE_IN_SPACE)
        columns, adjustments = (samples.x, samples.y), arranged.adjustments_of(2)
        weights = arranged.weights
        x, y = (_Beside.of(*one, near, weights) for one in zip(columns, adjustments, strict=True))
        return cls(samples, x, y, near[:, :EXCHANGING])

    def draw(self, rng: np.random.Generator) -> tuple[Redrawn, Redrawn, Array, Array]:
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
            pools = Pools.of_strata(labels, order_of(way.residuals))
            giver = members[starts + (place + shift) % sizes]
            ranks = (_inverse(pools.samples)[giver] - starts + rng.random(len(giver))) / sizes
            made.append((Redrawn(columns, way.units, way.fit, way.residuals, pools), ranks))
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
    def of(
        cls, columns: Columns, adjustment: Adjustment, near: Index, weights: Array | None = None
    ) -> _Beside:
        """Compare what is foretold of each sample by all others, with their values or residuals.

        A weighted regression foretells the population, and misses something if it does so there:
        neighbours in the sample may have been selected alike.
        """
        values, units = in_units(columns)
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
            found.append((*_weight(alone, beside, weights), kept))
        weight, score, kept = max(found, key=lambda one: one[1])
        if is_discrete(columns, values):
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


def _weight(error: Array, beside: Array, of_rows: Array | None) -> tuple[float, float]:
    """Return the part of `beside` that explains most of an error, and that in standard errors."""
    products, squares = (error * beside).sum(axis=1), (beside**2).sum(axis=1)
    if of_rows is not None:
        products, squares = of_rows * products, of_rows * squares
    total = float(squares.sum())
    if not total > 0:
        return 0.0, 0.0
    weight = float(products.sum()) / total
    spread = float(np.sqrt(((products - weight * squares) ** 2).sum()))
    return weight, weight * total / spread if spread > 0 else 0.0


def _others(z: Array, k: int) -> Index:
    """Return the nearest others of each row."""
    _, near = KDTree(z).query(z, k + 1)
    itself = near == np.arange(len(z))[:, np.newaxis]
    itself[~itself.any(axis=1), -1] = True
    return np.asarray(near[~itself].reshape(len(z), k), dtype=np.intp)
