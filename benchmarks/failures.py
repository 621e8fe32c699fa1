"""Measure how often the test rejects true nulls where its assumptions do not hold.

``python -m benchmarks.failures`` writes benchmarks/results/failures.json, which the page "When not
to trust it" shows. In every case x and y are independent given what truly drives them.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.machine import describe
from scipy.stats import binomtest, rankdata

import chsic
from chsic._util.files import write_whole
from chsic.datasets.models import Sample

OUT = Path(__file__).parent / "results" / "failures.json"
REPETITIONS = 200
LEVEL = 0.05


def follow(z: np.ndarray, rng: np.random.Generator, seen: np.ndarray | None = None) -> Sample:
    """Let x and y follow z, with noise of their own; `seen` is what is known of z."""
    e, h = rng.normal(size=(2, len(z)))
    return Sample(z + 0.5 * e, z + 0.5 * h, z if seen is None else seen)


def baseline(n: int, rng: np.random.Generator) -> Sample:
    return follow(rng.normal(size=n), rng)


def measured_with_noise(noise: float) -> Callable[[int, np.random.Generator], Sample]:
    def draw(n: int, rng: np.random.Generator) -> Sample:
        z = rng.normal(size=n)
        return follow(z, rng, z + noise * rng.normal(size=n))

    return draw


def rounded(n: int, rng: np.random.Generator) -> Sample:
    z = rng.normal(size=n)
    return follow(z, rng, np.round(z))


def cauchy(
    given: Callable[[np.ndarray], np.ndarray],
) -> Callable[[int, np.random.Generator], Sample]:
    """Let x and y follow the square root of a z with heavy tails, known on some scale."""

    def draw(n: int, rng: np.random.Generator) -> Sample:
        z = rng.standard_cauchy(n)
        return follow(np.sqrt(abs(z)), rng, given(z))

    return draw


def fast(turns: float) -> Callable[[int, np.random.Generator], Sample]:
    def draw(n: int, rng: np.random.Generator) -> Sample:
        z = rng.uniform(size=n)
        wave = np.sin(2 * np.pi * turns * z)
        return follow(wave, rng, z)

    return draw


def columns(d: int) -> Callable[[int, np.random.Generator], Sample]:
    """Let x and y depend on all columns of z by a sum of functions, one of each."""

    def draw(n: int, rng: np.random.Generator) -> Sample:
        z = rng.normal(size=(n, d))
        return follow(np.sin(1.5 * z).sum(axis=1) / d**0.5, rng, z)

    return draw


def together(d: int) -> Callable[[int, np.random.Generator], Sample]:
    """Let x and y depend on products of two columns of z: no column matters by itself."""

    def draw(n: int, rng: np.random.Generator) -> Sample:
        z = rng.normal(size=(n, d))
        return follow((z * np.roll(z, 1, axis=1)).sum(axis=1) / d**0.5, rng, z)

    return draw


def series(memory: float, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return two series that have nothing to do with each other."""
    x, y = rng.normal(size=(2, n + 50))
    for t in range(1, n + 50):
        x[t] += memory * x[t - 1]
        y[t] += memory * y[t - 1]
    return x[50:], y[50:]


def in_time(memory: float) -> Callable[[int, np.random.Generator], Sample]:
    def draw(n: int, rng: np.random.Generator) -> Sample:
        return Sample(*series(memory, n, rng), rng.normal(size=n))

    return draw


def given_the_past(memory: float) -> Callable[[int, np.random.Generator], Sample]:
    def draw(n: int, rng: np.random.Generator) -> Sample:
        x, y = series(memory, n + 1, rng)
        return Sample(x[1:], y[1:], np.column_stack([x[:-1], y[:-1]]))

    return draw


def repeated(times: int) -> Callable[[int, np.random.Generator], Sample]:
    """Write every row several times, as joins of tables do."""

    def draw(n: int, rng: np.random.Generator) -> Sample:
        x, y, z = (np.repeat(column, times) for column in baseline(n // times, rng))
        return Sample(x, y, z)

    return draw


def events(of_x: float, of_y: float) -> Callable[[int, np.random.Generator], Sample]:
    """Let x and y be events that happen now and then, whatever z is."""

    def draw(n: int, rng: np.random.Generator) -> Sample:
        x, y = (rng.random((2, n)) < [[of_x], [of_y]]).astype(float)
        return Sample(x, y, rng.normal(size=n))

    return draw


def mostly_zero(n: int, rng: np.random.Generator) -> Sample:
    x, y = rng.normal(size=(2, n)) * (rng.random((2, n)) < 0.1)
    return Sample(x, y, rng.normal(size=n))


# The paper's pairs, as close as can be, and no regression: conditions strictly, and finds less.
STRICTLY = {"pairs": "closest", "adjust": "none", "alpha": 1}
CASES: list[tuple[str, int, Callable[[int, np.random.Generator], Sample], dict[str, Any]]] = [
    ("nothing: x = z + noise, y = z + noise", 400, baseline, {}),
    ("z is measured with noise, 0.1 standard deviations", 400, measured_with_noise(0.1), {}),
    ("z is measured with noise, 0.3 standard deviations", 400, measured_with_noise(0.3), {}),
    ("z is measured with noise, 0.3, more samples", 2_000, measured_with_noise(0.3), {}),
    ("z is rounded to whole standard deviations", 400, rounded, {}),
    ("z has a Cauchy distribution", 400, cauchy(np.array), {}),
    ("z has a Cauchy distribution, more samples", 2_000, cauchy(np.array), {}),
    ("the same, but arcsinh(z) is given", 2_000, cauchy(np.arcsinh), {}),
    ("the same, but the ranks of z are given", 2_000, cauchy(rankdata), {}),
    ("x and y follow sin(2π · 10 z), z uniform", 400, fast(10), {}),
    ("x and y follow sin(2π · 40 z), z uniform", 400, fast(40), {}),
    ("the same, pairs='closest', adjust='none', alpha=1", 400, fast(40), STRICTLY),
    ("x and y follow sin(2π · 40 z), more samples", 2_000, fast(40), {}),
    ("the same, pairs='closest', adjust='none', alpha=1", 2_000, fast(40), STRICTLY),
    ("x and y follow a sum of functions of 5 columns", 400, columns(5), {}),
    ("x and y follow a sum of functions of 20 columns", 400, columns(20), {}),
    ("x and y follow products of 3 columns with each other", 400, together(3), {}),
    ("x and y follow products of 5 columns with each other", 400, together(5), {}),
    ("x and y follow products of 10 columns with each other", 400, together(10), {}),
    ("products of 5 columns, more samples", 2_000, together(5), {}),
    ("rows are a time series, memory 0.5", 400, in_time(0.5), {}),
    ("rows are a time series, memory 0.9", 400, in_time(0.9), {}),
    ("the same, given the step before of x and y", 400, given_the_past(0.9), {}),
    ("every row stands there twice", 400, repeated(2), {}),
    ("x and y are events of 6 percent each", 200, events(0.06, 0.06), {}),
    ("x and y are events of 6 percent each, more samples", 1_600, events(0.06, 0.06), {}),
    ("x is an event of 1 percent, y one of 30", 1_000, events(0.01, 0.3), {}),
    ("nine tenths of x and of y are zero", 300, mostly_zero, {}),
]


def rate_of(
    draw: Callable[[int, np.random.Generator], Sample], n: int, settings: dict[str, Any]
) -> dict[str, float]:
    rejected = 0
    for seed in range(REPETITIONS):
        sample = draw(n, np.random.default_rng([seed, n]))
        rejected += chsic.chsic_test(*sample, rng=seed, **settings).pvalue <= LEVEL
    interval = binomtest(rejected, REPETITIONS).proportion_ci(0.95, method="exact")
    return {"rate": rejected / REPETITIONS, "low": interval.low, "high": interval.high}


def main() -> None:
    rows = []
    for case, n, draw, settings in CASES:
        rows.append({"case": case, "n": n, **rate_of(draw, n, settings)})
        print(f"{rows[-1]['rate']:.3f}  n = {n:5}  {case}", flush=True)
    made = {
        "machine": describe("chsic", "numpy", "scipy"),
        "repetitions": REPETITIONS,
        "level": LEVEL,
        "rows": rows,
    }
    text = json.dumps(made, indent=1, ensure_ascii=False) + "\n"
    write_whole(OUT, lambda path: path.write_text(text, encoding="utf-8"))


if __name__ == "__main__":
    main()
