"""Pairs as intervals of an order: every sample goes with a run of those that follow it.

The closest pairs of a one-dimensional z, all pairs, and all pairs inside blocks are of this kind.
Two arrays of length n then stand for any number of pairs.
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from chsic._util.line import expand
from chsic._util.validate import Index


@dataclasses.dataclass(frozen=True, eq=False)
class Intervals:
    """In position p stands sample order[p]; it goes with positions p + 1 to stops[p] - 1.

    `stops` does not decrease, so that the earlier partners of a position are a run as well.
    """

    order: Index
    stops: Index

    @functools.cached_property
    def starts(self) -> Index:
        """First earlier partner of each position, or the position itself."""
        n = len(self.stops)
        if self.reach is not None:
            return np.maximum(np.arange(n) - self.reach, 0)
        return np.cumsum(np.bincount(self.stops, minlength=n)[:n])  # how many stop here or before

    @functools.cached_property
    def in_order(self) -> bool:
        """Whether position p is sample p."""
        return bool(np.array_equal(self.order, np.arange(len(self.order))))

    @functools.cached_property
    def reach(self) -> int | None:
        """To how many positions before and after it every one goes, if that is one number."""
        n = len(self.stops)
        reach = int(self.stops[0]) - 1
        some = np.arange(0, n, max(1, n // 100))  # which tell most others apart at once
        if not np.array_equal(self.stops[some], np.minimum(some + 1 + reach, n)):
            return None
        same = np.array_equal(self.stops, np.minimum(np.arange(1, n + 1) + reach, n))
        return reach if same else None

    def samples(self, start: int, stop: int) -> Index | slice:
        """Return which samples stand in some positions."""
        return slice(start, stop) if self.in_order else self.order[start:stop]

    @property
    def n_pairs(self) -> int:
        """Number of pairs, none of them listed."""
        n = len(self.stops)
        return int(self.stops.sum()) - n * (n + 1) // 2

    def pairs(self) -> tuple[Index, Index]:
        """List the pairs of samples."""
        rows, columns = expand(np.arange(1, len(self.stops) + 1), self.stops)
        a, b = self.order[rows], self.order[columns]
        return np.minimum(a, b), np.maximum(a, b)
