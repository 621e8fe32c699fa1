"""Groups of rows that may depend on each other in any way: signs, folds and centre go by groups.

Rows of one patient, shop or sensor are alike. Under the null hypothesis products of residuals of
different groups are independent, and those of one group are not: what is added up over a group
stands for it (Cameron, Gelbach and Miller 2008; theory.md, section 13).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from chsic._util.namespaces import beside
from chsic._util.validate import Array, Index
from chsic.inference.pair_weights import PairWeights
from chsic.inference.units import Units, unit_sums
from chsic.pairs import PairGraph

NUMBERS_AT_ONCE = 2**22  # of sums over groups


def groups_as_units(groups: Index, most: int) -> Units:
    """Deal whole groups out to as many units, or folds, as there may be.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.inference.groups import groups_as_units
    >>> groups_as_units(np.array([0, 1, 0, 2]), 128).sizes
    array([2, 1, 1])
    """
    number = int(groups.max()) + 1
    of_group = np.arange(number)
    if number > most:  # rows may come sorted by anything
        of_group = np.random.default_rng(0).permutation(number) % most
    return Units.of(of_group[groups])


def in_order_of(z: Array, groups: Index) -> Index:
    """Give groups numbers in the order of their means of z, whatever their labels are.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.inference.groups import in_order_of
    >>> in_order_of(np.array([[5.0], [1.0], [3.0]]), np.array([0, 1, 1]))
    array([1, 0, 0])
    """
    means = [np.bincount(groups, column) / np.bincount(groups) for column in z.T]
    place = np.empty(len(means[0]), np.intp)
    # By their sum first, so that the order of the columns of z does not matter.
    place[np.lexsort([*means[::-1], np.sum(means, axis=0)])] = np.arange(len(place))
    return place[groups]


def pairs_between_groups(
    groups: Index, alpha: float, pairs_of: Callable[[float], PairGraph]
) -> PairGraph:
    """Return the pairs of neighbours that join two groups.

    Where neighbours are mostly of one group, all samples look further, until each has at least a
    quarter as many partners as wanted: half of them is what the ends of a line have.

    Parameters
    ----------
    groups : array of int, shape (n,)
        Group of each sample.
    alpha : float
        Wanted number of neighbours.
    pairs_of : callable
        Makes the pairs with a number of neighbours.
    """
    n = len(groups)
    others = n - np.bincount(groups)[groups]  # that each sample may have as partners
    reach = alpha
    while True:
        graph = apart(pairs_of(reach), groups)
        if reach >= n - 1 or np.all(graph.degrees >= np.minimum(alpha / 4, others)):
            return graph
        reach = min(2 * reach, n - 1)


def apart(graph: PairGraph, groups: Index | None) -> PairGraph:
    """Return the pairs that join two groups; all of them if samples are independent."""
    if groups is None:
        return graph
    join = groups[graph.i] != groups[graph.j]
    return PairGraph.from_listed(graph.i[join], graph.j[join], graph.n_samples)


@dataclasses.dataclass(frozen=True, eq=False)
class Cells:
    """Entries Lap_ij, cell by cell: i is of one group and j of another, or of the same.

    Attributes
    ----------
    i, j : array of int
        Sample of x and sample of y of each entry.
    values : array
        The entries.
    cells : Units
        Which entries are of one cell.
    groups : pair of arrays of int
        Group of i and group of j of each cell.
    """

    i: Index
    j: Index
    values: Array
    cells: Units
    groups: tuple[Index, Index]

    @classmethod
    def of(cls, graph: PairGraph, groups: Units, weights: PairWeights | None = None) -> Cells:
        """Sort all entries of Lap."""
        rows, partners = np.arange(graph.n_samples), graph.degrees.astype(np.float64)
        of_pairs = np.ones(graph.n_pairs)
        if weights is not None:
            of_pairs, partners = weights.between(graph.i, graph.j), weights.degrees
        i = np.concatenate([graph.i, graph.j, rows])
        j = np.concatenate([graph.j, graph.i, rows])
        values = np.concatenate([-of_pairs, -of_pairs, partners])
        keys, labels = np.unique(
            groups.labels[i] * len(groups) + groups.labels[j], return_inverse=True
        )
        of_cells = keys // len(groups), keys % len(groups)
        return cls(i, j, values, Units.of(labels), of_cells)

    @classmethod
    def of_samples(cls, groups: Units) -> Cells:
        """Take every sample once, with itself."""
        rows, every = np.arange(len(groups.order)), np.arange(len(groups))
        return cls(rows, rows, np.ones(len(rows)), groups, (every, every))

    def squares(self, u: Any, v: Any) -> Any:
        """Return for each cell the squared length of the sum of Lap_ij u_i v_j' over its entries.

        Cells of about the same size are worked on together, some of them at a time.
        """
        xp, squares, order = array_namespace(u), [], []
        classes = np.ceil(np.log2(self.cells.sizes)).astype(np.intp)
        alone = np.flatnonzero(classes == 0)
        if len(alone):
            squares.append(self._squares_of_one(alone, u, v))
            order.append(alone)
        for size in np.unique(classes[classes > 0]).tolist():
            alike, width = np.flatnonzero(classes == size), 2**size
            by_samples = width <= min(u.shape[1], v.shape[1])
            product = width**2 if by_samples else u.shape[1] * v.shape[1]
            at_once = max(1, NUMBERS_AT_ONCE // (product + width * (u.shape[1] + v.shape[1])))
            for start in range(0, len(alike), at_once):
                some = alike[start : start + at_once]
                a, b = self._entries(some, width, u, v)
                if by_samples:  # |sum u v'|^2 = sum (u'u) (v'v) over pairs of entries
                    sums = (a @ xp.matrix_transpose(a)) * (b @ xp.matrix_transpose(b))
                else:
                    sums = (xp.matrix_transpose(a) @ b) ** 2
                squares.append(xp.sum(sums, axis=(1, 2)))
                order.append(some)
        back = np.argsort(np.concatenate(order))
        return xp.take(xp.concat(squares), beside(u, back), axis=0)

    def _squares_of_one(self, alone: Index, u: Any, v: Any) -> Any:
        """Do so for cells of one entry, which most are if there are many groups."""
        xp, entries = array_namespace(u), self.cells.order[self.cells.bounds[alone]]
        of_u = xp.take(xp.vecdot(u, u), beside(u, self.i[entries]), axis=0)
        of_v = xp.take(xp.vecdot(v, v), beside(v, self.j[entries]), axis=0)
        return beside(u, self.values[entries] ** 2) * of_u * of_v

    def _entries(self, some: Index, width: int, u: Any, v: Any) -> tuple[Any, Any]:
        """Return Lap_ij u_i and v_j of the entries of some cells, filled up with zeros."""
        xp, column = array_namespace(u), np.arange(width)
        position = self.cells.bounds[some, np.newaxis] + column
        inside = column < self.cells.sizes[some, np.newaxis]
        entries = self.cells.order[np.where(inside, position, 0)].ravel()
        values = np.where(inside.ravel(), self.values[entries], 0.0)
        shape = (len(some), width, -1)
        a = xp.take(u, beside(u, self.i[entries]), axis=0) * beside(u, values)[:, None]
        b = xp.take(v, beside(v, self.j[entries]), axis=0)
        return xp.reshape(a, shape), xp.reshape(b, shape)

    def in_units(self, units: Units, groups: Units, squares: Any) -> Any:
        """Add up what cells have by the units of their groups, half for that of either group."""
        of_groups = units.labels[groups.order[groups.bounds[:-1]]]
        if isinstance(squares, np.ndarray):
            halves = [np.bincount(of_groups[of], squares, len(units)) for of in self.groups]
        else:
            halves = [unit_sums(Units.of(of_groups[of], len(units)), squares) for of in self.groups]
        return (halves[0] + halves[1]) / 2
