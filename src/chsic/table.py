"""Named columns from a file: CSV, TSV, Parquet, or standard input."""

from __future__ import annotations

import csv
import dataclasses
import functools
import io
import mmap
import os
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from chsic.names import did_you_mean

if TYPE_CHECKING:
    import polars

STANDARD_INPUT = "-"
BEGINNING = 2**16  # bytes whose rows are counted
SEPARATORS = (",", "\t", ";")
MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None"]  # what stands for no value
ROWS_SEEN = 10_000  # from which types are inferred; all of them if that fails
PARQUET = b"PAR1"  # how such a file begins
BLANK_LINE = re.compile(rb"\n\r?\n")
MOST_HEADER_LINES = 100  # as a name may hold line breaks


@dataclasses.dataclass(frozen=True)
class Table:
    """A file whose columns have names; only those asked for are read.

    Attributes
    ----------
    path : str
        What the user called it.
    names : tuple of str
        Its columns, without spaces around their names.
    separator : str or None
        Between the columns of text; None for Parquet.
    missing : tuple of str
        What stands for no value, beside the usual.
    """

    path: str
    names: tuple[str, ...]
    separator: str | None
    content: Path | bytes = dataclasses.field(repr=False)
    missing: tuple[str, ...] = ()

    def split(self, texts: Sequence[str]) -> list[str]:
        """Take lists of names apart at commas, unless a name has a comma in it."""
        return [
            name.strip()
            for text in texts
            for name in ([text] if text in self.names else text.split(","))
        ]

    def read(self, columns: Sequence[str]) -> polars.DataFrame:
        """Read some columns.

        Parameters
        ----------
        columns : sequence of str
            Their names.

        Returns
        -------
        polars.DataFrame
            Blank lines are no rows.

        Raises
        ------
        ValueError
            If a column is not there, is there twice or is asked for twice, or the file is broken.
        """
        import polars as pl

        positions = [self._position(name) for name in columns]
        if len(set(positions)) < len(positions):
            repeated = next(name for name, times in Counter(columns).items() if times > 1)
            raise ValueError(f"{self.path}: column {repeated!r} is asked for more than once.")
        try:
            if self.separator is None:
                series = pl.read_parquet(self._source(), columns=sorted(positions)).get_columns()
                found = dict(zip(sorted(positions), series, strict=True))
            else:
                found = self._read_text(positions)
        except (pl.exceptions.PolarsError, OSError) as error:
            first = str(error).strip().partition("\n")[0]
            if "utf-8" in first.lower():
                first = "this is not UTF-8 text; save it as CSV in UTF-8"
            raise ValueError(f"{self.path}: {first}.") from None
        return pl.DataFrame(
            [found[position].alias(name) for name, position in zip(columns, positions, strict=True)]
        )

    def _source(self) -> Any:
        return self.content if isinstance(self.content, Path) else io.BytesIO(self.content)

    def _read_text(self, positions: list[int]) -> dict[int, polars.Series]:
        """Read columns by position; blank lines are no rows."""
        import polars as pl

        blank = self._has_blank_lines()
        # A row of which all columns are empty is such a line, so all of them are looked at.
        wanted = list(range(len(self.names))) if blank else sorted(positions)
        settings: dict[str, Any] = {
            "columns": wanted,
            "separator": self.separator,
            "null_values": [*MISSING, *self.missing],
            "try_parse_dates": True,
        }
        try:
            frame = pl.read_csv(self._source(), infer_schema_length=ROWS_SEEN, **settings)
        except pl.exceptions.ComputeError:
            frame = pl.read_csv(self._source(), infer_schema_length=None, **settings)
        if blank:
            frame = frame.filter(~pl.all_horizontal(pl.all().is_null()))
        found = frame.get_columns()
        if self.separator == ";":
            found = [_decimal_commas(series) for series in found]
        return dict(zip(wanted, found, strict=True))

    def _has_blank_lines(self) -> bool:
        if isinstance(self.content, bytes):
            return BLANK_LINE.search(self.content) is not None
        if not self.content.stat().st_size:
            return False
        with (
            self.content.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
        ):
            return BLANK_LINE.search(content) is not None

    @functools.cached_property
    def _places(self) -> dict[str, list[int]]:
        places: dict[str, list[int]] = {}
        for position, name in enumerate(self.names):
            places.setdefault(name, []).append(position)
        return places

    def _position(self, name: str) -> int:
        places = self._places.get(name, [])
        if len(places) == 1:
            return places[0]
        if places:
            raise ValueError(
                f"{self.path}: {len(places)} columns are called {name!r}; rename them."
            )
        hint = did_you_mean(name, self.names)
        raise ValueError(f"{self.path}: there is no column {name!r}; {hint}")


def _decimal_commas(series: polars.Series) -> polars.Series:
    """Read a column of text such as 3,14 as numbers: where commas are decimal, semicolons separate.

    A column with anything else in it stays as it is.
    """
    import polars as pl

    if series.dtype != pl.String or not series.str.contains(",", literal=True).any():
        return series
    numbers = series.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
    return numbers if numbers.null_count() == series.null_count() else series


def open_table(path: str | os.PathLike[str], missing: Sequence[str] = ()) -> Table:
    r"""Look at a file and read the names of its columns.

    Parameters
    ----------
    path : path-like
        A CSV or TSV file in UTF-8 whose first line names the columns, a Parquet file, or ``"-"``
        for standard input. Which of them it is shows in the file, whatever it is called.
    missing : sequence of str
        What stands for no value in text, beside ``NA``, ``NaN``, ``null`` and their like.

    Returns
    -------
    Table

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from chsic.table import open_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "data.csv"
    ...     _ = path.write_text("a,b\n1,2\n3,4\n")
    ...     open_table(path).read(["b"])["b"].to_list()
    [2, 4]
    """
    name = os.fspath(path)
    content: Path | bytes = Path(name)
    if name == STANDARD_INPUT:
        name, content = "standard input", sys.stdin.buffer.read()
    with io.BytesIO(content) if isinstance(content, bytes) else content.open("rb") as file:
        is_parquet = file.read(4) == PARQUET
        file.seek(0)
        first_lines = b"" if is_parquet else _first_record(file)
        next_lines = b"" if is_parquet else file.read(BEGINNING)
    if is_parquet:
        return Table(name, _parquet_names(name, content), None, content)
    header, separator = _header(name, first_lines)
    _require_no_more_fields(name, len(header), separator, next_lines)
    return Table(name, header, separator, content, tuple(missing))


def _first_record(file: IO[bytes]) -> bytes:
    """Read the first line, and further ones as long as a quote is open."""
    record = file.readline()
    for _ in range(MOST_HEADER_LINES):
        if record.count(b'"') % 2 == 0:
            break
        record += file.readline()
    return record


def _parquet_names(name: str, content: Path | bytes) -> tuple[str, ...]:
    import polars as pl

    source = content if isinstance(content, Path) else io.BytesIO(content)
    try:
        return tuple(pl.read_parquet_schema(source))
    except (pl.exceptions.PolarsError, OSError) as error:
        first = str(error).strip().partition("\n")[0]
        raise ValueError(f"{name}: this Parquet file cannot be read: {first}.") from None


def _header(name: str, first_line: bytes) -> tuple[tuple[str, ...], str]:
    """Return the names in the first line, and the separator that makes most of them."""
    try:
        text = first_line.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{name}: this is not UTF-8 text; save it as CSV in UTF-8.") from None
    if not text.strip():
        raise ValueError(f"{name}: the file is empty; its first line must name the columns.")
    ways = {
        separator: next(csv.reader(io.StringIO(text.rstrip("\r\n")), delimiter=separator))
        for separator in SEPARATORS
    }
    separator = max(SEPARATORS, key=lambda s: len(ways[s]))  # the first of those that are equal
    return tuple(field.strip() for field in ways[separator]), separator


def _require_no_more_fields(name: str, number: int, separator: str, lines: bytes) -> None:
    """Raise if rows have more fields than there are names: all columns would have others' values.

    Some of them are looked at, as columns that nobody asks for are not read.
    """
    whole = lines[: lines.rfind(b"\n") + 1] if len(lines) == BEGINNING else lines
    text = whole.decode("utf-8", errors="replace")
    for row, fields in enumerate(csv.reader(io.StringIO(text), delimiter=separator), start=1):
        if any(field.strip() for field in fields[number:]):
            raise ValueError(
                f"{name}: row {row} has {len(fields)} fields, but the first line names {number} "
                "columns; name all of them, or quote fields that hold the separator "
                f"{separator!r}."
            )
