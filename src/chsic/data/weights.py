"""Weights of rows: how many rows of the population each one stands for.

Survey weights and inverse probabilities are known up to a factor, so that only their ratios count.
"""

from __future__ import annotations

import numpy as np

from chsic._util.arrays import numbered, numbers_of_rows
from chsic._util.validate import Array, Index
from chsic.data.arguments import side_by_side
from chsic.data.column import Column

SMALLEST = 1e-12  # weight, in units of the largest


def require_weights(column: Column) -> None:
    """Raise unless a column has weights: numbers that are finite and not negative, not all zero."""
    if column.kind != "number" or column.is_date:
        kind = "dates" if column.is_date else "text or categories"
        raise TypeError(
            f"weights: {column.name!r} has {kind}; numbers are needed, such as how many people a "
            "row stands for, or one over the probability that it was drawn."
        )
    known = column.values[~column.missing]
    if np.any(known < 0):
        row = int(np.flatnonzero(column.values < 0)[0])
        raise ValueError(
            f"weights: row {row} has the weight {column.values[row]:g}; none may be negative. Rows "
            "that are not to count have the weight 0."
        )
    if not np.all(np.isfinite(known)):
        row = int(np.flatnonzero(np.isinf(column.values))[0])
        raise ValueError(
            f"weights: row {row} has an infinite weight, as that of a row which can't be drawn; "
            "leave it out, or bound weights."
        )
    positive = known[known > 0]
    if not len(positive):
        raise ValueError("weights: no row has a weight above zero; leave weights out to count all.")
    if positive.max() * SMALLEST > positive.min():
        raise ValueError(
            f"weights: from {positive.min():g} to {positive.max():g}, they are too far apart to be "
            "compared; give rows that hardly count the weight 0, or bound weights."
        )


def relative(weights: Array) -> Array | None:
    """Divide positive weights by their mean; None if they are all equal.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.data.weights import relative
    >>> relative(np.array([1.0, 3.0]))
    array([0.5, 1.5])
    >>> relative(np.array([4.0, 4.0])) is None
    True
    """
    if np.all(weights == weights[0]):
        return None
    near_one = weights / weights.max()  # sums of large ones might overflow
    divided: Array = near_one / near_one.mean()
    return divided


def effective_number(weights: Array) -> float:
    """Return as many rows of equal weight as say as much about a mean (Kish 1965).

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.data.weights import effective_number
    >>> effective_number(np.array([1.0, 1.0, 2.0]))
    2.6666666666666665
    """
    return float(weights.sum() ** 2 / (weights**2).sum())


def copies_in_groups(
    columns: list[Array], groups: Index | None = None
) -> tuple[Index, Index] | None:
    """Return the first of all rows that are equal in one group, and which of these each row is.

    Without groups, of all equal rows. None if all rows differ.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.data.weights import copies_in_groups
    >>> copies_in_groups([np.array([5.0, 3.0, 5.0, 5.0])], np.array([0, 0, 0, 1]))
    (array([0, 1, 3]), array([0, 1, 0, 2]))
    """
    labels = [] if groups is None else [groups.astype(np.float64)]
    sets = numbered(numbers_of_rows(side_by_side([*labels, *columns])))
    _, first = np.unique(sets, return_index=True)
    return None if len(first) == len(sets) else (first, sets)
