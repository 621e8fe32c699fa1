"""What the engines promise, as ratios within one run: ``make bench``."""

import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import finufft
import numpy as np
from benchmarks.machine import describe
from rich.console import Console
from rich.table import Table

import chsic
from chsic._util.files import write_whole
from chsic.kernels import KERNELS
from chsic.kernels.bandwidth import in_bandwidths
from chsic.measure.engines import fourier
from chsic.measure.engines.choose import ENGINES

RESULTS = Path(__file__).parent / "results"
WORKERS = 2


def best_time(function: Callable[[], object], repeats: int = 3) -> float:
    times = []
    while len(times) < repeats and sum(times) < 60:
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def time_of(n: int, **settings: object) -> float:
    sample = chsic.datasets.m_minus(n, 10.0, rng=0)
    return best_time(lambda: chsic.chsic(*sample, workers=WORKERS, **settings))


def against_a_bare_transform(n: int = 10**6) -> float:
    """Ours over argsort(z) plus one bare nufft2d1 of L + 2K points at the same accuracy."""
    x, y, z = chsic.datasets.m_minus(n, 10.0, rng=0)
    graph = chsic.closest_pairs(z, 4)
    scaled = in_bandwidths(x[:, None], y[:, None], "paper")
    grid = fourier.fit_grid(*scaled, KERNELS["gaussian"], 1e-6)
    i, j, every = graph.i, graph.j, np.arange(n)
    points_x = grid.x.angles[np.concatenate([every, i, j])]
    points_y = grid.y.angles[np.concatenate([every, j, i])]
    strengths = np.ones(len(points_x), dtype=complex)
    bare = best_time(lambda: finufft.nufft2d1(points_x, points_y, strengths, grid.shape, eps=1e-6))
    return time_of(n) / (best_time(lambda: np.argsort(z)) + bare)


def single_over_double_precision(n: int = 10**6) -> float:
    """One transform at eps = 1e-4 in single precision over the same in double: whether it pays."""
    rng = np.random.default_rng(0)
    points, strengths = rng.uniform(-np.pi, np.pi, (2, n)), np.ones(n)
    seconds = []
    for real, cplx in ((np.float32, np.complex64), (np.float64, np.complex128)):
        x, y, c = *points.astype(real), strengths.astype(cplx)
        seconds.append(best_time(lambda x=x, y=y, c=c: finufft.nufft2d1(x, y, c, 65, eps=1e-4), 5))
    return seconds[0] / seconds[1]


def growth_exponent() -> float:
    sizes = np.array([10**5, 10**6, 10**7])
    return float(np.polyfit(np.log(sizes), np.log([time_of(int(n)) for n in sizes]), 1)[0])


def peak_gigabytes(n: int = 10**7) -> float:
    code = (
        "import resource, chsic; "
        f"chsic.chsic(*chsic.datasets.m_minus({n}, 10.0, rng=0), workers={WORKERS}); "
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return 1024 * int(done.stdout) / 1e9


def alpha_64_over_4(n: int = 10**6) -> float:
    """Time the feature engine, whose cost should not depend on alpha."""
    settings = {"engine": "features", "tol": 1e-4}
    return time_of(n, alpha=64, **settings) / time_of(n, alpha=4, **settings)


def dense_over_fourier(n: int = 10**5) -> float:
    return time_of(n, engine="dense") / time_of(n)


def five_columns_over_one(n: int = 10**5) -> float:
    x, y, z = chsic.datasets.m_minus(n, 10.0, rng=0)
    wide = np.column_stack([x, *np.random.default_rng(0).normal(size=(4, n))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", chsic.AccuracyWarning)
        return best_time(lambda: chsic.chsic(wide, y, z, workers=WORKERS)) / time_of(n)


def worst_choice() -> tuple[float, list[dict]]:
    """Time of the chosen engine over that of the best one that keeps the tolerance, at worst."""
    rows = []
    for kernel in ("gaussian", "laplace", "cauchy", "matern32", "categorical"):
        for d_x in (1, 2):
            for n in (100, 300, 1_000, 3_000, 10_000, 20_000):
                rows.append(choice(kernel, d_x, n))
    return max(row["chosen_over_best"] for row in rows), rows


def choice(kernel: str, d_x: int, n: int) -> dict:
    x, y, z = chsic.datasets.m_minus(n, 10.0, rng=0)
    if kernel == "categorical":
        x, y, z = np.round(x), np.round(y), np.round(z, 1)
    wide = x if d_x == 1 else np.column_stack([x, z])
    times = {}
    for engine in ENGINES[1:]:
        settings = {"kernel": kernel, "engine": engine, "workers": WORKERS}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", chsic.AccuracyWarning)
                times[engine] = best_time(lambda s=settings: chsic.chsic(wide, y, z, **s))
        except (ValueError, chsic.AccuracyWarning):
            continue  # it cannot be used here, or does not keep the tolerance
    chosen = chsic.explain(wide, y, kernel=kernel).engine
    return {
        "kernel": kernel,
        "columns_of_x": d_x,
        "n": n,
        "chosen": chosen,
        "seconds": times,
        "chosen_over_best": times[chosen] / min(times.values()),
    }


def main() -> None:
    worst, choices = worst_choice()
    found = [
        ("L = 10^6 over argsort + bare transform", against_a_bare_transform(), "at most 3"),
        ("growth exponent, L = 10^5 to 10^7", growth_exponent(), "at most 1.1"),
        ("peak gigabytes, L = 10^7", peak_gigabytes(), "at most 4"),
        ("features at L = 10^6, alpha = 64 over 4", alpha_64_over_4(), "at most 2"),
        ("five columns over one, L = 10^5", five_columns_over_one(), "at most 10"),
        ("dense over chosen engine, L = 10^5", dense_over_fourier(), "at least 1000"),
        ("chosen over best engine, worst case", worst, "at most 1.5"),
        ("transform in single over double precision", single_over_double_precision(), "no target"),
    ]
    table = Table("target", "found", "wanted")
    for name, value, wanted in found:
        table.add_row(name, f"{value:.3g}", wanted)
    Console(highlight=False).print(table)
    for row in choices:
        if row["chosen_over_best"] > 1.2:
            print(row)
    result = {
        "machine": describe("chsic", "numpy", "scipy", "finufft"),
        "targets": [{"name": n, "found": v, "wanted": w} for n, v, w in found],
        "choices": choices,
    }
    text = json.dumps(result, indent=1) + "\n"
    write_whole(RESULTS / "targets.json", lambda path: path.write_text(text))


if __name__ == "__main__":
    main()
