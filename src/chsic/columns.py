"""Columns of all kinds: from arrays, series and data frames to numbers, and categories as codes.

A column is a number or a category. Kinds are inferred conservatively: text, booleans and
categorical types are categories, everything else that can be is a number, dates included. Whole
numbers are never guessed to be categories, as 1, 2, 3 may be counts or names: ``kinds`` says so.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import math
import numbers
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from chsic._validate import MIN_SAMPLES, Array, Index
from chsic.names import readable

KINDS = ("number", "category")
MISSING_LEVEL = "(missing)"
MOST_LEVELS = 100  # of a category, each of which becomes a column
EPOCH = np.datetime64("1970-01-01", "us")
DAY = 86_400e6  # microseconds: times are counted in days


@dataclasses.dataclass(frozen=True, eq=False)
class Column:
    """One column.

    Attributes
    ----------
    name : str
        What it is called: its name in a data frame, or that of the argument.
    kind : {"number", "category"}
        What its values are.
    values : array, shape (n,)
        Numbers, or codes of `levels`; NaN where the value is missing.
    levels : tuple of str
        What the codes stand for, as text; empty for numbers.
    is_date : bool
        Whether numbers are days since 1970-01-01.
    """

    name: str
    kind: str
    values: Array
    levels: tuple[str, ...] = ()
    is_date: bool = False

    @property
    def described(self) -> str:
        """What it was taken for: ``"number"``, ``"date"`` or ``"category"``."""
        return "date" if self.is_date else self.kind

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which values are missing."""
        return np.isnan(self.values)

    @property
    def has_gaps(self) -> bool:
        """Whether any value is missing."""
        return not _all_finite(self.values) and bool(self.missing.any())

    def rows(self, kept: slice | Index | NDArray[np.bool_]) -> Column:
        """Return some rows, none of them missing; levels without any are forgotten."""
        values = self.values[kept]
        if self.kind == "number":
            return dataclasses.replace(self, values=values)
        used, codes = np.unique(values, return_inverse=True)
        levels = tuple(self.levels[int(code)] for code in used)
        return Column(self.name, self.kind, codes.astype(np.float64), levels)

    def with_missing_level(self) -> Column:
        """Make missing a level of its own, if this is a category."""
        if self.kind == "number" or not self.has_gaps:
            return self
        values = np.where(self.missing, len(self.levels), self.values)
        return Column(self.name, self.kind, values, (*self.levels, MISSING_LEVEL))


Columns: TypeAlias = Sequence[Column]
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
    >>> from chsic.columns import read_columns
    >>> [column] = read_columns("x", ["red", "blue", "red"])
    >>> column.kind, column.levels, column.values
    ('category', ('blue', 'red'), array([1., 0., 1.]))
    """
    given = {} if kinds is None else kinds
    return [
        raw if isinstance(raw, Column) else read_column(name, raw, given.get(name))
        for name, raw in cut_into_columns(argument, values)
    ]


def named_columns(argument: str, values: Data) -> dict[str, Any]:
    """Cut a data frame into columns by name, none of them read; those of an array are numbered."""
    if isinstance(values, Mapping) or _as_frame(argument, values) is not None:
        found = cut_into_columns(argument, values)
    else:
        array = _as_array(argument, values)
        if array.ndim != 2:
            raise TypeError(
                f"{argument}: expected a data frame or an (n, d) array, got shape {array.shape}."
            )
        found = [(str(k), column) for k, column in enumerate(array.T)]
    for name, times in Counter(name for name, _ in found).items():
        if times > 1:
            raise ValueError(f"{argument}: {times} columns are called {name!r}; rename them.")
    return dict(found)


def as_columns(argument: str, values: Data) -> Array:
    """Return clean columns of numbers, categories as indicators of their levels."""
    columns = read_columns(argument, values)
    require_usable(argument, columns, math.inf if argument == "z" else MOST_LEVELS)
    return indicators(columns)[0]


def indicators(columns: Columns) -> tuple[Array, Index]:
    """Return columns of numbers, a category as one for each level, and where each comes from.

    Two levels need one column only.
    """
    made, origin = [], []
    for position, column in enumerate(columns):
        if len(column.levels) > 2:
            made += [column.values == level for level in range(len(column.levels))]
            origin += [position] * len(column.levels)
        else:
            made.append(column.values)
            origin.append(position)
    return side_by_side(made).astype(np.float64, copy=False), np.array(origin)


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
        which, values = called(argument, column), column.values
        if not _all_finite(values) and len(bad := np.flatnonzero(~np.isfinite(values))):
            raise ValueError(
                f"{which}: {len(bad)} of {n} samples are missing, NaN or infinite (first at row "
                f"{bad[0]}); drop those rows from every argument, or impute them."
            )
        if values[0] == values[-1] and np.all(values == values[0]):
            what = repr(column.levels[0]) if column.levels else f"{values[0]:g} in double precision"
            raise ValueError(
                f"{which}: every value is {what}. A constant column can neither depend on anything "
                "nor explain anything, and its standard deviation would give a bandwidth of zero, "
                "that is a division by zero in the kernel; drop it."
            )
        if len(column.levels) > most_levels:
            text = next((level for level in column.levels if not _is_number(level)), "")
            shown = f" (such as {readable(text)!r}, which is no number)" if text else ""
            raise ValueError(
                f"{which}: {len(column.levels)} categories{shown} are more than {most_levels}; "
                "group rare ones, or correct what is no number and say so with "
                f"kinds={{{readable(column.name)!r}: 'number'}}."
            )


def _all_finite(values: Array) -> bool:
    """Whether a sum shows that all values are finite; if not, some may be, or their sum overflows.

    It needs no array of its own, which for many samples costs more than all else.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum()))


def called(argument: str, column: Column) -> str:
    """Name a column in a message, so that the argument is named, too."""
    name = readable(column.name)
    return name if column.name == argument else f"{argument}, column {name}"


def cut_into_columns(argument: str, values: Any) -> list[tuple[str, Any]]:
    """Cut what was given into named columns; those that were read already stay."""
    if isinstance(values, list) and values and all(isinstance(v, Column) for v in values):
        return [(column.name, column) for column in values]
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
        return np.array(values, dtype=object)  # numbers beside text were made text
    return array


def read_column(name: str, raw: Any, kind: str | None) -> Column:
    """Read one column, of the kind it is said to be or that its type tells."""
    if kind is not None and kind not in KINDS:
        known = ", ".join(map(repr, KINDS))
        raise ValueError(f"kinds: unknown kind {kind!r} of {name!r}; known are {known}.")
    plain, is_category = _plain_values(name, raw)
    if kind == "category" or (kind is None and is_category):
        return _category(name, plain)
    return Column(name, "number", _numbers(name, plain), is_date=_is_date(raw))


def _plain_values(name: str, raw: Any) -> tuple[NDArray[Any], bool]:
    """Return an array whose missing values are NaN or None, and whether it holds categories."""
    if not isinstance(raw, np.ndarray):
        import narwhals as nw

        if raw.dtype.is_temporal():
            return _days(raw), False
        if raw.dtype.is_numeric() and not isinstance(raw.dtype, nw.Decimal):
            wide = isinstance(raw.dtype, nw.Int128 | nw.UInt128)  # of which numpy knows nothing
            numeric = raw.cast(nw.Float64) if raw.null_count() or wide else raw
            return np.asarray(numeric.to_numpy()), False
        is_category = isinstance(raw.dtype, nw.Categorical | nw.Enum)
        values = raw.to_list()
        raw = np.empty(len(values), dtype=object)
        raw[:] = values
        if is_category:
            return raw, True  # whatever its categories are
    if raw.dtype.kind not in "OSU":
        return raw, raw.dtype.kind == "b"
    objects = raw.astype(object)
    present = [value for value in objects.flat if not _is_missing(value)]
    text = (str, bytes, bool, np.bool_)
    return objects, bool(present) and all(isinstance(value, text) for value in present)


def _is_date(raw: Any) -> bool:
    """Whether values are points in time, not times of day or durations."""
    if isinstance(raw, np.ndarray):
        if raw.dtype == object:
            first = next((value for value in raw.flat if not _is_missing(value)), None)
            return isinstance(first, datetime.date)
        return bool(raw.dtype.kind == "M")
    import narwhals as nw

    return isinstance(raw.dtype, nw.Date | nw.Datetime)


def _days(raw: Any) -> NDArray[Any]:
    """Return times as days: since 1970, since midnight, or how many."""
    import narwhals as nw

    if isinstance(raw.dtype, nw.Time):
        return np.array([None if t is None else _since_midnight(t) for t in raw.to_list()], object)
    if isinstance(raw.dtype, nw.Duration):
        counts = raw.dt.total_microseconds()
    else:
        if getattr(raw.dtype, "time_zone", None) is not None:
            raw = raw.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        counts = raw.cast(nw.Datetime("us")).dt.timestamp("us")
    days: NDArray[Any] = np.asarray(counts.cast(nw.Float64).to_numpy()) / DAY
    return days


def _since_midnight(time: datetime.time) -> float:
    seconds = time.hour * 3600 + time.minute * 60 + time.second
    return (seconds * 1e6 + time.microsecond) / DAY


def _is_missing(value: Any) -> bool:
    if value is None or value is np.ma.masked:
        return True
    try:
        return bool(value != value)  # NaN, NaT
    except (TypeError, ValueError):
        return True  # pandas.NA will not say


def _numbers(name: str, plain: NDArray[Any]) -> Array:
    if plain.dtype.kind in "biuf":
        return plain.astype(np.float64, copy=False)  # never written into
    if plain.dtype.kind in "mM":
        since = plain - EPOCH if plain.dtype.kind == "M" else plain
        days = since.astype("timedelta64[us]").astype(np.float64) / DAY
        return np.where(np.isnat(plain), np.nan, days)
    if plain.dtype.kind == "c":
        raise TypeError(
            f"{name}: got complex values; the kernels are defined on real data. "
            "Pass real and imaginary parts as two columns."
        )
    converted = np.empty(plain.size)
    for position, value in enumerate(plain.flat):
        try:
            converted[position] = _number(value)
        except OverflowError:
            raise ValueError(f"{name}: values overflow a double; rescale them.") from None
        except (TypeError, ValueError):
            shown = readable(repr(value))
            raise TypeError(
                f"{readable(name)}: expected numbers, got {shown} at row {position}; correct it, "
                f"or say what the column is with kinds={{{readable(name)!r}: 'category'}}."
            ) from None
    return converted


def _number(value: Any) -> float:
    if _is_missing(value):
        return float("nan")
    if isinstance(value, datetime.date):  # and datetime
        return float((np.datetime64(value, "us") - EPOCH).astype(np.int64)) / DAY
    if isinstance(value, bool | np.bool_ | numbers.Real | decimal.Decimal | str):
        return float(value)  # also text that is a number, as somebody said that it is one
    raise TypeError


def _category(name: str, plain: NDArray[Any]) -> Column:
    """Code values by their order as text, so that codes do not depend on the order of rows."""
    if plain.dtype.kind in "biuf":
        distinct, inverse = np.unique(plain, return_inverse=True)  # NaN last, and once
        texts = [_text(value) for value in distinct.tolist()]
    else:
        seen: dict[Hashable, int] = {}
        values = plain.tolist()
        inverse = np.array([seen.setdefault(_hashable(value), len(seen)) for value in values])
        texts = [_text(value) for value in seen]
    levels = sorted({text for text in texts if text is not None})
    code = {level: float(position) for position, level in enumerate(levels)}
    codes = np.array([np.nan if text is None else code[text] for text in texts])
    return Column(name, "category", codes[inverse], tuple(levels))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _hashable(value: Any) -> Hashable:
    return None if _is_missing(value) else value


def _text(value: Any) -> str | None:
    if _is_missing(value):
        return None
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
