"""From trials to one row for each measure and setting."""

import csv
import dataclasses
from pathlib import Path

import numpy as np
from benchmarks.measures.settings import Pair, Setting
from benchmarks.measures.trials import Results
from scipy.stats import rankdata


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row:
    """One line of the table; `auc` is against `null`, empty where there is none to compare with."""

    measure: str
    scenario: str
    matched: bool
    truth: str
    gamma_db: float | None
    d: int
    n: int
    trials: int
    mean: float
    std: float
    null: str | None
    auc: float | None
    auc_se: float | None
    median_seconds: float


def summarise(results: Results, pairs: list[Pair]) -> list[Row]:
    """Return rows in the order of the pairs, a null before what is compared with it.

    What is compared with two nulls has a row for each.
    """
    rows: list[Row] = []
    seen: set[Setting] = set()
    for pair in pairs:
        if pair.null not in seen:
            rows += [_row(results, pair.null, measure) for measure in results[pair.null]]
            seen.add(pair.null)
        rows += [_row(results, pair.alternative, m, pair.null) for m in results[pair.alternative]]
    return rows


def auc(null: list[float], alternative: list[float]) -> tuple[float, float]:
    """Return the area under the ROC curve and its standard error (DeLong et al., 1988).

    The probability that a value under the alternative exceeds one under the null, ties counting
    half. 0.5 is no separation, and less than 0.5 the wrong order.
    """
    m, n = len(null), len(alternative)
    ranks = rankdata([*null, *alternative])
    below = (ranks[m:] - rankdata(alternative)) / m  # share of the null below each alternative
    above = 1 - (ranks[:m] - rankdata(null)) / n
    error = np.sqrt(np.var(above, ddof=1) / m + np.var(below, ddof=1) / n)
    return float(below.mean()), float(error)


def _row(results: Results, setting: Setting, measure: str, null: Setting | None = None) -> Row:
    found = results[setting][measure]
    area, error = (None, None)
    if null is not None:
        area, error = auc(results[null][measure].values, found.values)
    return Row(
        **dataclasses.asdict(setting),
        measure=measure,
        truth="H0" if setting.independent else "H1",
        trials=len(found.values),
        mean=float(np.mean(found.values)),
        std=float(np.std(found.values, ddof=1)),
        null=None if null is None else null.name,
        auc=area,
        auc_se=error,
        median_seconds=float(np.median(found.seconds)),
    )


def read(path: Path) -> list[Row]:
    """Read rows back from the table they were written to."""
    with path.open(newline="", encoding="utf-8") as file:
        return [
            Row(**{name: _parse(text) for name, text in r.items()}) for r in csv.DictReader(file)
        ]


def _parse(text: str) -> str | float | bool | None:
    known = {"": None, "True": True, "False": False}
    if text in known:
        return known[text]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


FIELDS = dataclasses.fields(Setting)
Index = dict[tuple[str, Setting, str | None], Row]


def index(rows: list[Row]) -> Index:
    """Find rows by measure, setting and the scenario of the null, None for a null itself."""
    return {
        (r.measure, Setting(**{f.name: getattr(r, f.name) for f in FIELDS}), r.null): r
        for r in rows
    }


def auc_of(rows: Index, measure: str, pair: Pair) -> float:
    area = rows[measure, pair.alternative, pair.null.name].auc
    assert area is not None  # rows with a null have it
    return area
