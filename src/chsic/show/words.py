"""The answer of a test in words."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from chsic._util.names import readable
from chsic.inference.result import IndependenceResult

CLEAR, SOME = 0.01, 0.05  # p-values below which there is clear and some evidence


def question(result: IndependenceResult) -> str:
    """Say what was asked.

    Examples
    --------
    >>> import chsic
    >>> from chsic.show.words import question
    >>> x, y, z = chsic.datasets.draw_scenario("add", 100, rng=0)
    >>> question(chsic.chsic_test(x, y, z, rng=0))
    'Is x still related to y once z is known?'
    """
    x, y, z = (listed(result.names[argument]) for argument in "xyz")
    if not z:
        return f"Is {x} related to {y}?"
    known = "are" if len(result.names["z"]) > 1 else "is"
    return f"Is {x} still related to {y} once {z} {known} known?"


def answer(result: IndependenceResult) -> str:
    """Say what was found, how strongly, and how sure that is.

    Examples
    --------
    >>> import chsic
    >>> from chsic.show.words import answer
    >>> x, y, z = chsic.datasets.draw_scenario("add", 400, rng=0)
    >>> print(answer(chsic.chsic_test(x, y, z, rng=0)))
    Yes: x and y are related among samples of equal z (p = ...).
    """
    x, y, z = (listed(result.names[argument]) for argument in "xyz")
    among = f" among samples of equal {z}" if z else ""
    p = f"p = {pvalue(result.pvalue)}"
    if result.pvalue <= CLEAR:
        return f"Yes: {x} and {y} are related{among} ({p})."
    if result.pvalue <= SOME:
        return f"Perhaps: there is some evidence that {x} and {y} are related{among} ({p})."
    return (
        f"No sign of it: {x} and {y} vary as if they were unrelated{among} ({p}). "
        "That is not proof that they are."
    )


def with_readable_names(result: IndependenceResult) -> IndependenceResult:
    r"""Return the result with names of columns that fit into a sentence.

    Examples
    --------
    >>> import chsic
    >>> from chsic.show.words import question, with_readable_names
    >>> x, y, _ = chsic.datasets.draw_scenario("add", 100, rng=0)
    >>> result = chsic.hsic_test({"rate\nper year": x}, y, rng=0)
    >>> question(with_readable_names(result))
    'Is rate per year related to y?'
    """
    names = {argument: tuple(map(readable, of)) for argument, of in result.names.items()}
    return dataclasses.replace(result, names=names)


def strength(result: IndependenceResult) -> str:
    """Say how large the coefficient is.

    Examples
    --------
    >>> import chsic
    >>> from chsic.show.words import strength
    >>> x, y, z = chsic.datasets.draw_scenario("add", 400, rng=0)
    >>> print(strength(chsic.chsic_test(x, y, z, rng=0)))
    0.0... on a scale from 0, unrelated, to 1, the same; 95% interval 0.0... to 0.1...
    """
    low, high = result.confidence_interval()
    return (
        f"{_number(result.coefficient)} on a scale from 0, unrelated, to 1, the same; 95% interval "
        f"{_number(low)} to {_number(high)}"
    )


def pvalue(p: float) -> str:
    """Write a p-value as people do.

    Examples
    --------
    >>> from chsic.show.words import pvalue
    >>> pvalue(0.0432), pvalue(3.21e-9)
    ('0.043', '3e-09')
    """
    return f"{p:.2g}" if p >= 1e-4 else f"{p:.0e}"


def _number(value: float) -> str:
    """Three decimals, or fewer digits of what they would not show."""
    return f"{value:.3f}" if value == 0 or abs(value) >= 0.001 else f"{value:.1g}"


def listed(names: Iterable[str]) -> str:
    """Write names as in a sentence.

    Examples
    --------
    >>> from chsic.show.words import listed
    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    *first, last = list(names) or [""]
    return f"{', '.join(first)} and {last}" if first else last
