"""The compact protocol of Thrift, in which the footer of a Parquet file is written.

https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
"""

from __future__ import annotations

from typing import Any

MOST_NESTED = 100  # levels of structures, of which Parquet has six
TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12


class ThriftReader:
    r"""Reads structures one after the other.

    Parameters
    ----------
    data : bytes or mmap
        What to read from.
    at : int
        Where to begin; then, where to go on.

    Examples
    --------
    >>> from chsic.data.thrift import ThriftReader
    >>> ThriftReader(b"\x15\x04\x18\x02hi\x00", 0).structure()
    {1: 2, 2: b'hi'}
    """

    def __init__(self, data: Any, at: int) -> None:
        self._data, self.at = data, at

    def structure(self, depth: int = 0) -> dict[int, Any]:
        """Read a structure: its values by number of field.

        Raises
        ------
        LookupError
            If there is none.
        """
        if depth > MOST_NESTED:
            raise LookupError
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            kind, step = head & 15, head >> 4
            number = number + step if step else self._integer()
            fields[number] = kind == TRUE if kind in (TRUE, FALSE) else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if BYTE < kind < DOUBLE:  # integers of 16, 32 and 64 bits
            return self._integer()
        if kind == BINARY:
            return self._bytes(self._unsigned())
        if kind == STRUCT:
            return self.structure(depth + 1)
        if kind in (LIST, SET):
            return self._list(depth)
        if kind == MAP:
            return self._map(depth)
        if kind in (TRUE, FALSE, BYTE):
            return self._byte()
        if kind == DOUBLE:
            return self._bytes(8)
        raise LookupError

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        size = self._unsigned() if head >> 4 == 15 else head >> 4
        self._require(size)  # an element takes a byte at least
        return [self._value(head & 15, depth + 1) for _ in range(size)]

    def _map(self, depth: int) -> None:
        size = self._unsigned()
        self._require(size)
        kinds = self._byte() if size else 0
        for _ in range(size):
            self._value(kinds >> 4, depth + 1)
            self._value(kinds & 15, depth + 1)

    def _byte(self) -> int:
        self.at += 1
        return int(self._data[self.at - 1])

    def _bytes(self, size: int) -> bytes:
        self._require(size)
        self.at += size
        return bytes(self._data[self.at - size : self.at])

    def _unsigned(self) -> int:
        """Seven bits a byte, the smallest first."""
        value, shift = 0, 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
            if shift > 63:
                raise LookupError

    def _integer(self) -> int:
        """Signs alternate: 0, -1, 1, -2, ..."""
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)

    def _require(self, size: int) -> None:
        if size > len(self._data) - self.at:
            raise LookupError
