"""All that the commands print: whatever columns, files and their contents are called.

Nothing else prints, so that letters that would steer a terminal, or fake further lines, go through
`printable` in one place.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console, ConsoleOptions
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from chsic._util.names import printable
from chsic._util.system_errors import naming
from chsic.inference.result import IndependenceResult
from chsic.many.screen_result import Screen
from chsic.measure.comparison import Comparison
from chsic.show.sentences import ABOUT_MEASURES, question, related_pairs, screen_cautions
from chsic.show.tables import TextTable, measures_table, pairs_table, result_facts

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
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(style="bold")
    table.add_column()
    for name, text in result_facts(result):
        table.add_row(name, _text(text))
    console = Console(highlight=False)
    console.print(_Hanging(question(result), style="bold"))
    console.print(table)


@naming("standard output")
def print_screen(screen: Screen, level: float, most: int) -> None:
    """Print the pairs with the smallest p-values, and what to beware of."""
    console = Console(highlight=False)
    console.print(_Hanging(related_pairs(screen, level), style="bold"))
    console.print(_laid_out(pairs_table(screen, most), widest_name=24))
    if len(screen) > most:
        say(f"... and {len(screen) - most} with larger p-values (--show, --out, --json)")
    for sentence in screen_cautions(screen):
        console.print(_Hanging(sentence))


@naming("standard output")
def print_comparisons(comparisons: Mapping[str, Comparison]) -> None:
    """Print the paper's measures side by side."""
    table = _laid_out(measures_table(comparisons), widest_name=26, below=1)
    Console(highlight=False).print(table)
    say(*ABOUT_MEASURES)


def _laid_out(table: TextTable, *, widest_name: int, below: int = 0) -> Table:
    """Lay a table out: names to the left, in several lines if they are long, numbers right."""
    shown = Table(box=None, padding=(0, 2, below, 0), header_style="bold")
    for place, heading in enumerate(table.headings):
        if place < table.n_names:
            shown.add_column(heading, max_width=widest_name, overflow="fold")
        else:
            shown.add_column(heading, justify="right")
    for row in table.rows:
        names, numbers = row[: table.n_names], row[table.n_names :]
        shown.add_row(*map(_Hanging, names), *numbers)
    return shown


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
