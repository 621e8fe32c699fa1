"""Two partitions of the samples: units and folds (theory.md, section 5).

Units are groups of samples near in z, whose products get one random sign each, and which show where
along z dependence sits. Folds hold samples from everywhere along z, so that they differ by chance
alone: the jackknife leaves out one of them at a time. At small n every sample is a unit and a fold.
At large n they hold many, so that the cost of what follows does not grow with n.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from chsic._util.namespaces import beside
from chsic._util.validate import Array, Index

LARGEST_NUMBER = 128  # of units: with more of them the null costs more
WEIGHTED_NUMBER = 512  # in strata if rows have weights: which ones share a unit decides less then
LEAST_NUMBER = 2
LOOP_FROM = 64  # samples in a unit, from which a product for each unit is faster
MOST_FOLDS = 128  # of the jackknife
MOST_ASKED_FOR = 4_096  # whose Gram matrices fit into memory


@dataclasses.dataclass(frozen=True, eq=False)
class Units:
    """A partition of the samples.

    Attributes
    ----------
    order : array of int, shape (n,)
        Samples, unit by unit.
    bounds : array of int, shape (n_units + 1,)
        Unit u holds ``order[bounds[u]:bounds[u + 1]]``.
    """

    order: Index
    bounds: Index

    @classmethod
    def of(cls, labels: Index, number: int | None = None) -> Units:
        """Gather the samples of every label from 0 on; labels without any are at the end."""
        sizes = np.bincount(labels, minlength=0 if number is None else number)
        return cls(np.argsort(labels, kind="stable"), np.append(0, np.cumsum(sizes)))

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @functools.cached_property
    def sizes(self) -> Index:
        """Number of samples in each unit."""
        return np.diff(self.bounds)

    def means(self, values: Array) -> Array:
        """Average rows of `values` in each unit."""
        sums = np.add.reduceat(values[self.order], self.bounds[:-1], axis=0)
        means: Array = sums / self.sizes[:, np.newaxis]
        return means

    @functools.cached_property
    def labels(self) -> Index:
        """Number of each sample's unit."""
        labels = np.empty(len(self.order), np.intp)
        labels[self.order] = np.repeat(np.arange(len(self)), self.sizes)
        return labels

    def some(self, units: Index) -> tuple[Index, Units]:
        """Return the samples of some units, and these units with samples counted from the first."""
        rows = np.concatenate([self.order[slice(*self.bounds[k : k + 2])] for k in units.tolist()])
        bounds = np.append(0, np.cumsum(self.sizes[units]))
        return rows, Units(np.arange(len(rows)), bounds)

    @functools.cached_property
    def in_order(self) -> bool:
        """Whether samples increase from unit to unit."""
        return bool(np.all(self.order[1:] > self.order[:-1]))

    @functools.cached_property
    def table(self) -> Index:
        """Samples of each unit in a row, filled up with the number behind the last."""
        column = np.arange(int(self.sizes.max()))
        position = self.bounds[:-1, np.newaxis] + column
        inside = column < self.sizes[:, np.newaxis]
        order = np.append(self.order, len(self.order))
        return np.where(inside, order[np.minimum(position, len(self.order))], len(self.order))


def unit_products(units: Units, u: Any, v: Any) -> Any:
    """Return for each unit the sum over its samples of u_i v_i', flattened."""
    n_units = len(units.bounds) - 1
    if isinstance(u, np.ndarray) and len(units.order) > LOOP_FROM * n_units:
        if not units.in_order:
            u, v = u[units.order], v[units.order]
        cuts = zip(units.bounds[:-1].tolist(), units.bounds[1:].tolist(), strict=True)
        # Unlike @, `dot` releases the lock of Python also where the product is small.
        sums = np.stack([np.dot(u[a:b].T, v[a:b]) for a, b in cuts])
        return sums.reshape(n_units, -1)
    # Small units cost more to loop over than to fill up with zeros.
    xp, table = array_namespace(u), units.table
    rows = beside(u, table.reshape(-1))
    u, v = (
        xp.reshape(
            xp.take(xp.concat([a, xp.zeros_like(a[:1, :])], axis=0), rows, axis=0),
            (*table.shape, a.shape[1]),
        )
        for a in (u, v)
    )
    return xp.reshape(xp.matrix_transpose(u) @ v, (n_units, -1))


def unit_sums(units: Units, values: Any) -> Any:
    """Add up values of the samples of each unit."""
    if isinstance(values, np.ndarray):
        unit = np.repeat(np.arange(len(units)), units.sizes)
        return np.bincount(unit, values[units.order], minlength=len(units))
    ordered = array_namespace(values).take(values, beside(values, units.order), axis=0)
    return segment_sums(ordered, units.bounds[:-1])


def means_at_samples(units: Units, values: Any, weights: Array | None = None) -> Any:
    """Return for each sample the mean of its unit, a weighted one if samples have weights."""
    xp = array_namespace(values)
    if weights is not None:
        of_units = np.bincount(units.labels, weights)
        relative = weights * units.sizes[units.labels] / of_units[units.labels]
        values = beside(values, relative)[:, None] * values
    sums = segment_sums(xp.take(values, beside(values, units.order), axis=0), units.bounds[:-1])
    means = sums / beside(values, units.sizes[:, np.newaxis].astype(np.float64))
    return xp.take(means, beside(values, units.labels), axis=0)


def segment_sums(values: Any, starts: Index) -> Any:
    """Add up rows from each start to the next, in any array namespace."""
    if isinstance(values, np.ndarray):
        return np.add.reduceat(values, starts, axis=0)
    xp = array_namespace(values)
    bounds = xp.asarray(np.append(starts, values.shape[0]), device=device(values))
    totals = xp.cumulative_sum(values, axis=0)
    totals = xp.concat([xp.zeros_like(totals[:1, ...]), totals], axis=0)
    at_bounds = xp.take(totals, bounds, axis=0)
    return at_bounds[1:, ...] - at_bounds[:-1, ...]


def number_of_units(n: int, unit_size: int | None, most: int = LARGEST_NUMBER) -> int:
    """Return how many units n samples make: as many as samples, up to a bound."""
    if unit_size is None:
        return min(n, most)
    number = n // unit_size
    if not LEAST_NUMBER <= number <= MOST_ASKED_FOR:
        raise ValueError(
            f"unit_size: {unit_size} makes {number} units of {n} samples; between "
            f"{LEAST_NUMBER} and {MOST_ASKED_FOR} are possible, and 'auto' makes "
            f"{min(n, most)}."
        )
    return number


def number_of_folds(n: int) -> int:
    """Return how many folds n samples make."""
    return min(n, MOST_FOLDS)


def interleave(order: Index, number: int, first: int = 0) -> Units:
    """Deal samples out to folds one after the other, in an order in which neighbours are near in z.

    The first of them goes to fold `first`, modulo `number`; a fold may be empty.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.inference.units import interleave
    >>> folds = interleave(np.arange(5), 3, first=1)
    >>> folds.order, folds.bounds
    (array([2, 0, 3, 1, 4]), array([0, 1, 3, 5]))
    """
    fold = (first + np.arange(len(order))) % number
    bounds = np.concatenate([[0], np.cumsum(np.bincount(fold, minlength=number))])
    return Units(order[np.argsort(fold, kind="stable")], bounds)


def units_along(order: Index, number: int) -> Units:
    """Cut an order, such as that of a one-dimensional z, into units of nearly equal size."""
    bounds = np.linspace(0, len(order), number + 1).round().astype(np.intp)
    return Units(order, bounds)


def units_in_space(z: Array, number: int) -> Units:
    """Halve the samples along their widest direction until there are enough groups."""
    order, bounds = np.arange(len(z)), [0]

    def split(inside: Index, parts: int, start: int) -> None:
        if parts == 1:
            order[start : start + len(inside)] = inside
            bounds.append(start + len(inside))
            return
        first = parts // 2
        cut = round(len(inside) * first / parts)
        widest = int(np.argmax(z[inside].var(axis=0)))
        by_value = inside[np.argsort(z[inside, widest], kind="stable")]
        split(by_value[:cut], first, start)
        split(by_value[cut:], parts - first, start + cut)

    split(np.arange(len(z)), number, 0)
    return Units(order, np.array(bounds))


def units_in_strata(strata: Index, number: int, weights: Array | None = None) -> Units:
    """Cut every stratum into units, about `number` in all and at least one in each.

    If there are more strata than that, a unit holds several whole ones. Strata larger than a unit
    are cut all the same, and stay by themselves: one unit alone would decide for them, and no sign
    tells by how much it varies. Samples are shuffled with a fixed seed, as rows may come sorted; if
    they have weights, from the order of these, so that the order of rows does not decide.
    """
    shuffled = np.random.default_rng(0).permutation(len(strata))
    if weights is not None:
        shuffled = np.lexsort([weights, strata])[shuffled]
    order = shuffled[np.argsort(strata[shuffled], kind="stable")]
    ends = np.cumsum(np.bincount(strata))
    if len(ends) > number:
        wanted = np.arange(1, number + 1) * len(strata) / number
        inside = np.searchsorted(ends, wanted)
        starts = np.concatenate([[0], ends[:-1]])
        large = ends - starts > len(strata) / number
        cuts = np.where(large[inside], wanted.round(), ends[inside])
        bounds = np.unique(np.concatenate([[0], cuts, starts[large], ends[large]]))
        return Units(order, bounds.astype(np.intp))
    cut = [0]
    for start, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
        parts = min(end - start, max(1, round(number * (end - start) / len(strata))))
        cut += np.linspace(start, end, parts + 1).round().astype(np.intp)[1:].tolist()
    return Units(order, np.array(cut))
