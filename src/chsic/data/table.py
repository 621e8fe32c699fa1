"""Named columns from a file: CSV, TSV, Parquet, or standard input."""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import functools
import io
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from chsic._util.csv_cells import INERT, original
from chsic._util.names import did_you_mean
from chsic.data.file_content import (
    Content,
    as_text,
    end_of_line,
    first_record,
    has_blank_lines,
    is_parquet,
    load,
    mapped,
)
from chsic.data.memory_limit import require_memory
from chsic.data.parquet import ParquetFile
from chsic.data.parquet_footer import BYTES_OF_TEXT
from chsic.data.polars_errors import CSV_IS_BROKEN, NOT_UTF8, errors_of_polars

if TYPE_CHECKING:
    import polars

BEGINNING = 2**16  # bytes whose rows are counted
SEPARATORS = (",", "\t", ";")
MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None"]  # what stands for no value
INFER_ROWS = 10_000  # from which types are inferred; all of them if that fails


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
    content: Content = dataclasses.field(repr=False)
    missing: tuple[str, ...] = ()
    parquet: ParquetFile | None = dataclasses.field(default=None, repr=False)

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
            If a column is not there, is there twice or is asked for twice, the file is broken, or
            the columns would take more than half of the memory.
        """
        import polars as pl

        positions = [self._position(name) for name in columns]
        if len(set(positions)) < len(positions):
            repeated = next(name for name, times in Counter(columns).items() if times > 1)
            raise ValueError(f"{self.path}: column {repeated!r} is asked for more than once.")
        ordered = sorted(positions)
        series = self._read_text(ordered) if self.parquet is None else self.parquet.read(ordered)
        # Text that is repeated may be there once, but Python holds each of its repetitions.
        require_memory(self.path, sum(map(_bytes_of_text, series)))
        by_position = dict(zip(ordered, series, strict=True))
        return pl.DataFrame(
            [
                by_position[position].alias(name)
                for name, position in zip(columns, positions, strict=True)
            ]
        )

    def _read_text(self, positions: list[int]) -> list[polars.Series]:
        """Read columns by position; blank lines are no rows."""
        import polars as pl

        blank = has_blank_lines(self.content)
        # A row of which all columns are empty is such a line, so all of them are looked at.
        wanted = list(range(len(self.names))) if blank else positions
        settings: dict[str, Any] = {
            "columns": wanted,
            "separator": self.separator,
            "null_values": [*MISSING, *self.missing],
            "try_parse_dates": True,
            "glob": False,
        }
        with errors_of_polars(self.path, *CSV_IS_BROKEN):
            try:
                frame = pl.read_csv(self.content, infer_schema_length=INFER_ROWS, **settings)
            except pl.exceptions.ComputeError:
                frame = pl.read_csv(self.content, infer_schema_length=None, **settings)
            if blank:
                frame = frame.filter(~pl.all_horizontal(pl.all().is_null()))
        columns = [_without_apostrophes(series) for series in frame.get_columns()]
        if self.separator == ";":
            columns = [_decimal_commas(series) for series in columns]
        by_position = dict(zip(wanted, columns, strict=True))
        return [by_position[position] for position in positions]

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


def _bytes_of_text(series: polars.Series) -> int:
    """Return what the values of a column take as texts of Python; nothing if it is of numbers."""
    import polars as pl

    if series.dtype == pl.String:
        letters = series.str.len_bytes().sum()
    elif series.dtype == pl.Binary:
        letters = series.bin.size().sum()
    elif series.dtype in (pl.Categorical, pl.Enum):
        counts = series.alias("level").value_counts()
        lengths = counts["level"].cast(pl.String).str.len_bytes().cast(pl.Float64)
        letters = (lengths.fill_null(0) * counts["count"]).sum()
    else:
        return 0
    return int(letters) + BYTES_OF_TEXT * len(series)


def _without_apostrophes(series: polars.Series) -> polars.Series:
    """Take off apostrophes that keep spreadsheets from computing text."""
    import polars as pl

    if series.dtype != pl.String or not series.str.starts_with("'").any():
        return series
    return series.str.replace(INERT, "${1}")


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
        for standard input. Which of them it is shows in the file, whatever it is called. Pipes are
        read to their end.
    missing : sequence of str
        What stands for no value in text, beside ``NA``, ``NaN``, ``null`` and their like.

    Returns
    -------
    Table

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from chsic.data.table import open_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "data.csv"
    ...     _ = path.write_text("a,b\n1,2\n3,4\n")
    ...     open_table(path).read(["b"])["b"].to_list()
    [2, 4]
    """
    name, content = load(os.fspath(path))
    if is_parquet(content):
        parquet = ParquetFile.open(name, content)
        return Table(name, tuple(parquet.schema), None, content, parquet=parquet)
    content = as_text(name, content)
    with mapped(content) as data:
        end = first_record(name, data)
        header, separator = _header(name, data[:end])
        stop = end_of_line(data, end, end + BEGINNING)
        _require_no_more_fields(name, len(header), separator, data[end + 1 : stop])
    return Table(name, header, separator, content, tuple(missing))


def _header(name: str, first_line: bytes) -> tuple[tuple[str, ...], str]:
    """Return the names in the first line, and the separator that makes most of them."""
    try:
        text = first_line.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError:
        raise ValueError(f"{name}: {NOT_UTF8}.") from None
    if not text.strip():
        raise ValueError(f"{name}: the file is empty; its first line must name the columns.")
    with _cells_of_any_length(len(text)):
        ways = {separator: next(_split(text, separator)) for separator in SEPARATORS}
    separator = max(SEPARATORS, key=lambda s: len(ways[s]))  # the first of those that are equal
    return tuple(original(field.strip()).strip() for field in ways[separator]), separator


def _require_no_more_fields(name: str, number: int, separator: str, lines: bytes) -> None:
    """Raise if rows have more fields than there are names: all columns would have others' values.

    The first rows are looked at, as columns that are not asked for are not read.
    """
    text = lines.decode("utf-8", errors="replace")
    with _cells_of_any_length(len(text)):
        for row, fields in enumerate(_split(text, separator), start=1):
            if any(field.strip() for field in fields[number:]):
                raise ValueError(
                    f"{name}: row {row} has {len(fields)} fields, but the first line names "
                    f"{number} columns; name all of them, or quote fields that hold the separator "
                    f"{separator!r}."
                )


def _split(text: str, separator: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator)


@contextlib.contextmanager
def _cells_of_any_length(most: int) -> Iterator[None]:
    """Let the csv module read cells longer than its limit, which holds for the whole program."""
    before = csv.field_size_limit()
    csv.field_size_limit(max(before, most))
    try:
        yield
    finally:
        csv.field_size_limit(before)
