"""Results as notebooks show them: small HTML tables, or none if jinja2 is not installed."""

from __future__ import annotations

from collections.abc import Sequence

from chsic.inference.result import IndependenceResult
from chsic.many.screen_result import Screen
from chsic.many.sensitivity import Sensitivity
from chsic.show.sentences import question, related_pairs, screen_cautions
from chsic.show.tables import TextTable, pairs_table, result_facts, sensitivity_table
from chsic.show.templates import fill

MOST_ROWS = 20
LEVEL = 0.05  # largest adjusted p-value of a relation


def html_of_result(result: IndependenceResult) -> str | None:
    """Return question, answer, strength and cautions.

    Examples
    --------
    >>> import chsic
    >>> from chsic.show.notebook import html_of_result
    >>> x, y, z = chsic.datasets.draw_scenario("add", 100, rng=0)
    >>> "once z is known?" in html_of_result(chsic.chsic_test(x, y, z, rng=0))
    True
    """
    facts = TextTable((), tuple(result_facts(result)), n_names=2)
    return _html(question(result), facts)


def html_of_screen(screen: Screen) -> str | None:
    """Return the pairs with the smallest p-values.

    Examples
    --------
    >>> import chsic
    >>> from chsic.show.notebook import html_of_screen
    >>> result = chsic.screen(chsic.datasets.summer(), "temperature", rng=0)
    >>> html_of_screen(result).count("<tr>")
    4
    """
    cautions = screen_cautions(screen)
    if len(screen) > MOST_ROWS:
        cautions.insert(0, f"{len(screen) - MOST_ROWS} pairs with larger p-values are not shown")
    if len(cautions) > MOST_ROWS:
        cautions[MOST_ROWS:] = [f"and {len(cautions) - MOST_ROWS} more"]
    return _html(related_pairs(screen, LEVEL), pairs_table(screen, MOST_ROWS), cautions)


def html_of_sensitivity(sensitivity: Sensitivity) -> str | None:
    """Return the answers along alpha and bandwidth.

    Examples
    --------
    >>> import chsic
    >>> from chsic.show.notebook import html_of_sensitivity
    >>> x, y, z = chsic.datasets.draw_scenario("add", 100, rng=0)
    >>> result = chsic.sensitivity(x, y, z, alphas=[4], bandwidths=[1.2, 5], rng=0)
    >>> html_of_sensitivity(result).count("<tr>")
    4
    """
    return _html("", sensitivity_table(sensitivity))


def _html(title: str, table: TextTable, cautions: Sequence[str] = ()) -> str | None:
    """Return HTML, or None, for which notebooks show the repr, if jinja2 is not installed."""
    try:
        return fill(
            "notebook.html",
            title=title,
            head=table.headings,
            rows=table.rows,
            n_names=table.n_names,
            cautions=cautions,
        )
    except ImportError:
        return None
