"""Rows that are not independent: ``python -m benchmarks.dependence``, level and power.

Groups of rows that share effects, groups whose levels confound, series with a memory, and rows that
were drawn from a population with unequal probabilities; each tested with what is known of the rows,
and without. Stop it at any time: the same command goes on where it was, in
``results/dependence.jsonl``. The table is ``results/dependence.json``.
"""

import argparse
import functools
import json
import os
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from benchmarks.calibration import RESULTS
from benchmarks.machine import describe
from scipy.signal import lfilter
from scipy.stats import binomtest

import chsic
from chsic._util.files import write_whole

LINES, TABLE = RESULTS.parent / "dependence.jsonl", RESULTS.parent / "dependence.json"
LEVEL = 0.05
AT_ONCE = 25  # tests of a line
STRENGTH = {
    "groups": 0.3,
    "within": 0.3,
    "time": 0.35,
    "weights": 0.3,
}  # of x in y, where they are related
LENGTHS = (5, 10, 15, 20, 30, 40)  # of stretches, tried for power

Draw = Callable[[np.random.Generator, float], tuple[Any, Any, Any, dict[str, Any]]]


class Case(NamedTuple):
    """A design: its kind, its name, how it is drawn, and further settings of the test."""

    kind: str
    name: str
    draw: Draw
    settings: tuple[tuple[str, Any], ...] = ()
    related: bool = False

    @property
    def key(self) -> str:
        """Name of the case."""
        told = [f"{name}={value}" for name, value in self.settings]
        return ", ".join([self.name, *told, *(["related"] if self.related else [])])


def patients(number, each, rng, related, *, noise=0.6, z_in_groups=False, unequal=False):
    """Draw x, y and z with an effect of the patient in each, and noise of the row."""
    groups = np.repeat(np.arange(number), each)
    if unequal:
        sizes = rng.geometric(1 / each, number)
        groups = np.repeat(np.arange(number), np.maximum(sizes, 1))
    n = len(groups)
    of_z, of_x, of_y = rng.normal(size=(3, number))[:, groups]
    z = of_z if z_in_groups else 0.7 * of_z + 0.7 * rng.normal(size=n)
    x = np.sin(z) + 0.8 * of_x + noise * rng.normal(size=n)
    y = z + 0.8 * of_y + noise * rng.normal(size=n) + related * x
    return x, y, z, {"groups": groups}


def identical(number, each, rng, related):
    """Draw every row several times."""
    groups = np.repeat(np.arange(number), each)
    z, e, h = rng.normal(size=(3, number))
    x, y = np.sin(z) + e, z + h + related * e
    return x[groups], y[groups], z[groups], {"groups": groups}


def firms(number, each, rng, related, *, z_is="numbers"):
    """Draw x and y that levels of firms relate; of those z knows a part."""
    groups = np.repeat(np.arange(number), each)
    level = 2 * rng.normal(size=number)[groups]
    e, h, noise = rng.normal(size=(3, len(groups)))
    y = level + h + related * e
    known = {"groups": groups, "within": True}
    if z_is == "nothing":
        return level + e, y, None, known
    z = 0.5 * level + noise
    if z_is == "categories":
        z = np.clip(np.round(z), -1, 1)
        return z + level + e, z + y, z.astype(int).astype(str), known
    return np.sin(2 * z) + level + e, z + y, z, known


def series(n, memory, rng):
    noise = rng.normal(size=n + 200) * (1 - memory**2) ** 0.5
    return lfilter([1.0], [1.0, -memory], noise)[200:]


def with_memory(n, memory, rng, related, *, z_is="series"):
    """Draw x and y, each a function of z and a series of its own."""
    z, e, h = (series(n, memory, rng) for _ in range(3))
    if z_is == "season":
        z = 2 * np.sin(2 * np.pi * np.arange(n) / 50)
    x, y = np.sin(z) + e, z + h + related * e
    return (x, y, z, {"time": "rows"}) if z_is != "nothing" else (e, h, None, {"time": "rows"})


def panel(number, n, memory, rng, related):
    parts = [with_memory(n, memory, rng, related)[:3] for _ in range(number)]
    x, y, z = (np.concatenate(of) for of in zip(*parts, strict=True))
    known = {"groups": np.repeat(np.arange(number), n), "time": np.tile(np.arange(n), number)}
    return x, y, z, known


POPULATION = 12  # rows for every row that is drawn


def drawn(n, rng, related, *, by="nothing", z_is="line", groups=0):
    """Draw about n rows of a population, with probabilities from 1/20 to 1 of each other.

    They depend on nothing, on z, on x, or on x and y: those relate x and y in the rows.
    """
    number = POPULATION * n
    of_z, e, h = rng.normal(size=(3, number))
    z = {"line": of_z, "levels": np.round(of_z), "space": rng.normal(size=(number, 3))}[z_is]
    known = {}
    if groups:
        labels = np.repeat(np.arange(number // groups), groups)
        effects = rng.normal(size=(3, len(labels) // groups))[:, labels]
        z, e, h = 0.7 * z + 0.7 * effects[0], 0.6 * e + 0.8 * effects[1], 0.6 * h + 0.8 * effects[2]
    s = z.sum(axis=1) / 3**0.5 if z_is == "space" else z
    x, y = np.sin(s) + e, s + h + related * e
    score = {"nothing": 2 * rng.normal(size=number), "z": 1.5 * s, "x": 1.5 * x, "x and y": x + y}
    probability = 0.05 + 0.95 / (1 + np.exp(-score[by]))
    chosen = rng.random(number) < probability / probability.mean() / POPULATION
    if groups:  # whole ones are drawn, by their first row
        chosen, probability = (of[::groups][labels] for of in (chosen, probability))
        known["groups"] = labels[chosen]
    return x[chosen], y[chosen], z[chosen], {**known, "weights": 1 / probability[chosen]}


def cases() -> list[Case]:
    part = functools.partial
    groups = {
        "100 groups of 2": part(patients, 100, 2),
        "50 groups of 4": part(patients, 50, 4),
        "20 groups of 10": part(patients, 20, 10),
        "500 groups of 4": part(patients, 500, 4),
        "200 groups of 10": part(patients, 200, 10),
        "60 groups of 1 to 20": part(patients, 60, 4, unequal=True),
        "12 groups of 15": part(patients, 12, 15),
        "50 groups of 4, z of the group": part(patients, 50, 4, z_in_groups=True),
        "50 groups of 4 equal rows": part(identical, 50, 4),
    }
    within = {
        "levels of 50 groups of 4": part(firms, 50, 4),
        "levels of 30 groups of 20": part(firms, 30, 20),
        "levels of 300 groups of 6": part(firms, 300, 6),
        "levels of 50 groups of 4, no z": part(firms, 50, 4, z_is="nothing"),
        "levels of 50 groups of 6, categories": part(firms, 50, 6, z_is="categories"),
        "levels of 15 groups of 12": part(firms, 15, 12),
    }
    times = {
        f"memory {memory}, n = {n}": part(with_memory, n, memory)
        for memory in (0.0, 0.5, 0.8, 0.9)
        for n in (400, 1_000, 2_000)
    }
    times |= {
        "panel of 30 series of 40, memory 0.8": part(panel, 30, 40, 0.8),
        "season of 50, memory 0.8, n = 1000": part(with_memory, 1_000, 0.8, z_is="season"),
        "no z, memory 0.8, n = 400": part(with_memory, 400, 0.8, z_is="nothing"),
    }
    weights = {
        f"drawn by {by}, n = {n}": part(drawn, n, by=by)
        for by in ("nothing", "z", "x", "x and y")
        for n in (200, 400, 1_000, 2_000)
    }
    weights |= {
        "drawn by x and y, n = 400, levels": part(drawn, 400, by="x and y", z_is="levels"),
        "drawn by x and y, n = 400, d = 3": part(drawn, 400, by="x and y", z_is="space"),
        "drawn by x, 100 groups of 4": part(drawn, 400, by="x", groups=4),
    }
    kinds = {"groups": groups, "within": within, "time": times, "weights": weights}
    every = [Case(kind, name, draw) for kind, of in kinds.items() for name, draw in of.items()]
    related = [
        case._replace(related=True)
        for case in every
        if case.name in ("50 groups of 4", "20 groups of 10", "levels of 50 groups of 4")
        or (case.kind == "weights" and case.name.endswith("n = 400"))
    ]
    for memory in (0.5, 0.8, 0.9):
        name = f"memory {memory}, n = 400"
        for settings in ((), *((("stretch", length),) for length in LENGTHS)):
            plain = Case("time", name, times[name], settings)
            related.append(plain._replace(related=True))
            if settings:
                every.append(plain)
    return [*every, *related]


def pvalues(task: tuple[Case, int]) -> dict:
    """Return a line: p-values of some repetitions, with what is known of rows and without.

    Where rows have groups and weights, "without" leaves out the weights.
    """
    case, first = task
    known, ignored, seconds = [], [], 0.0
    for repetition in range(first, first + AT_ONCE):
        rng = np.random.default_rng([*map(ord, case.name), repetition])
        x, y, z, of_rows = case.draw(rng, STRENGTH[case.kind] if case.related else 0.0)
        start = time.perf_counter()
        known.append(chsic.chsic_test(x, y, z, **of_rows, **dict(case.settings)).pvalue)
        seconds += time.perf_counter() - start
        if not case.settings:
            kept = {"groups": of_rows["groups"]} if {"groups", "weights"} <= of_rows.keys() else {}
            ignored.append(chsic.chsic_test(x, y, z, **kept).pvalue)
    return {
        "case": case.key, "kind": case.kind, "first": first, "seconds": seconds / AT_ONCE,
        "pvalues": known, "without": ignored,
    }  # fmt: skip


def table(lines: list[dict]) -> list[dict]:
    by_case = defaultdict(list)
    for line in lines:
        by_case[line["kind"], line["case"]].append(line)
    return [_row(*key, of) for key, of in by_case.items()]


def _row(kind: str, case: str, lines: list[dict]) -> dict:
    known = np.concatenate([line["pvalues"] for line in lines])
    ignored = np.concatenate([line["without"] for line in lines])
    rejected = int((known <= LEVEL).sum())
    interval = binomtest(rejected, len(known)).proportion_ci(0.95, method="exact")
    row = {"kind": kind, "case": case, "tests": len(known), "rate": rejected / len(known),
           "low": interval.low, "high": interval.high,
           "seconds": float(np.mean([line["seconds"] for line in lines]))}  # fmt: skip
    if len(ignored):
        row["without"] = float((ignored <= LEVEL).mean())
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--repetitions", type=int, default=1_000, help="of a true null; a third else"
    )
    parser.add_argument("--minutes", type=float, default=1e9, help="stop then; 0 makes the table")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--kinds", nargs="+", default=list(STRENGTH), choices=list(STRENGTH))
    given = parser.parse_args()
    lines = [json.loads(line) for line in LINES.open()] if LINES.exists() else []
    done = {(line["case"], line["first"]) for line in lines}
    end = time.monotonic() + 60 * given.minutes
    tasks = [
        (case, first)
        for first in range(0, given.repetitions, AT_ONCE)
        for case in cases()
        if first < given.repetitions / (3 if case.related or case.settings else 1)
        and case.kind in given.kinds
        and (case.key, first) not in done
    ]
    with ProcessPoolExecutor(given.workers) as pool, LINES.open("a") as file:
        for start in range(0, len(tasks), given.workers):
            if time.monotonic() > end:
                break
            for line in pool.map(pvalues, tasks[start : start + given.workers]):
                lines.append(line)
                print(json.dumps(line), file=file, flush=True)
    result = {
        "machine": describe("chsic", "numpy", "scipy"),
        "level": LEVEL,
        "strength of relations": STRENGTH,
        "rows": table(lines),
    }
    write_whole(TABLE, lambda path: path.write_text(json.dumps(result, indent=1) + "\n"))


if __name__ == "__main__":
    main()
