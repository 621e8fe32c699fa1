"""Rows that are worked on together: all of them, or at large n as many as a cache holds.

Neighbours on a line are neighbours in memory. What a unit contributes then needs its own rows and a
few beside them, so that features of all samples need not be held.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from chsic.pairs import PairGraph
from chsic.pairs.intervals import Intervals
from chsic.units import Units

ROWS = 2**14  # in a piece, about: with fewer, threads hand the lock of Python over too often


@dataclasses.dataclass(frozen=True, eq=False)
class Piece:
    """Some units, with all that is needed to know what they contribute.

    Attributes
    ----------
    number : int
        Its place among all pieces.
    rows : slice
        Samples of the units and their partners.
    graph : PairGraph
        Pairs among those rows: all pairs of the units' samples, some of the others'.
    inside : slice
        The units' samples, counted from the first of `rows`.
    units : Units
        The units, their samples counted from the first of `inside`.
    """

    number: int
    rows: slice
    graph: PairGraph
    inside: slice
    units: Units


def cut_into_pieces(graph: PairGraph, units: Units) -> list[Piece]:
    """Cut at bounds of units, if there are many samples and partners are near in memory."""
    n, runs = graph.n_samples, graph.intervals
    here = np.arange(n)
    if (
        n <= ROWS
        or runs is None
        or graph.is_complete_in_blocks
        or len(graph.listed[0])
        or not (runs.in_order and np.array_equal(units.order, here))
    ):
        return [Piece(0, slice(0, n), graph, slice(0, n), units)]
    pieces: list[Piece] = []
    none = np.empty(0, np.intp)
    first = 0
    while first < len(units):
        fits = np.searchsorted(units.bounds, units.bounds[first] + ROWS, side="right") - 1
        last = max(first + 1, int(fits))
        begin, end = int(units.bounds[first]), int(units.bounds[last])
        low, high = int(runs.starts[begin]), int(runs.stops[end - 1])
        stops = np.minimum(runs.stops[low:high], high) - low
        part = PairGraph.from_intervals(Intervals(here[: high - low], stops), none, none)
        own = Units(here[: end - begin], units.bounds[first : last + 1] - begin)
        inside = slice(begin - low, end - low)
        pieces.append(Piece(len(pieces), slice(low, high), part, inside, own))
        first = last
    return pieces
