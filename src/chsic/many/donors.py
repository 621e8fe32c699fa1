"""Whole groups give their residuals to others: rows of one group stay as dependent as they were."""

from __future__ import annotations

import dataclasses

import numpy as np

from chsic._util.validate import Index

FEWEST = 10  # groups that one may get its residuals from, if there are as many


@dataclasses.dataclass(frozen=True, eq=False)
class Donors:
    """Groups, the largest first, and the rows of each.

    A group gets residuals of any group that has at least as many rows, or of one of the `FEWEST`
    largest; if that has fewer, another one gives the rest. Rows of the giver are taken in their
    order, from a random one on and round to the first: what is the same for the first rows of all
    groups is no relation of x and y.

    Attributes
    ----------
    groups : array of int
        Number of the group of each row.
    order, starts, sizes : array of int
        Rows of one group after the other, where each group begins, and how many rows it has.
    place : array of int
        Of each row among those of its group.
    choice : array of int
        Among how many groups each may choose.
    """

    groups: Index
    order: Index
    starts: Index
    sizes: Index
    place: Index
    choice: Index

    @classmethod
    def of(cls, groups: Index) -> Donors:
        """Sort groups by their number of rows.

        Examples
        --------
        >>> import numpy as np
        >>> from chsic.many.donors import Donors
        >>> Donors.of(np.array([5, 7, 7])).sizes
        array([2, 1])
        """
        _, labels, counts = np.unique(groups, return_inverse=True, return_counts=True)
        largest_first = np.argsort(-counts, kind="stable")
        renumbered = np.argsort(largest_first)[labels]
        order, sizes = np.argsort(renumbered, kind="stable"), counts[largest_first]
        starts = np.cumsum(sizes) - sizes
        place = np.empty(len(groups), np.intp)
        place[order] = np.arange(len(groups)) - np.repeat(starts, sizes)
        as_large = np.searchsorted(-sizes, -sizes, side="right")
        choice = np.maximum(as_large, min(FEWEST, len(sizes)))
        return cls(renumbered, order, starts, sizes, place, choice)

    def draw(self, rng: np.random.Generator) -> Index:
        """Return for each row the one that gives its residual."""
        givers = np.empty(len(self.groups), np.intp)
        filled = np.zeros(len(self.sizes), np.intp)  # rows of each group that have theirs
        left = np.arange(len(self.groups))
        while len(left):
            from_group, first = rng.random((2, len(self.sizes)))
            donor = (from_group * self.choice).astype(np.intp)
            first = (first * self.sizes[donor]).astype(np.intp)
            own = self.groups[left]
            place = self.place[left] - filled[own]
            size = self.sizes[donor[own]]
            at = self.starts[donor[own]] + (first[own] + place) % size
            now = place < size
            givers[left[now]] = self.order[at[now]]
            left, filled = left[~now], filled + self.sizes[donor]
        return givers
