"""Journal -> rejection rates with intervals, as CSV, JSON and Markdown."""

import dataclasses
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.calibration.chunk import SLOW
from benchmarks.calibration.journal import read
from benchmarks.calibration.methods import METHODS
from benchmarks.calibration.todo import Key, key, repetitions
from benchmarks.machine import describe
from scipy.stats import binomtest

from chsic._util.files import write_csv, write_whole
from chsic.datasets import SCENARIOS


@dataclass(frozen=True)
class Row:
    """One cell: how often its p-values were at most 0.05 and 0.01, with 95 % intervals.

    Tests without a p-value are counted as ``failed`` or, over the time limit, as ``slow``, and
    have no part in the rates. ``seconds`` is the median over tests, known to a line of the journal.
    """

    method: str
    scenario: str
    independent: bool
    d: int
    n: int
    tests: int
    failed: int
    slow: int
    rate_05: float | None
    low_05: float | None
    high_05: float | None
    rate_01: float | None
    low_01: float | None
    high_01: float | None
    seconds: float | None


def rates(journal: Path) -> list[Row]:
    """Return a row for each cell that a journal has, in the order of methods and scenarios."""
    lines: dict[Key, list[dict]] = {}
    for line in read(journal):
        lines.setdefault(key(line), []).append(line)
    rows = [_row(cell, of_cell) for cell, of_cell in lines.items()]
    return sorted(rows, key=_order)


def write(rows: Sequence[Row], journal: Path, folder: Path) -> None:
    """Write ``table.csv``, ``table.json`` and ``table.md``."""
    lines = read(journal)
    versions = {line["method"]: set() for line in lines}
    for line in lines:
        versions[line["method"]].add(line["version"])
    result = {
        "machine": describe("chsic", "numpy", "scipy"),
        "methods": {method: sorted(seen) for method, seen in versions.items()},
        "errors": errors(lines),
        "rows": [dataclasses.asdict(row) for row in rows],
    }
    text = json.dumps(result, indent=1) + "\n"
    write_csv(folder / "table.csv", rows)
    write_whole(folder / "table.json", lambda path: path.write_text(text, encoding="utf-8"))
    page = markdown(rows, result["errors"])
    write_whole(folder / "table.md", lambda path: path.write_text(page, encoding="utf-8"))


def errors(lines: Sequence[dict]) -> list[dict]:
    """Return what went wrong in which cell, and how often."""
    seen = Counter((*key(line), text) for line in lines for text in line.get("errors", {}).values())
    names = ("method", "scenario", "d", "n", "error", "tests")
    return [dict(zip(names, (*what, count), strict=True)) for what, count in seen.items()]


def markdown(rows: Sequence[Row], went_wrong: Sequence[dict]) -> str:
    """Return tables of level, power and time, a column for each method."""
    methods = list(dict.fromkeys(row.method for row in rows))
    blocks = [
        "# Calibration",
        "Rejection rate at 0.05 with its 95 % interval (Clopper and Pearson); rate at 0.01. "
        "Tests without a p-value have no part in it; where there are any, their number is told.",
        "## Null: x and y are independent given z, so the rates should be 0.05 and 0.01",
        "Bold: the interval lies above 0.05.",
        _rate_table([row for row in rows if row.independent], methods),
        "## Alternative: the higher the better, if the level holds",
        _rate_table([row for row in rows if not row.independent], methods),
        "## Median seconds of a test on one core",
        _seconds_table(rows, methods),
    ]
    if went_wrong:
        blocks += ["## Tests without a p-value", _error_table(went_wrong)]
    return "\n\n".join(blocks) + "\n"


def _row(cell: Key, lines: Sequence[dict]) -> Row:
    pvalues: dict[int, float | None] = {}
    slow: set[int] = set()
    seconds: list[float] = []
    for line in lines:
        pvalues.update(zip(repetitions(line), line["pvalues"], strict=True))
        slow |= {int(r) for r, text in line.get("errors", {}).items() if text == SLOW}
        if line["seconds"] is not None:
            seconds += [line["seconds"]] * len(line["pvalues"])
    known = [p for p in pvalues.values() if p is not None]
    method, scenario, d, n = cell
    return Row(
        *(method, scenario, SCENARIOS[scenario].independent, d, n),
        *(len(known), len(pvalues) - len(known) - len(slow), len(slow)),
        *_rate(known, 0.05),
        *_rate(known, 0.01),
        median(seconds) if seconds else None,
    )


def _rate(pvalues: Sequence[float], level: float) -> tuple[float | None, ...]:
    """Return the share of p-values up to a level, and its exact 95 % interval."""
    if not pvalues:
        return None, None, None
    result = binomtest(sum(p <= level for p in pvalues), len(pvalues))
    interval = result.proportion_ci(0.95, method="exact")
    return tuple(round(float(v), 5) for v in (result.statistic, interval.low, interval.high))


def _order(row: Row) -> tuple[int, int, int, int]:
    methods = list(METHODS)
    position = methods.index(row.method) if row.method in methods else len(methods)
    return position, list(SCENARIOS).index(row.scenario), row.d, row.n


def _rate_table(rows: Sequence[Row], methods: Sequence[str]) -> str:
    found = {(row.scenario, row.d, row.n, row.method): row for row in rows}
    order = {name: position for position, name in enumerate(SCENARIOS)}
    settings = sorted({k[:3] for k in found}, key=lambda k: (order[k[0]], *k[1:]))
    body = [
        [scenario, str(d), f"{n:,}", *(_rate_text(found.get((scenario, d, n, m))) for m in methods)]
        for scenario, d, n in settings
    ]
    return _table(["scenario", "d", "n", *methods], body)


def _rate_text(row: Row | None) -> str:
    if row is None:
        return ""
    if row.rate_05 is None:
        return "none"
    text = f"{row.rate_05:.3f} [{row.low_05:.3f}, {row.high_05:.3f}]; {row.rate_01:.3f}"
    if row.failed or row.slow:
        text += f" ({row.tests} of {row.tests + row.failed + row.slow} tests)"
    return f"**{text}**" if row.independent and row.low_05 > 0.05 else text


def _seconds_table(rows: Sequence[Row], methods: Sequence[str]) -> str:
    body = []
    for n in sorted({row.n for row in rows}):
        cells = [
            [r.seconds for r in rows if (r.n, r.method) == (n, m) and r.seconds] for m in methods
        ]
        body.append([f"{n:,}", *(f"{median(cell):.2g}" if cell else "" for cell in cells)])
    return _table(["n", *methods], body)


def _error_table(went_wrong: Sequence[dict]) -> str:
    body = [[str(value).replace("|", "/") for value in row.values()] for row in went_wrong]
    return _table(list(went_wrong[0]), body)


def _table(header: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    def lines() -> Iterator[str]:
        yield " | ".join(header)
        yield " | ".join("---" for _ in header)
        for cells in body:
            yield " | ".join(cells)

    return "\n".join(f"| {line} |" for line in lines())
