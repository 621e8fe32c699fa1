"""Rows in blocks that fit into a processor's cache, and whole numbers each once."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from chsic._util.validate import Index

Rows: TypeAlias = slice | Index

# About as many as a cache holds; with fewer, threads hand the lock of Python over too often.
BLOCK_ROWS = 2**14


def row_blocks(n: int) -> list[Rows]:
    """Cut n rows into blocks.

    Examples
    --------
    >>> from chsic._util.arrays import row_blocks
    >>> row_blocks(20_000)
    [slice(0, 16384, None), slice(16384, 20000, None)]
    """
    return [slice(start, min(start + BLOCK_ROWS, n)) for start in range(0, n, BLOCK_ROWS)]


def sorted_unique(numbers: Index) -> Index:
    """Return whole numbers in increasing order, each once.

    As `np.unique` does; but that puts whole numbers into a hash table since NumPy 2.3, which takes
    several times as long as sorting them.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic._util.arrays import sorted_unique
    >>> sorted_unique(np.array([3, 1, 3, 2, 1]))
    array([1, 2, 3])
    """
    ordered = np.sort(numbers)
    unique: Index = ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]]
    return unique
