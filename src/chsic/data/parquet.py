"""Columns of a Parquet file, whose size is known before they are read."""

from __future__ import annotations

import contextlib
import dataclasses
import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chsic.data.file_content import Content, mapped
from chsic.data.memory_limit import BYTES_OF_ROW, require_memory
from chsic.data.parquet_footer import ColumnSize, column_sizes
from chsic.data.polars_errors import PARQUET_IS_BROKEN, errors_of_polars

if TYPE_CHECKING:
    import polars


@dataclasses.dataclass(frozen=True)
class ParquetFile:
    """A file that was looked at.

    Attributes
    ----------
    name : str
        What the user called it.
    content : path or bytes
        Where it is, or what it holds.
    schema : polars.Schema
        Types of the columns, by name.
    sizes : dict of ColumnSize
        From the footer.
    """

    name: str
    content: Content
    schema: polars.Schema
    sizes: dict[str, ColumnSize]

    @classmethod
    def open(cls, name: str, content: Content) -> ParquetFile:
        """Read the footer."""
        import polars as pl

        with _naming(name), mapped(content) as data:
            sizes = column_sizes(data)
        with errors_of_polars(name, *PARQUET_IS_BROKEN):
            lazy = pl.scan_parquet(_source(content), glob=False, hive_partitioning=False)
            return cls(name, content, lazy.collect_schema(), sizes)

    def read(self, positions: list[int]) -> list[polars.Series]:
        """Read columns, in the order of the file."""
        import polars as pl

        names = [self.schema.names()[position] for position in positions]
        for name in names:
            kind = self.schema[name]
            if kind.is_nested() or kind == pl.Object:
                raise ValueError(
                    f"{self.name}: column {name!r} holds values of type {type(kind).__name__}; "
                    "choose columns of numbers, dates or text."
                )
        require_memory(self.name, self._size(names))
        with errors_of_polars(self.name, *PARQUET_IS_BROKEN):
            return pl.read_parquet(
                _source(self.content), columns=positions, glob=False, hive_partitioning=False
            ).get_columns()

    def _size(self, names: list[str]) -> int:
        if not self.sizes:  # there are no rows
            return 0
        with _naming(self.name), mapped(self.content) as data:
            missing = [name for name in names if name not in self.sizes]
            if missing:
                raise ValueError(f"its footer lacks column {missing[0]!r}")
            n_rows = max((self.sizes[name].n_values for name in names), default=0)
            columns = sum(self.sizes[name].in_memory(data) for name in names)
            return columns + BYTES_OF_ROW * n_rows


@contextlib.contextmanager
def _naming(name: str) -> Iterator[None]:
    """Name the file and the remedy in errors of its footer and pages."""
    what, remedy = PARQUET_IS_BROKEN
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{name}: {what}{error}{remedy}.") from None


def _source(content: Content) -> Any:
    return content if isinstance(content, Path) else io.BytesIO(content)
