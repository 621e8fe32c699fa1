"""Which rows of a matrix, and how many of them are worked on together."""

from __future__ import annotations

from typing import TypeAlias

from chsic._util.validate import Index

Rows: TypeAlias = slice | Index

# About as many as a cache holds; with fewer, threads hand the lock of Python over too often.
AT_ONCE = 2**14


def in_parts(n: int) -> list[Rows]:
    """Cut n rows into parts.

    Examples
    --------
    >>> from chsic._util.rows import in_parts
    >>> in_parts(20_000)
    [slice(0, 16384, None), slice(16384, 20000, None)]
    """
    return [slice(start, min(start + AT_ONCE, n)) for start in range(0, n, AT_ONCE)]
