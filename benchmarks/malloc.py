"""Whether tests gain from memory that is not given back: ``python -m benchmarks.malloc``.

`chsic._util.malloc` makes the C library keep the memory of arrays that were freed. Tests run with
and without it, each in a process of its own, as the change lasts as long as the process. The two
take turns, so that both meet the same other work on the machine.
"""

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from benchmarks.machine import describe

RESULTS = Path(__file__).parent / "results" / "malloc.json"
SIZES = (1_000, 10_000)
PROCESSES = 25  # of each kind and size
SECONDS = 1.0  # of tests in each process
WANTED = 0.97  # of the time without it: else it is not worth its lines


def median_seconds(n: int, *, is_used: bool) -> float:
    """Time tests in this process, which must be new."""
    import chsic
    from chsic._util import malloc

    if not is_used:
        malloc.BLOCK = 0
    rng = np.random.default_rng(0)
    z, e, h = rng.normal(size=(3, n))
    x, y = z + e, z + h
    chsic.chsic_test(x[:100], y[:100], z[:100], rng=0)  # loads all modules
    times: list[float] = []
    while sum(times) < SECONDS or len(times) < 3:
        start = time.perf_counter()
        chsic.chsic_test(x, y, z, rng=0)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def in_new_process(n: int, kind: str) -> float:
    command = [sys.executable, "-m", "benchmarks.malloc", str(n), kind]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    rows = []
    for n in SIZES:
        times: dict[str, list[float]] = {"with": [], "without": []}
        for turn in range(PROCESSES):
            for kind in sorted(times, reverse=bool(turn % 2)):
                times[kind].append(in_new_process(n, kind))
        ratios = [a / b for a, b in zip(times["with"], times["without"], strict=True)]
        row = {
            "n": n,
            "seconds": {kind: statistics.median(values) for kind, values in times.items()},
            "with over without": statistics.median(ratios),
            "quartiles": statistics.quantiles(ratios, n=4)[::2],
        }
        print(row)
        rows.append(row)
    made = {
        "machine": describe("chsic", "numpy", "scipy"),
        "processes": PROCESSES,
        "wanted": WANTED,
        "tests": rows,
    }
    RESULTS.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(median_seconds(int(sys.argv[1]), is_used=sys.argv[2] == "with"))
    else:
        main()
