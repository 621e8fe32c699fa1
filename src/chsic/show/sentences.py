"""Sentences about results: the same in the terminal, in notebooks, on pages and in pictures.

Names of columns in them are on one line and short, whatever the columns are called.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from chsic._util.names import listed, readable, shortened
from chsic.data.grouped import in_groups
from chsic.inference.cautions import rows_omitted
from chsic.inference.result import HARDLY_MATTERS, IndependenceResult
from chsic.many.screen_result import Screen

CLEAR = 0.01  # p-value below which evidence is clear

ABOUT_STRENGTH = (
    "is 0 if x and y are unrelated given z, on average, and 1 if they are the same. It may be "
    "slightly negative by chance, and does not see relations that cancel along z. The interval is "
    "meant for related x and y; near 0, look at p."
)
ABOUT_CAUSES = (
    "Nothing here says what causes what, and a confounder that is not among the columns cannot be "
    "accounted for."
)
ABOUT_MEASURES = (
    "HSIC and C-HSIC are the paper's measures: the dependence of x and y, and the same over",
    "pairs of samples close in z. Both are positive even where nothing is related. The last",
    "two columns leave that part out, and use equally many pairs: drawn at random, and close",
    "in z. Near 0 means that no relation is seen. For a p-value: chsic test.",
)


def question(result: IndependenceResult) -> str:
    r"""Say what was asked.

    Examples
    --------
    >>> import chsic
    >>> from chsic.show.sentences import question
    >>> x, y, z = chsic.datasets.draw_scenario("add", 100, rng=0)
    >>> question(chsic.chsic_test(x, y, z, rng=0))
    'Is x still related to y once z is known?'
    >>> question(chsic.hsic_test({"rate\nper year": x}, y, rng=0))
    'Is rate per year related to y?'
    """
    x, y, z = (names_of(result, argument) for argument in "xyz")
    if not z:
        return f"Is {x} related to {y}?"
    return f"Is {x} still related to {y} once {z} {_is(result.names['z'])} known?"


def answer(result: IndependenceResult) -> str:
    """Say whether there is a relation, and how sure that is.

    Examples
    --------
    >>> import chsic
    >>> from chsic.show.sentences import answer
    >>> x, y, z = chsic.datasets.draw_scenario("add", 400, rng=0)
    >>> print(answer(chsic.chsic_test(x, y, z, rng=0)))
    Yes: x and y are related among samples of equal z (p = ...).
    """
    x, y, z = (names_of(result, argument) for argument in "xyz")
    among = " among samples" if z or result.within else ""
    among += " of one group" if result.within else ""
    among += f"{' and' if result.within else ''} of equal {z}" if z else ""
    among += " in the weighted population" if result.n_effective is not None else ""
    p = f"p = {pvalue(result.pvalue)}"
    if result.pvalue <= CLEAR:
        return f"Yes: {x} and {y} are related{among} ({p})."
    if result.verdict == "yes":
        return f"Yes, with some doubt: there is evidence that {x} and {y} are related{among} ({p})."
    if result.verdict == "practically unrelated":
        return (
            f"Practically unrelated: {x} and {y} show no relation{among} ({p}), and a strength of "
            f"{HARDLY_MATTERS} or more is ruled out."
        )
    return (
        f"Undecided: {x} and {y} show no clear relation{among} ({p}), but a strength of up to "
        f"{result.smallest_bound():.2g} is not ruled out."
    )


def strength(result: IndependenceResult) -> str:
    """Say how large the coefficient is.

    Examples
    --------
    >>> import chsic
    >>> from chsic.show.sentences import strength
    >>> x, y, z = chsic.datasets.draw_scenario("add", 400, rng=0)
    >>> print(strength(chsic.chsic_test(x, y, z, rng=0)))
    0.0... on a scale from 0, unrelated, to 1, the same; 95% interval 0.0... to 0.1...
    """
    low, high = result.confidence_interval()
    return (
        f"{_number(result.coefficient)} on a scale from 0, unrelated, to 1, the same; 95% interval "
        f"{_number(low)} to {_number(high)}"
    )


def without_z(result: IndependenceResult, ignoring_z: IndependenceResult) -> str:
    """Say what the answer would be without z, beside that of `result`.

    Examples
    --------
    >>> import chsic
    >>> from chsic.show.sentences import without_z
    >>> x, y, z = chsic.datasets.draw_scenario("add", 400, rng=0)
    >>> result, other = chsic.chsic_test(x, y, z, rng=0), chsic.hsic_test(x, y, rng=0)
    >>> print(without_z(result, other))
    If z is ignored, the question is another one: Is x related to y? ... Strength: ...
    """
    return (
        f"If {names_of(result, 'z')} {_is(result.names['z'])} ignored, the question is another "
        f"one: {question(ignoring_z)} {answer(ignoring_z)} Strength: {strength(ignoring_z)}."
    )


def sample_size(result: IndependenceResult) -> str:
    """Say how many samples and pairs were used.

    Examples
    --------
    >>> import chsic
    >>> from chsic.show.sentences import sample_size
    >>> x, y, _ = chsic.datasets.draw_scenario("add", 100, rng=0)
    >>> sample_size(chsic.hsic_test(x, y, rng=0))
    '100; 4950 pairs (complete)'
    """
    omitted = f", {result.n_omitted} left out for missing values" if result.n_omitted else ""
    return (
        f"{result.n_samples}{in_groups(result)}{omitted}; {result.n_pairs} pairs ({result.pairs})"
    )


def about_pvalue(result: IndependenceResult) -> str:
    """Say what p is, and what it assumes.

    Examples
    --------
    >>> import chsic
    >>> from chsic.show.sentences import about_pvalue
    >>> x, y, _ = chsic.datasets.draw_scenario("add", 100, rng=0)
    >>> print(about_pvalue(chsic.hsic_test(x, y, rng=0)))
    is the probability ... It assumes that rows are independent of each other, and ...
    """
    kind = "stretches of time" if result.stretch else "groups"
    rows = f"rows of different {kind}" if result.n_groups else "rows"
    inside, levels = "", ""
    if result.within:
        inside = " and of one group"
        levels = ", that what else differs between groups adds the same to all rows of one"
    weights = ""
    if result.n_effective is not None:
        weights = (
            " Rows have weights, so that p, strength and interval are about the population that "
            "they stand for; weights are taken as known."
        )
    return (
        "is the probability of seeing a relation at least as clear if there were none among "
        f"samples of equal z{inside}. It assumes that {rows} are independent of each "
        f"other{levels}, and that little of z's influence is left after regression and between "
        f"neighbours. A large p is no proof that there is no relation.{weights}"
    )


def data_read(result: IndependenceResult, source: str | None) -> str:
    """Say how many rows came from where.

    Examples
    --------
    >>> import chsic
    >>> from chsic.show.sentences import data_read
    >>> x, y, _ = chsic.datasets.draw_scenario("add", 100, rng=0)
    >>> data_read(chsic.hsic_test(x, y, rng=0), "data.csv")
    '100 rows. From data.csv.'
    """
    omitted = (
        f", {result.n_omitted} of them left out for missing values" if result.n_omitted else ""
    )
    origin = f" From {shortened(source)}." if source else ""
    groups = in_groups(result)
    groups = f",{groups}" if omitted and groups else groups
    return f"{result.n_samples + result.n_omitted} rows{omitted}{groups}.{origin}"


def related_pairs(screen: Screen, level: float) -> str:
    """Say how many pairs of a screen are related.

    Examples
    --------
    >>> import chsic
    >>> from chsic.show.sentences import related_pairs
    >>> screen = chsic.screen(chsic.datasets.summer(), "temperature", rng=0)
    >>> print(related_pairs(screen, 0.05))
    1 of 3 pairs are related given temperature
    (adjusted p at most 0.05, Benjamini and Hochberg)
    """
    related = sum(pair.pvalue_bh <= level for pair in screen)
    found = f"{related} of {len(screen)} pairs are related{given(screen.given)}"
    rows, how = _rows_in_groups(screen), f" (adjusted p at most {level:g}, Benjamini and Hochberg)"
    if screen.n_effective is not None:  # which is told in brackets of its own
        return f"{found}{how}{rows}"
    return f"{found}{rows}{how}"


def screen_cautions(screen: Screen) -> list[str]:
    """Say what was not tested, and what to be careful about, each sentence once.

    Examples
    --------
    >>> import chsic
    >>> from chsic.show.sentences import screen_cautions
    >>> screen = chsic.screen({"a": [1.0, 2, 4, 3, 5], "b": [2, 1, 4, 5, 3], "c": [7] * 5}, rng=0)
    >>> print(screen_cautions(screen)[0])
    skipped c: every value is 7 ...
    """
    lines = []
    for name, reason in screen.skipped.items():
        shown = readable(name)
        lines.append(f"skipped {reason if reason.startswith(shown) else f'{shown}: {reason}'}")
    for (x, y), reason in screen.failed.items():
        lines.append(f"failed {readable(x)}, {readable(y)}: {reason}")
    gaps = [pair.n_omitted for pair in screen if pair.n_omitted]
    if gaps:
        lines.append(
            f"beware: rows with missing values were left out of {len(gaps)} pairs, up to "
            f"{max(gaps)} rows"
        )
    others = (s for pair in screen for s in pair.warnings if s != rows_omitted(pair.n_omitted))
    for sentence, times in Counter(others).most_common():
        lines.append(f"beware, in {times} of {len(screen)} pairs: {sentence}")
    return lines


def pvalue(p: float) -> str:
    """Write a p-value as people do.

    Examples
    --------
    >>> from chsic.show.sentences import pvalue
    >>> pvalue(0.0432), pvalue(3.21e-9)
    ('0.043', '3e-09')
    """
    return f"{p:.2g}" if p >= 1e-4 else f"{p:.0e}"


def names_of(result: IndependenceResult, argument: str) -> str:
    """Write the names of the columns of x, y or z.

    Examples
    --------
    >>> import chsic
    >>> from chsic.show.sentences import names_of
    >>> x, y, z = chsic.datasets.draw_scenario("add", 100, rng=0)
    >>> names_of(chsic.chsic_test({"dose": x}, y, z, rng=0), "x")
    'dose'
    """
    return listed(result.names[argument])


def given(names: Sequence[str]) -> str:
    """Write " given a and b", or nothing if there are no names.

    Examples
    --------
    >>> from chsic.show.sentences import given
    >>> given(["age", "ward"]), given([])
    (' given age and ward', '')
    """
    return f" given {listed(names)}" if names else ""


def _rows_in_groups(screen: Screen) -> str:
    groups = in_groups(screen)
    return f", rows{groups}" if groups else ""


def _is(names: Sequence[str]) -> str:
    return "are" if len(names) > 1 else "is"


def _number(value: float) -> str:
    """Three decimals, or fewer digits of what they would not show."""
    return f"{value:.3f}" if value == 0 or abs(value) >= 0.001 else f"{value:.1g}"
