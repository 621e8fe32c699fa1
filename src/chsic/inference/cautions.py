"""All sentences of caution: when a p-value or a strength is not to be trusted, and why.

They speak of the user's columns by their names. Numbers that decide whether a sentence applies are
where they are computed; the words are here.
"""

from __future__ import annotations

from collections.abc import Sequence

from chsic._util.names import listed, readable
from chsic._util.validate import Array
from chsic.data.cleaning import VERY_FAR, count_far_values

MOST_NAMED = 3  # confounders that are listed by name


def confounders(names: Sequence[str]) -> str:
    """Name the confounders, or say how many there are.

    Examples
    --------
    >>> from chsic.inference.cautions import confounders
    >>> confounders(["age", "ward"]), confounders(list("abcde"))
    ('age and ward', 'the 5 confounders')
    """
    return listed(names) if len(names) <= MOST_NAMED else f"the {len(names)} confounders"


def rows_omitted(number: int) -> str:
    """Say how many rows were left out for missing values."""
    if number == 1:
        return "1 row with a missing value was left out."
    return f"{number} rows with missing values were left out."


def without_partner(number: int, n: int, z: Sequence[str], *, by_value: bool | None) -> str:
    """Say that samples which are compared with no other are not used."""
    return f"{samples_alone(number, n, z, by_value=by_value)}, and are not used."


def samples_alone(number: int, n: int, z: Sequence[str], *, by_value: bool | None) -> str:
    """Say how many of n samples are compared with no other, and why.

    `by_value` tells whether values or categories of z make a pair; None if pairs were given.
    """
    if by_value is None:
        reason = "are in no pair"
    elif by_value:
        reason = f"have a value of {confounders(z)} that no other has"
    else:
        reason = f"share the categories of {confounders(z)} with no other"
    return f"{number} of {n} samples {reason}"


def far_values(name: str, values: Array) -> str:
    """Say that values, in standard deviations from the median, may not be meant.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.inference.cautions import far_values
    >>> print(far_values("age", np.append(np.zeros(99), 200.0)))
    age: 1 value is more than 100 standard deviations ...
    """
    number, share = count_far_values(values)
    if number:
        return (
            f"{readable(name)}: {number} value{'s are' if number > 1 else ' is'} more than "
            f"{VERY_FAR:g} standard deviations of the others away from their median; if that "
            "stands for a missing value, leave it out, and else give the logarithm or the ranks."
        )
    return (
        f"{readable(name)}: one sample has {share:.0%} of the variance; if it is not a mistake, "
        "give the logarithm or the ranks instead."
    )


def nearly_function_of_z(name: str, z: Sequence[str], share: float) -> str:
    """Say that the confounders explain nearly all of a column."""
    return (
        f"{readable(name)} is nearly a function of {confounders(z)}: {share:.1g} of its variance "
        "remains, much of which may be what the regression misses; do not trust a small p-value."
    )


def function_of_z(name: str, z: Sequence[str]) -> str:
    """Say that the confounders explain all of a column."""
    return (
        f"{readable(name)} is a function of {confounders(z)} up to rounding, so nothing of it "
        "remains that could be related to anything else."
    )


def never_together(x: Sequence[str], y: Sequence[str], z: Sequence[str]) -> str:
    """Say that no pair of samples differs in both x and y."""
    given = f" given {confounders(z)}" if z else ""
    return (
        f"{listed(x)} and {listed(y)} never vary together{given}: in every pair of samples that is "
        "compared, one of them is the same, so that nothing can be said of their relation."
    )


def no_coefficient() -> str:
    """Say that the strength is not known."""
    return "There are too few samples for a strength: it is given as 0, anywhere from -1 to 1."


def fine_structure(x: Sequence[str], y: Sequence[str]) -> str:
    """Say that a kernel is described in part."""
    return (
        f"{listed(x)} or {listed(y)} has more detail than the features of a kernel hold, so that a "
        "relation on a very fine scale may be missed."
    )


def few_signs(number: int, remedy: str | None) -> str:
    """Say that few groups of samples have a random sign; `remedy` is the setting that helps."""
    if remedy is None:
        return f"There are only {number} samples: p-values are coarse, and more are needed."
    return (
        f"Only {number} groups of samples have a random sign each, so that p-values are coarse; "
        f"use a smaller {remedy}."
    )


def few_groups(number: int) -> str:
    """Say that there are few groups, each with a random sign."""
    return (
        f"There are only {number} groups: p-values are coarse, and rest on few independent "
        "observations."
    )


def unequal_weights(n: int, n_effective: float) -> str:
    """Say that a few rows weigh more than all others.

    Examples
    --------
    >>> from chsic.inference.cautions import unequal_weights
    >>> print(unequal_weights(400, 12.3)[:73])
    Weights are so unequal that 400 rows tell as much as 12 of equal weight:
    """
    return (
        f"Weights are so unequal that {n} rows tell as much as {n_effective:.0f} of equal weight: "
        "p-values may be far too small, as rows that would weigh most may not have been drawn."
    )


def large_group(share: float) -> str:
    """Say that one group has many of the rows.

    Examples
    --------
    >>> from chsic.inference.cautions import large_group
    >>> print(large_group(0.5))
    One group has 50% of all rows: ...
    """
    return (
        f"One group has {share:.0%} of all rows: the others tell little of how much it varies, and "
        "the p-value may be too small."
    )


def long_memory() -> str:
    """Say that rows depend on each other for too long a time."""
    return (
        "Rows seem to depend on each other for more than a tenth of the time that was observed: "
        "p-values may be too small."
    )


def rows_follow(x: Sequence[str], y: Sequence[str], z: Sequence[str]) -> str:
    """Say that rows which follow each other are not independent.

    Examples
    --------
    >>> from chsic.inference.cautions import rows_follow
    >>> print(rows_follow(["sales"], ["staff"], ["hour"]))
    Rows that follow each other are alike in sales and staff, also once hour is known: ...
    """
    known = f", also once {confounders(z)} {'is' if len(z) == 1 else 'are'} known" if z else ""
    return (
        f"Rows that follow each other are alike in {listed(x)} and {listed(y)}{known}: the p-value "
        "takes them for independent, and may be far too small; say how they depend on each other, "
        "by groups=... or time=... (time='rows' for their order)."
    )


def identical_rows(number: int, n: int) -> str:
    """Say that too many rows are the same."""
    return (
        f"{number} of {n} rows are equal to another in all columns, more than chance explains: the "
        "p-value takes them for independent, and may be far too small; leave copies out, or give "
        "groups=... of rows that belong together."
    )


def leans_on_regression(x: Sequence[str], y: Sequence[str], z: Sequence[str]) -> str:
    """Say that regressions of x and of y missed something that both follow.

    Examples
    --------
    >>> from chsic.inference.cautions import leans_on_regression
    >>> print(leans_on_regression(["sales"], ["staff"], ["hour"]))
    sales and staff still follow hour together: sales is related to staff of other samples ...
    """
    one, other, of_z = listed(x), listed(y), confounders(z)
    remedy = (
        "compare it with that of pairs='closest', alpha=1, or use"
        if len(z) == 1
        else "closer pairs hardly help with several confounders; use fewer of them,"
    )
    return (
        f"{one} and {other} still follow {of_z} together: {one} is related to {other} of other "
        f"samples near in {of_z} as well, so that the regression has missed something, and the "
        f"p-value may be far too small; {remedy} more samples, or a regression that suits them as "
        "adjust."
    )


def too_few_samples(n: int, z: Sequence[str]) -> str:
    """Say that there are too many confounders for so few samples."""
    return (
        f"{n} samples are too few to tell what {confounders(z)} explain{'' if len(z) > 1 else 's'};"
        " do not trust the p-value."
    )


def many_confounders(d: int) -> str:
    """Say that there are many confounders."""
    return (
        f"With {d} confounders, samples are far apart in them, and the p-value relies on a "
        "regression; if many of them matter, it may be far too small."
    )


def ties_in_z(share: float, z: Sequence[str]) -> str:
    """Say that many samples share their values of numbers that were taken as continuous."""
    remedy = (
        "it was treated as continuous; if its values are names, say that it is a category"
        if len(z) == 1
        else "they were treated as continuous; if values are names, say that they are categories"
    )
    return (
        f"{share:.0%} of the samples share their value of {confounders(z)} with two others or more,"
        f" but {remedy}."
    )


def pairs_far_apart(ratio: float, z: Sequence[str]) -> str:
    """Say that partners are hardly closer in z than any two samples."""
    return (
        f"Samples that are compared are far apart in {confounders(z)}: their median distance is "
        f"{ratio:.0%} of that of any two samples, so that comparing them removes little of "
        f"{'its' if len(z) == 1 else 'their'} influence."
    )
