"""Tests of many pairs of columns given one z: what z decides, and features, are computed once."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import numpy as np

from chsic.column import Column
from chsic.columns import Columns
from chsic.confounder import Confounder
from chsic.design import make_design
from chsic.engines.parallel import as_finished, in_order
from chsic.inference import LOOKS_OF_MANY, Inference
from chsic.prepare import Left, less_z
from chsic.result import IndependenceResult
from chsic.samples import Samples
from chsic.variable import Variable

SEEN_FOR_SIZE = 5  # columns
KEPT_BYTES = 2**30  # of prepared columns that are held at once

Pair: TypeAlias = tuple[int, int]  # positions of two columns
Signs: TypeAlias = Callable[[Pair], np.random.Generator]


class SharedTests:
    """All tests of pairs of some columns given one z.

    Parameters
    ----------
    columns : sequence of Column
        Complete and usable ones.
    z : sequence of Column
        The confounders; none if it is empty.
    n_omitted : int
        Rows that were left out for missing values.
    n_resamples : int
        Largest number of draws of signs.
    rng : numpy.random.Generator
        Orders samples with equal z.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        z: Columns,
        *,
        n_omitted: int,
        n_resamples: int,
        rng: np.random.Generator,
    ) -> None:
        self._columns, self._z, self._n_omitted = columns, z, n_omitted
        variables = [Variable.of(column.name, [column]) for column in columns]
        confounder = Confounder.of(z) if z else None
        if confounder is not None and confounder.on_line:
            order = confounder.along_line(rng)  # neighbours in z are then neighbours in memory
            variables = [variable.rows(order) for variable in variables]
            confounder = confounder.rows(order)
        self._variables = variables
        self._design = make_design(
            [variable.columns for variable in variables],
            confounder,
            pairs="auto",
            alpha=None,
            block_size=None,
            adjust="auto",
            rng=rng,
        )
        self._inference = Inference.of(self._design, n_resamples=n_resamples, looks=LOOKS_OF_MANY)

    def results(
        self, pairs: Sequence[Pair], signs: Signs, workers: int
    ) -> Iterator[tuple[Pair, IndependenceResult]]:
        """Test pairs, in an order in which few columns are held; `signs` draws those of each."""
        if not pairs:
            return
        bytes_held = self._bytes_held(pairs)
        keep = 2 * bytes_held <= KEPT_BYTES
        at_once = max(1, KEPT_BYTES // (2 * bytes_held)) if keep else len(self._columns)
        held: dict[int, Left] = {}

        def less_z_of(position: int) -> Left:
            left = self._less_z(position)
            return left.keep(self._inference.pieces) if keep else left

        def test(pair: Pair) -> IndependenceResult:
            x, y = pair
            samples = Samples([self._columns[x]], [self._columns[y]], self._z, self._n_omitted)
            return self._inference.compare(held[x], held[y], samples, signs(pair))

        for block in _blocks(pairs, at_once):
            needed = sorted({position for pair in block for position in pair})
            for position in [old for old in held if old not in needed]:
                del held[position]
            new = [position for position in needed if position not in held]
            held.update(zip(new, in_order(less_z_of, new, workers), strict=True))
            yield from as_finished(test, block, workers)

    def _less_z(self, position: int) -> Left:
        column, design = self._columns[position], self._design
        variable, adjuster = self._variables[position], design.adjusters[position]
        return less_z(column.name, variable, [column], adjuster, design.graph)

    def _bytes_held(self, pairs: Sequence[Pair]) -> int:
        """Guess from some columns what is kept of one: features, differences, weighted ones."""
        positions = sorted({position for pair in pairs for position in pair})
        first, most = self._inference.pieces[0], 1
        for position in positions[:: max(1, len(positions) // SEEN_FOR_SIZE)]:
            prepared = self._less_z(position).prepared
            if prepared is not None:
                scales = range(len(prepared.bandwidths))
                rank = sum(prepared.residuals(k, first).features.shape[1] for k in scales)
                most = max(most, int(rank))
        return 3 * 8 * self._design.graph.n_samples * most


def _blocks(pairs: Sequence[Pair], size: int) -> Iterator[list[Pair]]:
    """Cut the columns into tiles, and give all pairs of one tile with one tile together."""

    def tiles(pair: Pair) -> Pair:
        return pair[0] // size, pair[1] // size

    for _, block in itertools.groupby(sorted(pairs, key=lambda p: (tiles(p), p)), tiles):
        yield list(block)
