"""How rows were sampled, beside what was measured: groups of rows that may depend on each other.

And times, as rows may depend on each other the less the longer ago; and weights, as a row may stand
for many others of a population, and another for few.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chsic._util.arrays import numbered
from chsic._util.validate import Array, Index, as_positive
from chsic.data.arguments import Columns, Data, column_names, cut_into_columns
from chsic.data.column import read_column
from chsic.data.weights import effective_number, relative, require_weights

ARGUMENTS = ("groups", "time", "weights")  # of a test that tell about rows
EXAMPLES = {"groups": "patients", "time": "dates", "weights": "survey weights"}
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
    weights : array or None
        What each row weighs, NaN where it is missing; 1 on average once rows are complete. None if
        all rows weigh the same.
    copies : array of int or None
        How many rows of the data each row stands for, if equal rows of a group were merged.
    """

    groups: NDArray[Any] | None = None
    time: Array | None = None
    unit: str = ""
    stretch: float | None = None
    stretches: Stretches | None = None
    within: bool = False
    weights: Array | None = None
    copies: Index | None = None

    @classmethod
    def of(
        cls, read: Mapping[str, Columns], stretch: float | str = "auto", within: bool = False
    ) -> Sampling:
        """Take what was read of `ARGUMENTS`, if they were given: a column each."""
        is_auto = isinstance(stretch, str) and stretch == "auto"
        length = None if is_auto else as_positive("stretch", stretch)
        if not isinstance(within, bool):
            raise TypeError(f"within: expected True or False, got {within!r}.")
        columns = {argument: read[argument] for argument in ARGUMENTS if read.get(argument)}
        for argument, of in columns.items():
            if len(of) > 1:
                raise ValueError(
                    f"{argument}: got {len(of)} columns; one is needed, such as that of the "
                    f"{EXAMPLES[argument]}."
                )
        if "time" not in columns and length is not None:
            raise ValueError("stretch: is a length of time; give time as well.")
        if "time" in columns and columns["time"][0].kind != "number":
            raise TypeError(
                f"time: {columns['time'][0].name!r} has text; dates or numbers are needed, such as "
                "2024-01-31 in a file or those of pandas.to_datetime, or "
                f"{ROWS!r} for the order of rows."
            )
        if "weights" in columns:
            require_weights(columns["weights"][0])
        groups, time, weights = (
            columns[of][0].values if of in columns else None for of in ARGUMENTS
        )
        if within and groups is None:
            raise ValueError("within: rows are compared inside their group; give groups as well.")
        if within and time is not None:
            raise ValueError(
                "within: rows of a group may depend on each other in any way, also in time; leave "
                "time out."
            )
        in_days = "time" in columns and columns["time"][0].is_date
        unit = "days" if in_days else ""
        return cls(groups, time, unit, length, within=within, weights=weights)

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

    @property
    def weightless(self) -> NDArray[np.bool_] | None:
        """Which rows have a weight of zero, and say nothing; None if no row has."""
        if self.weights is None:
            return None
        weightless: NDArray[np.bool_] = self.weights == 0
        return weightless if weightless.any() else None

    def rows(self, rows: Index | NDArray[np.bool_]) -> Sampling:
        """Return some rows, none of them missing, and number their groups."""
        some = self.some(rows)
        groups = None if some.groups is None else numbered(some.groups)
        return dataclasses.replace(some, groups=groups)

    def some(self, rows: Index | NDArray[np.bool_]) -> Sampling:
        """Return some rows as they are."""
        of_rows = (*ARGUMENTS, "copies")
        values = {name: getattr(self, name) for name in of_rows}
        known = {name: of[rows] for name, of in values.items() if of is not None}
        return dataclasses.replace(self, **known)

    def complete(self, which: str = "") -> Sampling:
        """Return groups as numbers, none of which may be missing, or raise if there is only one.

        Weights become 1 on average, and are no more if they are all equal.

        Examples
        --------
        >>> import numpy as np
        >>> from chsic.data.sampling import Sampling
        >>> Sampling(np.array([7.0, 3.0, 7.0])).complete().groups
        array([0, 1, 0])
        >>> Sampling(np.array([7.0, 3.0, 5.0])).complete().groups is None
        True
        >>> Sampling(weights=np.array([3.0, 3.0, 6.0])).complete().weights
        array([0.75, 0.75, 1.5 ])
        """
        if self.weights is not None:
            self = dataclasses.replace(self, weights=relative(self.weights))
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
        """Number of groups, one for each row that has copies; None if rows are independent."""
        if self.groups is None:
            return None if self.copies is None else len(self.copies)
        return len(np.unique(self.groups))

    @property
    def facts(self) -> dict[str, Any]:
        """What a result tells of it: attributes of `chsic.data.grouped.Grouped`."""
        stretches = self.stretches
        return {
            "n_groups": None if self.time is not None else self.n_groups,
            "n_effective": self.n_effective,
            "stretch": "auto" if self.time is not None else stretches and stretches.length,
            "stretch_unit": self.unit if stretches is None else stretches.unit,
            "within": self.within,
        }

    @property
    def n_effective(self) -> float | None:
        """As many rows of equal weight say as much about a mean; None if the user gave no weights.

        Copies of a row weigh as much as there are, which is no weight of the user.
        """
        weights, copies = self.weights, self.copies
        if weights is None or (weights := relative(weights)) is None:
            return None
        if copies is not None and np.allclose(weights, copies / copies.mean(), rtol=1e-12):
            return None
        return effective_number(weights)


INDEPENDENT = Sampling()


def sampling_arguments(
    argument: str,
    raw: Mapping[str, Any] | None,
    *,
    groups: Data,
    time: Data = None,
    weights: Data = None,
    n: Callable[[], int] | None = None,
) -> dict[str, Data]:
    """Return what was given about rows: values as they are, or the column that is named.

    Parameters
    ----------
    raw : mapping or None
        Columns of the data by name; None if no data were given.
    groups : array_like, or name of a column of the data; None if rows are independent
    time : array_like, or name of a column of the data, or "rows"; None if it does not matter
    weights : array_like, or name of a column of the data; None if all rows weigh the same
    n : callable, optional
        Tells the number of rows, if there are no data.

    Returns
    -------
    dict
        What was given, by argument.

    Examples
    --------
    >>> from chsic.data.sampling import sampling_arguments
    >>> sampling_arguments("data", {"dose": [1, 2], "patient": [7, 7]}, groups="patient")
    {'groups': {'patient': [7, 7]}}
    >>> sampling_arguments("data", {"dose": [1, 2]}, groups=None, time="rows")
    {'time': {'rows': array([0., 1.])}}
    """
    given: dict[str, Data] = {}
    for name, values in zip(ARGUMENTS, (groups, time, weights), strict=True):
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


def require_labels(groups: Data, time: Data = None, weights: Data = None) -> None:
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
    if is_name(weights):
        raise TypeError(
            f"weights: got the name {weights!r}, but all columns are variables here; give a weight "
            "for each row, such as df['weight']."
        )
