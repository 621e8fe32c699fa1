"""Results as notebooks show them: small HTML tables, whatever columns are called."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from chsic._util.names import readable
from chsic.inference.result import IndependenceResult
from chsic.many.screen_result import Screen
from chsic.many.sensitivity import Sensitivity
from chsic.show.words import answer, pvalue, question, strength, with_readable_names

MOST_ROWS = 20


def html_of_result(result: IndependenceResult) -> str:
    """Return question, answer, strength and warnings.

    Examples
    --------
    >>> import chsic
    >>> from chsic.show.notebook import html_of_result
    >>> x, y, z = chsic.datasets.draw_scenario("add", 100, rng=0)
    >>> "once z is known?" in html_of_result(chsic.chsic_test(x, y, z, rng=0))
    True
    """
    shown = with_readable_names(result)
    facts = [("answer", answer(shown)), ("strength", strength(shown))]
    facts.append(("samples", f"{result.n_samples}; {result.n_pairs} pairs ({result.pairs})"))
    facts += [("beware", sentence) for sentence in result.warnings]
    return f"<b>{html.escape(question(shown))}</b>" + _table((), facts)


def html_of_screen(found: Screen) -> str:
    """Return the pairs with the smallest p-values.

    Examples
    --------
    >>> import chsic
    >>> from chsic.show.notebook import html_of_screen
    >>> found = chsic.screen(chsic.datasets.summer(), "temperature", rng=0)
    >>> html_of_screen(found).count("<tr>")
    4
    """
    smallest = sorted(found, key=lambda pair: pair.pvalue)[:MOST_ROWS]
    rows = [
        (
            readable(pair.x),
            readable(pair.y),
            f"{pair.coefficient:z.3f}",
            f"{pair.low:.3f} to {pair.high:.3f}",
            pvalue(pair.pvalue),
            pvalue(pair.pvalue_bh),
            pvalue(pair.pvalue_holm),
        )
        for pair in smallest
    ]
    head = ("x", "y", "strength", "95% interval", "p", "adjusted", "Holm")
    title = html.escape(repr(found).partition("\n")[0])
    return f"<b>{title}</b>" + _table(head, rows)


def html_of_sensitivity(found: Sensitivity) -> str:
    """Return the answers along alpha and bandwidth.

    Examples
    --------
    >>> import chsic
    >>> from chsic.show.notebook import html_of_sensitivity
    >>> x, y, z = chsic.datasets.draw_scenario("add", 100, rng=0)
    >>> found = chsic.sensitivity(x, y, z, alphas=[4], bandwidths=[1.2, 5], rng=0)
    >>> html_of_sensitivity(found).count("<tr>")
    4
    """
    rows = [
        (
            f"{point.alpha:.3g}",
            "family" if point.bandwidth is None else f"{point.bandwidth:g}",
            f"{point.coefficient:z.3f}",
            pvalue(point.pvalue),
        )
        for point in (*found.along_alpha, *found.along_bandwidth)
    ]
    return _table(("alpha", "bandwidth", "strength", "p"), rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    def line(cells: Sequence[str], tag: str) -> str:
        made = "".join(f'<{tag} style="text-align:left">{html.escape(c)}</{tag}>' for c in cells)
        return f"<tr>{made}</tr>"

    body = "".join(line(row, "td") for row in rows)
    top = f"<thead>{line(head, 'th')}</thead>" if head else ""
    return f"<table>{top}<tbody>{body}</tbody></table>"
