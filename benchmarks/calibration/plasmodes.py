"""Levels where z is real: ``python -m benchmarks.calibration.plasmodes``.

A plasmode has real z, and x and y that are known to be independent given z. Here z is some columns
of a real table. Forests, or boosted trees, are fitted to two other columns on z, as f and g. Then
x = f(z) + a residual, and y = g(z) + another one, in rows of the table that are drawn without
replacement. Residuals are those of rows that were left out of a fit, and drawn with replacement,
for x and for y apart, so that nothing but z connects x and y.

Fitted to the whole table, f and g know by heart part of the noise of each row, which the two
columns may share: they are functions of z that are rougher than real ones, and alike. Fitted to
halves of the rows, f to one and g to the other, they are not.

It can be stopped at any time: the same command goes on where it was. ``plasmodes.jsonl`` holds the
p-values, ``plasmodes.json`` the rates.
"""

import argparse
import dataclasses
import json
import os
import time
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.calibration import RESULTS, real_tables
from benchmarks.calibration.journal import Journal, read
from benchmarks.calibration.methods import version
from benchmarks.calibration.run import one_thread_each, worker_pool
from benchmarks.machine import describe
from scipy.stats import binomtest

import chsic
from chsic._util.files import write_whole

SIZES = (500, 2_000, 10_000)
COLUMNS = (1, 2, 3, 5, 8)  # of z
LEARNERS = ("forest", "boosting")
FITS = ("whole", "halves")  # rows that f and g are fitted to
DESIGNS = 5  # choices of columns for each table and number of columns
FOLDS = 3
LEVEL = 0.05


@dataclass(frozen=True)
class Design:
    """Columns of a table, chosen at random, and what is fitted to two of them."""

    table: str
    learner: str
    fit: str
    columns: int  # of z
    draw: int


FIELDS = tuple(field.name for field in dataclasses.fields(Design))


@dataclass(frozen=True, eq=False)
class Functions:
    """The real z of all rows, and for x and for y: the function of z, and residuals."""

    z: np.ndarray
    values: tuple[np.ndarray, np.ndarray]
    residuals: tuple[np.ndarray, np.ndarray]

    @property
    def signal(self) -> list[float]:
        """Share of the variance of x, and of y, that is the function of z."""
        pairs = zip(self.values, self.residuals, strict=True)
        return [round(float(f.var() / (f.var() + e.var())), 3) for f, e in pairs]


def functions(design: Design) -> Functions:
    """Choose columns, the same ones for every learner, and fit."""
    from sklearn.model_selection import KFold, cross_val_predict

    table = real_tables.read(design.table)
    rng = np.random.default_rng(_seed(design.table, design.columns, design.draw))
    chosen = rng.permutation(table.shape[1])[: design.columns + 2]
    z = table[:, chosen[2:]]
    seed = int(rng.integers(2**31))
    folds = KFold(FOLDS, shuffle=True, random_state=seed)
    first_half = rng.permutation(len(z)) < len(z) // 2
    values, residuals = [], []
    for column, half in zip(table[:, chosen[:2]].T, (first_half, ~first_half), strict=True):
        model = _model(design.learner, seed)
        if design.fit == "whole":
            residuals.append(column - cross_val_predict(model, z, column, cv=folds))
            values.append(model.fit(z, column).predict(z))
        else:
            values.append(model.fit(z[half], column[half]).predict(z))
            residuals.append((column - values[-1])[~half])
    return Functions(z, tuple(values), tuple(residuals))


def _model(learner: str, seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor

    if learner == "forest":
        return RandomForestRegressor(100, min_samples_leaf=5, n_jobs=1, random_state=seed)
    return HistGradientBoostingRegressor(random_state=seed)


def sample(
    of: Functions, n: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw x, y and z, of which x and y are independent given z."""
    rows = rng.choice(len(of.z), n, replace=False)
    x, y = (f[rows] + rng.choice(e, n) for f, e in zip(of.values, of.residuals, strict=True))
    z = of.z[rows]
    return x, y, z[:, 0] if z.shape[1] == 1 else z


def compute(design: Design, sizes: dict[int, range]) -> list[dict]:
    """Return a line of the journal for each size: p-values of the repetitions asked for."""
    of = functions(design)
    return [_line(design, of, n, repetitions) for n, repetitions in sizes.items()]


def _line(design: Design, of: Functions, n: int, repetitions: range) -> dict:
    pvalues: list[float | None] = []
    errors: dict[str, str] = {}
    for repetition in repetitions:
        seed = _seed(*dataclasses.astuple(design), n, repetition)
        data, signs = map(np.random.default_rng, seed.spawn(2))
        try:
            pvalue = chsic.chsic_test(*sample(of, n, data), rng=signs).pvalue
            pvalues.append(float(f"{pvalue:.6g}"))
        except ValueError as error:
            pvalues.append(None)
            errors[str(repetition)] = str(error)[:200]
    line = {**dataclasses.asdict(design), "n": n, "signal": of.signal,
            "first": repetitions.start, "pvalues": pvalues}  # fmt: skip
    return {**line, "errors": errors} if errors else line


def _seed(*parts: str | int) -> np.random.SeedSequence:
    numbers = [zlib.crc32(part.encode()) if isinstance(part, str) else part for part in parts]
    return np.random.SeedSequence(numbers)


# --- What is to be done ---------------------------------------------------------------------------


def designs(tables: Iterable[str], fits: Iterable[str] = FITS) -> list[Design]:
    """Return all designs, in rounds over the tables, so that a stopped run is even."""
    return [
        Design(table, learner, fit, columns, draw)
        for draw in range(DESIGNS)
        for columns in COLUMNS
        for table in tables
        for learner in LEARNERS
        for fit in fits
        if real_tables.read(table).shape[1] >= columns + 2
    ]


def missing(
    wanted: Iterable[Design], sizes: Iterable[int], repetitions: int, lines: Iterable[dict]
) -> list[tuple[Design, dict[int, range]]]:
    """Return designs, with the repetitions of each n that no line has yet."""
    done: Counter[tuple] = Counter()
    for line in lines:
        design = Design(**{field: line[field] for field in FIELDS})
        done[design, line["n"]] += len(line["pvalues"])
    tasks = []
    for design in wanted:
        # The repetitions of a cell are spread over its designs.
        count = len(range(design.draw, repetitions, DESIGNS))
        left = {
            n: range(done[design, n], count)
            for n in sizes
            if n <= len(real_tables.read(design.table)) and done[design, n] < count
        }
        if left:
            tasks.append((design, left))
    return tasks


def _lines(
    tasks: Iterable[tuple[Design, dict[int, range]]],
    pool: ProcessPoolExecutor,
    workers: int,
    deadline: float,
) -> Iterator[list[dict]]:
    """Keep the workers busy until nothing is left, or the time is over."""
    left = iter(tasks)
    in_hand: set[Future[list[dict]]] = set()
    while True:
        while len(in_hand) < workers and time.monotonic() < deadline:
            task = next(left, None)
            if task is None:
                break
            in_hand.add(pool.submit(compute, *task))
        if not in_hand:
            return
        finished, in_hand = wait(in_hand, return_when=FIRST_COMPLETED)
        for future in finished:
            yield future.result()


# --- Rates ----------------------------------------------------------------------------------------


def rates(lines: Sequence[dict], *by: str) -> list[dict]:
    """Return how often tests rejected, for every value of some fields of the lines.

    `signal` is the mean share of the variance of x, and of y, that the function of z has.

    The interval is that of independent tests. Those of one design are more alike, so that of few
    designs it is too short.
    """
    groups: dict[tuple, list[dict]] = {}
    for line in lines:
        groups.setdefault(tuple(line[field] for field in by), []).append(line)
    return [{**dict(zip(by, group, strict=True)), **_rate(of)} for group, of in groups.items()]


def _rate(lines: Sequence[dict]) -> dict:
    pvalues = [p for line in lines for p in line["pvalues"] if p is not None]
    failed = sum(len(line["pvalues"]) for line in lines) - len(pvalues)
    signal = round(float(np.mean([line["signal"] for line in lines])), 3)
    found: dict[str, Any] = {"tests": len(pvalues), "failed": failed, "signal": signal}
    if pvalues:
        result = binomtest(sum(p <= LEVEL for p in pvalues), len(pvalues))
        low, high = result.proportion_ci(0.95, method="exact")
        found["rate_05"] = round(float(result.statistic), 4)
        found["interval"] = [round(float(low), 4), round(float(high), 4)]
    return found


def _means(rows: Sequence[dict], by: Sequence[str]) -> list[dict]:
    """Return the mean rate of cells, and the largest one, for every value of some fields."""
    groups: dict[tuple, list[float]] = {}
    for row in rows:
        if "rate_05" in row:
            groups.setdefault(tuple(row[field] for field in by), []).append(row["rate_05"])
    return [
        {
            **dict(zip(by, group, strict=True)),
            "cells": len(of),
            "mean_rate_05": round(float(np.mean(of)), 4),
            "largest": max(of),
        }
        for group, of in sorted(groups.items())
    ]


def summary(lines: Sequence[dict]) -> dict:
    """Return rates of all cells, and means over them."""
    ordered = sorted(lines, key=lambda line: (real_tables.TABLES.index(line["table"]), line["n"],
                                              line["fit"], line["learner"],
                                              line["columns"]))  # fmt: skip
    cells = rates(ordered, "table", "n", "fit", "learner", "columns")
    return {
        "machine": describe("chsic", "numpy", "scipy", "scikit-learn", "statsmodels"),
        "level": LEVEL,
        "tables": {
            name: dict(zip(("rows", "columns"), real_tables.read(name).shape, strict=True))
            for name in dict.fromkeys(line["table"] for line in ordered)
        },
        "overall": _means(cells, ["n", "fit"]),
        "of_learners": _means(cells, ["n", "fit", "learner"]),
        "of_columns": _means(cells, ["n", "fit", "columns"]),
        "of_tables": rates(ordered, "table", "n", "fit"),
        "cells": cells,
    }


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", choices=real_tables.TABLES,
                        default=list(real_tables.TABLES))  # fmt: skip
    parser.add_argument("--fits", nargs="+", choices=FITS, default=list(FITS))
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--repetitions", type=int, default=100, help="of each cell")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--minutes", type=float, help="begin nothing after them; 0: only rates")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the results")
    given = parser.parse_args()
    if given.workers < 1 or given.repetitions < 1:
        parser.error("--workers and --repetitions: at least 1 is needed.")
    return given


def main() -> None:
    given = options()
    path = given.out / "plasmodes.jsonl"
    deadline = time.monotonic() + 60 * given.minutes if given.minutes is not None else float("inf")
    tasks = missing(designs(given.tables, given.fits), given.sizes, given.repetitions, read(path))
    with Journal(path) as journal, one_thread_each(), worker_pool(given.workers) as pool:
        for number, lines in enumerate(_lines(tasks, pool, given.workers, deadline), start=1):
            for line in lines:
                journal.append({**line, "version": version("chsic")})
            print(f"{number} of {len(tasks)} designs", flush=True)
    lines = read(path)
    if lines:
        result = summary(lines)
        text = json.dumps(result, indent=1) + "\n"
        write_whole(given.out / "plasmodes.json", lambda path: path.write_text(text))
        print(json.dumps({name: result[name] for name in ("overall", "of_tables")}, indent=1))


if __name__ == "__main__":
    main()
