"""Categories of many levels beside exact permutation tests: ``python -m benchmarks.categories``.

x, y or z has n / 2, n / 5 or n / 10 levels, so that a level has two, five or ten rows. The other
test permutes y within strata of z 99 times; its statistic is C-HSIC without pruning inside strata,
of equality of categories, or of a Gaussian kernel of 1.2 median distances for numbers. Its level is
exact. Results are in ``results/categories.json``.
"""

import argparse
import json
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

import numpy as np
from benchmarks.calibration import RESULTS
from benchmarks.machine import describe
from scipy.stats import binomtest

import chsic
from chsic._util.files import write_whole

SIZES = (20, 50, 100, 200, 500)
ROWS_A_LEVEL = (2, 5, 10)
PERMUTATIONS = 99
LEVEL = 0.05


class Case(NamedTuple):
    """A design, its number of rows and of rows a level, and whether x and y are related given z."""

    design: str
    n: int
    rows_a_level: int
    related: bool


def draw(case: Case, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw codes of x, y and z, or numbers for x and y."""
    return DESIGNS[case.design](case.n, max(case.n // case.rows_a_level, 2), case.related, rng)


def _classes(z, number, rng):
    """Draw classes whose probabilities depend on z."""
    chances = rng.dirichlet(np.ones(number), int(z.max()) + 1).cumsum(axis=1)
    return (rng.random((len(z), 1)) > chances[z]).sum(axis=1)


def many_levels_of_z(n, levels, related, rng):
    z = rng.integers(0, levels, n)
    x, y = _classes(z, 3, rng), _classes(z, 3, rng)
    return x, np.where(related & (rng.random(n) < 0.5), x, y), z


def many_levels_of_z_and_numbers(n, levels, related, rng):
    z = rng.integers(0, levels, n)
    (mean_x, mean_y), (e, h) = 2 * rng.normal(size=(2, levels)), rng.normal(size=(2, n))
    return mean_x[z] + e, mean_y[z] + h + 0.5 * related * e, z


def many_levels_of_x(n, levels, related, rng):
    z = rng.integers(0, 3, n)
    x, class_of = (
        (rng.integers(0, levels, n) + z * (levels // 3)) % levels,
        rng.integers(0, 3, levels),
    )
    y = _classes(z, 3, rng)
    return x, np.where(related & (rng.random(n) < 0.5), class_of[x], y), z


def many_levels_of_x_and_y(n, levels, related, rng):
    z, x, y = rng.integers(0, 3, n), rng.integers(0, levels, n), rng.integers(0, levels, n)
    return x, np.where(related & (rng.random(n) < 0.4), rng.permutation(levels)[x], y), z


DESIGNS = {
    "z": many_levels_of_z,
    "z, x and y numbers": many_levels_of_z_and_numbers,
    "x": many_levels_of_x,
    "x and y": many_levels_of_x_and_y,
}


def permutation_test(x, y, z, rng) -> float:
    """Return the p-value of permutations of y within strata of z."""
    order = np.argsort(z, kind="stable")
    x, y, z = x[order], y[order], z[order]
    n, sizes = len(z), np.bincount(z)[z].astype(float)
    inside = (z[:, None] == z) / sizes
    centring = np.eye(n) - inside
    of_x, of_y = (centring @ _kernel(values, inside) @ centring for values in (x, y))
    of_x *= np.outer(sizes, sizes)
    value = (of_x * of_y).sum()
    as_large = 1
    for _ in range(PERMUTATIONS):
        p = np.lexsort((rng.random(n), z))
        as_large += (of_x * of_y[np.ix_(p, p)]).sum() >= value * (1 - 1e-12)
    return as_large / (PERMUTATIONS + 1)


def _kernel(values, inside):
    if values.dtype.kind != "f":
        return (values[:, None] == values).astype(float)
    residuals = values - inside @ values
    apart = np.abs(residuals[:, None] - residuals)
    return np.exp(-((apart / (1.2 * np.median(apart[apart > 0]))) ** 2))


def pvalues(task: tuple[Case, int]) -> tuple[float | None, float]:
    """Return ours, None if the samples are refused, and that of permutations."""
    case, repetition = task
    seed = [sum(map(ord, case.design)), case.n, case.rows_a_level, case.related, repetition]
    rng = np.random.default_rng(seed)
    x, y, z = draw(case, rng)
    names = [v if v.dtype.kind == "f" else np.array([f"c{k}" for k in v]) for v in (x, y, z)]
    try:
        ours = chsic.chsic_test(*names).pvalue
    except ValueError:
        ours = None
    return ours, permutation_test(x, y, z, rng)


def rows(repetitions: int, pool: ProcessPoolExecutor) -> Iterator[dict]:
    for design in DESIGNS:
        for n in SIZES:
            for rows_a_level in ROWS_A_LEVEL:
                row = {"design": design, "n": n, "rows_a_level": rows_a_level}
                for related in (False, True):
                    case = Case(design, n, rows_a_level, related)
                    tasks = [(case, repetition) for repetition in range(repetitions)]
                    both = list(pool.map(pvalues, tasks, chunksize=10))
                    row["related" if related else "independent"] = _rates(both)
                print(row, flush=True)
                yield row


def _rates(both: list[tuple[float | None, float]]) -> dict:
    ours = [one <= LEVEL for one, _ in both if one is not None]
    rates: dict = {
        "tests": len(ours),
        "permutations": float(np.mean([other <= LEVEL for _, other in both])),
    }
    if ours:
        interval = binomtest(sum(ours), len(ours)).proportion_ci(0.95, method="exact")
        rates |= {"rate": float(np.mean(ours)), "low": interval.low, "high": interval.high}
    return rates


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    with ProcessPoolExecutor(given.workers) as pool:
        result = {
            "machine": describe("chsic", "numpy", "scipy"),
            "repetitions": given.repetitions,
            "rows": list(rows(given.repetitions, pool)),
        }
    text = json.dumps(result, indent=1) + "\n"
    write_whole(RESULTS.parent / "categories.json", lambda path: path.write_text(text))


if __name__ == "__main__":
    main()
