"""The pairs of samples that are compared, as a graph: nodes are samples, edges are pairs."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike

from chsic._util.validate import MIN_SAMPLES, Array, Index, as_count, as_number
from chsic.pairs.checks import as_blocks, as_indices, require_distinct_pairs

if TYPE_CHECKING:
    from chsic.pairs.neighbour_lists import Neighbours

MAX_SAMPLES = 3 * 10**9  # the square of which is still a 64-bit integer


def expand(starts: Index, stops: Index) -> tuple[Index, Index]:
    """List every (row, column) with ``starts[row] <= column < stops[row]``, row by row.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.pairs.graph import expand
    >>> expand(np.array([1, 2]), np.array([3, 3]))
    (array([0, 0, 1]), array([1, 2, 2]))
    """
    counts = stops - starts
    rows = np.repeat(np.arange(len(starts)), counts)
    offsets = np.cumsum(counts) - counts
    columns = np.arange(len(rows)) - np.repeat(offsets - starts, counts)
    return rows, columns


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


@dataclasses.dataclass(frozen=True, eq=False, repr=False, init=False)
class PairGraph:
    """Which pairs of samples are compared: the f1(k), f2(k) of the paper (its Section III).

    Parameters
    ----------
    i, j : array_like of int, shape (n_pairs,)
        Pair k compares samples i[k] and j[k], counted from 0. No sample is paired with itself
        and no pair is listed twice, in either order.
    n_samples : int
        Number of samples L.
    blocks : array_like of int, shape (n_samples,), optional
        Block of each sample, counted from 0. No pair may cross two blocks. All samples are one
        block if not given.

    Attributes
    ----------
    n_pairs : int
        Number of pairs K.
    n_blocks : int
        Number of blocks.

    Examples
    --------
    >>> import chsic
    >>> graph = chsic.PairGraph([0, 1], [1, 2], n_samples=4)
    >>> graph
    PairGraph(n_samples=4, n_pairs=2)
    >>> graph.laplacian().toarray()
    array([[ 1., -1.,  0.,  0.],
           [-1.,  2., -1.,  0.],
           [ 0., -1.,  1.,  0.],
           [ 0.,  0.,  0.,  0.]])
    """

    n_samples: int
    blocks: Index
    intervals: Intervals | None  # pairs given as runs of an order, never listed unless asked
    lists: Neighbours | None  # all pairs, given as lists of partners

    def __init__(
        self, i: ArrayLike, j: ArrayLike, n_samples: int, *, blocks: ArrayLike | None = None
    ) -> None:
        n = as_count("n_samples", n_samples, minimum=MIN_SAMPLES)
        if n > MAX_SAMPLES:
            raise ValueError(f"n_samples: at most {MAX_SAMPLES} are supported, got {n}.")
        listed = as_indices("i", i, n), as_indices("j", j, n)
        require_distinct_pairs(*listed, n)
        self._set(n, as_blocks(blocks, listed, n), listed)

    @classmethod
    def from_intervals(
        cls, intervals: Intervals, i: Index, j: Index, *, blocks: Index | None = None
    ) -> PairGraph:
        """Make a graph of runs and further pairs, which the caller knows to be distinct."""
        graph = cls.__new__(cls)
        graph._set(len(intervals.order), blocks, (i, j), intervals)
        return graph

    @classmethod
    def from_listed(cls, i: Index, j: Index, n: int, *, blocks: Index | None = None) -> PairGraph:
        """Make a graph of pairs which the caller knows to be distinct."""
        graph = cls.__new__(cls)
        graph._set(n, blocks, (i, j))
        return graph

    @classmethod
    def from_lists(cls, lists: Neighbours) -> PairGraph:
        """Make a graph of lists of partners."""
        graph = cls.__new__(cls)
        graph._set(len(lists.starts) - 1, None, lists=lists)
        return graph

    def _set(
        self,
        n: int,
        blocks: Index | None,
        listed: tuple[Index, Index] | None = None,
        intervals: Intervals | None = None,
        lists: Neighbours | None = None,
    ) -> None:
        blocks = np.broadcast_to(np.intp(0), n) if blocks is None else blocks  # one place in memory
        values = {"n_samples": n, "blocks": blocks, "intervals": intervals, "lists": lists}
        if listed is not None:
            values["listed"] = listed
        for array in (blocks, *(listed or ())):
            array.setflags(write=False)
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __getstate__(self) -> tuple[Any, ...]:
        listed = None if self.lists else self.listed
        return self.n_samples, self.blocks, listed, self.intervals, self.lists

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._set(*state)  # copies are frozen as well

    @functools.cached_property
    def listed(self) -> tuple[Index, Index]:
        """Pairs given one by one, beside those in runs."""
        assert self.lists is not None
        return self.lists.pairs()

    @property
    def n_pairs(self) -> int:
        """Number of pairs K."""
        if self.lists is not None:
            return self.lists.n_pairs
        in_runs = self.intervals.n_pairs if self.intervals else 0
        return in_runs + len(self.listed[0])

    @functools.cached_property
    def n_blocks(self) -> int:
        """Number of blocks, between which there are no pairs."""
        return int(self.blocks.max()) + 1

    @property
    def is_complete(self) -> bool:
        """Whether all K_max = L (L - 1) / 2 pairs are kept, so that C-HSIC is HSIC."""
        return self.n_pairs == max_pairs(self.n_samples)

    @functools.cached_property
    def is_complete_in_blocks(self) -> bool:
        """Whether all pairs inside every block are kept: then Lap_b = n_b I - 11'."""
        if self.n_blocks == 1:
            return self.is_complete
        sizes = np.bincount(self.blocks)
        return self.n_pairs == int((sizes * (sizes - 1) // 2).sum())

    @functools.cached_property
    def degrees(self) -> Index:
        """Number of partners of each sample, counted without listing pairs in runs."""
        if self.lists is not None:
            return self.lists.degrees
        n = self.n_samples
        counts: Index = np.bincount(np.concatenate(self.listed), minlength=n)
        if self.intervals is not None:
            runs = self.intervals
            counts[runs.samples(0, n)] += runs.stops - runs.starts - 1
        counts.setflags(write=False)
        return counts

    @property
    def i(self) -> Index:
        """One sample of each pair."""
        return self._ends[0]

    @property
    def j(self) -> Index:
        """The other sample of each pair."""
        return self._ends[1]

    @functools.cached_property
    def _ends(self) -> tuple[Index, Index]:
        if self.intervals is None:
            return self.listed
        i, j = (
            np.concatenate(ends) for ends in zip(self.intervals.pairs(), self.listed, strict=True)
        )
        i.setflags(write=False)
        j.setflags(write=False)
        return i, j

    def relabelled(self) -> tuple[Index, PairGraph]:
        """Return an order of the samples and the same graph on the samples in that order.

        Pairs in runs then join samples that are near in memory.
        """
        if self.intervals is None:
            return np.arange(self.n_samples), self
        order = self.intervals.order
        position = np.empty_like(order)
        position[order] = np.arange(len(order))
        i, j = (position[ends] for ends in self.listed)
        runs = Intervals(np.arange(len(order)), self.intervals.stops)
        blocks = self.blocks[order] if self.n_blocks > 1 else None
        return order, PairGraph.from_intervals(runs, i, j, blocks=blocks)

    def among(self, samples: Index) -> PairGraph:
        """Return the graph on some of the samples, which all pairs are among."""
        number = np.empty(self.n_samples, np.intp)
        number[samples] = np.arange(len(samples))
        blocks = np.unique(self.blocks[samples], return_inverse=True)[1].astype(np.intp)
        return PairGraph.from_listed(number[self.i], number[self.j], len(samples), blocks=blocks)

    def laplacian(self) -> scipy.sparse.csr_array:
        """Return the graph Laplacian D D', D the signed incidence matrix of the pairs.

        Returns
        -------
        scipy.sparse.csr_array of shape (n_samples, n_samples)
            Degrees on the diagonal, -1 for every pair.

        Examples
        --------
        >>> import chsic
        >>> print(chsic.complete_pairs(4).laplacian().toarray().diagonal())
        [3. 3. 3. 3.]
        """
        return _laplacian(self.i, self.j, self.n_samples)

    def laplacian_traces(self, degrees: Index | None = None) -> tuple[int, float]:
        """Return tr(Lap) = sum_i d_i and tr(Lap^2) = sum_i d_i (d_i + 1), d_i the degrees.

        If this graph has some of the pairs of a graph with other `degrees`, what those pairs add to
        its traces: they add up over the shards of a graph.
        """
        own = self.degrees
        whole = own if degrees is None else degrees
        return int(own.sum()), float(own.astype(np.float64) @ (whole + 1.0))

    def laplacian_entries(self, size: int) -> Iterator[tuple[Index, Index, Array]]:
        """List the non-zero entries of the Laplacian: rows, columns and values, some at a time.

        There are at most `size` entries in a piece. Pieces depend on the graph and the size only,
        so that sums over pieces do not depend on the number of threads that add them up.

        Examples
        --------
        >>> import chsic
        >>> [(rows.tolist(), columns.tolist(), values.tolist())
        ...  for rows, columns, values in chsic.PairGraph([0], [2], 4).laplacian_entries(10)]
        [([0, 1, 2, 3], [0, 1, 2, 3], [1.0, 0.0, 1.0, 0.0]), ([0], [2], [-1.0]), ([2], [0], [-1.0])]
        """
        degrees = self.degrees.astype(np.float64)
        for start in range(0, self.n_samples, size):
            samples = np.arange(start, min(start + size, self.n_samples))
            yield samples, samples, degrees[samples]
        for i, j in self._pairs_in_pieces(size):
            minus = np.full(len(i), -1.0)
            yield i, j, minus
            yield j, i, minus

    def _pairs_in_pieces(self, size: int) -> Iterator[tuple[Index, Index]]:
        runs = self.intervals
        if runs is not None:
            ends: Index = np.cumsum(runs.stops - np.arange(1, len(runs.stops) + 1))
            start = 0
            while start < len(ends):
                before = ends[start - 1] if start else 0
                # At least one position, however long its run.
                stop = max(start + 1, int(np.searchsorted(ends, before + size // 2, side="right")))
                rows, columns = expand(np.arange(start + 1, stop + 1), runs.stops[start:stop])
                i, j = runs.order[rows + start], runs.order[columns]
                for part in range(0, len(i), size):
                    yield i[part : part + size], j[part : part + size]
                start = stop
        i, j = self.listed
        for part in range(0, len(i), size):
            yield i[part : part + size], j[part : part + size]

    @functools.cached_property
    def listed_laplacian(self) -> scipy.sparse.csr_array:
        """That of the pairs given one by one, which is not to be written into."""
        return _laplacian(*self.listed, self.n_samples)

    def __repr__(self) -> str:
        blocks = f", n_blocks={self.n_blocks}" if self.n_blocks > 1 else ""
        return f"PairGraph(n_samples={self.n_samples}, n_pairs={self.n_pairs}{blocks})"


def require_pairs(pairs: object, known: Sequence[str], n: int) -> None:
    """Raise unless `pairs` is one of the known choices, or a graph of n samples.

    Examples
    --------
    >>> from chsic.pairs.graph import require_pairs
    >>> require_pairs("nearby", ("nearest", "closest"), 10)
    Traceback (most recent call last):
        ...
    ValueError: pairs: unknown choice 'nearby'; known are 'nearest', 'closest', or a PairGraph.
    """
    if isinstance(pairs, PairGraph):
        if pairs.n_samples != n:
            raise ValueError(
                f"pairs: the PairGraph is for {pairs.n_samples} samples, but x, y and z have {n}."
            )
    elif not isinstance(pairs, str) or pairs not in known:
        choices = ", ".join(map(repr, known))
        raise ValueError(f"pairs: unknown choice {pairs!r}; known are {choices}, or a PairGraph.")


def some_pairs(graph: PairGraph, number: int = 10_000) -> tuple[Index, Index]:
    """Draw pairs with a fixed seed, without listing those in runs.

    Examples
    --------
    >>> import chsic
    >>> from chsic.pairs.graph import some_pairs
    >>> i, j = some_pairs(chsic.complete_pairs(1000), 5)
    >>> len(i), bool((i != j).all())
    (5, True)
    """
    rng = np.random.default_rng(0)
    if graph.lists is not None:
        return graph.lists.pairs(rng.integers(graph.n_pairs, size=number))
    i, j = graph.listed
    some = rng.integers(len(i), size=number if len(i) else 0)
    if graph.intervals is None or graph.intervals.n_pairs < len(i):
        return i[some], j[some]
    order, stops = graph.intervals.order, graph.intervals.stops
    first = rng.integers(len(order), size=number)
    first = first[stops[first] > first + 1]
    second = rng.integers(first + 1, stops[first])
    return order[first], order[second]


def max_pairs(n: int) -> int:
    """K_max = L (L - 1) / 2."""
    return n * (n - 1) // 2


def count_pairs(n: int, alpha: float) -> int:
    """K = floor(L alpha / 2), paper eq. 13."""
    alpha = as_number("alpha", alpha)
    if not 1 <= alpha <= n - 1:
        raise ValueError(
            f"alpha: must lie between 1 and n - 1 = {n - 1} for {n} samples (alpha is the mean "
            f"number of partners of a sample, n - 1 keeps all pairs), got {alpha:g}."
        )
    return int(n * alpha / 2)


def _laplacian(i: Index, j: Index, n: int) -> scipy.sparse.csr_array:
    rows, columns = np.concatenate([i, j]), np.concatenate([j, i])
    adjacency = scipy.sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, n))
    degrees = scipy.sparse.diags_array(np.bincount(rows, minlength=n).astype(float))
    return scipy.sparse.csr_array(degrees - adjacency)
