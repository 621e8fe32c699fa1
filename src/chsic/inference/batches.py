"""Rows that are worked on together: all of them, or at large n as many as a cache holds.

What a unit contributes needs its own rows and their partners. Cut into batches, features of all
samples need not be held, and threads, processes or machines have something to share.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from chsic._util import arrays
from chsic._util.arrays import Rows
from chsic._util.validate import Array, Index
from chsic.inference.groups import Cells
from chsic.inference.pair_weights import PairWeights
from chsic.inference.units import Units, interleave, number_of_folds, segment_sums
from chsic.pairs import PairGraph
from chsic.pairs.graph import Intervals
from chsic.pairs.neighbour_lists import Neighbours

if TYPE_CHECKING:
    from chsic.inference.ridge_fit import Basis

ROWS_IN_SPACE = 2**15  # where partners lie on all sides, and a larger batch has a smaller rim
MOST_PARTNERS = 100  # of a sample on average, whose lists are made


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
    first : int
        Number of the first stratum.
    part_of : int or None
        The same, if this one stratum goes on outside.
    weights : array or None
        Of the rows; None if all weigh the same.
    totals : array, shape (2, n_strata), or None
        Sums of weights and of squared weights in each stratum, also outside these rows.
    """

    rows: Index
    starts: Index
    sizes: Index
    first: int
    part_of: int | None
    weights: Array | None = None
    totals: Array | None = None

    @functools.cached_property
    def labels(self) -> Index:
        """Which of the strata here each row belongs to."""
        counts = np.diff(np.append(self.starts, len(self.rows)))
        return np.repeat(np.arange(len(self.starts)), counts)

    def sums(self, values: Any) -> Any:
        """Add up rows of each stratum."""
        return segment_sums(values, self.starts)

    @functools.cached_property
    def of_rows(self) -> tuple[Array, Array, Array]:
        """For each row its weight, and the sums W of weights and Q of squares in its stratum."""
        if self.weights is None or self.totals is None:
            sizes = self.sizes[self.labels].astype(np.float64)
            return np.ones(len(sizes)), sizes, sizes
        total, squares = self.totals[:, self.labels]
        return self.weights, total, squares


@dataclasses.dataclass(frozen=True, eq=False)
class Strata:
    """All samples, stratum by stratum.

    Attributes
    ----------
    labels : array of int, shape (n,)
        Number of each sample's stratum.
    order : array of int, shape (n,)
        The samples, those of one stratum after those of another.
    weights : array or None
        Of the samples; None if all weigh the same.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.inference.batches import Strata
    >>> [part] = Strata(np.array([1, 0, 1]), np.array([1, 0, 2])).parts
    >>> part.rows, part.sizes
    (array([1, 0, 2]), array([1, 2]))
    """

    labels: Index
    order: Index
    weights: Array | None = None

    @functools.cached_property
    def totals(self) -> Array | None:
        """Sums of weights and of squared weights in each stratum."""
        if self.weights is None:
            return None
        return np.stack([np.bincount(self.labels, self.weights**k) for k in (1, 2)])

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
            cuts += _bounds_between(bounds, cuts[-1], begin)
            cuts += [*range(begin + arrays.BLOCK_ROWS, end, arrays.BLOCK_ROWS), end]
        cuts += _bounds_between(bounds, cuts[-1], len(self.order))
        return [self._part(self.order[a:b]) for a, b in itertools.pairwise(cuts)]

    @property
    def whole(self) -> StratumRows:
        """All of the order at once."""
        return self._part(self.order)

    def _part(self, rows: Index) -> StratumRows:
        """Describe rows that stand together in the order."""
        labels = self.labels[rows]
        starts = np.flatnonzero(np.append(True, labels[1:] != labels[:-1]))
        sizes = self.sizes[labels[starts]]
        first = int(labels[0])
        part_of = first if sizes[0] > len(rows) else None
        if self.weights is None or self.totals is None:
            return StratumRows(rows, starts, sizes, first, part_of)
        totals = self.totals[:, labels[starts]]
        return StratumRows(rows, starts, sizes, first, part_of, self.weights[rows], totals)


@dataclasses.dataclass(frozen=True, eq=False)
class Batch:
    """Some rows: units or a part of one, and the partners of their samples.

    Attributes
    ----------
    rows : slice or array of int
        Which samples they are: those of the units, and their partners.
    z : array, shape (n_rows, d), or None
        z there in standard deviations, for regressions; of any array namespace.
    pairs : PairGraph, Neighbours, StratumRows or None
        Pairs among those rows: all pairs of the units' samples, some or none of the others'.
    inside : slice
        The units' samples, counted from the first of `rows`.
    units : Units
        The units, their samples counted from the first of `inside`.
    folds : Units
        The folds of the jackknife, likewise; some may be empty here.
    first_unit : int
        The place of the first of the units among all of them.
    number : int
        The place of the batch among all of them.
    groups : Units or None
        Groups of samples that may depend on each other, whole ones in each unit and in each fold;
        None if samples are independent.
    within : bool
        Whether pairs are of samples of one group alone.
    fit_weights : array or None
        Of the rows in regressions; None if all weigh the same.
    pair_weights : PairWeights or None
        Of pairs that are not those of strata.
    """

    rows: Rows
    z: Any
    pairs: PairGraph | Neighbours | StratumRows | None
    inside: slice
    units: Units
    folds: Units
    first_unit: int = 0
    number: int = 0
    groups: Units | None = None
    within: bool = False
    fit_weights: Array | None = None
    pair_weights: PairWeights | None = None
    _designs: dict[int, tuple[Basis, Any]] = dataclasses.field(default_factory=dict, repr=False)

    @classmethod
    def at(
        cls,
        rows: Rows,
        *,
        z: Any = None,
        pairs: StratumRows | None = None,
        groups: Units | None = None,
        fit_weights: Array | None = None,
    ) -> Batch:
        """Take rows whose residuals are computed, and which are not compared."""
        none = Units(np.empty(0, np.intp), np.zeros(1, np.intp))
        return cls(rows, z, pairs, slice(0, 0), none, none, groups=groups, fit_weights=fit_weights)

    @property
    def stratum_rows(self) -> StratumRows:
        """The pairs, which are all those of equal z."""
        assert isinstance(self.pairs, StratumRows)
        return self.pairs

    @functools.cached_property
    def own(self) -> Cells:
        """The samples of each group."""
        assert self.groups is not None
        return Cells.of_samples(self.groups)

    @functools.cached_property
    def halves(self) -> Cells:
        """The samples of each group twice, for either half of theory.md, eq. 17."""
        assert self.groups is not None
        return Cells.of_samples(Units.of(np.tile(self.groups.labels, 2)))

    @functools.cached_property
    def cells(self) -> Cells:
        """The entries of Lap between any two groups."""
        assert isinstance(self.pairs, PairGraph)
        assert self.groups is not None
        return Cells.of(self.pairs, self.groups, self.pair_weights)

    def design(self, basis: Basis) -> Any:
        """Return the functions of a basis at these rows; several regressions share one basis."""
        if id(basis) not in self._designs:
            self._designs[id(basis)] = basis, basis.design(self.z)
        return self._designs[id(basis)][1]


class Batches(Sequence[Batch]):
    """All batches, each made when it is asked for."""

    def __init__(self, number: int, make: Callable[[int], Batch]) -> None:
        self._number, self._make = number, make

    def __len__(self) -> int:
        return self._number

    @overload
    def __getitem__(self, which: int) -> Batch: ...
    @overload
    def __getitem__(self, which: slice) -> list[Batch]: ...
    def __getitem__(self, which: int | slice) -> Batch | list[Batch]:
        """Make a batch."""
        numbers = range(self._number)[which]
        return self._make(numbers) if isinstance(numbers, int) else [*map(self._make, numbers)]


def cut_into_batches(
    graph: PairGraph,
    units: Units,
    z: Array | None = None,
    strata: Strata | None = None,
    *,
    rim: int = 1,
    folds: Units | None = None,
    groups: Units | None = None,
    within: bool = False,
    weights: PairWeights | None = None,
    fit_weights: Array | None = None,
) -> Sequence[Batch]:
    """Cut the samples, in the order of their units.

    Parameters
    ----------
    graph : PairGraph
        The pairs.
    units : Units
        The units, in the order of the strata if there are any.
    z : array, shape (n, d), optional
        z in standard deviations.
    strata : Strata, optional
        If the pairs are all those inside strata.
    rim : {1, 2}
        Whether the rows of a batch hold the partners of the units' samples, or the partners of
        those partners as well.
    folds, groups : Units, optional
        Groups of samples that depend on each other, and folds of whole groups. All samples are then
        one batch, as a group may have samples anywhere.
    within : bool
        Whether pairs are of samples of one group alone.
    weights : PairWeights, optional
        If rows do not all weigh the same; `strata` have their own.
    fit_weights : array, shape (n,), optional
        Those in regressions.
    """
    n, runs = graph.n_samples, graph.intervals
    of_rows = _Weights(weights, fit_weights)
    if groups is not None:
        assert folds is not None
        if strata is None:
            rows = slice(0, n)
            return [
                Batch(
                    rows, z, graph, rows, units, folds, groups=groups, within=within,
                    **of_rows.at(rows),
                )
            ]  # fmt: skip
        units, folds, groups = (_among(strata.order, of) for of in (units, folds, groups))
        part, inside = strata.whole, slice(0, n)
        return [
            Batch(
                part.rows, None, part, inside, units, folds, groups=groups, within=within,
            )
        ]  # fmt: skip
    if strata is not None:
        return _in_strata(strata, units)
    if (
        n > arrays.BLOCK_ROWS
        and runs is not None
        and runs.in_order
        and not len(graph.listed[0])
        and np.array_equal(units.order, np.arange(n))
    ):
        return _along_line(runs, units, z, rim, of_rows)
    if n > ROWS_IN_SPACE and 2 * graph.n_pairs <= MOST_PARTNERS * n:
        lists = graph.lists or Neighbours.of_pairs(graph.i, graph.j, n)
        return _in_space(lists, units, z, rim, of_rows)
    folds, rows = interleave(units.order, number_of_folds(n)), slice(0, n)
    return [Batch(rows, z, graph, rows, units, folds, **of_rows.at(rows))]


class _Weights(NamedTuple):
    """Weights of pairs and in regressions, if there are any, as arguments of a batch."""

    of_pairs: PairWeights | None
    in_fits: Array | None

    def at(self, rows: Rows) -> dict[str, Any]:
        if self.of_pairs is None:
            return {}
        in_fits = None if self.in_fits is None else self.in_fits[rows]
        return {"fit_weights": in_fits, "pair_weights": self.of_pairs.at(rows)}


def _cuts(bounds: Index, rows: int) -> list[tuple[int, int]]:
    """Return the first unit of each batch and that after its last one."""
    cuts = [0]
    while cuts[-1] < len(bounds) - 1:
        fits = int(np.searchsorted(bounds, bounds[cuts[-1]] + rows, side="right")) - 1
        cuts.append(max(cuts[-1] + 1, fits))
    return list(itertools.pairwise(cuts))


def _along_line(
    runs: Intervals, units: Units, z: Array | None, rim: int, weights: _Weights
) -> Batches:
    """Neighbours on a line are neighbours in memory: the rows of a batch are a run."""
    here, none = np.arange(len(runs.order)), np.empty(0, np.intp)
    cuts = _cuts(units.bounds, arrays.BLOCK_ROWS)

    def make(number: int) -> Batch:
        first, last = cuts[number]
        begin, end = int(units.bounds[first]), int(units.bounds[last])
        low, high = begin, end
        for _ in range(rim):
            low, high = int(runs.starts[low]), int(runs.stops[high - 1])
        stops = np.minimum(runs.stops[low:high], high) - low
        part = PairGraph.from_intervals(Intervals(here[: high - low], stops), none, none)
        rows, inside = slice(low, high), slice(begin - low, end - low)
        own = _own(units, begin, end), _own_folds(units, begin, end)
        known = weights.at(rows)
        return Batch(rows, _at(z, rows), part, inside, *own, first, number, **known)

    return Batches(len(cuts), make)


def _in_space(
    lists: Neighbours, units: Units, z: Array | None, rim: int, weights: _Weights
) -> Batches:
    """Take the rows of a batch's units and, behind them, the partners of those."""
    cuts = _cuts(units.bounds, ROWS_IN_SPACE)

    def make(number: int) -> Batch:
        first, last = cuts[number]
        begin, end = int(units.bounds[first]), int(units.bounds[last])
        rows, listed = units.order[begin:end], end - begin
        for _ in range(rim):
            listed, rows = len(rows), np.concatenate([rows, lists.beside(rows)])
        part, inside = lists.numbered(rows, listed), slice(0, end - begin)
        own = _own(units, begin, end), _own_folds(units, begin, end)
        known = weights.at(rows)
        return Batch(rows, _at(z, rows), part, inside, *own, first, number, **known)

    return Batches(len(cuts), make)


def _in_strata(strata: Strata, units: Units) -> Batches:
    """Take whole strata, or a part of one; units may be cut."""
    starts = np.concatenate([[0], np.cumsum([len(part.rows) for part in strata.parts])]).tolist()

    def make(number: int) -> Batch:
        part = strata.parts[number]
        begin, end = starts[number : number + 2]
        first = int(np.searchsorted(units.bounds, begin, side="right")) - 1
        inside = slice(0, end - begin)
        own = _own(units, begin, end), _own_folds(units, begin, end)
        return Batch(part.rows, None, part, inside, *own, first, number)

    return Batches(len(strata.parts), make)


def _among(rows: Index, units: Units) -> Units:
    """Count the samples of units by their places in some order."""
    places = np.empty(len(rows), np.intp)
    places[rows] = np.arange(len(rows))
    return Units(places[units.order], units.bounds)


def _at(z: Array | None, rows: Rows) -> Array | None:
    return None if z is None else z[rows]


def _own(units: Units, begin: int, end: int) -> Units:
    """Return the units in some positions, their samples counted from the first."""
    first = int(np.searchsorted(units.bounds, begin, side="right")) - 1
    last = int(np.searchsorted(units.bounds, end, side="left"))
    bounds = np.clip(units.bounds[first : last + 1], begin, end) - begin
    return Units(np.arange(end - begin), bounds)


def _own_folds(units: Units, begin: int, end: int) -> Units:
    """Return the folds of the samples in some positions, counted from the first."""
    return interleave(np.arange(end - begin), number_of_folds(len(units.order)), begin)


def _bounds_between(bounds: Index, start: int, stop: int) -> list[int]:
    """Return bounds after `start`, as far apart as a part may be large, up to `stop`."""
    cuts = []
    while start < stop:
        most = min(start + arrays.BLOCK_ROWS, stop)
        start = int(bounds[np.searchsorted(bounds, most, side="right") - 1])
        cuts.append(start)
    return cuts
