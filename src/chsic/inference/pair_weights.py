"""Weights of pairs, where rows stand for more or fewer rows of a population.

A row of weight w is w rows. Where pairs follow from distances in z, as the paper's closest ones do,
and where all of equal z are compared, a pair of rows i and j therefore stands for w_i w_j pairs.
Where every row has a number of neighbours, however many rows are near it, its pairs share the
weight of the row (theory.md, eq. 55).
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from chsic._util.arrays import Rows
from chsic._util.namespaces import beside
from chsic._util.validate import Array
from chsic.pairs import PairGraph
from chsic.pairs.laplacian import laplacian_times
from chsic.pairs.neighbour_lists import Neighbours

AVERAGED = 3  # times over partners: the mean weight near a row, to which its own adds little
LARGEST_IN_FIT = 3.0  # weight of a row in a regression, in mean ones


def in_regressions(weights: Array) -> Array:
    """Return the weights that rows have in regressions on z: roots of theirs, none of them large.

    Any function of z may be subtracted. A regression with the weights themselves follows the noise
    of heavy rows, which it then takes off their neighbours, so that true nulls are rejected too
    often. One without any follows another law than that of the population.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.inference.pair_weights import in_regressions
    >>> in_regressions(np.array([1.0, 4.0, 9.0, 4.0]))
    array([0.5, 1. , 1.5, 1. ])
    """
    roots = np.sqrt(weights)
    bounded: Array = np.minimum(roots / roots.mean(), LARGEST_IN_FIT)
    return bounded


@dataclasses.dataclass(frozen=True, eq=False)
class PairWeights:
    """The pair of rows i and j weighs (a_i b_j + b_i a_j) / 2.

    Attributes
    ----------
    rows : array, shape (n,)
        Weight w_i of each row; 1 on average over all of them.
    first, second : array, shape (n,)
        The a_i and the b_i.
    degrees : array, shape (n,)
        Sum of the weights of each row's pairs: the diagonal of the weighted Laplacian.
    lap_lengths : array, shape (n,)
        Length of each row of that Laplacian: s_i of theory.md, eq. 19.

    Examples
    --------
    >>> import chsic, numpy as np
    >>> from chsic.inference.pair_weights import PairWeights
    >>> PairWeights.of(np.array([2.0, 1.0, 0.5, 0.5]), chsic.complete_pairs(4)).degrees
    array([4.  , 3.  , 1.75, 1.75])
    """

    rows: Array
    first: Array
    second: Array
    degrees: Array
    lap_lengths: Array

    @classmethod
    def of(cls, weights: Array, graph: PairGraph, *, shared: bool = False) -> PairWeights:
        """Weigh the pairs of a graph by products of weights.

        Parameters
        ----------
        weights : array, shape (n,)
            Of the rows.
        graph : PairGraph
            The pairs.
        shared : bool
            Whether the pairs of a row share its weight: products are then divided by the mean
            weight of rows near i, or near j, half each.
        """
        second = weights
        if shared:
            partners, mean = np.maximum(graph.degrees, 1), weights
            for _ in range(AVERAGED):
                mean = _over_partners(graph, mean[:, np.newaxis])[:, 0] / partners
            second = weights / np.where(mean > 0, mean, 1.0)
        degrees = _symmetric(graph, weights, second)
        squares = _symmetric(graph, weights**2, second**2) / 2
        squares += _symmetric(graph, weights * second, weights * second) / 2
        return cls(weights, weights, second, degrees, np.sqrt(degrees**2 + squares))

    @property
    def total(self) -> float:
        """Sum of the weights of all pairs."""
        return float(self.degrees.sum()) / 2

    def at(self, rows: Rows) -> PairWeights:
        """Return what belongs to some rows."""
        first, second = self.first[rows], self.second[rows]
        second = first if self.second is self.first else second
        return PairWeights(
            self.rows[rows], first, second, self.degrees[rows], self.lap_lengths[rows]
        )

    def between(self, i: Any, j: Any) -> Array:
        """Return the weights of pairs of rows."""
        weights: Array = (self.first[i] * self.second[j] + self.second[i] * self.first[j]) / 2
        return weights

    def laplacian_times(self, pairs: PairGraph | Neighbours, values: Any) -> Any:
        """Return rows of the weighted Laplacian times V: as many as `pairs` have lists of."""
        known = len(pairs.degrees)
        first, second = (beside(values, of)[:, None] for of in (self.first, self.second))
        over_partners = first[:known, :] * _over_partners(pairs, second * values)
        if self.second is not self.first:
            other = second[:known, :] * _over_partners(pairs, first * values)
            over_partners = (over_partners + other) / 2
        return beside(values, self.degrees)[:known, None] * values[:known, ...] - over_partners

    def squares_over(self, graph: PairGraph, divisors: Array) -> float:
        """Return the sum of (Lap_ij)^2 / (divisor_i divisor_j) over all i and j."""
        first, second = self.first**2 / divisors, self.second**2 / divisors
        both = self.first * self.second / divisors
        of_pairs = _symmetric(graph, first, second) + _symmetric(graph, both, both)
        return float((of_pairs / 2).sum() + ((self.degrees / divisors) ** 2).sum())


def _symmetric(graph: PairGraph, a: Array, b: Array) -> Array:
    """Return sum_j (a_i b_j + b_i a_j) / 2 over the partners j of each i."""
    of_a, of_b = _over_partners(graph, np.column_stack([a, b])).T
    sums: Array = np.maximum((a * of_b + b * of_a) / 2, 0.0)
    return sums


def _over_partners(pairs: PairGraph | Neighbours, values: Any) -> Any:
    """Return sum_j V_j over the partners j of each i."""
    degrees = beside(values, pairs.degrees.astype(np.float64))[:, None]
    if isinstance(pairs, PairGraph):
        return degrees * values - laplacian_times(pairs, values)
    return degrees * values[: len(pairs.degrees), ...] - pairs.laplacian_times(values)
