"""How rows were sampled, beside what was measured: groups of rows that may depend on each other."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chsic._util.validate import Index
from chsic.data.arguments import Columns, Data, column_names

ARGUMENTS = ("groups",)  # of a test that tell about rows


@dataclasses.dataclass(frozen=True, eq=False)
class Sampling:
    """What is known of rows beside x, y and z.

    Attributes
    ----------
    groups : array or None
        Label of the group of each row, NaN where it is missing; numbers from 0 on once rows are
        complete. Rows of one group may depend on each other. None if all rows are independent.
    """

    groups: NDArray[Any] | None = None

    @classmethod
    def of(cls, read: Mapping[str, Columns]) -> Sampling:
        """Take what was read of ``"groups"``, if it was given: one column."""
        columns = read.get("groups", ())
        if not columns:
            return cls()
        if len(columns) > 1:
            raise ValueError(
                f"groups: got {len(columns)} columns; one is needed, such as that of the patients."
            )
        return cls(columns[0].values)

    @property
    def parts(self) -> dict[str, NDArray[Any]]:
        """What is given, by argument."""
        return {} if self.groups is None else {"groups": self.groups}

    @property
    def missing(self) -> list[NDArray[np.bool_]]:
        """Which rows have no value, for each part with such rows."""
        masks = [np.isnan(values) for values in self.parts.values()]
        return [mask for mask in masks if mask.any()]

    def rows(self, rows: Index | NDArray[np.bool_]) -> Sampling:
        """Return some rows, none of them missing, and number their groups."""
        return self if self.groups is None else Sampling(numbered(self.groups[rows]))

    def complete(self) -> Sampling:
        """Return groups as numbers, none of which may be missing, or raise if there is only one.

        Examples
        --------
        >>> import numpy as np
        >>> from chsic.data.sampling import Sampling
        >>> Sampling(np.array([7.0, 3.0, 7.0])).complete().groups
        array([1, 0, 1])
        >>> Sampling(np.array([7.0, 3.0, 5.0])).complete().groups is None
        True
        """
        if self.groups is None:
            return self
        numbers = numbered(self.groups)
        if len(np.unique(numbers)) == len(numbers):
            return INDEPENDENT
        if not numbers.any():
            raise ValueError(
                "groups: all rows are of one group, so that nothing tells how much they vary; "
                "leave groups out if rows are independent."
            )
        return Sampling(numbers)

    @property
    def n_groups(self) -> int | None:
        """Number of groups; None if rows are independent."""
        return None if self.groups is None else len(np.unique(self.groups))


INDEPENDENT = Sampling()


def sampling_arguments(raw: Mapping[str, Any] | None, *, groups: Data) -> dict[str, Data]:
    """Return what was given for groups: labels as they are, or the column that is named.

    Parameters
    ----------
    raw : mapping or None
        Columns of the data by name; None if no data were given.
    groups : array_like, or name of a column of the data; None if rows are independent

    Returns
    -------
    dict
        Nothing, or labels as ``"groups"``.

    Examples
    --------
    >>> from chsic.data.sampling import sampling_arguments
    >>> sampling_arguments({"dose": [1, 2], "patient": [7, 7]}, groups="patient")
    {'groups': {'patient': [7, 7]}}
    """
    if groups is None:
        return {}
    if not is_name(groups):
        return {"groups": groups}
    if raw is None:
        raise TypeError(
            f"groups: got the name {groups!r}; give the data frame as well, as data=df."
        )
    return {"groups": {name: raw[name] for name in column_names("groups", groups, raw)}}


def is_name(groups: Data) -> bool:
    """Whether a column of the data is named, by text or by its number in an array."""
    return isinstance(groups, str | int | np.integer)


def require_labels(groups: Data) -> None:
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


def numbered(labels: NDArray[Any]) -> Index:
    """Replace labels by numbers from 0 on.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.data.sampling import numbered
    >>> numbered(np.array([7.0, 3.0, 7.0]))
    array([1, 0, 1])
    """
    numbers: Index = np.unique(labels, return_inverse=True)[1].astype(np.intp)
    return numbers
