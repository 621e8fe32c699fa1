"""Whole numbers, each once."""

from __future__ import annotations

import numpy as np

from chsic._util.validate import Index


def distinct(numbers: Index) -> Index:
    """Return `numbers` in increasing order, each once.

    As `np.unique` does; but that puts whole numbers into a hash table since NumPy 2.3, which takes
    several times as long as sorting them.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic._util.distinct import distinct
    >>> distinct(np.array([3, 1, 3, 2, 1]))
    array([1, 2, 3])
    """
    ordered = np.sort(numbers)
    once: Index = ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]]
    return once
