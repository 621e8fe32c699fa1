"""What decided the defaults: level and power along alpha, with and without adjustment.

``python -m benchmarks.calibration.settings`` writes ``settings.md`` and ``settings.json`` into the
results of the laboratory.
"""

import argparse
import json
import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from benchmarks.calibration.chunk import seeds
from benchmarks.machine import describe
from rich.console import Console
from rich.progress import Progress

import chsic
from chsic.datasets import SCENARIOS, draw_scenario
from chsic.files import write_whole

RESULTS = Path(__file__).parents[1] / "results" / "calibration"
CELLS = (
    ("m_plus-20dB", 1), ("sharp", 1), ("scale", 1), ("oscillating", 1), ("oscillating", 2),
    ("oscillating", 3), ("oscillating", 5), ("linear", 5), ("pnl-II", 3),
    ("m_minus-5dB", 1), ("wave", 1), ("add", 2), ("sign", 2), ("pnl-shared", 3), ("add", 5),
)  # fmt: skip
ALPHAS = (4, 12, 24, 60)
VARIANTS = [
    *({"adjust": adjust, "alpha": alpha} for adjust in ("none", "ridge") for alpha in ALPHAS),
    {"adjust": "ridge", "pairs": "closest", "alpha": 12},
    {"adjust": "ridge", "pairs": "blocks"},
]
N = 200


def rate(task: tuple[dict, str, int, int]) -> float:
    """Return how often one variant rejects at 0.05."""
    settings, scenario, d, repetitions = task
    rejected = 0
    for repetition in range(repetitions):
        data, signs = map(np.random.default_rng, seeds(scenario, d, N, repetition))
        sample = draw_scenario(scenario, N, d, data)
        found = chsic.chsic_test(*sample, rng=signs, n_resamples=999, **settings)
        rejected += found.pvalue <= 0.05
    return rejected / repetitions


def name_of(settings: dict) -> str:
    return ", ".join(f"{key} {value}" for key, value in settings.items())


def markdown(rates: dict[str, dict[str, float]], repetitions: int) -> str:
    head = [f"{scenario}, d = {d}" for scenario, d in CELLS]
    kinds = ["level" if SCENARIOS[scenario].independent else "power" for scenario, _ in CELLS]
    lines = [
        f"Rejection rates at 0.05, n = {N}, {repetitions} repetitions.",
        "",
        "| | "
        + " | ".join(f"{kind}: {cell}" for kind, cell in zip(kinds, head, strict=True))
        + " |",
        "|---|" + "---:|" * len(head),
    ]
    for variant, of_cells in rates.items():
        cells = " | ".join(f"{of_cells[cell]:.3f}" for cell in head)
        lines.append(f"| {variant} | {cells} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=300)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    tasks = [
        (settings, scenario, d, given.repetitions) for settings in VARIANTS for scenario, d in CELLS
    ]
    rates: dict[str, dict[str, float]] = {}
    with (
        ProcessPoolExecutor(given.workers) as pool,
        Progress(console=Console(stderr=True)) as progress,
    ):
        bar = progress.add_task("settings", total=len(tasks))
        for (settings, scenario, d, _), found in zip(tasks, pool.map(rate, tasks), strict=True):
            rates.setdefault(name_of(settings), {})[f"{scenario}, d = {d}"] = found
            progress.advance(bar)
    text = markdown(rates, given.repetitions)
    print(text)
    result = {
        "machine": describe("chsic", "numpy", "scipy"),
        "n": N,
        "repetitions": given.repetitions,
        "rates": rates,
    }
    RESULTS.mkdir(parents=True, exist_ok=True)
    write_whole(RESULTS / "settings.md", lambda path: path.write_text(text))
    as_json = json.dumps(result, indent=1) + "\n"
    write_whole(RESULTS / "settings.json", lambda path: path.write_text(as_json))


if __name__ == "__main__":
    main()
