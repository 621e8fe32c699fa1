"""Groups of rows that may depend on each other in any way: signs, folds and centre go by groups.

Rows of one patient, shop or sensor are alike. Under the null hypothesis products of residuals of
different groups are independent, and those of one group are not: what is added up over a group
stands for it (Cameron, Gelbach and Miller 2008; theory.md, section 13).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from chsic._util.namespaces import beside
from chsic._util.validate import Array, Index
from chsic.inference.units import Units, unit_products
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
    labels = of_group[groups]
    bounds = np.concatenate([[0], np.cumsum(np.bincount(labels))])
    return Units(np.argsort(labels, kind="stable"), bounds)


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
    place[np.lexsort(means[::-1])] = np.arange(len(place))
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
        graph = pairs_of(reach)
        apart = groups[graph.i] != groups[graph.j]
        i, j = graph.i[apart], graph.j[apart]
        partners = np.bincount(i, minlength=n) + np.bincount(j, minlength=n)
        if reach >= n - 1 or np.all(partners >= np.minimum(alpha / 4, others)):
            return PairGraph.from_listed(i, j, n)
        reach = min(2 * reach, n - 1)


def squares_of_groups(groups: Units, u: Any, v: Any) -> Any:
    """Return for each group the squared length of the sum of u_i v_i' over its samples.

    Groups of about the same size are worked on together, some of them at a time.
    """
    xp, squares = array_namespace(u), []
    classes = np.ceil(np.log2(groups.sizes)).astype(np.intp)
    width, order = u.shape[1] * v.shape[1], []
    for size in np.unique(classes).tolist():
        alike = np.flatnonzero(classes == size)
        at_once = max(1, NUMBERS_AT_ONCE // (width + 2**size * (u.shape[1] + v.shape[1])))
        for start in range(0, len(alike), at_once):
            some = alike[start : start + at_once]
            rows, own = groups.some(some)
            sums = unit_products(own, *(xp.take(a, beside(a, rows), axis=0) for a in (u, v)))
            squares.append(xp.vecdot(sums, sums))
            order.append(some)
    back = np.argsort(np.concatenate(order))
    return xp.take(xp.concat(squares), beside(u, back), axis=0)


def groups_in_units(groups: Units, units: Units) -> Units:
    """Return which groups make up each unit."""
    labels = units.labels[groups.order[groups.bounds[:-1]]]
    bounds = np.concatenate([[0], np.cumsum(np.bincount(labels, minlength=len(units)))])
    return Units(np.argsort(labels, kind="stable"), bounds)
