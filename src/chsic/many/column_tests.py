"""Tests of many pairs of columns given one z: what z decides, and residuals, are computed once."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias, TypeVar

import numpy as np

from chsic._util.parallel import as_finished, in_order
from chsic.data.arguments import Columns
from chsic.data.column import Column
from chsic.data.samples import Samples
from chsic.data.sampling import Sampling
from chsic.inference.arrangement import Arrangement, arrange
from chsic.inference.compare import compare, remember
from chsic.inference.given import Given
from chsic.inference.plan import PlannedVariable
from chsic.inference.planning import plan_variable
from chsic.inference.regressions import RidgeAdjustment
from chsic.inference.result import IndependenceResult
from chsic.inference.settings import Settings
from chsic.inference.variable import Variable

COLUMNS_WEIGHED = 5  # whose size is looked at
MOST_BYTES = 2**30  # of prepared columns that are held at once

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


class ColumnTests:
    """All tests of pairs of some columns given one z.

    Parameters
    ----------
    columns : sequence of Column
        Complete and usable ones.
    z : sequence of Column
        The confounders; none if it is empty.
    sampling : Sampling
        Groups of rows, numbered, which may be stretches of time; and their weights.
    n_omitted : int
        Rows that were left out for missing values.
    n_resamples : int
        Number of draws of signs, where they are drawn.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        z: Columns,
        *,
        sampling: Sampling,
        n_omitted: int,
        n_resamples: int,
    ) -> None:
        self._settings = Settings(n_resamples=n_resamples)
        given = Given.of(z, self._settings, sampling=sampling)
        self._columns, self._z = given.samples(columns), given.samples(z)
        self._n_omitted = n_omitted
        self._sampling = sampling if given.rows is None else sampling.rows(given.rows)

        def variable(column: Column) -> Variable:
            return given.variable(column.name, [column])

        read = [or_failure(variable)(column) for column in self._columns]
        self._variables = {k: one for k, one in enumerate(read) if isinstance(one, Variable)}
        self._failures = {k: one for k, one in enumerate(read) if isinstance(one, Failure)}
        if not self._variables:
            return  # nothing can be tested
        learned = given.learn([variable.clipped for variable in self._variables.values()])
        for one in learned:
            one.ridge.forget()  # there may be thousands of them
        n = len(self._columns[0].values)
        misses = [k for k, one in zip(self._variables, learned, strict=False) if one.misses]
        self._misses = frozenset(misses)
        self._arrangements = {
            closely: arrange(given, n, learned, closely=closely)
            for closely in ((False, True) if misses else (False,))
        }
        adjustments = self._arrangements[False].adjustments_of(len(self._variables))
        self._adjustments = dict(zip(self._variables, adjustments, strict=True))

    def results(
        self, pairs: Sequence[Pair], signs: Signs, workers: int
    ) -> Iterator[tuple[Pair, IndependenceResult | Failure]]:
        """Test pairs, in an order in which few columns are held; `signs` draws those of each."""
        for x, y in pairs:
            if failure := self._failures.get(x) or self._failures.get(y):
                yield (x, y), failure
        pairs = [pair for pair in pairs if not self._failures.keys() & pair]
        for closely, arrangement in self._arrangements.items():
            some = [pair for pair in pairs if bool(self._misses & {*pair}) == closely]
            if some:
                yield from self._results(some, arrangement, signs, workers)

    def _results(
        self, pairs: Sequence[Pair], arrangement: Arrangement, signs: Signs, workers: int
    ) -> Iterator[tuple[Pair, IndependenceResult | Failure]]:
        """Test pairs of columns that are compared over the same pairs of samples."""
        column_bytes = self._column_bytes(pairs, arrangement)
        keep = 2 * column_bytes <= MOST_BYTES
        at_once = max(1, MOST_BYTES // (2 * column_bytes)) if keep else len(self._columns)
        held: dict[int, PlannedVariable | Failure] = {}

        def prepare(position: int) -> PlannedVariable:
            planned = self._plan(position, arrangement)
            return remember(planned, arrangement) if keep else planned

        def test(pair: Pair) -> IndependenceResult | Failure:
            first, second = (held[position] for position in pair)
            if isinstance(first, Failure):
                return first
            if isinstance(second, Failure):
                return second
            x, y = ([self._columns[position]] for position in pair)
            samples = Samples(x, y, self._z, self._n_omitted, self._sampling)
            return compare(arrangement, self._settings, first, second, samples, signs(pair))

        for block in _tiles(pairs, at_once):
            needed = sorted({position for pair in block for position in pair})
            for position in [old for old in held if old not in needed]:
                del held[position]
            new = [position for position in needed if position not in held]
            held.update(zip(new, in_order(or_failure(prepare), new, workers), strict=True))
            yield from as_finished(or_failure(test), block, workers)

    def _plan(self, position: int, arranged: Arrangement) -> PlannedVariable:
        column, variable = self._columns[position], self._variables[position]
        adjustment = self._adjustments[position]
        planned = plan_variable(
            column.name, variable, [column], adjustment, arranged.graph, arranged.z_names,
            interactions=arranged.plan.interactions is not None, weights=arranged.weights,
        )  # fmt: skip
        if isinstance(adjustment, RidgeAdjustment):
            adjustment.ridge.forget()
        return planned

    def _column_bytes(self, pairs: Sequence[Pair], arrangement: Arrangement) -> int:
        """Guess from some columns what is kept of one: features, differences, weighted ones."""
        positions = sorted({position for pair in pairs for position in pair})
        rank = 1
        plan = or_failure(functools.partial(self._plan, arranged=arrangement))
        for position in positions[:: max(1, len(positions) // COLUMNS_WEIGHED)]:
            planned = plan(position)
            if not isinstance(planned, Failure):
                rank = max(rank, sum(k.landmarks.n_features for k in planned.plan.kernels))
        return 3 * 8 * arrangement.plan.n_samples * rank


def _tiles(pairs: Sequence[Pair], size: int) -> Iterator[list[Pair]]:
    """Cut the columns into tiles, and give all pairs of one tile with one tile together."""

    def tiles(pair: Pair) -> Pair:
        return pair[0] // size, pair[1] // size

    for _, block in itertools.groupby(sorted(pairs, key=lambda p: (tiles(p), p)), tiles):
        yield list(block)
