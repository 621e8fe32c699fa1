"""Time a screen beside as many separate tests: ``python -m benchmarks.screening``."""

import argparse
import itertools
import json
import time
from pathlib import Path

import numpy as np
from benchmarks.machine import describe

import chsic
from chsic._util.files import write_whole
from chsic._util.progress import progress_bar

RESULT = Path(__file__).parent / "results" / "screening.json"


def columns(n: int, number: int) -> dict:
    """Draw columns that all depend on z; every tenth one also on the one before it."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=n)
    noise = rng.normal(size=(number, n))
    noise[9::10] += 0.3 * noise[8::10] ** 2
    speeds = np.linspace(0.5, 2, number)
    return {"z": z} | {f"c{k}": np.sin(speeds[k] * z) + noise[k] for k in range(number)}


def run(n: int, number: int) -> dict:
    data = columns(n, number)
    names = [name for name in data if name != "z"]
    chsic.screen({name: values[:100] for name, values in data.items()}, "z", rng=0)  # imports
    seconds = {}
    for workers in (1, 2):
        start = time.perf_counter()
        found = chsic.screen(data, "z", workers=workers, rng=0)
        seconds[f"screen, workers={workers}"] = time.perf_counter() - start
    pairs = list(itertools.combinations(names, 2))
    start = time.perf_counter()
    with progress_bar("separate tests") as report:
        for done, (x, y) in enumerate(pairs, start=1):
            chsic.chsic_test(data[x], data[y], data["z"], rng=0)
            report(done, len(pairs))
    seconds["separate tests"] = time.perf_counter() - start
    ratios = {
        name: seconds["separate tests"] / taken
        for name, taken in seconds.items()
        if name != "separate tests"
    }
    return {
        "machine": describe(),
        "n_samples": n,
        "n_columns": number,
        "n_pairs": len(found),
        "seconds": seconds,
        "separate tests over": ratios,
        "at least": 5,
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.screening", description=__doc__)
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--columns", type=int, default=50)
    given = parser.parse_args()
    result = run(given.samples, given.columns)
    text = json.dumps(result, indent=1)
    print(text)
    if (given.samples, given.columns) == (10_000, 50):
        write_whole(RESULT, lambda path: path.write_text(text + "\n"))


if __name__ == "__main__":
    main()
