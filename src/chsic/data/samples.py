"""The samples of a test: x, y and perhaps z, of the same length and with nothing missing."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from chsic._util.errors import input_error, nan_policy_setting
from chsic._util.names import did_you_mean
from chsic._util.validate import MIN_SAMPLES, Index, require_same_length
from chsic.data.arguments import (
    MOST_LEVELS,
    Columns,
    Data,
    called,
    column_names,
    cut_into_columns,
    named_columns,
    require_usable,
)
from chsic.data.column import read_column
from chsic.data.sampling import (
    ARGUMENTS,
    INDEPENDENT,
    Sampling,
    read_about_rows,
    sampling_arguments,
)
from chsic.data.weights import copies_in_groups

NAN_POLICIES = ("raise", "omit", "level")
MOST_NAMED = 10  # columns in a message


@dataclasses.dataclass(frozen=True, eq=False)
class Samples:
    """Columns of each argument, row l of all of them from the same observation.

    Attributes
    ----------
    x, y : sequence of Column
        What is compared.
    z : sequence of Column
        The confounders, maybe none.
    n_omitted : int
        Rows that were left out because a value was missing.
    sampling : Sampling
        What is known of rows beside that: groups of rows that may depend on each other.
    """

    x: Columns
    y: Columns
    z: Columns
    n_omitted: int = 0
    sampling: Sampling = INDEPENDENT

    def __len__(self) -> int:
        return len(self.x[0].values)

    def rows(self, rows: Index) -> Samples:
        """Return some of the samples; levels of categories that none of them has are forgotten."""
        x, y, z = ([column.rows(rows) for column in of] for of in (self.x, self.y, self.z))
        return Samples(x, y, z, self.n_omitted, self.sampling.rows(rows))

    @property
    def n_rows(self) -> int:
        """Number of rows as they were given: samples, and copies that were merged with them."""
        copies = self.sampling.copies
        return len(self) if copies is None else int(copies.sum())

    @property
    def n_groups(self) -> int | None:
        """Number of groups; None if rows are independent."""
        return self.sampling.n_groups

    @property
    def n_effective(self) -> float | None:
        """As many rows of equal weight say as much; None if all rows weigh the same."""
        return self.sampling.n_effective

    @property
    def kinds(self) -> dict[str, str]:
        """Of each column, by its name: ``"number"``, ``"date"`` or ``"category"``."""
        return {column.name: column.described for column in (*self.x, *self.y, *self.z)}


def read_samples(
    x: Data,
    y: Data,
    z: Data,
    *,
    data: Data = None,
    nan_policy: str = "raise",
    kinds: Mapping[str, str] | None = None,
    any_levels: Collection[str] = (),
    groups: Data = None,
    time: Data = None,
    stretch: float | str = "auto",
    within: bool = False,
    weights: Data = None,
) -> Samples:
    """Read the samples of a test.

    Parameters
    ----------
    x, y, z : array_like, series or data frame
        z may be None.
    data : data frame or mapping, optional
        If it is given, x, y and z are names of its columns.
    nan_policy : {"raise", "omit", "level"}
        What becomes of rows with a missing value: an error; they are left out; or missing is a
        level of a category of its own, and only rows with a missing number are left out.
    kinds : mapping, optional
        ``"number"`` or ``"category"`` for names of columns, or for "x", "y" and "z".
    any_levels : collection of str
        Those of "x" and "y" whose categories may be as many as there are rows.
    groups : array_like or name of a column of `data`, optional
        Which group each row belongs to.
    time : array_like or name of a column of `data`, optional
        When each row was observed; ``"rows"`` for their order.
    stretch : float or "auto"
        For how long rows depend on each other.
    within : bool
        Whether rows are compared with those of their group alone.
    weights : array_like or name of a column of `data`, optional
        How many rows of the population each row stands for.

    Returns
    -------
    Samples

    Examples
    --------
    >>> from chsic.data.samples import read_samples
    >>> samples = read_samples([1, 2, 3, 4, None], [3, 1, 4, 1, 5], None, nan_policy="omit")
    >>> len(samples), samples.n_omitted
    (4, 1)
    """
    require_nan_policy(nan_policy)
    given = arguments(x, y, z, data, groups=groups, time=time, weights=weights)
    read = read_arguments(given, kinds)
    return clean_samples(read, nan_policy, any_levels, stretch, within)


def clean_samples(
    read: Mapping[str, Columns],
    nan_policy: str,
    any_levels: Collection[str] = (),
    stretch: float | str = "auto",
    within: bool = False,
) -> Samples:
    """Return the rows that can be used of the columns of x, y and perhaps z."""
    require_same_length(**{argument: of[0].values for argument, of in read.items()})
    if nan_policy == "level":
        read = {
            argument: of if argument in ARGUMENTS else [one.with_missing_level() for one in of]
            for argument, of in read.items()
        }
    if nan_policy == "raise":
        require_complete(read)
    sampling = Sampling.of(read, stretch, within)
    samples = Samples(read["x"], read["y"], read.get("z", []), sampling=sampling)
    return complete_samples(samples, any_levels)


def arguments(
    x: Data,
    y: Data,
    z: Data,
    data: Data = None,
    *,
    groups: Data = None,
    time: Data = None,
    weights: Data = None,
) -> dict[str, Data]:
    """Return what was given for x, y, z and about rows; with `data`, the columns that are named.

    Examples
    --------
    >>> from chsic.data.samples import arguments
    >>> arguments("a", "b", None, {"a": [1, 2], "b": [3, 4]})["y"]
    {'b': array([3, 4])}
    """
    given = {"x": x, "y": y} if z is None else {"x": x, "y": y, "z": z}
    if data is None:
        for argument, values in given.items():
            if isinstance(values, str):
                raise TypeError(
                    f"{argument}: got the name {values!r}; give the data frame as well, as data=df."
                )

        def n() -> int:
            return len(cut_into_columns("x", x)[0][1])

        about_rows = sampling_arguments(
            "data", None, groups=groups, time=time, weights=weights, n=n
        )
        return given | about_rows
    raw = named_columns("data", data)
    names = {argument: column_names(argument, value, raw) for argument, value in given.items()}
    for argument in ("x", "y"):
        if not names[argument]:
            raise ValueError(f"{argument}: no column was named; name at least one.")
    named = {argument: {name: raw[name] for name in of} for argument, of in names.items() if of}
    return named | sampling_arguments("data", raw, groups=groups, time=time, weights=weights)


def complete_samples(samples: Samples, any_levels: Collection[str] = ()) -> Samples:
    """Return the rows in which no value is missing, if they can be used; groups are numbered.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.data.column import Column
    >>> from chsic.data.samples import Samples, complete_samples
    >>> x = Column("x", "number", np.array([1.0, 2.0, np.nan, 3.0, 4.0]))
    >>> y = Column("y", "number", np.array([3.0, 1.0, 4.0, 1.0, 5.0]))
    >>> complete_samples(Samples([x], [y], [])).n_omitted
    1
    """
    read = {"x": samples.x, "y": samples.y}
    read |= {"z": samples.z} if samples.z else {}
    sampling = samples.sampling
    gaps = [column.missing for of in read.values() for column in of if column.has_gaps]
    gaps += sampling.missing
    missing = np.any(gaps, axis=0) if gaps else np.zeros(0, bool)
    if gaps:
        if (~missing).sum() < MIN_SAMPLES:
            every = ", ".join([*read, *sampling.parts])
            raise ValueError(
                f"{every}: {(~missing).sum()} of {len(missing)} rows have no missing value, at "
                f"least {MIN_SAMPLES} are needed."
            )
        read = {a: [column.rows(~missing) for column in of] for a, of in read.items()}
        sampling = sampling.rows(~missing)
    read, sampling = rows_that_count(read, sampling)
    sampling = sampling.complete()
    for argument, columns in read.items():
        # Categories of z are compared, and need no column each.
        require_usable(
            argument, columns, math.inf if argument in ("z", *any_levels) else MOST_LEVELS
        )
    n_omitted = samples.n_omitted + int(missing.sum())
    return Samples(read["x"], read["y"], read.get("z", []), n_omitted, sampling)


def rows_that_count(
    read: Mapping[str, Columns], sampling: Sampling
) -> tuple[dict[str, Columns], Sampling]:
    """Return rows of a weight above zero, those merged that are equal in one group.

    Weights of merged rows add up: a row of weight 3 and three copies of it in one group are the
    same then. Rows that are equal without being of one group are independent, and stay apart.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.data.column import Column
    >>> from chsic.data.samples import rows_that_count
    >>> from chsic.data.sampling import Sampling
    >>> x = Column("x", "number", np.array([1.0, 2.0, 1.0, 3.0, 4.0]))
    >>> known = Sampling(np.array([0, 1, 0, 2, 3]), weights=np.array([1.0, 1.0, 2.0, 1.0, 0.5]))
    >>> read, merged = rows_that_count({"x": [x]}, known)
    >>> read["x"][0].values, merged.weights
    (array([1., 2., 3., 4.]), array([3. , 1. , 1. , 0.5]))
    """
    read, weightless = dict(read), sampling.weightless
    if weightless is not None:
        if (~weightless).sum() < MIN_SAMPLES:
            raise ValueError(
                f"weights: {(~weightless).sum()} of {len(weightless)} rows have a weight above 0, "
                f"at least {MIN_SAMPLES} are needed."
            )
        read, sampling = _rows_of(read, ~weightless), sampling.some(~weightless)
    if sampling.groups is None or sampling.time is not None or sampling.stretches is not None:
        return read, sampling
    values = [column.values for of in read.values() for column in of]
    if sampling.weights is not None:  # what is missing differs from all there is
        values.append(np.where(np.isnan(sampling.weights), np.nan, 0.0))
    merged = copies_in_groups(values, sampling.groups)
    if merged is None or len(merged[0]) < MIN_SAMPLES:
        return read, sampling
    if sampling.within and copies_in_groups([of[merged[0]] for of in values]) is not None:
        return read, sampling  # few values, of which a group has the same ones more than once
    first, numbers = merged
    weights = np.bincount(numbers, sampling.weights).astype(np.float64)
    copies = np.bincount(numbers, sampling.copies).astype(np.intp)
    sampling = dataclasses.replace(sampling.some(first), weights=weights, copies=copies)
    return _rows_of(read, first), sampling


def _rows_of(read: Mapping[str, Columns], rows: Index | NDArray[np.bool_]) -> dict[str, Columns]:
    return {
        argument: [
            dataclasses.replace(column, values=column.values[rows])
            if column.has_gaps
            else column.rows(rows)
            for column in of
        ]
        for argument, of in read.items()
    }


def read_arguments(
    given: Mapping[str, Data], kinds: Mapping[str, str] | None
) -> dict[str, Columns]:
    """Read the columns of all arguments.

    `kinds` are for names of columns, or for arguments that are not names of columns as well.
    """
    cut = {argument: cut_into_columns(argument, values) for argument, values in given.items()}
    names = {name for columns in cut.values() for name, _ in columns}
    kind_of = as_kinds(kinds, [*given, *sorted(names - given.keys())])
    read = {
        argument: [
            read_column(
                name, raw, kind_of.get(name, None if argument in names else kind_of.get(argument))
            )
            for name, raw in columns
        ]
        for argument, columns in cut.items()
        if argument not in ARGUMENTS
    }
    return read | read_about_rows({of: given[of] for of in ARGUMENTS if of in given}, kind_of)


def as_kinds(kinds: Mapping[str, str] | None, known: Sequence[str]) -> Mapping[str, str]:
    """Return a mapping from names that are known to kinds, or say that one is needed."""
    if kinds is None:
        return {}
    if not isinstance(kinds, Mapping):
        raise TypeError(f"kinds: expected a mapping such as {{'ward': 'category'}}, got {kinds!r}.")
    for name in kinds:
        if name not in known:
            hint = did_you_mean(name, known)
            raise ValueError(f"kinds: there is no column {name!r}; {hint}")
    return kinds


def require_nan_policy(nan_policy: str) -> None:
    """Raise unless it is one of those there are."""
    if nan_policy not in NAN_POLICIES:
        known = ", ".join(map(repr, NAN_POLICIES))
        raise ValueError(f"nan_policy: unknown choice {nan_policy!r}; known are {known}.")


def require_complete(read: Mapping[str, Columns]) -> None:
    """Raise if a value is missing, with the number of rows in each column."""
    counts = {
        called(argument, column): int(column.missing.sum())
        for argument, columns in read.items()
        for column in columns
        if column.has_gaps
    }
    if counts:
        n = len(next(iter(read.values()))[0].values)
        named = [f"{which}: {count} of {n}" for which, count in counts.items()]
        if len(named) > MOST_NAMED:
            named[MOST_NAMED:] = [f"and in {len(named) - MOST_NAMED} more columns,"]
        described = "; ".join(named)
        about_rows = {of.name for a in ARGUMENTS for of in read.get(a, []) if of.has_gaps}
        if len(about_rows) == len(counts):  # a row of no group is no level of anything
            raise input_error(
                ValueError,
                f"{described} samples are missing",
                "use {} to leave those rows out, or say what is missing.",
                nan_policy_setting("omit"),
            )
        raise input_error(
            ValueError,
            f"{described} samples are missing",
            "use {} to leave those rows out, {} to make missing a level of a category, or impute "
            "them.",
            nan_policy_setting("omit"),
            nan_policy_setting("level"),
        )
