"""Sizes of the columns of a Parquet file, from its footer, before they are read.

A few bytes may stand for any number of rows there. The numbers of fields are those of
https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from chsic.data.thrift import ThriftReader

MAGIC = b"PAR1"
BYTE_ARRAY = 6  # the type of values of any size
PAGE_KINDS = (5, 7, 8)  # fields of a page of data, a dictionary, or data of version 2
BYTES_OF_NUMBER = 8
BYTES_OF_TEXT = 64  # of one value in Python, without its letters
MOST_NESTED = 100  # levels of parts of a column


@dataclasses.dataclass
class ColumnSize:
    """What a column takes, over all groups of rows.

    Attributes
    ----------
    n_values : int
        Its values.
    n_bytes : int
        Their size once they are unpacked; text that is repeated may still be there once only.
    n_text : int
        The size of text with every repetition, where the file has it.
    is_text : bool
        Whether values have no fixed size.
    places : list of (int, int)
        Where its pages begin and end.
    """

    n_values: int = 0
    n_bytes: int = 0
    n_text: int = 0
    is_text: bool = False
    places: list[tuple[int, int]] = dataclasses.field(default_factory=list)

    def add(self, chunk: dict[int, Any], n_rows: int) -> None:
        """Add one group of rows, from the footer."""
        self.is_text |= chunk[1] == BYTE_ARRAY
        self.n_values += max(chunk[5], n_rows)
        self.n_bytes += chunk[6]
        self.n_text += chunk.get(16, {}).get(1, 0)
        start = min(place for place in (chunk[9], chunk.get(11)) if place)  # data, dictionary
        self.places.append((start, start + chunk[7]))

    def in_memory(self, data: Any) -> int:
        """Return the bytes that the column takes at least when it is read."""
        n_bytes = max(self.n_bytes, self._bytes_of_pages(data))
        if self.is_text:
            return max(n_bytes, self.n_text) + BYTES_OF_TEXT * self.n_values
        return max(n_bytes, BYTES_OF_NUMBER * self.n_values)

    def _bytes_of_pages(self, data: Any) -> int:
        """Add up what the pages say, as a footer may say less; raise for sizes that none can have.

        polars would try to take so much memory for these that the process ends.
        """
        total = 0
        for start, end in self.places:
            while start < end:
                reader = ThriftReader(data, start)
                try:
                    page = reader.structure()
                    unpacked, packed = page[2], page[3]
                    counts = [page[kind][1] for kind in PAGE_KINDS if kind in page]
                    if min(unpacked, packed, *counts) < 0:
                        raise LookupError
                    total += unpacked
                    start = reader.at + packed
                except (LookupError, TypeError):
                    raise ValueError("a page is damaged") from None
        return total


def column_sizes(data: Any) -> dict[str, ColumnSize]:
    """Read the sizes of all columns from the bytes of a Parquet file.

    Parameters
    ----------
    data : bytes or mmap
        The file.

    Returns
    -------
    dict of ColumnSize
        By name; of columns with parts, those of all parts. Columns without rows are not there.

    Raises
    ------
    ValueError
        If the footer is damaged, or its columns are nested so deeply that polars would crash.
    """
    length = int.from_bytes(data[-8:-4], "little")
    if len(data) < 12 or data[-4:] != MAGIC or length > len(data) - 12:
        raise ValueError("it does not end as such a file does")
    sizes: dict[str, ColumnSize] = {}
    try:
        footer = ThriftReader(data[len(data) - 8 - length : -8], 0).structure()
        depth = _depth([element.get(5, 0) for element in footer[2]])
        for group in footer[4]:
            for chunk in (chunk[3] for chunk in group[1]):
                name = chunk[3][0].decode("utf-8", "replace")
                sizes.setdefault(name, ColumnSize()).add(chunk, group[3])
    except (LookupError, TypeError, AttributeError, ValueError):
        raise ValueError("its footer is damaged") from None
    if depth > MOST_NESTED:
        raise ValueError(f"its columns have parts of parts, {depth} levels deep")
    return sizes


def _depth(n_children: list[int]) -> int:
    """Return the levels of a tree, from the numbers of children of its nodes, parents first."""
    deepest, open_nodes = 0, [0]
    for number in n_children:
        while len(open_nodes) > 1 and not open_nodes[-1]:
            open_nodes.pop()
        open_nodes[-1] -= 1
        open_nodes.append(number)
        deepest = max(deepest, len(open_nodes))
    return deepest
