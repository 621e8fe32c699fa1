"""What one column of the data is, for people: its kind, its gaps, its range or levels."""

from __future__ import annotations

import dataclasses

import numpy as np

from chsic.data.column import Column

LAST_MINUTE = 2**62  # before or after 1970 that NumPy counts


@dataclasses.dataclass(frozen=True)
class ColumnSummary:
    """One column of the data as it came.

    Attributes
    ----------
    role : {"x", "y", "z", "groups", "time", "weights"}
        What it was used as.
    name, kind : str
        As in `chsic.data.column.Column`.
    n_missing : int
        Rows without a value.
    values : str
        Its range, its levels, or how many groups there are.
    """

    role: str
    name: str
    kind: str
    n_missing: int
    values: str


def summarise(role: str, column: Column) -> ColumnSummary:
    """Look at the values of a column.

    Examples
    --------
    >>> from chsic.data.arguments import read_columns
    >>> from chsic.show.column_summary import summarise
    >>> [column] = read_columns("x", [1.0, 2.0, 4.0])
    >>> summarise("x", column).values
    '1 to 4, half of them below 2'
    """
    values = column.values[~column.missing]
    if role == "groups":
        described = f"{len(np.unique(values))} groups"
    elif column.kind == "category":
        described = f"{len(column.levels)} levels: {', '.join(column.levels)}"
    else:
        low, middle, high = (_written(value, column) for value in np.quantile(values, [0, 0.5, 1]))
        described = f"{low} to {high}, half of them below {middle}"
    n_missing = int(column.missing.sum())
    return ColumnSummary(role, column.name, column.described, n_missing, described)


def _written(value: float, column: Column) -> str:
    if not column.is_date:
        return f"{value:.4g}"
    minutes = value * 24 * 60
    if abs(minutes) > LAST_MINUTE:
        return f"{value / 365.2425:.4g} years after 1970"
    return str(np.datetime64(round(minutes), "m"))
