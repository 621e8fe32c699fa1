"""Checks of pairs that a user lists: whole numbers in range, no pair twice, none across blocks."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from chsic._util.validate import Index


def as_indices(name: str, values: ArrayLike, n: int) -> Index:
    """Return a 1-D array of samples, counted from 0."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(f"{name}: expected a 1-D array, got rows of different lengths.") from None
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise TypeError(
            f"{name}: expected a 1-D array of whole numbers, got shape {array.shape} and dtype "
            f"{array.dtype}."
        )
    if array.size and not (array.min() >= 0 and array.max() < n):
        raise ValueError(
            f"{name}: must lie between 0 and n_samples - 1 = {n - 1}, "
            f"got {array.min()} to {array.max()}."
        )
    return array.astype(np.intp)


def as_blocks(blocks: ArrayLike | None, pairs: tuple[Index, Index], n: int) -> Index | None:
    """Return the block of each sample, none of them empty and no pair between two of them."""
    if blocks is None:
        return None
    labels = as_indices("blocks", blocks, n)
    if len(labels) != n:
        raise ValueError(f"blocks: one for each of the {n} samples is needed, got {len(labels)}.")
    if len(missing := np.flatnonzero(np.bincount(labels) == 0)):
        raise ValueError(f"blocks: block {missing[0]} is empty; number the blocks 0, 1, 2, ...")
    crossing = np.flatnonzero(labels[pairs[0]] != labels[pairs[1]])
    if len(crossing):
        a, b = (int(ends[crossing[0]]) for ends in pairs)
        raise ValueError(
            f"blocks: the pair ({a}, {b}) joins block {labels[a]} with block {labels[b]}; blocks "
            "must not share pairs."
        )
    return labels


def require_distinct_pairs(i: Index, j: Index, n: int) -> None:
    """Raise if there is no pair, a pair twice, or a sample paired with itself."""
    if len(i) != len(j):
        raise ValueError(f"i and j: must have the same length, got {len(i)} and {len(j)}.")
    if len(i) < 1:
        raise ValueError("i and j: at least one pair is needed (K >= 1), got none.")
    if np.any(i == j):
        raise ValueError(f"i and j: sample {i[i == j][0]} is paired with itself; drop that pair.")
    keys = np.sort(np.minimum(i, j) * n + np.maximum(i, j))
    repeated = np.flatnonzero(keys[1:] == keys[:-1])
    if len(repeated):
        a, b = divmod(int(keys[repeated[0]]), n)
        raise ValueError(
            f"i and j: the pair ({a}, {b}) is listed more than once; list each pair once, in "
            "either order."
        )
