"""Rows in blocks that fit into a processor's cache, whole numbers each once, numbers for labels."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from chsic._util.validate import Array, Index

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


def numbers_of_rows(values: Array) -> Index:
    """Return for each row its number among the distinct rows, the last column deciding first.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic._util.arrays import numbers_of_rows
    >>> numbers_of_rows(np.array([[2.0, 1.0], [1.0, 3.0], [2.0, 1.0]]))
    array([0, 1, 0])
    """
    order = (
        np.argsort(values[:, 0]) if values.shape[1] == 1 else np.lexsort(values.T)
    )  # thrice as fast
    changes = np.any(values[order[1:]] != values[order[:-1]], axis=1)
    numbers = np.empty(len(values), np.intp)
    numbers[order] = np.concatenate([[0], np.cumsum(changes)])
    return numbers


def numbered(labels: NDArray[Any]) -> Index:
    """Replace labels by numbers from 0 on, as they appear: whatever groups are called.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic._util.arrays import numbered
    >>> numbered(np.array([7.0, 3.0, 7.0]))
    array([0, 1, 0])
    """
    _, first, sorted_numbers = np.unique(labels, return_index=True, return_inverse=True)
    numbers = np.empty(len(first), np.intp)
    numbers[np.argsort(first)] = np.arange(len(first))
    return numbers[sorted_numbers]
