"""Results as tables in a terminal."""

from __future__ import annotations

from collections import Counter

from rich.console import Console
from rich.table import Table
from rich.text import Text

from chsic.compare import Comparison
from chsic.names import readable
from chsic.result import IndependenceResult
from chsic.samples import about_omitted
from chsic.screened import Screen
from chsic.words import answer, pvalue, question, strength


def print_result(result: IndependenceResult) -> None:
    """Print question, answer and what to beware of."""
    of = {
        kind: ", ".join(readable(name) for name, found in result.kinds.items() if found == kind)
        for kind in ("number", "date", "category")
    }
    omitted = f", {result.n_omitted} left out for missing values" if result.n_omitted else ""
    facts = {
        "answer": answer(result),
        "strength": strength(result),
        "samples": f"{result.n_samples}{omitted}; {result.n_pairs} pairs ({result.pairs})",
        "numbers": of["number"],
        "dates": of["date"],
        "categories": of["category"],
    }
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(style="bold")
    table.add_column()
    for name, text in facts.items():
        if text:
            table.add_row(name, Text(text))  # not markup, whatever columns are called
    for sentence in result.warnings:
        table.add_row("beware", Text(sentence))
    console = Console(highlight=False)
    console.print(Text(question(result), style="bold"))
    console.print(table)


def print_screen(found: Screen, level: float, show: int) -> None:
    """Print the pairs with the smallest p-values, and what to beware of."""
    related = sum(pair.pvalue_bh <= level for pair in found)
    given = f" given {', '.join(found.given)}" if found.given else ""
    console = Console(highlight=False)
    console.print(
        Text(
            f"{related} of {len(found)} pairs are related{given} "
            f"(adjusted p at most {level:g}, Benjamini and Hochberg)",
            style="bold",
        )
    )
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for header in ("x", "y"):
        table.add_column(header, max_width=24, overflow="fold")
    for header in ("strength", "95% interval", "p", "adjusted", "Holm"):
        table.add_column(header, justify="right")
    smallest = sorted(found, key=lambda pair: pair.pvalue)
    for pair in smallest[:show]:
        table.add_row(
            Text(readable(pair.x)),
            Text(readable(pair.y)),
            f"{pair.coefficient:z.3f}",
            f"{pair.low:.3f} to {pair.high:.3f}",
            *(pvalue(p) for p in (pair.pvalue, pair.pvalue_bh, pair.pvalue_holm)),
        )
    console.print(table)
    if len(found) > show:
        print(f"... and {len(found) - show} with larger p-values (--show, --out, --json)")
    for name, reason in found.skipped.items():
        shown = readable(name)
        text = reason if reason.startswith(shown) else f"{shown}: {reason}"
        console.print(Text(f"skipped {text}"))
    for (x, y), reason in found.failed.items():
        console.print(Text(f"failed {readable(x)}, {readable(y)}: {reason}"))
    gaps = [pair.n_omitted for pair in found if pair.n_omitted]
    if gaps:
        print(f"beware: rows with missing values were left out of {len(gaps)} pairs, up to "
              f"{max(gaps)} rows")  # fmt: skip
    others = (s for pair in found for s in pair.warnings if s not in about_omitted(pair.n_omitted))
    for sentence, times in Counter(others).most_common():
        console.print(Text(f"beware, in {times} of {len(found)} pairs: {sentence}"))


def print_comparisons(results: dict[str, Comparison]) -> None:
    """Print the paper's measures side by side."""
    table = Table(box=None, padding=(0, 2, 1, 0), header_style="bold")
    table.add_column("x, y | z", max_width=26)
    for header in ("HSIC", "C-HSIC", "related,\nany z", "related,\ngiven z"):
        table.add_column(header, justify="right")
    for asked, result in results.items():
        numbers = (result.hsic, result.chsic, result.ignoring_z, result.given_z)
        # As Text: a column name may hold what rich would take for markup.
        table.add_row(Text(asked), *(f"{number:.3g}" for number in numbers))
    Console(highlight=False).print(table)
    print(
        "HSIC and C-HSIC are the paper's measures: the dependence of x and y, and the same over\n"
        "pairs of samples close in z. Both are positive even where nothing is related. The last\n"
        "two columns leave that part out, and use equally many pairs: drawn at random, and close\n"
        "in z. Near 0 means that no relation is seen. For a p-value: chsic test."
    )
