"""All sentences that warn of an answer: when a p-value or a coefficient is not to be trusted."""

from __future__ import annotations

from chsic.data.arguments import called
from chsic.data.column import Column

NEVER_TOGETHER = (
    "x and y never vary together given z: in every pair of samples that is compared, one of them "
    "is the same, so that nothing can be said of their relation."
)
NO_COEFFICIENT = "The samples are too few for a coefficient: it is given as 0 in [-1, 1]."
FINE_STRUCTURE = (
    "The kernels of x or y at their narrowest bandwidth are described by features only in part, so "
    "fine structure may be missed."
)


def rows_omitted(number: int) -> str:
    """Say how many rows were left out for missing values."""
    if number == 1:
        return "1 row with a missing value was left out."
    return f"{number} rows with missing values were left out."


def without_partner(number: int, reason: str) -> str:
    """Say how many samples are compared with no other, and why."""
    return f"{number} samples {reason}, and are not used."


def levels_pooled(argument: str, column: Column, number: int) -> str:
    """Say that rare levels of a category are taken as one."""
    return (
        f"{called(argument, column)}: of its {len(column.levels)} categories, the {number} rarest "
        "are compared as one."
    )


def far_values(argument: str, column: Column, text: str) -> str:
    """Name the column with values far off."""
    return f"{called(argument, column)}: {text}"


def nearly_function_of_z(argument: str, column: Column, share: float) -> str:
    """Say that z explains nearly all of a column."""
    return (
        f"{called(argument, column)} is nearly a function of z: {share:.1g} of its variance is "
        "left, much of which may be what the regression misses; do not trust a small p-value."
    )


def function_of_z(argument: str, column: Column) -> str:
    """Say that z explains all of a column."""
    return (
        f"{called(argument, column)} is a function of z up to rounding, so nothing of it is left "
        "that could depend on the other."
    )


def few_units(number: int, *, of_single_samples: bool) -> str:
    """Say that few units have a random sign."""
    remedy = "more samples are needed" if of_single_samples else "use a smaller unit_size"
    return f"Only {number} units have a random sign, so that p-values are coarse; {remedy}."


def too_few_samples(n: int, d: int) -> str:
    """Say that z has too many columns for so few samples."""
    return (
        f"z has {d} columns for {n} samples: too few to tell what z explains; do not trust the "
        "p-value."
    )


def many_columns(d: int) -> str:
    """Say that z has many columns."""
    return (
        f"z has {d} columns: samples are far apart in z, and the p-value leans on the regression; "
        "if x and y follow many of them, it may be far too small."
    )


def ties_in_z(share: float) -> str:
    """Say that z has many equal values, and was taken as continuous."""
    return (
        f"{share:.0%} of the samples share their z with two others or more, but z was treated as "
        "continuous; if its values are names, say that it is a category."
    )


def pairs_far_apart(ratio: float) -> str:
    """Say that partners are hardly closer in z than any two samples."""
    return (
        f"Pairs are far apart in z: their median distance is {ratio:.0%} of that of any two "
        "samples, so pruning takes off little of z's influence."
    )
