"""What decided the defaults: level and power along the settings of the test.

``python -m benchmarks.calibration.settings`` writes ``settings.md`` and ``settings.json`` into the
results of the laboratory, anew after each of its tables. Stopped, it goes on with the next one;
without those files it begins anew.
"""

import argparse
import contextlib
import dataclasses
import json
import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from unittest import mock

import numpy as np
from benchmarks.calibration import RESULTS
from benchmarks.calibration.chunk import seeds
from benchmarks.machine import describe
from rich.console import Console
from rich.progress import Progress

import chsic
from chsic._util.files import write_whole
from chsic.datasets import SCENARIOS, draw_scenario
from chsic.inference.plan import Along, MemberPlan
from chsic.inference.planning import Multiples

CONSTANTS = "constants"  # of modules of chsic.inference, among the settings of a variant


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Variants of the test, by name, on the same samples of some scenarios."""

    title: str
    n: int
    variants: dict[str, dict]
    cells: tuple[tuple[str, int], ...]


def plain_and_narrow(kernels, given, settings):
    """Return the members of the family as it was before: six, of equal weights."""
    return tuple(MemberPlan(k, along) for k in kernels for along in (Along.NOTHING, Along.NARROW))


COMPARISONS = (
    Comparison(
        "Adjustment and pairs",
        200,
        {
            **{
                f"{adjust}, {alpha} neighbours": {"adjust": adjust, "alpha": alpha}
                for adjust in ("none", "ridge")
                for alpha in (4, 12, 24, 48)
            },
            "ridge, closest pairs, alpha 12": {"pairs": "closest", "alpha": 12},
            "ridge, blocks of 8": {"pairs": "blocks"},
            "default": {},
        },
        (
            ("m_plus-20dB", 1), ("sharp", 1), ("scale", 1), ("oscillating", 2), ("oscillating", 3),
            ("oscillating", 5), ("linear", 5), ("pnl-II", 3),
            ("m_minus-5dB", 1), ("wave", 1), ("add", 2), ("sign", 2), ("pnl-shared", 3),
        ),
    ),
    Comparison(
        "Neighbours on a line, more samples",
        400,
        {f"{alpha} neighbours": {"alpha": alpha} for alpha in (6, 12, 24, 48, 96)},
        (
            ("m_plus-20dB", 1), ("sharp", 1), ("scale", 1), ("strong", 1),
            ("m_minus-5dB", 1), ("pnl-shared", 1), ("local", 1),
        ),
    ),
    Comparison(
        "Bandwidths, in median distances, and augmentation",
        200,
        {
            **{
                ", ".join(map(str, values)): {"bandwidth": Multiples(values)}
                for values in (
                    (0.6,), (1.2,), (5.0,), (0.6, 1.2, 5.0), (0.5, 0.9, 5.0), (0.75, 1.6, 5.0),
                    (0.6, 5.0), (0.3, 0.6, 1.2, 5.0),
                )
            },
            "default: 0.6, 1.2, 5.0, weighted": {},
            "0.6, 1.2, 5.0, plain only": {"augment": False},
            "0.6, 1.2, 5.0, augmented only": {"augment": True},
        },
        (
            ("oscillating", 1), ("m_minus-5dB", 1), ("wave", 1), ("square", 2), ("tails", 1),
            ("circle", 1), ("sign", 2), ("cancel", 1), ("pnl-shared", 2), ("counts-shared", 1),
        ),
    ),
    Comparison(
        "Kernels on z, and weights",
        200,
        {
            "default": {},
            "equal weights": {CONSTANTS: {"compare.WEIGHTS": (1.0, 1.0, 1.0)}},
            "wide kernel of width 1": {CONSTANTS: {"unit_kernels.WIDE": 1.0}},
            "wide kernel of width 4": {CONSTANTS: {"unit_kernels.WIDE": 4.0}},
            "no kernel and a narrow one, at each bandwidth": {
                CONSTANTS: {"compare._members_along_line": plain_and_narrow}
            },
            "the same, n / 8 neighbours": {
                "alpha": 24,
                CONSTANTS: {"compare._members_along_line": plain_and_narrow},
            },
        },
        (
            ("scale", 1), ("sharp", 1), ("m_plus-20dB", 1),
            ("m_minus-5dB", 1), ("wave", 1), ("circle", 1), ("pnl-shared", 1), ("local", 1),
            ("sign", 1), ("cancel", 1), ("square", 1), ("counts-shared", 1),
        ),
    ),
    Comparison(
        "Samples that share a random sign",
        400,
        {
            **{f"{size}": {"unit_size": size} for size in (1, 2, 8, 20)},
            "default: 128 units": {},
        },
        (
            ("oscillating", 1), ("strong", 1), ("oscillating", 3),
            ("m_minus-5dB", 1), ("local", 1), ("sign", 2),
        ),
    ),
)  # fmt: skip


def rate(task: tuple[dict, str, int, int, int]) -> float:
    """Return how often one variant rejects at 0.05."""
    settings, scenario, d, n, repetitions = task
    rejected = 0
    with contextlib.ExitStack() as constants:
        for name, value in settings.get(CONSTANTS, {}).items():
            constants.enter_context(mock.patch(f"chsic.inference.{name}", value))
        settings = {name: value for name, value in settings.items() if name != CONSTANTS}
        for repetition in range(repetitions):
            data, signs = map(np.random.default_rng, seeds(scenario, d, n, repetition))
            sample = draw_scenario(scenario, n, d, data)
            found = chsic.chsic_test(*sample, rng=signs, n_resamples=999, **settings)
            rejected += found.pvalue <= 0.05
    return rejected / repetitions


def markdown(comparison: Comparison, rates: dict[str, list[float]]) -> str:
    """Return a table of true nulls and one of dependences, a line for each variant."""
    parts = [f"## {comparison.title}, n = {comparison.n}\n"]
    for independent, what in ((True, "True nulls, rejected:"), (False, "Dependences, found:")):
        columns = [
            position
            for position, (scenario, _) in enumerate(comparison.cells)
            if SCENARIOS[scenario].independent == independent
        ]
        names = [_name(*comparison.cells[position]) for position in columns]
        lines = ["| | " + " | ".join(names) + " |", "|---|" + "---:|" * len(names)]
        for variant, of_cells in rates.items():
            cells = [f"{of_cells[position]:.3f}" for position in columns]
            lines.append(f"| {variant} | " + " | ".join(cells) + " |")
        parts.append(what + "\n\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)


def _name(scenario: str, d: int) -> str:
    return scenario if d == 1 else f"{scenario}, d = {d}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the results")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    found = _finished(given.out, given.repetitions)
    with (
        ProcessPoolExecutor(given.workers) as pool,
        Progress(console=Console(stderr=True)) as progress,
    ):
        for comparison in COMPARISONS:
            if comparison.title in found:
                continue
            tasks = [
                (settings, scenario, d, comparison.n, given.repetitions)
                for settings in comparison.variants.values()
                for scenario, d in comparison.cells
            ]
            bar = progress.add_task(comparison.title, total=len(tasks))
            rates: dict[str, list[float]] = {name: [] for name in comparison.variants}
            names = [name for name in comparison.variants for _ in comparison.cells]
            for name, rejected in zip(names, pool.map(rate, tasks), strict=True):
                rates[name].append(rejected)
                progress.advance(bar)
            found[comparison.title] = rates
            _write(given.out, found, given.repetitions)
    print((given.out / "settings.md").read_text())


def _finished(folder: Path, repetitions: int) -> dict[str, dict[str, list[float]]]:
    """Return the rates of comparisons that are there already, by title."""
    path = folder / "settings.json"
    made = json.loads(path.read_text()) if path.exists() else {"repetitions": None}
    if made["repetitions"] != repetitions:
        return {}
    return {one["title"]: one["rates"] for one in made["comparisons"]}


def _write(folder: Path, found: dict[str, dict[str, list[float]]], repetitions: int) -> None:
    finished = [comparison for comparison in COMPARISONS if comparison.title in found]
    text = (
        f"# What decided the defaults\n\nRejection rates at 0.05, {repetitions} repetitions, "
        "the same samples in each column. z has one column unless said.\n"
    )
    text += "".join("\n" + markdown(one, found[one.title]) for one in finished)
    result = {
        "machine": describe("chsic", "numpy", "scipy"),
        "repetitions": repetitions,
        "comparisons": [
            {
                "title": one.title,
                "n": one.n,
                "cells": [f"{scenario}, d = {d}" for scenario, d in one.cells],
                "rates": found[one.title],
            }
            for one in finished
        ],
    }
    as_json = json.dumps(result, indent=1) + "\n"
    write_whole(folder / "settings.md", lambda path: path.write_text(text))
    write_whole(folder / "settings.json", lambda path: path.write_text(as_json))


if __name__ == "__main__":
    main()
