"""Rows that are equal in all columns, where the kinds of the columns do not explain it."""

from __future__ import annotations

import numpy as np
from scipy.stats import binom

from chsic._util.validate import Array
from chsic.data.arguments import Columns

MOST_ROWS = 100_000  # that are looked at
FEWEST, LEAST_SHARE = 5, 0.01  # equal rows that matter, and their share
MOSTLY = 0.5  # share of rows of equal number that are equal in all columns
FINE = 10.0**6  # cells of a number that has more than six digits
MANY_TIMES = 3.0  # more equal numbers than rounding explains
BY_CHANCE = 1e-4


def number_of_copies(columns: Columns) -> int:
    """Return how many rows are equal to another, 0 if rounding or few values may explain it.

    Numbers tell: those of independent rows are equal as often as their digits make them. Where the
    number with the most values repeats more often than that, and all other columns repeat with it,
    but not between rows whose number is the next one, rows are copies.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.data.column import Column
    >>> from chsic.data.copies import number_of_copies
    >>> x, y = np.random.default_rng(0).normal(size=(2, 100))
    >>> number_of_copies([Column("x", "number", x), Column("y", "number", y)])
    0
    >>> twice = [Column(name, "number", np.tile(v, 2)) for name, v in (("x", x), ("y", y))]
    >>> number_of_copies(twice)
    200
    """
    values = [column.values for column in columns]
    n = len(values[0])
    rng = np.random.default_rng(0)
    rows = rng.permutation(n)[:MOST_ROWS]  # ties in no order that means something
    values = [one[rows] for one in values]
    numbers = [k for k, column in enumerate(columns) if column.kind == "number"]
    if not numbers:
        return 0
    finest = max(numbers, key=lambda k: len(np.unique(values[k])))
    order = np.argsort(values[finest], kind="stable")
    finest_values = values[finest][order]
    equal = finest_values[1:] == finest_values[:-1]
    if np.count_nonzero(equal) < FEWEST:
        return 0
    all_equal = np.logical_and.reduce([one[order][1:] == one[order][:-1] for one in values])
    beside = np.logical_and.reduce(
        [one[order][1:] == one[order][:-1] for k, one in enumerate(values) if k != finest]
    )
    common = finest_values[1:] == _most_common(finest_values)  # such as 0, or a fill value
    next_ones = ~equal & ~common
    n_equal, n_copies = np.count_nonzero(equal & ~common), np.count_nonzero(all_equal & ~common)
    explained = MANY_TIMES * len(rows) ** 2 / _cells(finest_values)
    if n_equal < explained + FEWEST or n_copies < max(FEWEST, LEAST_SHARE * len(rows)):
        return 0
    share = n_copies / n_equal
    n_next, beside_next = np.count_nonzero(next_ones), np.count_nonzero(next_ones & beside)
    if share < MOSTLY or binom.cdf(beside_next, n_next, share) > BY_CHANCE:
        return 0
    copies = np.zeros(len(rows), bool)
    copies[1:] |= all_equal
    copies[:-1] |= all_equal
    return round(np.count_nonzero(copies) * n / len(rows))


def _most_common(ordered: Array) -> float:
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    sizes = np.diff(np.append(starts, len(ordered)))
    return float(ordered[starts[sizes.argmax()]])


def _cells(ordered: Array) -> float:
    """Return how many values a number may have between its least and its largest one."""
    different = np.unique(ordered)
    apart = different[-1] - different[0]
    if not apart > 0:
        return 1.0
    places = different / 10.0 ** np.ceil(np.log10(apart)) * FINE
    if np.mean(np.abs(places - np.round(places)) > 1e-3) > MOSTLY:
        return FINE**2
    return float(apart / np.diff(different).min())
