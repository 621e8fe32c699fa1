"""All that the commands print: whatever columns, files and their contents are called.

Nothing else prints, so that letters that would steer a terminal, or fake further lines, go through
`printable` in one place.
"""

from __future__ import annotations

import io
import json
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

from rich.console import Console, ConsoleOptions
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from chsic._util.names import printable, readable
from chsic._util.system_errors import naming
from chsic.data.samples import about_omitted
from chsic.inference.result import IndependenceResult
from chsic.many.screen_result import Screen
from chsic.measure.comparison import Comparison
from chsic.show.words import answer, pvalue, question, strength, with_readable_names

INDENT = "  "


def say(*lines: str, error: bool = False) -> None:
    r"""Print lines: each stays one line, whatever it holds.

    Examples
    --------
    >>> from chsic.show.terminal import say
    >>> say("data.csv\x1b[2J\nAll is well.")
    data.csv [2J All is well.
    """
    stream = sys.stderr if error else sys.stdout
    with naming("standard error" if error else "standard output"):
        for line in lines if stream is not None else ():  # it may be closed
            print(printable(line), file=stream)


@naming("standard output")
def say_json(value: Any) -> None:
    """Print JSON, which escapes whatever is not ASCII."""
    print(json.dumps(value, indent=2))


@naming("standard output")
def flush() -> None:
    """Print what waits to be printed."""
    if sys.stdout is not None:
        sys.stdout.flush()


def print_any_letter() -> None:
    """Let the streams escape letters that their encoding does not know, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


@naming("standard output")
def print_result(result: IndependenceResult) -> None:
    """Print question, answer and what to beware of."""
    shown = with_readable_names(result)
    of = {
        kind: ", ".join(readable(name) for name, found in result.kinds.items() if found == kind)
        for kind in ("number", "date", "category")
    }
    omitted = f", {result.n_omitted} left out for missing values" if result.n_omitted else ""
    facts = {
        "answer": answer(shown),
        "strength": strength(shown),
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
            table.add_row(name, _text(text))
    for sentence in result.warnings:
        table.add_row("beware", _text(sentence))
    console = Console(highlight=False)
    console.print(_Hanging(question(shown), style="bold"))
    console.print(table)


@naming("standard output")
def print_screen(found: Screen, level: float, show: int) -> None:
    """Print the pairs with the smallest p-values, and what to beware of."""
    related = sum(pair.pvalue_bh <= level for pair in found)
    given = f" given {', '.join(map(readable, found.given))}" if found.given else ""
    console = Console(highlight=False)
    console.print(
        _Hanging(
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
            _Hanging(readable(pair.x)),
            _Hanging(readable(pair.y)),
            f"{pair.coefficient:z.3f}",
            f"{pair.low:.3f} to {pair.high:.3f}",
            *(pvalue(p) for p in (pair.pvalue, pair.pvalue_bh, pair.pvalue_holm)),
        )
    console.print(table)
    if len(found) > show:
        say(f"... and {len(found) - show} with larger p-values (--show, --out, --json)")
    for name, reason in found.skipped.items():
        shown = readable(name)
        text = reason if reason.startswith(shown) else f"{shown}: {reason}"
        console.print(_Hanging(f"skipped {text}"))
    for (x, y), reason in found.failed.items():
        console.print(_Hanging(f"failed {readable(x)}, {readable(y)}: {reason}"))
    gaps = [pair.n_omitted for pair in found if pair.n_omitted]
    if gaps:
        say(f"beware: rows with missing values were left out of {len(gaps)} pairs, up to "
            f"{max(gaps)} rows")  # fmt: skip
    others = (s for pair in found for s in pair.warnings if s not in about_omitted(pair.n_omitted))
    for sentence, times in Counter(others).most_common():
        console.print(_Hanging(f"beware, in {times} of {len(found)} pairs: {sentence}"))


@naming("standard output")
def print_comparisons(results: dict[str, Comparison]) -> None:
    """Print the paper's measures side by side."""
    table = Table(box=None, padding=(0, 2, 1, 0), header_style="bold")
    table.add_column("x, y | z", max_width=26)
    for header in ("HSIC", "C-HSIC", "related,\nany z", "related,\ngiven z"):
        table.add_column(header, justify="right")
    for asked, result in results.items():
        numbers = (result.hsic, result.chsic, result.ignoring_z, result.given_z)
        table.add_row(_Hanging(asked), *(f"{number:.3g}" for number in numbers))
    Console(highlight=False).print(table)
    say(
        "HSIC and C-HSIC are the paper's measures: the dependence of x and y, and the same over",
        "pairs of samples close in z. Both are positive even where nothing is related. The last",
        "two columns leave that part out, and use equally many pairs: drawn at random, and close",
        "in z. Near 0 means that no relation is seen. For a p-value: chsic test.",
    )


def _text(text: str, style: str = "") -> Text:
    """Return text for rich: no markup, nothing that cannot be seen, and on one line."""
    return Text(printable(text), style=style)


class _Hanging:
    """The same, whose further lines are indented if it is long: none looks like one of our own."""

    def __init__(self, text: str, style: str = "") -> None:
        self._text = _text(text, style)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement.get(console, options, self._text)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        lines = self._text.wrap(console, options.max_width)
        if len(lines) > 1:
            lines = self._text.wrap(console, max(options.max_width - len(INDENT), 1))
        for number, line in enumerate(lines):
            yield Text(INDENT) + line if number else line
