"""How often rows are said to depend on each other: ``python -m benchmarks.alarms``, some minutes.

Independent rows, of all scenarios with one column of z and in four orders, where an alarm is false;
and rows with a memory, of patients or copied, where x and y are independent given z and the test
rejects all the same. Results are in ``results/alarms.json``.
"""

import argparse
import json
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from benchmarks.calibration import RESULTS
from benchmarks.dependence import LEVEL, identical, patients, with_memory
from benchmarks.machine import describe

import chsic
from chsic._util.files import write_whole
from chsic.datasets import SCENARIOS

ALARMS = ("Rows that follow each other", "are equal to another")
ORDERS = ("drawn", "sorted by z", "sorted by x", "two centres, one after the other")

Draw = Callable[[np.random.Generator], tuple[Any, ...]]


def scenario(name: str, n: int, rng: np.random.Generator) -> tuple[Any, ...]:
    """Draw a scenario with one column of z."""
    return chsic.datasets.draw_scenario(name, n, rng=rng)


def ordered(order: str, n: int, rng: np.random.Generator) -> tuple[Any, ...]:
    """Draw related x and y, whose rows are independent, and put them into an order."""
    z, x, noise = rng.normal(size=(3, n))
    if order == "two centres, one after the other":
        z = np.sort(z > 0) + 0.0
    y = x * np.cos(z) + z + noise
    by = {"sorted by z": z, "sorted by x": x}.get(order)
    rows = np.arange(n) if by is None else np.argsort(by, kind="stable")
    return x[rows] + z[rows], y[rows], z[rows]


def independent() -> dict[str, Draw]:
    """Return designs of independent rows."""
    designs: dict[str, Draw] = {
        f"{name}, n = {n}": partial(scenario, name, n) for name in SCENARIOS for n in (200, 1_000)
    }
    return designs | {f"{order}, n = 400": partial(ordered, order, 400) for order in ORDERS}


def dependent() -> dict[str, Draw]:
    """Return designs of rows that depend on each other, x and y independent given z."""
    return {
        **{
            f"memory {memory}, n = {n}": partial(_values, partial(with_memory, n, memory))
            for memory in (0.5, 0.8, 0.9)
            for n in (400, 1_000)
        },
        "50 groups of 4": partial(_values, partial(patients, 50, 4)),
        "20 groups of 10": partial(_values, partial(patients, 20, 10)),
        "200 rows twice": partial(_values, partial(identical, 200, 2)),
    }


def _values(draw: Callable[..., tuple[Any, ...]], rng: np.random.Generator) -> tuple[Any, ...]:
    return draw(rng, 0.0)[:3]


def answer(task: tuple[Draw, int]) -> tuple[bool, bool]:
    """Tell whether a test rejects, and whether it says that rows depend on each other."""
    draw, seed = task
    result = chsic.chsic_test(*draw(np.random.default_rng(seed)))
    said = any(alarm in warning for warning in result.warnings for alarm in ALARMS)
    return result.pvalue <= LEVEL, said


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=100)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    rows = []
    with ProcessPoolExecutor(given.workers) as pool:
        for kind, designs in (("independent", independent()), ("dependent", dependent())):
            for name, draw in designs.items():
                tasks = [(draw, seed) for seed in range(given.repetitions)]
                rejected, said = np.array(list(pool.map(answer, tasks, chunksize=10))).T
                rows.append(
                    {
                        "rows": kind, "design": name, "tests": given.repetitions,
                        "rejected": int(rejected.sum()), "said": int(said.sum()),
                        "said where rejected": int((said & rejected).sum()),
                    }
                )  # fmt: skip
                print(rows[-1], flush=True)
    result = {"machine": describe("chsic", "numpy", "scipy"), "level": LEVEL, "rows": rows}
    path = RESULTS.parent / "alarms.json"
    write_whole(path, lambda file: file.write_text(json.dumps(result, indent=1) + "\n"))


if __name__ == "__main__":
    main()
