"""Jumps: regions of z where a variable is different from what it is just beside them.

A smooth regression cannot follow a jump (an eligibility limit, opening hours, a ward), and what it
leaves is the same in x and in y. Indicators of regions, cut by thresholds of the columns of z, are
therefore added to it one at a time: the one that explains most of what is left, as long as it
explains more than the best of as many would by chance, and then those are dropped that have become
superfluous (multivariate adaptive regression splines of order zero: Friedman 1991; theory.md,
eq. 9a).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import chi2

from chsic._util.namespaces import beside, namespace
from chsic._util.validate import Array, Index

MOST_STEPS = 40
SAMPLES_A_STEP = 20  # fewer steps than the n-th part
SIGNIFICANT = 0.01  # probability of any step where there is none
SMALLEST_PART = 5  # samples on either side of a threshold
SMALLEST_LENGTH = 2.0  # squared, of what a smooth regression leaves of an indicator
MOST_CONDITIONS = 4  # that make a region
BLOCK = 64  # directions whose sums over regions are held at once


class Condition(NamedTuple):
    """A half-space of z: its samples are at most, or more than, a threshold along a direction."""

    direction: int
    threshold: float
    below: bool


Region = tuple[Condition, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class Steps:
    """Indicators of regions of z, small enough to be sent to other processes.

    Attributes
    ----------
    directions : array, shape (d, k)
        Along which z is compared with thresholds: its columns, and those of a learned metric.
    regions : tuple of tuple of Condition
        One for each indicator.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.inference.steps import Condition, Steps
    >>> right = Steps(np.eye(1), ((Condition(0, 0.5, below=False),),))
    >>> right(np.array([[0.0], [0.5], [0.7]])).ravel().tolist()
    [0.0, 0.0, 1.0]
    """

    directions: Array
    regions: tuple[Region, ...] = ()

    def __len__(self) -> int:
        return len(self.regions)

    def __call__(self, z: Any) -> Any:
        """Return the indicators at rows of z."""
        xp, along = namespace(z), z @ beside(z, self.directions)
        indicators = []
        for region in self.regions:
            inside = xp.ones_like(z[:, 0], dtype=xp.bool)
            for direction, threshold, below in region:
                is_below = along[:, direction] <= threshold
                inside = inside & (is_below if below else ~is_below)
            indicators.append(xp.astype(inside, z.dtype))
        return xp.stack(indicators, axis=1)


def find_steps(z: Array, directions: Array, targets: Array, smooth: Array) -> Steps:
    """Return the steps that targets make beside a smooth regression, the largest first.

    Parameters
    ----------
    z : array, shape (n, d)
        The confounder.
    directions : array, shape (d, k)
        Along which thresholds are tried.
    targets : array, shape (n, q)
        What may jump; its columns count alike.
    smooth : array, shape (n, r)
        Orthonormal functions of z that are explained already.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.inference.steps import find_steps
    >>> rng = np.random.default_rng(0)
    >>> z = rng.random((300, 1))
    >>> x = np.where(z > 0.4, 1.0, 0.0) + z + 0.3 * rng.normal(size=(300, 1))
    >>> line = np.linalg.qr(np.column_stack([np.ones(300), z]))[0]
    >>> steps = find_steps(z, np.eye(1), x, line)
    >>> [(round(step[0].threshold, 1)) for step in steps.regions]
    [0.4]
    """
    search = _Search(z @ directions, targets, smooth)
    most = min(MOST_STEPS, len(z) // SAMPLES_A_STEP)
    while len(search.steps) < most and search.add():
        pass
    return Steps(directions, search.worth_keeping())


def steps_at(
    z: Array, directions: Array, thresholds: Sequence[Condition], targets: Array, smooth: Array
) -> Steps:
    """Return those steps at given thresholds that targets make beside a smooth regression.

    Parameters
    ----------
    z, directions, targets, smooth
        As for `find_steps`.
    thresholds : sequence of Condition
        Where steps may be.
    """
    search = _Search(z @ directions, targets, smooth)
    for threshold in thresholds:
        search.add_at(threshold)
    return Steps(directions, search.worth_keeping())


class _Search:
    """Steps of the largest gain, one after the other.

    The indicator s of a region explains (s'R)^2 / |s|^2 of a residual R, both less their
    projections on what is explained already. Along a column the regions of all thresholds are
    nested, so that s'R and |s|^2 for all of them are running sums.
    """

    def __init__(self, along: Array, targets: Array, smooth: Array) -> None:
        self._along = along
        self._smooth = smooth
        self._explained = [smooth]
        self._residuals = targets - smooth @ (smooth.T @ targets)
        self._start = self._residuals
        self._freedom = float(len(along) - smooth.shape[1])
        everywhere = np.argsort(along, axis=0, kind="stable")
        self._places = [_Place((), everywhere, along, self._explained)]
        self.steps: list[tuple[Region, Array]] = []

    def add(self) -> bool:
        """Add the best step if it is no chance."""
        noise = (self._residuals**2).sum(axis=0) / self._freedom
        if not (noise > 0).any() or not self._places:
            return False
        residuals = self._residuals[:, noise > 0] / np.sqrt(noise[noise > 0])
        gains = [place.best(residuals) for place in self._places]
        chosen = int(np.argmax([gain for gain, _, _ in gains]))
        gain, position, column = gains[chosen]
        if not self._is_significant(gain, residuals.shape[1]):
            return False
        place = self._places[chosen]
        order = place.order[:, column]
        threshold = float(self._along[order[position : position + 2], column].mean())
        indicator = np.zeros(len(self._along))
        indicator[order[: position + 1]] = 1.0
        self.steps.append(((*place.region, Condition(column, threshold, below=True)), indicator))
        self._explain(indicator)
        self._divide(place, column, threshold, indicator)
        return True

    def add_at(self, condition: Condition) -> None:
        """Add the step below a threshold, unless it is explained already."""
        indicator = (self._along[:, condition.direction] <= condition.threshold).astype(np.float64)
        if (self._beside_explained(indicator) ** 2).sum() > SMALLEST_LENGTH:
            self.steps.append(((condition,), indicator))
            self._explain(indicator)

    def worth_keeping(self) -> tuple[Region, ...]:
        """Return the steps that explain what all others do not, the least of them dropped first."""
        kept = list(range(len(self.steps)))
        if not kept:
            return ()
        beside = np.stack([indicator for _, indicator in self.steps], axis=1)
        beside = beside - self._smooth @ (self._smooth.T @ beside)
        noise = (self._residuals**2).sum(axis=0) / self._freedom
        start = self._start[:, noise > 0] / np.sqrt(noise[noise > 0])
        while kept:
            gains = _gains_beside_others(beside[:, kept], start)
            least = int(np.argmin(gains))
            if self._is_significant(float(gains[least]), start.shape[1]):
                break
            del kept[least]
        return tuple(self.steps[k][0] for k in kept)

    def _is_significant(self, gain: float, q: int) -> bool:
        tried = sum(place.n_thresholds for place in self._places)
        return gain > 0 and bool(tried * chi2.sf(gain, q) <= SIGNIFICANT)

    def _beside_explained(self, indicator: Array) -> Array:
        for explained in self._explained:
            indicator = indicator - explained @ (explained.T @ indicator)
        return indicator

    def _explain(self, indicator: Array) -> None:
        indicator = self._beside_explained(indicator)
        direction = indicator[:, np.newaxis] / np.linalg.norm(indicator)
        self._explained.append(direction)
        self._residuals = self._residuals - direction @ (direction.T @ self._residuals)
        self._freedom -= 1
        for place in self._places:
            place.less(direction)

    def _divide(self, place: _Place, column: int, threshold: float, inside: Array) -> None:
        """Look inside the two parts as well: what one column does may depend on another."""
        if self._along.shape[1] == 1 or len(place.region) + 1 >= MOST_CONDITIONS:
            return  # on a line, regions are differences of half-lines
        of_place = np.zeros(len(inside), dtype=bool)
        of_place[place.order[:, 0]] = True
        for below in (True, False):
            part = of_place & (inside > 0 if below else inside == 0)
            region = (*place.region, Condition(column, threshold, below))
            order = place.order.T[part[place.order.T]].reshape(place.order.shape[1], -1).T
            if len(order) >= 2 * SMALLEST_PART:
                self._places.append(_Place(region, order, self._along, self._explained))


def _gains_beside_others(steps: Array, targets: Array) -> Array:
    """Return what each step explains of targets of unit noise that all others together do not.

    Where the samples that a step weighs vary more than others do, its gain is held against their
    variance (White 1980): noise that changes along z is no jump. Their residuals are those without
    the step.
    """
    duals = steps @ np.linalg.pinv(steps.T @ steps)
    directions = duals / np.linalg.norm(duals, axis=0)  # each orthogonal to all other steps
    rest = targets - steps @ (duals.T @ targets)
    along, squares = directions.T @ targets, directions**2  # other powers take a logarithm
    # sum_i direction_i^2 (rest_i + along direction_i)^2
    variances = squares.T @ rest**2 + 2 * along * ((squares * directions).T @ rest)
    variances += along**2 * np.einsum("ij,ij->j", squares, squares)[:, np.newaxis]
    gains: Array = (along**2 / np.maximum(variances, 1.0)).sum(axis=1)
    return gains


class _Place:
    """A region that may be cut, with its samples in the order of every direction."""

    def __init__(
        self, region: Region, order: Index, along: Array, explained: Sequence[Array]
    ) -> None:
        self.region, self.order = region, order
        values = np.take_along_axis(along, order, axis=0)
        count = np.arange(1, len(order))
        far_in = np.minimum(count, len(order) - count) >= SMALLEST_PART
        self._allowed = (values[1:] > values[:-1]) & far_in[:, np.newaxis]
        self.n_thresholds = int(self._allowed.sum())
        self._lengths = np.repeat(count[:, np.newaxis].astype(np.float64), along.shape[1], axis=1)
        for directions in explained:
            self.less(directions)

    def less(self, directions: Array) -> None:
        """Take off what the squared lengths of indicators have along explained directions."""
        if directions.shape[1] == 1:
            sums = np.cumsum(directions[self.order, 0], axis=0)[:-1]
            self._lengths -= sums**2
            return
        for start in range(0, directions.shape[1], BLOCK):
            some = directions[:, start : start + BLOCK]
            for k, order in enumerate(self.order.T):
                sums = np.cumsum(some[order], axis=0)[:-1]
                self._lengths[:, k] -= np.einsum("ij,ij->i", sums, sums)

    def best(self, residuals: Array) -> tuple[float, int, int]:
        """Return the largest gain, and the last sample below the threshold in which column."""
        sums = np.cumsum(residuals[self.order], axis=0)[:-1]
        allowed = self._allowed & (self._lengths > SMALLEST_LENGTH)
        squares = np.einsum("ijk,ijk->ij", sums, sums)
        gains = np.divide(squares, self._lengths, where=allowed, out=np.zeros_like(squares))
        position, column = np.unravel_index(int(np.argmax(gains)), gains.shape)
        return float(gains[position, column]), int(position), int(column)
