"""Named columns from a file: CSV, TSV, Parquet, or standard input."""

from __future__ import annotations

import csv
import dataclasses
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chsic._validate import did_you_mean

if TYPE_CHECKING:
    import polars

STANDARD_INPUT = "-"
SEPARATORS = (",", "\t", ";")
MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None"]  # what stands for no value
ROWS_SEEN = 10_000  # from which types are inferred; all of them if that fails
PARQUET = b"PAR1"  # how such a file begins


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
    """

    path: str
    names: tuple[str, ...]
    separator: str | None
    content: Path | bytes = dataclasses.field(repr=False)

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
            Without rows in which all of these columns are empty, as blank lines are.

        Raises
        ------
        ValueError
            If a column is not there, is there twice or is asked for twice, or the file is broken.
        """
        import polars as pl

        positions = [self._position(name) for name in columns]
        if len(set(positions)) < len(positions):
            repeated = next(name for name in columns if list(columns).count(name) > 1)
            raise ValueError(f"{self.path}: column {repeated!r} is asked for more than once.")
        source = self.content if isinstance(self.content, Path) else io.BytesIO(self.content)
        try:
            if self.separator is None:
                frame = pl.read_parquet(source, columns=sorted(positions))
            else:
                frame = self._read_text(source, positions)
        except (pl.exceptions.PolarsError, OSError) as error:
            first = str(error).strip().partition("\n")[0]
            if "utf-8" in first.lower():
                first = "this is not UTF-8 text; save it as CSV in UTF-8"
            raise ValueError(f"{self.path}: {first}.") from None
        # Columns come in the order of the file, and blank lines as rows in which nothing is.
        found = dict(zip(sorted(positions), frame.get_columns(), strict=True))
        ordered = [
            found[position].alias(name) for name, position in zip(columns, positions, strict=True)
        ]
        return pl.DataFrame(ordered).filter(~pl.all_horizontal(pl.all().is_null()))

    def _read_text(self, source: Any, positions: list[int]) -> polars.DataFrame:
        import polars as pl

        settings: dict[str, Any] = {
            "columns": sorted(positions),
            "separator": self.separator,
            "null_values": MISSING,
            "try_parse_dates": True,
        }
        try:
            return pl.read_csv(source, infer_schema_length=ROWS_SEEN, **settings)
        except pl.exceptions.ComputeError:
            if isinstance(source, io.BytesIO):
                source.seek(0)
            return pl.read_csv(source, infer_schema_length=None, **settings)

    def _position(self, name: str) -> int:
        if self.names.count(name) == 1:
            return self.names.index(name)
        if name in self.names:
            raise ValueError(
                f"{self.path}: {self.names.count(name)} columns are called {name!r}; rename them."
            )
        hint = did_you_mean(name, self.names)
        raise ValueError(f"{self.path}: there is no column {name!r}; {hint}")


def open_table(path: str | os.PathLike[str]) -> Table:
    r"""Look at a file and read the names of its columns.

    Parameters
    ----------
    path : path-like
        A CSV or TSV file in UTF-8 whose first line names the columns, a Parquet file, or ``"-"``
        for standard input. Which of them it is shows in the file, whatever it is called.

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
        start, first_line = content[:4], content.partition(b"\n")[0]
    else:
        with Path(name).open("rb") as file:
            start = file.read(4)
            file.seek(0)
            first_line = b"" if start == PARQUET else file.readline()
    if start == PARQUET:
        return Table(name, _parquet_names(name, content), None, content)
    header, separator = _header(name, first_line)
    return Table(name, header, separator, content)


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
        separator: next(csv.reader([text.rstrip("\r\n")], delimiter=separator))
        for separator in SEPARATORS
    }
    separator = max(SEPARATORS, key=lambda s: len(ways[s]))  # the first of those that are equal
    return tuple(field.strip() for field in ways[separator]), separator
