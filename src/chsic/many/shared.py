"""Tests of many pairs of columns given one z: what z decides, and features, are computed once."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias, TypeVar

import numpy as np

from chsic._util.parallel import as_finished, in_order
from chsic.data.arguments import Columns
from chsic.data.column import Column
from chsic.data.samples import Samples
from chsic.inference.comparable import Comparable, comparable
from chsic.inference.confounder import Confounder
from chsic.inference.design import make_design
from chsic.inference.inference import LOOKS_OF_MANY, Inference
from chsic.inference.prepare import Left, less_z
from chsic.inference.result import IndependenceResult
from chsic.inference.variable import Variable

SEEN_FOR_SIZE = 5  # columns
KEPT_BYTES = 2**30  # of prepared columns that are held at once

Pair: TypeAlias = tuple[int, int]  # positions of two columns
Signs: TypeAlias = Callable[[Pair], np.random.Generator]


@dataclasses.dataclass(frozen=True)
class Failure:
    """Why a column or a pair could not be tested."""

    reason: str


Item = TypeVar("Item")
Result = TypeVar("Result")


def or_failure(function: Callable[[Item], Result]) -> Callable[[Item], Result | Failure]:
    """Let one item fail without ending the others."""

    def attempt(item: Item) -> Result | Failure:
        try:
            return function(item)
        except (MemoryError, Warning):
            raise
        except (TypeError, ValueError) as error:
            return Failure(str(error))
        except Exception as error:
            return Failure(f"{type(error).__name__}: {error}")

    return attempt


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
        confounder = Confounder(z) if z else None
        usable = Comparable("auto")
        if confounder is not None:
            usable = comparable(confounder)
            if usable.rows is not None:
                columns = [column.rows(usable.rows) for column in columns]
                z = [column.rows(usable.rows) for column in z]
                confounder = Confounder(z)
        self._columns, self._z, self._n_omitted = columns, z, n_omitted
        read = [or_failure(_variable)(column) for column in columns]
        variables = {k: one for k, one in enumerate(read) if isinstance(one, Variable)}
        self._failures = {k: one for k, one in enumerate(read) if isinstance(one, Failure)}
        if confounder is not None and confounder.on_line:
            order = confounder.along_line(rng)  # neighbours in z are then neighbours in memory
            variables = {k: variable.rows(order) for k, variable in variables.items()}
            confounder = confounder.in_order(order)
        self._variables = variables
        if not variables:
            return  # nothing can be tested
        design = make_design(
            [variable.clipped for variable in variables.values()],
            confounder,
            pairs=usable.pairs,
            alpha=None,
            block_size=None,
            adjust="auto",
            rng=rng,
        )
        self._design = dataclasses.replace(design, warnings=(*usable.warnings, *design.warnings))
        self._adjusters = dict(zip(variables, design.adjusters, strict=True))
        self._inference = Inference.of(self._design, n_resamples=n_resamples, looks=LOOKS_OF_MANY)

    def results(
        self, pairs: Sequence[Pair], signs: Signs, workers: int
    ) -> Iterator[tuple[Pair, IndependenceResult | Failure]]:
        """Test pairs, in an order in which few columns are held; `signs` draws those of each."""
        for x, y in pairs:
            if failure := self._failures.get(x) or self._failures.get(y):
                yield (x, y), failure
        pairs = [pair for pair in pairs if not self._failures.keys() & pair]
        if not pairs:
            return
        bytes_held = self._bytes_held(pairs)
        keep = 2 * bytes_held <= KEPT_BYTES
        at_once = max(1, KEPT_BYTES // (2 * bytes_held)) if keep else len(self._columns)
        held: dict[int, Left | Failure] = {}

        def less_z_of(position: int) -> Left:
            left = self._less_z(position)
            return left.keep(self._inference.pieces) if keep else left

        def test(pair: Pair) -> IndependenceResult | Failure:
            first, second = (held[position] for position in pair)
            if isinstance(first, Failure):
                return first
            if isinstance(second, Failure):
                return second
            x, y = ([self._columns[position]] for position in pair)
            samples = Samples(x, y, self._z, self._n_omitted)
            return self._inference.compare(first, second, samples, signs(pair))

        for block in _blocks(pairs, at_once):
            needed = sorted({position for pair in block for position in pair})
            for position in [old for old in held if old not in needed]:
                del held[position]
            new = [position for position in needed if position not in held]
            made = in_order(or_failure(less_z_of), new, workers)
            held.update(zip(new, made, strict=True))
            yield from as_finished(or_failure(test), block, workers)

    def _less_z(self, position: int) -> Left:
        column, variable = self._columns[position], self._variables[position]
        adjuster, graph = self._adjusters[position], self._design.graph
        return less_z(column.name, variable, [column], adjuster, graph)

    def _bytes_held(self, pairs: Sequence[Pair]) -> int:
        """Guess from some columns what is kept of one: features, differences, weighted ones."""
        positions = sorted({position for pair in pairs for position in pair})
        first, most = self._inference.pieces[0], 1
        for position in positions[:: max(1, len(positions) // SEEN_FOR_SIZE)]:
            left = or_failure(self._less_z)(position)
            prepared = None if isinstance(left, Failure) else left.prepared
            if prepared is not None:
                scales = range(len(prepared.bandwidths))
                rank = sum(prepared.residuals(k, first).features.shape[1] for k in scales)
                most = max(most, int(rank))
        return 3 * 8 * self._design.graph.n_samples * most


def _variable(column: Column) -> Variable:
    return Variable.of(column.name, [column])


def _blocks(pairs: Sequence[Pair], size: int) -> Iterator[list[Pair]]:
    """Cut the columns into tiles, and give all pairs of one tile with one tile together."""

    def tiles(pair: Pair) -> Pair:
        return pair[0] // size, pair[1] // size

    for _, block in itertools.groupby(sorted(pairs, key=lambda p: (tiles(p), p)), tiles):
        yield list(block)
