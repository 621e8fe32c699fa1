"""Samples of equal z: the order that brings them together, and rows that are worked on together."""

from __future__ import annotations

import dataclasses
import functools
import itertools

import numpy as np

from chsic._util import arrays
from chsic._util.arrays import Rows
from chsic._util.validate import Index


@dataclasses.dataclass(frozen=True, eq=False)
class StratumRows:
    """Some rows: whole strata, one after the other, or a part of one.

    Attributes
    ----------
    rows : array of int
        The samples.
    starts : array of int
        Where each stratum begins in `rows`.
    sizes : array of int
        Number of samples in each stratum, also outside these rows.
    part_of : int or None
        Number of the stratum, if it goes on outside.
    """

    rows: Index
    starts: Index
    sizes: Index
    part_of: int | None

    @functools.cached_property
    def labels(self) -> Index:
        """Which of the strata here each row belongs to."""
        counts = np.diff(np.append(self.starts, len(self.rows)))
        return np.repeat(np.arange(len(self.starts)), counts)


@dataclasses.dataclass(frozen=True, eq=False)
class Strata:
    """All samples, stratum by stratum.

    Attributes
    ----------
    labels : array of int, shape (n,)
        Number of each sample's stratum.
    order : array of int, shape (n,)
        The samples, those of one stratum after those of another.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.inference.strata import Strata
    >>> [part] = Strata(np.array([1, 0, 1]), np.array([1, 0, 2])).parts
    >>> part.rows, part.sizes
    (array([1, 0, 2]), array([1, 2]))
    """

    labels: Index
    order: Index

    @functools.cached_property
    def sizes(self) -> Index:
        """Number of samples in each stratum."""
        return np.bincount(self.labels)

    @functools.cached_property
    def parts(self) -> list[StratumRows]:
        """Cut the order between strata; large ones are cut as well, and stay by themselves."""
        bounds = np.concatenate([[0], np.cumsum(self.sizes)])
        cuts = [0]
        for stratum in np.flatnonzero(self.sizes > arrays.BLOCK_ROWS).tolist():
            begin, end = bounds[stratum : stratum + 2].tolist()
            cuts += _cuts(bounds, cuts[-1], begin)
            cuts += [*range(begin + arrays.BLOCK_ROWS, end, arrays.BLOCK_ROWS), end]
        cuts += _cuts(bounds, cuts[-1], len(self.order))
        return [self.part(self.order[a:b]) for a, b in itertools.pairwise(cuts)]

    def part(self, rows: Rows) -> StratumRows:
        """Describe rows that stand together in the order."""
        rows = np.arange(len(self.labels))[rows] if isinstance(rows, slice) else rows
        labels = self.labels[rows]
        starts = np.flatnonzero(np.append(True, labels[1:] != labels[:-1]))
        sizes = self.sizes[labels[starts]]
        return StratumRows(rows, starts, sizes, int(labels[0]) if sizes[0] > len(rows) else None)


def _cuts(bounds: Index, start: int, stop: int) -> list[int]:
    """Return bounds after `start`, as far apart as a part may be large, up to `stop`."""
    cuts = []
    while start < stop:
        most = min(start + arrays.BLOCK_ROWS, stop)
        start = int(bounds[np.searchsorted(bounds, most, side="right") - 1])
        cuts.append(start)
    return cuts
