"""What rejection rates do not show: uniform p-values, and intervals that cover and are as wide.

``python -m benchmarks.calibration.checks`` writes ``checks.json`` into the results of the
laboratory: a Kolmogorov-Smirnov test of 2,000 p-values of a true null; how often the 95 percent
interval of the coefficient holds the coefficient of a large sample; and its half width over 1.96
beside the standard deviation of the coefficient over data sets, up to 10^6 samples. ``--parts``,
``--only`` and ``--sizes`` run a part, and leave the other rows of the file as they are.
"""

import argparse
import fnmatch
import functools
import json
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from benchmarks.calibration import RESULTS
from benchmarks.calibration.chunk import seeds
from benchmarks.machine import describe
from scipy.stats import binomtest, chi2, kstest

import chsic
from chsic._util.files import write_whole
from chsic.datasets import draw_scenario

PARTS = ("uniform", "coverage", "widths")
UNIFORM = ("oscillating", 1, 200)
COVERED = (
    "add", "square", "wave", "tails", "circle", "m_minus-10dB", "product", "counts-shared",
    "cancel", "levels",
)  # fmt: skip
SIZES = (400, 1_000)
LARGE = 20_000
N_LARGE = 10  # large samples whose mean coefficient stands for the true one

WIDTHS = ("m_minus-10dB", "add", "wave", "cancel", "levels", "counts-shared")
WIDTH_SIZES = {300: 400, 1_000: 400, 10_000: 200, 100_000: 60, 1_000_000: 20}  # and data sets
COVERED_UP_TO = 10_000  # samples, for the truth comes from larger ones
LARGE_OF_WIDTHS = 100_000
N_LARGE_OF_WIDTHS = 20


def _test(scenario: str, d: int, n: int, repetition: int):
    data, _ = map(np.random.default_rng, seeds(scenario, d, n, repetition))
    return chsic.chsic_test(*draw_scenario(scenario, n, d, data))


def pvalue(repetition: int) -> float:
    return _test(*UNIFORM, repetition).pvalue


def interval(task: tuple[str, int, int]) -> tuple[float, float, float]:
    scenario, n, repetition = task
    result = _test(scenario, 1, n, repetition)
    return result.coefficient, *result.confidence_interval(0.95)


def uniformity(pool: ProcessPoolExecutor) -> dict:
    pvalues = np.array(list(pool.map(pvalue, range(2_000), chunksize=20)))
    uniform = kstest(pvalues, "uniform")
    return {
        "scenario": UNIFORM[0],
        "n": UNIFORM[2],
        "seeds": len(pvalues),
        "distance": float(uniform.statistic),
        "pvalue": float(uniform.pvalue),
    }


def coverage(scenario: str, n: int, repetitions: int, pool: ProcessPoolExecutor) -> dict:
    large = pool.map(interval, [(scenario, LARGE, r) for r in range(N_LARGE)])
    truth = float(np.mean([coefficient for coefficient, _, _ in large]))
    found = _intervals(scenario, n, repetitions, pool)
    return {
        "scenario": scenario,
        "n": n,
        "repetitions": repetitions,
        "coefficient_of_large_samples": truth,
        "mean_coefficient": float(found[:, 0].mean()),
        "standard_deviation": float(found[:, 0].std()),
        "mean_half_width": float((found[:, 2] - found[:, 1]).mean() / 2),
        **_covered(found, truth),
    }


def widths(scenario: str, n: int, repetitions: int, pool: ProcessPoolExecutor) -> dict:
    """Compare half widths of intervals with the standard deviation over data sets.

    The ratio is 1 where the interval is as wide as it should be. Its own interval is that of a
    standard deviation over as many normal values. `covered_mean` is how often an interval holds
    the mean coefficient of its own n, so that a drift of the coefficient with n has no part in it.
    """
    found = _intervals(scenario, n, repetitions, pool)
    deviation = float(found[:, 0].std(ddof=1))
    half = (found[:, 2] - found[:, 1]) / 2 / 1.96
    ratio = float(half.mean() / deviation)
    freedom = repetitions - 1
    low, high = np.sqrt(chi2.ppf([0.025, 0.975], freedom) / freedom)
    own = _covered(found, float(found[:, 0].mean()))
    row = {
        "scenario": scenario,
        "n": n,
        "repetitions": repetitions,
        "mean_coefficient": float(found[:, 0].mean()),
        "standard_deviation": deviation,
        "mean_half_width": float(1.96 * half.mean()),
        "ratio": ratio,
        "interval_of_ratio": [float(ratio * low), float(ratio * high)],
        "covered_mean": own["covered"],
    }
    if n > COVERED_UP_TO:
        return row
    large = _of_large(scenario, pool)
    truth = float(large.mean())
    return {
        **row,
        "coefficient_of_large_samples": truth,
        "its_standard_error": float(large.std(ddof=1) / len(large) ** 0.5),
        "drift": (row["mean_coefficient"] - truth) / deviation,  # in standard deviations
        **_covered(found, truth),
    }


def _intervals(scenario: str, n: int, repetitions: int, pool: ProcessPoolExecutor) -> np.ndarray:
    """Return coefficients, and lower and upper ends, of data sets."""
    tasks = [(scenario, n, r) for r in range(repetitions)]
    return np.array(list(pool.map(interval, tasks, chunksize=20 if n < 100_000 else 1)))


@functools.cache
def _of_large(scenario: str, pool: ProcessPoolExecutor) -> np.ndarray:
    return _intervals(scenario, LARGE_OF_WIDTHS, N_LARGE_OF_WIDTHS, pool)[:, 0]


def _covered(found: np.ndarray, truth: float) -> dict:
    covered = int(((found[:, 1] <= truth) & (truth <= found[:, 2])).sum())
    low, high = binomtest(covered, len(found)).proportion_ci(0.95, method="exact")
    return {
        "covered": covered / len(found),
        "interval_of_covered": [float(low), float(high)],
    }


def replaced(before: Sequence[dict], after: Sequence[dict], order: Sequence[str]) -> list[dict]:
    """Return old and new rows, the new one where both have a scenario and n."""
    rows = {(row["scenario"], row["n"]): row for row in (*before, *after)}
    return [rows[cell] for cell in sorted(rows, key=lambda cell: (order.index(cell[0]), cell[1]))]


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--only", metavar="PATTERN", default="*", help="scenarios, as 'm_*'")
    parser.add_argument("--sizes", type=int, nargs="+", help="numbers of samples, as 300 1000")
    parser.add_argument("--repetitions", type=int, help="of each interval; fewer to try it")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the results")
    given = parser.parse_args()
    if given.workers < 1:
        parser.error(f"--workers: at least 1 is needed, got {given.workers}.")
    if given.repetitions is not None and given.repetitions < 2:
        parser.error(f"--repetitions: at least 2 are needed, got {given.repetitions}.")
    if not any(fnmatch.fnmatchcase(name, given.only) for name in (*COVERED, *WIDTHS)):
        parser.error(f"--only: no scenario matches {given.only!r}; there are "
                     f"{', '.join(dict.fromkeys((*WIDTHS, *COVERED)))}.")  # fmt: skip
    return given


def main() -> None:
    given = options()

    def wanted(scenarios: Sequence[str], sizes: Sequence[int]) -> list[tuple[str, int]]:
        return [
            (scenario, n)
            for scenario in scenarios
            if fnmatch.fnmatchcase(scenario, given.only)
            for n in sizes
            if given.sizes is None or n in given.sizes
        ]

    path = given.out / "checks.json"
    result = json.loads(path.read_text()) if path.exists() else {}
    result["machine"] = describe("chsic", "numpy", "scipy")
    given.out.mkdir(parents=True, exist_ok=True)

    def keep(part: str, rows: Sequence[dict], order: Sequence[str]) -> None:
        """Write after every row: the largest sizes take minutes."""
        result[part] = replaced(result.get(part, []), rows, order)
        _write(path, result)

    with ProcessPoolExecutor(given.workers) as pool:
        if "uniform" in given.parts:
            result["uniform"] = uniformity(pool)
            print(result["uniform"], flush=True)
            _write(path, result)
        if "coverage" in given.parts:
            for scenario, n in wanted(COVERED, SIZES):
                row = coverage(scenario, n, given.repetitions or 1_000, pool)
                print(f"{scenario}, n = {n}: covered {row['covered']:.3f}", flush=True)
                keep("coverage_of_95_percent_intervals", [row], COVERED)
        if "widths" in given.parts:
            for scenario, n in wanted(WIDTHS, tuple(WIDTH_SIZES)):
                often = min(given.repetitions or WIDTH_SIZES[n], WIDTH_SIZES[n])
                row = widths(scenario, n, often, pool)
                print(_sentence(row), flush=True)
                keep("widths_of_95_percent_intervals", [row], WIDTHS)


def _sentence(row: dict) -> str:
    low, high = row["interval_of_ratio"]
    text = (
        f"{row['scenario']}, n = {row['n']:,}: ratio {row['ratio']:.2f} [{low:.2f}, {high:.2f}], "
        f"coefficient {row['mean_coefficient']:.5f}, its mean covered {row['covered_mean']:.3f}"
    )
    if "covered" in row:
        text += f", that of large samples {row['covered']:.3f}, drift {row['drift']:.2f}"
    return text


def _write(path: Path, result: dict) -> None:
    text = json.dumps(result, indent=1) + "\n"
    write_whole(path, lambda path: path.write_text(text))


if __name__ == "__main__":
    main()
