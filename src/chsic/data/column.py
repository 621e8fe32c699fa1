"""One column of values, of any kind, as numbers or as codes of categories.

Kinds are inferred conservatively: text, booleans and categorical types are categories, everything
else that can be is a number, dates included. Whole numbers are never guessed to be categories, as
1, 2, 3 may be counts or names: ``kinds`` says so.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import numbers
from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chsic._util.errors import input_error, kind_setting
from chsic._util.names import readable
from chsic._util.validate import Array, Index

KINDS = ("number", "category")
MISSING_LEVEL = "(missing)"
EPOCH = np.datetime64("1970-01-01", "us")
DAY = 86_400e6  # microseconds: times are counted in days
# Of NumPy's units of time, how many make a day; years and months differ in length.
A_DAY = {"D": 1, "h": 24, "m": 1440, "s": 86400}
A_DAY |= {unit: 86400 * 1000**k for k, unit in enumerate(("ms", "us", "ns", "ps", "fs", "as"), 1)}
LARGEST_YEAR = 10**12  # whose days can be counted


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
        """What its values are: ``"number"``, ``"date"`` or ``"category"``."""
        return "date" if self.is_date else self.kind

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which values are missing."""
        return np.isnan(self.values)

    @property
    def has_gaps(self) -> bool:
        """Whether any value is missing."""
        return not all_finite(self.values) and bool(self.missing.any())

    def rows(self, which: slice | Index | NDArray[np.bool_]) -> Column:
        """Return some rows, none of them missing; levels without any are forgotten."""
        values = self.values[which]
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


def all_finite(values: Array) -> bool:
    """Whether a sum shows that all values are finite; if not, some may be, or their sum overflows.

    It needs no array of its own, which for many samples costs more than all else.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum()))


def read_column(name: str, raw: Any, kind: str | None) -> Column:
    """Read one column, of the given kind, or of the kind that its type implies."""
    if kind is not None and kind not in KINDS:
        known = ", ".join(map(repr, KINDS))
        raise ValueError(f"kinds: unknown kind {kind!r} of {name!r}; known are {known}.")
    plain, is_category = _plain_values(name, raw)
    if kind == "category" or (kind is None and is_category):
        return _category(name, plain)
    return Column(name, "number", _numbers(name, plain), is_date=_is_date(raw, plain))


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


def _is_date(raw: Any, plain: NDArray[Any]) -> bool:
    """Whether values are points in time, not times of day or durations."""
    if plain.dtype == object:
        first = next((value for value in plain.flat if not _is_missing(value)), None)
        if isinstance(first, datetime.date) or _is_period(first):
            return True
    if isinstance(raw, np.ndarray):
        return bool(raw.dtype.kind == "M")
    import narwhals as nw

    return isinstance(raw.dtype, nw.Date | nw.Datetime)


def _days(raw: Any) -> NDArray[Any]:
    """Return times as days: since 1970, since midnight, or how many."""
    import narwhals as nw

    if isinstance(raw.dtype, nw.Time):
        return np.array([None if t is None else _since_midnight(t) for t in raw.to_list()], object)
    if getattr(raw.dtype, "time_zone", None) is not None:
        raw = raw.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    values = np.asarray(raw.to_numpy())
    if values.dtype.kind in "mM":  # in its own unit, as others may not reach as far
        return values
    if isinstance(raw.dtype, nw.Duration):
        counts = raw.dt.total_microseconds()
    else:
        counts = raw.cast(nw.Datetime("us")).dt.timestamp("us")
    days: NDArray[Any] = np.asarray(counts.cast(nw.Float64).to_numpy()) / DAY
    return days


def _since_midnight(time: datetime.time) -> float:
    seconds = time.hour * 3600 + time.minute * 60 + time.second
    return (seconds * 1e6 + time.microsecond) / DAY


def _is_missing(value: Any) -> bool:
    if value is None or value is np.ma.masked:
        return True
    if isinstance(value, decimal.Decimal):
        return value.is_nan()  # also one that signals when it is compared
    try:
        return bool(value != value)  # NaN, NaT
    except TypeError:
        return True  # pandas.NA will not say
    except Exception:  # an array, or an object whose own comparison fails
        return False


def _numbers(name: str, plain: NDArray[Any]) -> Array:
    if plain.dtype.kind in "biuf":
        return plain.astype(np.float64, copy=False)  # never written into
    if plain.dtype.kind in "mM":
        return _days_of(name, plain)
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
            raise input_error(
                TypeError,
                f"{readable(name)}: expected numbers, got {shown} at row {position}",
                "correct it, or say what the column is with {}.",
                kind_setting(readable(name), "category"),
            ) from None
    return converted


def _days_of(name: str, times: NDArray[Any]) -> Array:
    """Return NumPy's points in time as days since 1970, and durations as days.

    They are counted in their own unit, as conversion to another one wraps around without a word.
    """
    unit, count = np.datetime_data(times.dtype)
    missing = np.isnat(times)
    if unit in ("Y", "M") and times.dtype.kind == "M":
        counts = np.where(missing, 0, times.astype(np.int64))
        if len(counts) and np.abs(counts // 12 if unit == "M" else counts).max() > LARGEST_YEAR:
            raise ValueError(
                f"{readable(name)}: some dates are more than {LARGEST_YEAR:g} years away; correct "
                "them, or give years as numbers."
            )
        times, unit, count = times.astype("datetime64[D]"), "D", 1
    elif unit == "W":
        unit, count = "D", 7 * count
    if unit not in A_DAY:
        raise TypeError(
            f"{readable(name)}: got {times.dtype}, a time whose unit has no fixed length; give "
            "days, or numbers."
        )
    days: Array = times.astype(np.int64).astype(np.float64) * count / A_DAY[unit]
    return np.where(missing, np.nan, days)


def _is_period(value: Any) -> bool:
    """Whether a value is a month or quarter of pandas, which has a first moment."""
    return hasattr(value, "to_timestamp") and hasattr(value, "ordinal")


def _number(value: Any) -> float:
    if _is_missing(value):
        return float("nan")
    if _is_period(value):
        value = value.to_timestamp()
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    if isinstance(value, datetime.date):  # and datetime
        return float((np.datetime64(value, "us") - EPOCH).astype(np.int64)) / DAY
    if isinstance(value, bool | np.bool_ | numbers.Real | decimal.Decimal | str):
        return float(value)  # also text that is a number, if the kind is given
    raise TypeError


def _category(name: str, plain: NDArray[Any]) -> Column:
    """Code values by their order as text, so that codes do not depend on the order of rows."""
    if plain.dtype.kind in "biuf":
        distinct, inverse = np.unique(plain, return_inverse=True)  # NaN last, and once
        texts = [_text(value) for value in distinct.tolist()]
    else:
        places: dict[Hashable, int] = {}
        values = [_hashable(value) for value in plain.tolist()]
        inverse = np.fromiter(
            (places.setdefault(value, len(places)) for value in values), np.intp, len(values)
        )
        texts = [_text(value) for value in places]
    levels = sorted({text for text in texts if text is not None})
    code = {level: float(position) for position, level in enumerate(levels)}
    codes = np.array([np.nan if text is None else code[text] for text in texts])
    return Column(name, "category", codes[inverse], tuple(levels))


def is_number(text: str) -> bool:
    """Tell whether text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _hashable(value: Any) -> Hashable:
    if _is_missing(value):
        return None
    try:
        hash(value)
    except TypeError:
        return str(value)  # lists and their like
    key: Hashable = value
    return key


def _text(value: Any) -> str | None:
    if _is_missing(value):
        return None
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
