"""Tests of one data set, as causal discovery asks for them: what they share is kept."""

from __future__ import annotations

import dataclasses
import hashlib
import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np

from chsic._util.cache import Cache, nbytes_of
from chsic._util.names import did_you_mean, readable
from chsic._util.parallel import blas_on_one_thread
from chsic._util.validate import (
    MIN_SAMPLES,
    Array,
    RNGLike,
    as_count,
    as_generator,
    require_same_length,
)
from chsic.data.arguments import (
    MOST_LEVELS,
    Data,
    named_columns,
    require_usable,
)
from chsic.data.column import Column, read_column
from chsic.data.samples import (
    Samples,
    as_kinds,
    complete_samples,
    require_complete,
    require_nan_policy,
    rows_that_count,
)
from chsic.data.sampling import Sampling, is_name, read_about_rows, sampling_arguments
from chsic.inference.arrangement import (
    Arrangement,
    arrange,
    ridge_adjustment,
)
from chsic.inference.compare import compare, remember, run_test
from chsic.inference.given import Given
from chsic.inference.learner import Learned
from chsic.inference.pairing import compares_closely
from chsic.inference.plan import PlannedVariable
from chsic.inference.planning import plan_variable
from chsic.inference.result import IndependenceResult
from chsic.inference.settings import Settings, as_resamples
from chsic.inference.stretches import in_given_stretches
from chsic.inference.variable import Variable

CACHE_BYTES = 2**29  # of what conditioning sets decide, and of variables given them
MOST_ANSWERS = 100_000

Which: TypeAlias = int | str | Sequence[int | str]
Places: TypeAlias = tuple[int, ...]


class Answer(NamedTuple):
    """What is kept of a test.

    Attributes
    ----------
    statistic, pvalue, coefficient : float
        As in `chsic.IndependenceResult`.
    warnings : tuple of str
        What to be careful about, if anything.
    """

    statistic: float
    pvalue: float
    coefficient: float
    warnings: tuple[str, ...] = ()


NOTHING_TO_DEPEND_ON = Answer(0.0, 1.0, 0.0)  # of a constant column

_Kind = TypeVar("_Kind")  # of what is cached


@dataclasses.dataclass(frozen=True, eq=False)
class _Variable:
    """One variable given one conditioning set."""

    name: str
    columns: Sequence[Column]
    scaled: Variable
    learned: Learned | None


class Discovery:
    """Answers which columns of one data set are independent given which others.

    Answers do not depend on the order of questions, nor on what else was asked. Work that questions
    share is kept: what a conditioning set decides, and the features of a variable given a set. All
    that is bounded.

    Parameters
    ----------
    data : data frame, mapping or array_like, shape (n, d)
        Rows are samples. Columns of an array are called "0", "1", ...
    kinds : mapping, optional
        ``"number"`` or ``"category"`` for names of columns, as for `chsic_test`.
    nan_policy : {"raise", "omit", "level"}
        As for `chsic_test`. Rows are left out of those tests only whose columns have a gap; such
        tests share nothing.
    groups : array_like, series, or name of a column of `data`, optional
        Which group each row belongs to, as for `chsic_test`. A column that is named cannot be asked
        about, and does not count in positions. Rows without a group are in no test.
    time : array_like, series, or name of a column of `data`; or "rows", optional
        When each row was observed, as for `chsic_test`. A column that is named cannot be asked
        about, either; give its values if it is to be a confounder.
    stretch : float or "auto"
        For how long rows depend on each other, as for `chsic_test`. ``"auto"`` finds a length of
        its own for every test, which shares nothing with others then.
    within : bool
        Compare rows with those of their own group alone, as for `chsic_test`.
    weights : array_like, series, or name of a column of `data`, optional
        How many rows of the population each row stands for, as for `chsic_test`. A column that is
        named cannot be asked about, and does not count in positions.
    n_resamples : int
        Number of draws of signs where they are drawn, 19 to 10^7.
    rng : None, int or numpy.random.Generator
        Draws the signs of all tests; None with a fixed seed, as discovery should be repeatable.

    Examples
    --------
    >>> import chsic
    >>> tests = chsic.Discovery(chsic.datasets.summer())
    >>> tests.answer("ice_cream", "rescues").pvalue < 0.001
    True
    >>> tests.answer("ice_cream", "rescues", "temperature").pvalue > 0.05
    True
    """

    def __init__(
        self,
        data: Data,
        /,
        *,
        kinds: Mapping[str, str] | None = None,
        nan_policy: str = "raise",
        groups: Data = None,
        time: Data = None,
        stretch: float | str = "auto",
        within: bool = False,
        weights: Data = None,
        n_resamples: int = 9999,
        rng: RNGLike | None = None,
    ) -> None:
        require_nan_policy(nan_policy)
        raw = named_columns("data", data)
        given = as_kinds(kinds, list(raw))
        about_rows = sampling_arguments("data", raw, groups=groups, time=time, weights=weights)
        rows = read_about_rows(about_rows, given)
        for name in (groups, time, weights):
            if is_name(name):
                raw.pop(str(name), None)
        columns = [read_column(name, values, given.get(name)) for name, values in raw.items()]
        if not columns:
            raise ValueError("data: there are no columns; at least two are needed for a question.")
        for column in columns:
            both = {f"data[{c.name!r}]": c.values for c in (columns[0], column)}
            require_same_length(**both)
        for argument, of in rows.items():
            require_same_length(data=columns[0].values, **{argument: of[0].values})
        if nan_policy == "raise":
            require_complete({"data": columns, **rows})
        elif nan_policy == "level":
            columns = [column.with_missing_level() for column in columns]
        sampling = Sampling.of(rows, stretch, within)
        counted, sampling = rows_that_count({"data": columns}, sampling)
        columns = [*counted["data"]]
        there = ~np.any([np.zeros(len(columns[0].values), bool), *sampling.missing], axis=0)
        if there.sum() < MIN_SAMPLES:
            raise ValueError(f"data: at least {MIN_SAMPLES} samples are needed, got {there.sum()}.")
        self._n_omitted = int((~there).sum())
        self._sampling = sampling.rows(there).complete()
        self._shared = in_given_stretches(self._sampling)  # by tests of columns without gaps
        # Copies, so that what is kept stays true when the caller writes into the data.
        own = [dataclasses.replace(column, values=column.values[there]) for column in columns]
        self._columns = [c if c.has_gaps else c.rows(slice(None)) for c in own]
        self._constant = [_is_constant(column) for column in own]
        self._names = list(raw)
        self._seed = int(as_generator(0 if rng is None else rng).integers(2**62))
        n_resamples = as_resamples(n_resamples)
        self._settings = Settings(n_resamples=n_resamples)
        self._cache: Cache[object] = Cache(CACHE_BYTES, weigh=nbytes_of)
        self._answers: Cache[Answer] = Cache(MOST_ANSWERS)

    def __repr__(self) -> str:
        shown = ", ".join(readable(name) for name in self._names[:8])
        more = f", ... ({len(self._names)} columns)" if len(self._names) > 8 else ""
        copies, of_rows = self._shared.copies, self._shared.facts
        n = len(self._columns[0].values) if copies is None else int(copies.sum())
        if of_rows["n_effective"] is not None:
            of_rows["n_effective"] = round(of_rows["n_effective"], 1)
        told = "".join(f", {name}={value!r}" for name, value in of_rows.items() if value)
        return f"Discovery(n_samples={n}{told}, columns: {shown}{more})"

    def __deepcopy__(self, memo: object) -> Discovery:
        return self  # nothing that can be seen of it ever changes, and copies would share no work

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self._names)

    def answer(self, x: Which, y: Which, z: Which = ()) -> Answer:
        """Test whether x and y are independent given z.

        Parameters
        ----------
        x, y, z : int, str or sequence of those
            Columns by position or name; z may be empty.

        Returns
        -------
        Answer
            Statistic, p-value and coefficient. A constant column is independent of all others, with
            a p-value of 1, and tells nothing as a confounder.
        """
        of_x, of_y, of_z = self._places("x", x), self._places("y", y), self._places("z", z)
        of_x, of_y = sorted((of_x, of_y))
        return self._answers.get((of_x, of_y, of_z), lambda: self._answer(of_x, of_y, of_z))

    def _answer(self, x: Places, y: Places, z: Places) -> Answer:
        constant = self._constant_among(x, y, z)
        if {*x} <= constant or {*y} <= constant:
            return NOTHING_TO_DEPEND_ON
        result = self.result(x, y, z)
        return Answer(result.statistic, result.pvalue, result.coefficient, result.warnings)

    @blas_on_one_thread()
    def result(self, x: Which, y: Which, z: Which = ()) -> IndependenceResult:
        """Return the whole result of a test; constant columns are left out.

        Parameters
        ----------
        x, y, z : int, str or sequence of those
            Columns by position or name; z may be empty.

        Returns
        -------
        IndependenceResult
        """
        asked = self._places("x", x), self._places("y", y), self._places("z", z)
        self._require_apart(*asked)
        constant = self._constant_among(*asked)
        of_x, of_y, of_z = (tuple(k for k in of if k not in constant) for of in asked)
        columns = [[self._columns[k] for k in places] for places in (of_x, of_y, of_z)]
        rng = self._rng(min(of_x, of_y), max(of_x, of_y), of_z)
        for argument, of in zip("xyz", columns, strict=True):
            if argument != "z" or of:
                _require(argument, of)
        alone = self._shared.time is not None  # stretches are those of x and y
        if alone or any(column.has_gaps for of in columns for column in of):
            samples = complete_samples(
                Samples(columns[0], columns[1], columns[2], self._n_omitted, self._sampling)
            )
            settings = Settings(n_resamples=self._settings.n_resamples)
            return run_test(samples, settings, rng)
        given = self._cached(Given, of_z, lambda: self._given(of_z))
        variables = [self._variable(places, of_z, given) for places in (of_x, of_y)]
        learned = [one.learned for one in variables if one.learned is not None]
        closely = compares_closely(learned)
        arrangement = self._arrangement(of_z, given, learned, closely)
        first, second = (
            self._planned((places, of_z, closely), given, one, arrangement)
            for places, one in zip((of_x, of_y), variables, strict=True)
        )
        u, v, w = (given.samples(of) for of in columns)
        sampling = self._shared if given.rows is None else self._shared.rows(given.rows)
        samples = Samples(u, v, w, self._n_omitted, sampling)
        return compare(arrangement, self._settings, first, second, samples, rng)

    def _cached(self, kind: type[_Kind], key: Hashable, make: Callable[[], _Kind]) -> _Kind:
        made = self._cache.get((kind, key), make)
        assert isinstance(made, kind)
        return made

    def _given(self, z: Places) -> Given:
        columns = [self._columns[k] for k in z]
        return Given.of(columns, self._settings, sampling=self._shared)

    def _arrangement(
        self, z: Places, given: Given, learned: list[Learned], closely: bool
    ) -> Arrangement:
        """Choose pairs and units: in the metric of two variables, or the same for all."""
        n = self._n_samples(given)
        if given.has_metric:
            return arrange(given, n, learned)
        return self._cached(
            Arrangement, (z, closely), lambda: arrange(given, n, [], closely=closely)
        )

    def _variable(self, places: Places, z: Places, given: Given) -> _Variable:
        """Learn how a variable depends on a conditioning set."""

        def make() -> _Variable:
            columns = given.samples([self._columns[k] for k in places])
            name = ", ".join(column.name for column in columns)
            scaled = given.variable(name, columns)
            learned = None if given.learner is None else given.learner.learn(scaled.clipped)
            return _Variable(name, columns, scaled, learned)

        return self._cached(_Variable, (places, z), make)

    def _planned(
        self, key: Hashable, given: Given, one: _Variable, arrangement: Arrangement
    ) -> PlannedVariable:
        """Plan a variable, for all comparisons if pairs are the same for all."""
        graph = None if given.has_metric else arrangement.graph

        def make() -> PlannedVariable:
            if one.learned is None:
                [adjustment] = arrangement.adjustments
            else:
                adjustment = ridge_adjustment(given, one.learned)
            planned = plan_variable(
                one.name, one.scaled, one.columns, adjustment, graph, given.z_names,
                interactions=given.has_interactions, weights=arrangement.weights,
            )  # fmt: skip
            return planned if graph is None else remember(planned, arrangement)

        return self._cached(PlannedVariable, key, make)

    def _n_samples(self, given: Given) -> int:
        return len(self._columns[0].values if given.rows is None else given.rows)

    def _places(self, argument: str, which: Which) -> Places:
        """Return positions of columns, sorted."""
        if isinstance(which, int | str | np.integer):
            several: list[int | str] = [which]
        elif isinstance(which, Iterable):
            several = list(which)
        else:
            raise TypeError(
                f"{argument}: expected the position or name of a column, or several, got {which!r}."
            )
        if not several and argument != "z":
            raise ValueError(f"{argument}: no column was named; name at least one.")
        places = []
        for one in several:
            if isinstance(one, str):
                if one not in self._names:
                    hint = did_you_mean(one, self._names)
                    raise ValueError(f"{argument}: there is no column {one!r}; {hint}")
                places.append(self._names.index(one))
            else:
                place = as_count(argument, one, minimum=0)
                if place >= len(self._names):
                    raise ValueError(
                        f"{argument}: there is no column {place}; they are counted from 0 to "
                        f"{len(self._names) - 1}."
                    )
                places.append(place)
        return tuple(sorted(set(places)))

    def _constant_among(self, *asked: Places) -> set[int]:
        """Return which of some columns are constant in the rows that have a value in all of them.

        What is constant everywhere needs no value: its gaps leave out nothing.
        """
        every = [place for places in asked for place in places]
        constant = {place for place in every if self._constant[place]}
        varying = [place for place in every if place not in constant]
        gaps = [self._columns[k].missing for k in varying if self._columns[k].has_gaps]
        if gaps:
            there = ~np.logical_or.reduce(gaps)
            if np.count_nonzero(there) >= MIN_SAMPLES:  # fewer are refused by the test itself
                constant |= {k for k in varying if _all_equal(self._columns[k].values[there])}
        return constant

    def _require_apart(self, x: Places, y: Places, z: Places) -> None:
        for place in {*x} & {*y} | {*x} & {*z} | {*y} & {*z}:
            raise ValueError(
                f"x, y and z: column {self._names[place]!r} is in two of them; a column can be in "
                "one only."
            )

    def _rng(self, x: Places, y: Places, z: Places) -> np.random.Generator:
        named = [[self._names[k] for k in places] for places in (x, y, z)]
        digest = hashlib.sha256(repr(named).encode()).digest()
        return np.random.default_rng([self._seed, *digest])


def _is_constant(column: Column) -> bool:
    values = column.values[~column.missing]
    return len(values) == 0 or _all_equal(values)


def _all_equal(values: Array) -> bool:
    return bool(np.all(values == values[0]))


def _require(argument: str, columns: Sequence[Column]) -> None:
    if not columns:
        raise ValueError(f"{argument}: all columns are constant, and depend on nothing.")
    complete = [column for column in columns if not column.has_gaps]
    if complete:
        require_usable(argument, complete, math.inf if argument == "z" else MOST_LEVELS)
