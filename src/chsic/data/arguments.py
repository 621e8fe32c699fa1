"""Arguments that hold data: arrays, series and data frames, cut into columns and checked."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from chsic._util.errors import input_error, kind_setting
from chsic._util.names import did_you_mean, readable
from chsic._util.validate import MIN_SAMPLES, Array, Index
from chsic.data.column import Column, all_finite, is_number, read_column

MOST_LEVELS = 100  # of a category, each of which becomes a column

Columns: TypeAlias = Sequence[Column]
Names: TypeAlias = str | int | Iterable[str | int]  # of columns
# Array-likes, series and data frames, of which no common type is known.
Data: TypeAlias = Any


def read_columns(
    argument: str, values: Data, kinds: Mapping[str, str] | None = None
) -> list[Column]:
    """Read what a user gave as samples of one variable.

    Parameters
    ----------
    argument : str
        What the caller calls it, for messages, and the name of columns that have none.
    values : array_like, series or data frame
        One column or several; of numpy, pandas, polars, pyarrow or whatever else narwhals knows,
        or a mapping from names to columns.
    kinds : mapping, optional
        ``"number"`` or ``"category"`` for names of columns.

    Returns
    -------
    list of Column

    Examples
    --------
    >>> from chsic.data.arguments import read_columns
    >>> [column] = read_columns("x", ["red", "blue", "red"])
    >>> column.kind, column.levels, column.values
    ('category', ('blue', 'red'), array([1., 0., 1.]))
    """
    given = {} if kinds is None else kinds
    return [
        read_column(name, raw, given.get(name)) for name, raw in cut_into_columns(argument, values)
    ]


def named_columns(argument: str, values: Data) -> dict[str, Any]:
    """Cut a data frame into columns by name, none of them read; those of an array are numbered."""
    if isinstance(values, Mapping) or _as_frame(argument, values) is not None:
        columns = cut_into_columns(argument, values)
    else:
        array = _as_array(argument, values)
        if array.ndim != 2:
            raise TypeError(
                f"{argument}: expected a data frame or an (n, d) array, got shape {array.shape}."
            )
        columns = [(str(k), column) for k, column in enumerate(array.T)]
    for name, times in Counter(name for name, _ in columns).items():
        if times > 1:
            raise ValueError(f"{argument}: {times} columns are called {name!r}; rename them.")
    return dict(columns)


def column_names(argument: str, given: Names, raw: Mapping[str, Any]) -> list[str]:
    """Return names of columns that are there, each once.

    Examples
    --------
    >>> from chsic.data.arguments import column_names
    >>> column_names("given", "age", {"age": [1, 2], "dose": [3, 4]})
    ['age']
    """
    one = isinstance(given, str | int | np.integer)
    several = [given] if one else list(given) if isinstance(given, Iterable) else [None]
    if not all(isinstance(name, str | int | np.integer | tuple) for name in several):
        raise TypeError(
            f"{argument}: expected the name of a column, or several, got {type(given).__name__}."
        )
    names = [str(name) for name in several]
    for name, times in Counter(names).items():
        if name not in raw:
            raise ValueError(
                f"{argument}: there is no column {name!r}; {did_you_mean(name, list(raw))}"
            )
        if times > 1:
            raise ValueError(f"{argument}: column {name!r} is named more than once.")
    return names


def as_columns(argument: str, values: Data) -> Array:
    """Return clean columns of numbers, categories as indicators of their levels."""
    columns = read_columns(argument, values)
    require_usable(argument, columns, math.inf if argument == "z" else MOST_LEVELS)
    return indicators(columns)[0]


def indicators(columns: Columns) -> tuple[Array, Index]:
    """Return columns of numbers, a category as one for each level, and where each comes from.

    Two levels need one column only.
    """
    numbers, origin = [], []
    for position, column in enumerate(columns):
        if len(column.levels) > 2:
            numbers += [column.values == level for level in range(len(column.levels))]
            origin += [position] * len(column.levels)
        else:
            numbers.append(column.values)
            origin.append(position)
    return side_by_side(numbers).astype(np.float64, copy=False), np.array(origin)


def side_by_side(values: Sequence[Array]) -> Array:
    """Return columns as a matrix, a single one as it lies in memory."""
    return values[0][:, None] if len(values) == 1 else np.column_stack(values)


def require_usable(argument: str, columns: Columns, most_levels: float = MOST_LEVELS) -> None:
    """Raise unless the columns are long enough, and each of them varies and is finite."""
    n = len(columns[0].values)
    if n < MIN_SAMPLES:
        hint = "; rows are samples, so check that the array is not transposed" if n else ""
        raise ValueError(
            f"{readable(argument)}: got {n} samples, at least {MIN_SAMPLES} are needed{hint}."
        )
    for column in columns:
        values = column.values
        if not all_finite(values) and len(bad := np.flatnonzero(~np.isfinite(values))):
            infinite = np.isinf(values[bad])
            what = "infinite" if infinite.all() else "missing, NaN or infinite"
            what = what if infinite.any() else "missing or NaN"
            raise ValueError(
                f"{called(argument, column)}: {len(bad)} of {n} samples are {what} (first at row "
                f"{bad[0]}); drop those rows from every argument, or impute them."
            )
        if values[0] == values[-1] and np.all(values == values[0]):
            what = repr(column.levels[0]) if column.levels else f"{values[0]:g} in double precision"
            raise ValueError(
                f"{called(argument, column)}: every value is {what}. A constant column can neither "
                "depend on anything nor explain anything, and its standard deviation would give a "
                "bandwidth of zero, that is a division by zero in the kernel; drop it."
            )
        if len(column.levels) > most_levels:
            text = next((level for level in column.levels if not is_number(level)), "")
            shown = f" (such as {readable(text)!r}, which is no number)" if text else ""
            raise input_error(
                ValueError,
                f"{called(argument, column)}: {len(column.levels)} categories{shown} are more than "
                f"{most_levels}",
                "group rare ones, or correct what is no number and say so with {}.",
                kind_setting(readable(column.name), "number"),
            )


def require_no_identifier(argument: str, columns: Columns) -> None:
    """Raise if a category names rows: if it has more levels than half of them.

    Hardly anything can be learned of such a level from other rows, and true nulls are rejected too
    often.
    """
    for column in columns:
        if column.kind != "category":
            continue
        n = len(column.values)
        n_levels = np.count_nonzero(np.bincount(column.values.astype(np.intp)))
        if 2 * n_levels > n:
            raise ValueError(
                f"{called(argument, column)}: {n_levels} categories for {n} samples, fewer than "
                "two samples each, so that it names samples, as an identifier does; drop it, or "
                "group its categories."
            )


def called(argument: str, column: Column) -> str:
    """Name a column in a message, so that the argument is named, too."""
    name = readable(column.name)
    return name if column.name == argument else f"{argument}, column {name}"


def cut_into_columns(argument: str, values: Any) -> list[tuple[str, Any]]:
    """Cut what was given into named columns."""
    if isinstance(values, Mapping):
        if not values:
            raise ValueError(f"{argument}: the mapping has no columns; give at least one.")
        return [(str(name), _as_series(str(name), column)) for name, column in values.items()]
    frame = _as_frame(argument, values)
    if frame is not None:
        if not hasattr(frame, "columns"):
            return [(str(frame.name) if frame.name else argument, frame)]
        names = [str(name) for name in frame.columns]
        if not names:
            raise ValueError(f"{argument}: the data frame has no columns; choose at least one.")
        return list(zip(names, frame.iter_columns(), strict=True))
    array = _as_array(argument, values)
    if array.ndim == 1:
        return [(argument, array)]
    if array.ndim != 2 or array.shape[1] == 0:
        raise ValueError(
            f"{argument}: expected n samples as a 1-D array or an (n, d) array with d >= 1, "
            f"got shape {np.shape(values)}; reshape it so that rows are samples."
        )
    if array.shape[1] == 1:
        return [(argument, array[:, 0])]
    return [(f"{argument}[{k}]", array[:, k]) for k in range(array.shape[1])]


def _as_frame(argument: str, values: Any) -> Any:
    """Return a narwhals series or data frame, or None if it is neither."""
    if isinstance(values, np.ndarray | list | tuple) or np.isscalar(values):
        return None
    try:
        import narwhals as nw
    except ImportError:
        return None  # a series of numbers is an array as well
    try:
        frame = nw.from_native(values, pass_through=True, allow_series=True)
    except Exception as error:  # names that occur twice, say
        raise ValueError(f"{argument}: this data frame cannot be read: {error}") from error
    if isinstance(frame, nw.LazyFrame):
        raise TypeError(f"{argument}: a lazy frame holds no data yet; call .collect() on it first.")
    return frame if isinstance(frame, nw.DataFrame | nw.Series) else None


def _as_series(name: str, values: Any) -> Any:
    """Return a narwhals series or a 1-D array."""
    series = _as_frame(name, values)
    if series is not None and not hasattr(series, "columns"):
        return series
    array = _as_array(name, values)
    if array.ndim != 1:
        raise TypeError(f"{name}: expected one column, got shape {array.shape}.")
    return array


def _as_array(argument: str, values: Any) -> NDArray[Any]:
    if isinstance(values, np.ma.MaskedArray):
        objects = np.array(values.data, dtype=object)
        objects[np.ma.getmaskarray(values)] = None
        return objects
    try:
        array = np.asarray(values)
    except ValueError as error:  # ragged nested lists
        raise ValueError(
            f"{argument}: rows have different lengths; give a rectangular array."
        ) from error
    if array.dtype.kind in "SU" and not isinstance(values, np.ndarray):
        return np.array(values, dtype=object)  # where numbers beside text have become text
    return array
