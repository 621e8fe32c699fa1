"""How rows were sampled, beside what was measured: groups of rows that may depend on each other.

And times, as rows may depend on each other the less the longer ago.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chsic._util.validate import Array, Index, as_positive
from chsic.data.arguments import Columns, Data, column_names, cut_into_columns
from chsic.data.column import read_column

ARGUMENTS = ("groups", "time")  # of a test that tell about rows
ROWS = "rows"  # the time that is the order of rows


class Stretches(NamedTuple):
    """Stretches of time whose rows depend on each other.

    Attributes
    ----------
    length : float
        How long they are, in the unit of the times; 0 if rows are independent.
    is_cut : bool
        Whether rows seem to depend on each other for longer than there are data for.
    unit : str
        ``"days"`` if times were dates; empty if they were numbers.
    """

    length: float
    is_cut: bool
    unit: str = ""


@dataclasses.dataclass(frozen=True, eq=False)
class Sampling:
    """What is known of rows beside x, y and z.

    Attributes
    ----------
    groups : array or None
        Label of the group of each row, NaN where it is missing; numbers from 0 on once rows are
        complete. Rows of one group may depend on each other. None if all rows are independent.
    time : array or None
        When each row was observed, as long as it is not known for how long rows depend on each
        other; groups are series until then.
    unit : str
        Of the time, as in `Stretches`.
    stretch : float or None
        For how long, if the user says so.
    stretches : Stretches or None
        What followed from times.
    within : bool
        Whether rows are compared with those of their group alone.
    """

    groups: NDArray[Any] | None = None
    time: Array | None = None
    unit: str = ""
    stretch: float | None = None
    stretches: Stretches | None = None
    within: bool = False

    @classmethod
    def of(
        cls, read: Mapping[str, Columns], stretch: float | str = "auto", within: bool = False
    ) -> Sampling:
        """Take what was read of ``"groups"`` and ``"time"``, if they were given: a column each."""
        is_auto = isinstance(stretch, str) and stretch == "auto"
        length = None if is_auto else as_positive("stretch", stretch)
        if not isinstance(within, bool):
            raise TypeError(f"within: expected True or False, got {within!r}.")
        columns = {argument: read[argument] for argument in ARGUMENTS if read.get(argument)}
        for argument, of in columns.items():
            if len(of) > 1:
                raise ValueError(
                    f"{argument}: got {len(of)} columns; one is needed, such as that of the "
                    + ("patients." if argument == "groups" else "dates.")
                )
        if "time" not in columns and length is not None:
            raise ValueError("stretch: is a length of time; give time as well.")
        if "time" in columns and columns["time"][0].kind != "number":
            raise TypeError(
                f"time: {columns['time'][0].name!r} has text; dates or numbers are needed, such as "
                "2024-01-31 in a file or those of pandas.to_datetime, or "
                f"{ROWS!r} for the order of rows."
            )
        groups, time = (columns[of][0].values if of in columns else None for of in ARGUMENTS)
        if within and groups is None:
            raise ValueError("within: rows are compared inside their group; give groups as well.")
        if within and time is not None:
            raise ValueError(
                "within: rows of a group may depend on each other in any way, also in time; leave "
                "time out."
            )
        in_days = "time" in columns and columns["time"][0].is_date
        return cls(groups, time, "days" if in_days else "", length, within=within)

    @property
    def parts(self) -> dict[str, NDArray[Any]]:
        """What is given, by argument."""
        parts = {argument: getattr(self, argument) for argument in ARGUMENTS}
        return {argument: values for argument, values in parts.items() if values is not None}

    @property
    def fingerprinted(self) -> list[Any]:
        """What sets it apart from another one of the same rows; nothing if rows are independent."""
        settings = {"stretch": self.stretch, "within": self.within or None}
        given = {name: value for name, value in settings.items() if value is not None}
        return [*itertools.chain.from_iterable((self.parts | given).items())]

    @property
    def missing(self) -> list[NDArray[np.bool_]]:
        """Which rows have no value, for each part with such rows."""
        masks = [np.isnan(values) for values in self.parts.values()]
        return [mask for mask in masks if mask.any()]

    def rows(self, rows: Index | NDArray[np.bool_]) -> Sampling:
        """Return some rows, none of them missing, and number their groups."""
        groups = None if self.groups is None else numbered(self.groups[rows])
        time = None if self.time is None else self.time[rows]
        return dataclasses.replace(self, groups=groups, time=time)

    def complete(self, which: str = "") -> Sampling:
        """Return groups as numbers, none of which may be missing, or raise if there is only one.

        Examples
        --------
        >>> import numpy as np
        >>> from chsic.data.sampling import Sampling
        >>> Sampling(np.array([7.0, 3.0, 7.0])).complete().groups
        array([0, 1, 0])
        >>> Sampling(np.array([7.0, 3.0, 5.0])).complete().groups is None
        True
        """
        if self.groups is None:
            return self
        numbers = numbered(self.groups)
        n_groups = int(numbers.max()) + 1
        if n_groups == 1 and self.time is None:
            if self.stretches is not None:
                raise ValueError(
                    f"stretch: {self.stretches.length:g} is as long as all of the time; a tenth of "
                    "it at most tells how much stretches vary."
                )
            raise ValueError(
                f"groups: all rows {which}are of one group, so that nothing tells how much they "
                "vary; leave groups out if rows are independent."
            )
        alone = n_groups == len(numbers) and self.time is None
        if alone and self.within:
            raise ValueError(
                f"groups: every row {which}is of a group of its own, so that there is nothing to "
                "compare it with; leave within out."
            )
        return dataclasses.replace(self, groups=None if alone else numbers)

    @property
    def n_groups(self) -> int | None:
        """Number of groups; None if rows are independent."""
        return None if self.groups is None else len(np.unique(self.groups))

    @property
    def facts(self) -> dict[str, Any]:
        """What a result tells of it: attributes of `chsic.data.grouped.Grouped`."""
        stretches = self.stretches
        return {
            "n_groups": None if self.time is not None else self.n_groups,
            "stretch": "auto" if self.time is not None else stretches and stretches.length,
            "stretch_unit": self.unit if stretches is None else stretches.unit,
            "within": self.within,
        }


INDEPENDENT = Sampling()


def sampling_arguments(
    argument: str,
    raw: Mapping[str, Any] | None,
    *,
    groups: Data,
    time: Data = None,
    n: Callable[[], int] | None = None,
) -> dict[str, Data]:
    """Return what was given for groups and time: values as they are, or the column that is named.

    Parameters
    ----------
    raw : mapping or None
        Columns of the data by name; None if no data were given.
    groups : array_like, or name of a column of the data; None if rows are independent
    time : array_like, or name of a column of the data, or "rows"; None if it does not matter
    n : callable, optional
        Tells the number of rows, if there are no data.

    Returns
    -------
    dict
        What was given, by ``"groups"`` and ``"time"``.

    Examples
    --------
    >>> from chsic.data.sampling import sampling_arguments
    >>> sampling_arguments("data", {"dose": [1, 2], "patient": [7, 7]}, groups="patient")
    {'groups': {'patient': [7, 7]}}
    >>> sampling_arguments("data", {"dose": [1, 2]}, groups=None, time="rows")
    {'time': {'rows': array([0., 1.])}}
    """
    given: dict[str, Data] = {}
    for name, values in (("groups", groups), ("time", time)):
        if values is None:
            continue
        if name == "time" and is_order_of_rows(values, raw or ()):
            number = len(next(iter(raw.values()))) if raw else n() if n else 0
            given[name] = {ROWS: np.arange(float(number))}
        elif not is_name(values):
            given[name] = values
        elif raw is None:
            raise TypeError(
                f"{name}: got the name {values!r}; give the data frame as well, as {argument}=df."
            )
        else:
            given[name] = {own: raw[own] for own in column_names(name, values, raw)}
    return given


def is_order_of_rows(time: Data, names: Collection[str]) -> bool:
    """Whether the time is the order of rows, and not a column of that name."""
    return isinstance(time, str) and time == ROWS and ROWS not in names


def read_about_rows(about_rows: Mapping[str, Data], kinds: Mapping[str, str]) -> dict[str, Columns]:
    """Read what `sampling_arguments` returned; groups are labels, whatever their type is.

    Large integers, which numbers of 64 bits would merge, stay apart.

    Examples
    --------
    >>> from chsic.data.sampling import read_about_rows
    >>> [column] = read_about_rows({"groups": [2**60, 2**60 + 1]}, {})["groups"]
    >>> column.values
    array([0., 1.])
    """
    return {
        argument: [
            read_column(name, raw, "category" if argument == "groups" else kinds.get(name))
            for name, raw in cut_into_columns(argument, values)
        ]
        for argument, values in about_rows.items()
    }


def is_name(values: Data) -> bool:
    """Whether a column of the data is named, by text or by its number in an array."""
    return isinstance(values, str | int | np.integer)


def require_labels(groups: Data, time: Data = None) -> None:
    """Raise if a column is named where all columns count, by their positions.

    Examples
    --------
    >>> from chsic.data.sampling import require_labels
    >>> require_labels([7, 7, 3])
    >>> require_labels("patient")
    Traceback (most recent call last):
    TypeError: groups: got the name 'patient', but all columns are variables here; ...
    """
    if is_name(groups):
        raise TypeError(
            f"groups: got the name {groups!r}, but all columns are variables here; give a label "
            "for each row, such as df['patient']."
        )
    if is_name(time) and not is_order_of_rows(time, ()):
        raise TypeError(
            f"time: got the name {time!r}, but all columns are variables here; give a value for "
            f"each row, such as df['day'], or {ROWS!r} for their order."
        )


def numbered(labels: NDArray[Any]) -> Index:
    """Replace labels by numbers from 0 on, as they appear: whatever groups are called.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.data.sampling import numbered
    >>> numbered(np.array([7.0, 3.0, 7.0]))
    array([0, 1, 0])
    """
    _, first, sorted_numbers = np.unique(labels, return_index=True, return_inverse=True)
    numbers = np.empty(len(first), np.intp)
    numbers[np.argsort(first)] = np.arange(len(first))
    return numbers[sorted_numbers]
