"""From adjusted features and pairs to what the null needs: Gram matrices of the units.

The statistic is the squared length of sum_ij Lap_ij u_i v_j'. Under conditional independence its
terms vary like products of one sample's own residuals, weighted so that every sample contributes as
much variance: sum_i sqrt(w_i) u_i v_i', w_i = (sum_j Lap_ij^2) / a_i, with a_i what the fit left of
the variance of sample i. Random signs on those give the null.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from chsic._validate import Array, Index
from chsic.engines.features import laplacian_times
from chsic.pairs import PairGraph
from chsic.pairs.entries import degrees
from chsic.units import Units

SMALLEST_LEFT = 0.1  # of a sample's variance after its own fit


@dataclasses.dataclass(frozen=True, eq=False)
class Residuals:
    """Features of one variable, less what z explains of them.

    Attributes
    ----------
    features : array, shape (n, r)
        The residuals themselves.
    lap : array, shape (n, r)
        Lap times the residuals.
    alone : array, shape (n, r)
        Residuals that stand for a sample alone: they vary around zero given z.
    left : array, shape (n,)
        Variance of those, as a share of what it was before the fit.
    """

    features: Array
    lap: Array
    alone: Array
    left: Array


def residuals_alone(features: Array, left: Array | None, graph: PairGraph) -> Residuals:
    """Prepare residuals for the null.

    Without a fit, a sample is compared with the mean of its partners, which adds to its variance.
    """
    lap = laplacian_times(graph, features)
    if left is not None:
        return Residuals(features, lap, features, np.maximum(left, SMALLEST_LEFT))
    partners = np.maximum(degrees(graph), 1)
    return Residuals(features, lap, lap / partners[:, np.newaxis], 1 + 1 / partners)


@dataclasses.dataclass(frozen=True, eq=False)
class UnitGrams:
    """Everything a statistic and its null need.

    Attributes
    ----------
    observed : array, shape (n_units, n_units)
        Inner products of what the units contribute to the statistic, which is their sum.
    null : array, shape (n_units, n_units)
        Inner products of the units' own products, for random signs.
    centre : array, shape (n_units,)
        What each unit adds to the statistic under conditional independence, on average.
    """

    observed: Array
    null: Array
    centre: Array

    def weighted(self, kernel: Array | None, sizes: Index) -> UnitGrams:
        """Weight pairs of units by a kernel on z, which is 1 for a unit with itself.

        The statistic varies by products of two samples of one unit as well, which a sign for the
        unit does not see: the null is scaled to have their variance, too.
        """
        weights = np.ones_like(self.null) if kernel is None else kernel
        m = sizes.astype(np.float64)
        between = weights**2 * np.outer(m, m)
        all_pairs = between.sum() - m.sum()
        scale = np.sqrt(all_pairs / (between.sum() - np.diag(between).sum()))
        return UnitGrams(self.observed * weights, self.null * weights * scale, self.centre)

    @property
    def statistic(self) -> float:
        """Sum of the observed inner products."""
        return float(self.observed.sum())

    @property
    def centred(self) -> float:
        """The statistic less its expectation under conditional independence."""
        return float(self.observed.sum() - self.centre.sum())


def unit_grams(
    x: Residuals, y: Residuals, graph: PairGraph, units: Units, *, null: bool = True
) -> UnitGrams:
    """Compute the Gram matrices of the units, that for the null only if it is wanted."""
    contributions = units.products(x.features, y.lap) + units.products(x.lap, y.features)
    contributions /= 2  # the same number, but x and y have the same part in it
    partners = degrees(graph).astype(np.float64)
    weights = (partners**2 + partners) / (x.left * y.left)
    squares = np.einsum("ij,ij->i", x.alone, x.alone) * np.einsum("ij,ij->i", y.alone, y.alone)
    observed, centre = contributions @ contributions.T, units.sums(weights * squares)
    if not null:
        return UnitGrams(observed, np.zeros_like(observed), centre)
    products = units.products(x.alone * np.sqrt(weights)[:, np.newaxis], y.alone)
    return UnitGrams(observed, products @ products.T, centre)
