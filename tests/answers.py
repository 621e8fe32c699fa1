"""Questions whose answers are stored: ``python tests/answers.py`` stores them anew.

A change that is not meant to change answers leaves the file as it is, up to rounding; one that is
shows in it what changed.
"""

import json
from pathlib import Path

import numpy as np

import chsic

PATH = Path(__file__).with_suffix(".json")
SIZES = (60, 300, 2_000)


def questions(n):
    """Name, samples and settings of every question."""
    rng = np.random.default_rng(n)
    e, h, w, z = rng.normal(size=(4, n))
    plane = rng.normal(size=(n, 2))
    wide = rng.normal(size=(n, 5))
    codes = rng.integers(0, 5, n).astype(float)
    letters = np.array(list("abc"))[rng.integers(0, 3, n)]
    classes = np.array(list("uvw"))
    x, y = np.sin(z) + e, z + h + 0.2 * e
    tail = rng.standard_cauchy((2, n))
    yield "no z", (x, y), {}
    yield "no z, unrelated", (e, h), {}
    yield "line", (x, y, z), {}
    yield "line, unrelated", (np.sin(z) + e, z + h, z), {}
    yield "line, no regression", (x, y, z), {"adjust": "none"}
    yield "line, closest", (x, y, z), {"pairs": "closest", "alpha": 4.0}
    yield "line, blocks", (x, y, z), {"pairs": "blocks"}
    yield "line, one bandwidth", (x, y, z), {"bandwidth": "paper", "augment": False}
    yield "line, pearson3", (x, y, z), {"null": "pearson3"}
    yield "line, heavy tails", (tail[0] + z, tail[1] + z, z), {}
    yield "plane", (plane[:, 0] + e, plane[:, 1] * plane[:, 0] + h + 0.2 * e, plane), {}
    yield "five columns", (wide.sum(axis=1) + e, np.sin(wide).sum(axis=1) + h, wide), {}
    yield "few values", (codes + e, codes**2 + h + 0.15 * e, codes), {}
    yield "few values, nearest", (codes + e, codes**2 + h, codes), {"pairs": "nearest"}
    yield "many values", (e, h, np.arange(n) // 4), {}
    yield "category", (e, h + 0.1 * e, letters), {}
    yield "number and category", (z + e, z + h + 0.1 * e, {"a": z, "c": letters}), {}
    yield "x a category", (classes[np.digitize(x, [-0.5, 0.5])], y, z), {}
    yield "two categories", tuple(classes[np.digitize(v, [-0.5, 0.5])] for v in (e, h)), {}
    yield "binary", ((x > 1) * 1.0, (y > 1) * 1.0, z), {}
    yield "binary, few values", ((x > 1) * 1.0, (y > 1) * 1.0, codes), {}
    yield "two columns of x", (np.column_stack([x, w]), y, z), {}


def answer(samples, settings):
    result = chsic.chsic_test(*samples, rng=0, **settings)
    low, high = result.confidence_interval()
    return {
        "pvalue": result.pvalue,
        "coefficient": result.coefficient,
        "low": low,
        "high": high,
        "statistic": result.statistic,
        "null": result.null,
        "warnings": list(result.warnings),
    }


def answers():
    made = {
        f"{name}, n = {n}": answer(samples, settings)
        for n in SIZES
        for name, samples, settings in questions(n)
    }
    rng = np.random.default_rng(0)
    z = rng.normal(size=500)
    frame = {f"v{k}": rng.normal(size=500) + z * (k % 2) for k in range(4)} | {"z": z}
    frame["v3"] = frame["v3"] + 0.3 * frame["v1"]
    for pair in chsic.screen(frame, "z", rng=0):
        made[f"screen, {pair.x} and {pair.y}"] = {
            "pvalue": pair.pvalue, "coefficient": pair.coefficient, "low": pair.low,
            "high": pair.high,
        }  # fmt: skip
    tests = chsic.Discovery(frame)
    for given in ((), ("z",), ("z", "v0")):
        found = tests.answer("v1", "v3", given)
        made[f"discovery, given {list(given)}"] = {
            "pvalue": found.pvalue, "coefficient": found.coefficient,
        }  # fmt: skip
    return made


if __name__ == "__main__":
    PATH.write_text(json.dumps(answers(), indent=1) + "\n", encoding="utf-8")
