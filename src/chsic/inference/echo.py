"""Whether a p-value leans on a regression that missed something that x and y both follow.

Given z, x of one sample says nothing of y of another. If the regressions on z are right, residuals
of x are therefore unrelated to what y of a neighbour in z leaves there, however closely x and y of
one sample are related. If both missed the same jump or wave, the neighbour has it, too, and y of
the neighbour shows an echo of the relation that was found (theory.md, eq. 39a).

The residual of a neighbour's own fit would not do: a regression that is too stiff leaves waves that
change their sign from one sample to the next. Its value less the fit at the sample itself is free
of that.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import NamedTuple

import numpy as np
from scipy.spatial import KDTree

from chsic._util.arrays import sorted_unique
from chsic._util.validate import Array, Index
from chsic.inference.batches import Batch
from chsic.inference.interactions import Interactions, times
from chsic.inference.plan import PlannedVariable
from chsic.inference.units import units_along, units_in_space

SAMPLES = 5_000  # that are looked at
NEIGHBOURS_IN_SPACE = 4  # of each of them; on a line the two beside it
GROUPS = 128  # of samples near each other, whose sums are taken as independent
FEWEST_GROUPS = 20
CERTAIN = 1.7  # standard errors: one in twenty-five by chance
LEAST_SHARE = 0.05  # of the relation, which the echo is to have


class Echo(NamedTuple):
    """What is left of a relation if y comes from neighbours in z, or x does.

    Attributes
    ----------
    share : float
        Of the relation between x and y of the same sample.
    score : float
        In standard errors.
    """

    share: float
    score: float

    @property
    def is_heard(self) -> bool:
        """Whether it is more than chance, and a part of the relation that matters."""
        return self.score >= CERTAIN and self.share >= LEAST_SHARE


@dataclasses.dataclass(frozen=True, eq=False)
class Nearby:
    """Some samples and their neighbours in z.

    Attributes
    ----------
    z : array, shape (n, d)
        As regressions see it.
    metric : array, shape (n, k)
        The same in the metric in which neighbours are near.
    line : array of int or None
        Order of the samples along a z of one number.
    weights : array or None
        Of the samples; None if all weigh the same.
    """

    z: Array
    metric: Array
    line: Index | None
    weights: Array | None = None

    @functools.cached_property
    def rows(self) -> Index:
        """Samples, those of a group together."""
        n = len(self.z)
        places = np.arange(n)
        if n > SAMPLES:
            places = sorted_unique(np.random.default_rng(0).choice(n, SAMPLES, replace=False))
        if self.line is not None:
            return self.line[places]
        within: Index = units_in_space(self.metric[places], self._number(len(places))).order
        return places[within]

    @functools.cached_property
    def starts(self) -> Index:
        """Where each group begins."""
        number = self._number(len(self.rows))
        return units_along(np.arange(len(self.rows)), number).bounds[:-1]

    @functools.cached_property
    def neighbours(self) -> list[Index]:
        """Neighbours of the rows, first those of one kind and then those of another."""
        if self.line is not None:
            n = len(self.line)
            place = np.empty(n, np.intp)
            place[self.line] = np.arange(n)
            at = place[self.rows]
            return [self.line[np.where(at > 0, at - 1, 1)],
                    self.line[np.where(at < n - 1, at + 1, n - 2)]]  # fmt: skip
        number = min(NEIGHBOURS_IN_SPACE, len(self.z) - 1)
        _, found = KDTree(self.metric).query(self.metric[self.rows], number + 1)
        # A sample is first among its neighbours, or somewhere if z repeats, or not among them.
        itself = found == self.rows[:, np.newaxis]
        itself[~itself.any(axis=1), -1] = True
        return list(found[~itself].reshape(len(found), number).T)

    def _number(self, n: int) -> int:
        return min(n, GROUPS)


def echo_of(
    nearby: Nearby,
    x: PlannedVariable,
    y: PlannedVariable,
    kernel: int,
    relation: Array,
    interactions: Interactions | None = None,
) -> Echo:
    """Return the echo of a relation between residual features of x and of y at one bandwidth.

    Parameters
    ----------
    nearby : Nearby
        Samples, and their neighbours.
    x, y : PlannedVariable
        Variables with regressions on z.
    kernel : int
        Number of the bandwidth.
    relation : array, shape (r_x r_y,)
        Sum of products of the features that the statistic is the squared length of.
    interactions : Interactions, optional
        Functions of z that those products were multiplied by.
    """
    of_z = None if interactions is None else interactions(nearby.z[nearby.rows])
    of_x, of_y = _Features(nearby, x, kernel, of_z), _Features(nearby, y, kernel)
    u, v = of_x.residuals, of_y.residuals
    direction = relation.reshape(u.shape[1], v.shape[1])
    along_x, along_y = v @ direction.T, u @ direction
    products = np.zeros(len(u))
    for rows in nearby.neighbours:
        products += np.einsum("ij,ij->i", along_y, of_y.at(rows))
        products += np.einsum("ij,ij->i", along_x, of_x.at(rows))
    products /= 2 * len(nearby.neighbours)
    if nearby.weights is not None:
        of_rows = nearby.weights[nearby.rows]
        products, along_y = products * of_rows, along_y * of_rows[:, np.newaxis]
    own = float(np.einsum("ij,ij->", along_y, v))
    sums = np.add.reduceat(products, nearby.starts)
    # The signs of whole groups, which leave the direction as it is, are random given no echo.
    error = float(np.sqrt((sums**2).sum()))
    if len(sums) < FEWEST_GROUPS or not (error > 0 and own > 0):
        return Echo(0.0, 0.0)
    total = float(sums.sum())
    return Echo(total / own, total / error)


class _Features:
    """Residual features of a variable at some rows, and those of other rows seen from there.

    They are multiplied by functions of z at the rows if those are given.
    """

    def __init__(
        self, nearby: Nearby, variable: PlannedVariable, kernel: int, of_z: Array | None = None
    ) -> None:
        plan = variable.plan
        self._rows, self._of_z, self._kernel = nearby.rows, of_z, plan.kernels[kernel]
        self._values, self._compared = variable.standardised, variable.columns
        if self._kernel.of_values:
            self._values = variable.columns
        else:
            self._compared = variable.columns[:, plan.compared] / plan.spread
        made = self._made(self._values[self._rows])
        known = variable.features[kernel].residuals
        if known is None:
            of_rows = None if nearby.weights is None else nearby.weights[self._rows]
            batch = Batch.at(self._rows, z=nearby.z[self._rows], fit_weights=of_rows)
            residuals, _ = self._kernel.fit.residuals(made, batch)
        else:
            residuals = known[self._rows]
        self._fit = made - residuals
        self.residuals = times(residuals, of_z)

    def at(self, others: Index) -> Array:
        """Return features of others, less what is expected where the rows are."""
        further = self._compared[others] - self._compared[self._rows]
        features = self._made(self._values[self._rows] + further) - self._fit
        multiplied: Array = times(features, self._of_z)
        return multiplied

    def _made(self, values: Array) -> Array:
        made: Array = self._kernel.landmarks(values / self._kernel.width)
        return made
