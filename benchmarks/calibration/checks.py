"""Two checks that rejection rates do not make: uniform p-values, and intervals that cover.

``python -m benchmarks.calibration.checks`` writes ``checks.json`` into the results of the
laboratory: a Kolmogorov-Smirnov test of 2,000 p-values of a true null, and how often the 95 percent
interval of the coefficient holds the coefficient of a large sample.
"""

import argparse
import json
import os
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from benchmarks.calibration import RESULTS
from benchmarks.calibration.chunk import seeds
from benchmarks.machine import describe
from scipy.stats import binomtest, kstest

import chsic
from chsic._util.files import write_whole
from chsic.datasets import draw_scenario

UNIFORM = ("oscillating", 1, 200)
COVERED = (
    "add", "square", "wave", "tails", "circle", "m_minus-10dB", "product", "counts-shared",
    "cancel", "levels",
)  # fmt: skip
SIZES = (400, 1_000)
LARGE = 20_000
N_LARGE = 10  # large samples whose mean coefficient stands for the true one


def _test(scenario: str, d: int, n: int, repetition: int):
    data, _ = map(np.random.default_rng, seeds(scenario, d, n, repetition))
    return chsic.chsic_test(*draw_scenario(scenario, n, d, data))


def pvalue(repetition: int) -> float:
    return _test(*UNIFORM, repetition).pvalue


def interval(task: tuple[str, int, int]) -> tuple[float, float, float]:
    scenario, n, repetition = task
    result = _test(scenario, 1, n, repetition)
    return result.coefficient, *result.confidence_interval(0.95)


def coverage(scenario: str, n: int, repetitions: int, pool: ProcessPoolExecutor) -> dict:
    large = pool.map(interval, [(scenario, LARGE, r) for r in range(N_LARGE)])
    truth = float(np.mean([coefficient for coefficient, _, _ in large]))
    tasks = [(scenario, n, r) for r in range(repetitions)]
    found = np.array(list(pool.map(interval, tasks, chunksize=20)))
    covered = int(((found[:, 1] <= truth) & (truth <= found[:, 2])).sum())
    low, high = binomtest(covered, repetitions).proportion_ci(0.95, method="exact")
    return {
        "scenario": scenario,
        "n": n,
        "repetitions": repetitions,
        "coefficient_of_large_samples": truth,
        "mean_coefficient": float(found[:, 0].mean()),
        "standard_deviation": float(found[:, 0].std()),
        "mean_half_width": float((found[:, 2] - found[:, 1]).mean() / 2),
        "covered": covered / repetitions,
        "interval_of_covered": [float(low), float(high)],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=1_000, help="for each interval")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    with ProcessPoolExecutor(given.workers) as pool:
        pvalues = np.array(list(pool.map(pvalue, range(2_000), chunksize=20)))
        uniform = kstest(pvalues, "uniform")
        rows = []
        for scenario in COVERED:
            for n in SIZES:
                rows.append(coverage(scenario, n, given.repetitions, pool))
                print(f"{scenario}, n = {n}: covered {rows[-1]['covered']:.3f}", flush=True)
    result = {
        "machine": describe("chsic", "numpy", "scipy"),
        "uniform": {
            "scenario": UNIFORM[0],
            "n": UNIFORM[2],
            "seeds": len(pvalues),
            "distance": float(uniform.statistic),
            "pvalue": float(uniform.pvalue),
        },
        "coverage_of_95_percent_intervals": rows,
    }
    print(result["uniform"])
    RESULTS.mkdir(parents=True, exist_ok=True)
    text = json.dumps(result, indent=1) + "\n"
    write_whole(RESULTS / "checks.json", lambda path: path.write_text(text))


if __name__ == "__main__":
    main()
