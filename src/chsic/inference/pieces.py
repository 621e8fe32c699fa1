"""Rows that are worked on together: all of them, or at large n as many as a cache holds.

What a unit contributes needs its own rows and their partners. Cut into pieces, features of all
samples need not be held, and threads have something to share.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from typing import overload

import numpy as np

from chsic._util import arrays
from chsic._util.arrays import Rows
from chsic._util.validate import Index
from chsic.inference.strata import Strata, StratumRows
from chsic.inference.units import Units
from chsic.pairs import PairGraph
from chsic.pairs.intervals import Intervals
from chsic.pairs.neighbours import Neighbours

ROWS_IN_SPACE = 2**15  # where partners lie on all sides, and a larger piece has a smaller rim
MOST_PARTNERS = 100  # of a sample on average, whose lists are made


@dataclasses.dataclass(frozen=True, eq=False)
class Piece:
    """Some units or a part of one, with all that is needed to know what they contribute.

    Attributes
    ----------
    number : int
        Its place among all pieces.
    rows : slice or array of int
        Samples of the units and their partners.
    pairs : PairGraph, Neighbours or StratumRows
        Pairs among those rows: all pairs of the units' samples, some or none of the others'.
    inside : slice
        The units' samples, counted from the first of `rows`.
    units : Units
        The units, their samples counted from the first of `inside`.
    first_unit : int
        The place of the first of them among all units.
    """

    number: int
    rows: Rows
    pairs: PairGraph | Neighbours | StratumRows
    inside: slice
    units: Units
    first_unit: int


class Pieces(Sequence[Piece]):
    """All pieces, each made when it is asked for."""

    def __init__(self, number: int, make: Callable[[int], Piece]) -> None:
        self._number, self._make = number, make

    def __len__(self) -> int:
        return self._number

    @overload
    def __getitem__(self, which: int) -> Piece: ...
    @overload
    def __getitem__(self, which: slice) -> list[Piece]: ...
    def __getitem__(self, which: int | slice) -> Piece | list[Piece]:
        """Make a piece."""
        numbers = range(self._number)[which]
        return self._make(numbers) if isinstance(numbers, int) else [*map(self._make, numbers)]


def cut_into_pieces(
    graph: PairGraph, units: Units, strata: Strata | None = None, *, rim: int = 1
) -> Sequence[Piece]:
    """Cut the samples, in the order of their units.

    Parameters
    ----------
    graph : PairGraph
        The pairs.
    units : Units
        The units, in the order of the strata if there are any.
    strata : Strata, optional
        If the pairs are all those inside strata.
    rim : {1, 2}
        Whether the rows of a piece hold the partners of the units' samples, or the partners of
        those partners as well.
    """
    n, runs = graph.n_samples, graph.intervals
    if strata is not None:
        return _in_strata(strata, units)
    if (
        n > arrays.BLOCK_ROWS
        and runs is not None
        and runs.in_order
        and not len(graph.listed[0])
        and np.array_equal(units.order, np.arange(n))
    ):
        return _along_line(runs, units, rim)
    if n > ROWS_IN_SPACE and 2 * graph.n_pairs <= MOST_PARTNERS * n:
        return _in_space(graph.lists or Neighbours.of_pairs(graph.i, graph.j, n), units, rim)
    return [Piece(0, slice(0, n), graph, slice(0, n), units, 0)]


def _cuts(bounds: Index, rows: int) -> list[tuple[int, int]]:
    """Return the first unit of each piece and that after its last one."""
    cuts = [0]
    while cuts[-1] < len(bounds) - 1:
        fits = int(np.searchsorted(bounds, bounds[cuts[-1]] + rows, side="right")) - 1
        cuts.append(max(cuts[-1] + 1, fits))
    return list(itertools.pairwise(cuts))


def _along_line(runs: Intervals, units: Units, rim: int) -> Pieces:
    """Neighbours on a line are neighbours in memory: the rows of a piece are a run."""
    here, none = np.arange(len(runs.order)), np.empty(0, np.intp)
    cuts = _cuts(units.bounds, arrays.BLOCK_ROWS)

    def make(number: int) -> Piece:
        first, last = cuts[number]
        begin, end = int(units.bounds[first]), int(units.bounds[last])
        low, high = begin, end
        for _ in range(rim):
            low, high = int(runs.starts[low]), int(runs.stops[high - 1])
        stops = np.minimum(runs.stops[low:high], high) - low
        part = PairGraph.from_intervals(Intervals(here[: high - low], stops), none, none)
        inside = slice(begin - low, end - low)
        return Piece(number, slice(low, high), part, inside, _own(units, begin, end), first)

    return Pieces(len(cuts), make)


def _in_space(lists: Neighbours, units: Units, rim: int) -> Pieces:
    """Take the rows of a piece's units and, behind them, the partners of those."""
    cuts = _cuts(units.bounds, ROWS_IN_SPACE)

    def make(number: int) -> Piece:
        first, last = cuts[number]
        begin, end = int(units.bounds[first]), int(units.bounds[last])
        rows, listed = units.order[begin:end], end - begin
        for _ in range(rim):
            listed, rows = len(rows), np.concatenate([rows, lists.beside(rows)])
        part, inside = lists.numbered(rows, listed), slice(0, end - begin)
        return Piece(number, rows, part, inside, _own(units, begin, end), first)

    return Pieces(len(cuts), make)


def _in_strata(strata: Strata, units: Units) -> Pieces:
    """Take whole strata, or a part of one; units may be cut."""
    starts = np.concatenate([[0], np.cumsum([len(part.rows) for part in strata.parts])]).tolist()

    def make(number: int) -> Piece:
        part = strata.parts[number]
        begin, end = starts[number : number + 2]
        first = int(np.searchsorted(units.bounds, begin, side="right")) - 1
        return Piece(number, part.rows, part, slice(0, end - begin), _own(units, begin, end), first)

    return Pieces(len(strata.parts), make)


def _own(units: Units, begin: int, end: int) -> Units:
    """Return the units in some positions, their samples counted from the first."""
    first = int(np.searchsorted(units.bounds, begin, side="right")) - 1
    last = int(np.searchsorted(units.bounds, end, side="left"))
    bounds = np.clip(units.bounds[first : last + 1], begin, end) - begin
    return Units(np.arange(end - begin), bounds)
