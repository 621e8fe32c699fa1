"""Compare measures of conditional dependence and write what was seen into the results folder."""

import argparse
import importlib.util
import json
import os
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from benchmarks.machine import describe
from benchmarks.measures import kernel, picture, report, summary, trials
from benchmarks.measures.settings import Setting, all_pairs
from rich.console import Console
from rich.progress import Progress

from chsic import datasets, plot
from chsic._util.files import write_csv, write_whole

RESULTS = Path(__file__).parents[1] / "results" / "measures"
PACKAGES = ("chsic", "numpy", "scipy", "finufft")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.measures", description=__doc__)
    parser.add_argument("--trials", type=int, default=100, help="data sets for each setting (100)")
    parser.add_argument("--seed", type=int, default=0, help="of all data sets (0)")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the results")
    parser.add_argument("--redraw", action="store_true", help="words and picture from the table")
    given = parser.parse_args(arguments)
    if given.redraw:
        show(given.out, summary.read(given.out / "measures.csv"))
        return
    if given.trials < 2:
        parser.error(f"--trials: at least 2 are needed for a spread, got {given.trials}.")
    # Kept beside the results while the run lasts: what is stopped goes on where it was. To be
    # removed by hand when a measure was changed meanwhile.
    kept = given.out / "unfinished.json"
    write(given.out, measure(given.trials, given.seed, kept), given.trials, given.seed)
    kept.unlink(missing_ok=True)


def measure(n_trials: int, seed: int, kept: Path) -> trials.Results:
    work = trials.plan()
    with Progress(console=Console(stderr=True)) as progress:
        # A value costs up to n^3, and something for the smallest.
        task = progress.add_task("measures", total=sum(map(_cost, work)))

        def advance(setting: Setting) -> None:
            progress.update(task, advance=_cost(setting), description=str(setting))

        return trials.run(work, n_trials, seed, kept, advance)


def _cost(setting: Setting) -> float:
    return 200**3 + setting.n**3


def write(out: Path, results: trials.Results, n_trials: int, seed: int) -> None:
    rows = summary.summarise(results, all_pairs())
    facts = {
        "machine": describe(*PACKAGES),
        "threads": os.environ.get("OMP_NUM_THREADS", "as many as cores"),
        "trials": n_trials,
        "seed": seed,
        "seconds_of_all_values": sum(
            sum(t.seconds) for by_measure in results.values() for t in by_measure.values()
        ),
        "conditional_dcor_and_hyppo": beside_hyppo(),
    }
    text = json.dumps(facts, indent=1) + "\n"
    write_csv(out / "measures.csv", rows)
    write_whole(out / "measures.json", lambda path: path.write_text(text, encoding="utf-8"))
    show(out, rows)


def show(out: Path, rows: list[summary.Row]) -> None:
    found = summary.index(rows)
    words = report.write(found, rows[0].trials, kernel.RIDGE)
    write_whole(out / "measures.md", lambda path: path.write_text(words, encoding="utf-8"))
    plot.save(picture.draw(found), out / "measures.png")


def beside_hyppo(sizes: Sequence[int] = (100, 200)) -> list[dict[str, float]] | None:
    """Hold our form of the conditional distance correlation against hyppo's, if it is there."""
    if importlib.util.find_spec("hyppo") is None:
        return None
    from hyppo.conditional import ConditionalDcorr

    hyppo = ConditionalDcorr(use_cov=False)
    found = []
    for n in sizes:
        x, y, z = (v[:, None] for v in datasets.m_minus(n, 10.0, rng=0))
        times = [time.perf_counter()]
        values = []
        for function in (kernel.conditional_dcor, hyppo.statistic):
            values.append(function(x, y, z))
            times.append(time.perf_counter())
        ours, theirs = np.diff(times).tolist()
        difference = float(abs(values[0] / values[1] - 1))
        found.append({"n": n, "relative_difference": difference, "seconds": ours, "hyppo": theirs})
    return found


if __name__ == "__main__":
    main()
