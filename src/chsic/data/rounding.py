"""Numbers that differ by rounding alone are the same number.

0.1 + 0.2 is not 0.3 in double precision. Where a column would otherwise be constant, such
differences are all there is: they would set the bandwidth, and a test would be one of rounding.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chsic._util.validate import Array

ROUNDING = 4 * np.finfo(np.float64).eps  # what a few operations may be off by, relative
SEEN = 2**14  # numbers that are looked at: what is rarer decides nothing


def without_rounding(values: Array) -> Array:
    """Return `values` with those made equal that a few operations may have moved apart.

    Whole numbers are exact, and numbers that fill a wide range in such steps stay as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.data.rounding import without_rounding
    >>> len(set(without_rounding(np.array([0.1 + 0.2, 0.3, 5.0])).tolist()))
    2
    """
    some = np.sort(values[:: 1 + len(values) // SEEN])
    if not _moved(some).any():
        return values
    ordered = np.sort(values)
    close = (ordered[1:] == ordered[:-1]) | _moved(ordered)
    starts = np.flatnonzero(np.append(True, ~close))
    widths = ordered[np.append(starts[1:], len(ordered)) - 1] - ordered[starts]
    narrow = widths <= ROUNDING * np.abs(ordered[starts])
    run = np.searchsorted(ordered[starts], values, side="right") - 1
    equal: Array = np.where(narrow[run], ordered[starts][run], values)
    return equal


def _moved(ordered: Array) -> NDArray[np.bool_]:
    """Tell which numbers differ from the one before by rounding alone; whole numbers never do."""
    gaps = np.diff(ordered)
    moved: NDArray[np.bool_] = (gaps > 0) & (gaps <= ROUNDING * np.abs(ordered[1:]))
    near = np.flatnonzero(moved)
    whole = ordered[near] == np.floor(ordered[near])
    moved[near] = ~(whole & (ordered[near + 1] == np.floor(ordered[near + 1])))
    return moved
