"""Questions whose answers are stored: ``python tests/answers.py`` stores them anew, and
``python tests/answers.py --compare`` lists those that differ by more than 1e-9 on this machine.

A change that is not meant to change answers leaves the file as it is, up to rounding; one that is
shows in it what changed.
"""

import json
import sys
from pathlib import Path

import numpy as np

import chsic
from chsic.adapters import dowhy, gcastle
from chsic.adapters.sklearn import ConditionalDependenceSelector

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


def measured(n):
    """Name, function and arguments of values of the measure."""
    rng = np.random.default_rng([n, 1])
    e, h, z = rng.normal(size=(3, n))
    plane = rng.normal(size=(n, 2))
    codes = rng.integers(0, 4, (2, n)).astype(float)
    x, y = np.sin(z) + e, z + h + 0.2 * e
    engines = {
        "gaussian": ("dense", "fourier", "features"),
        "laplace": ("dense", "exponential"),
        "matern32": ("dense", "fourier", "exponential"),
        "cauchy": ("dense", "fourier"),
    }
    for kernel, able in engines.items():
        for engine in able:
            settings = {"kernel": kernel, "engine": engine}
            yield f"hsic, {kernel}, {engine}", chsic.hsic, (x, y), settings
            yield f"chsic, {kernel}, {engine}", chsic.chsic, (x, y, z), settings
    for pairs in ("closest", "random", "complete"):
        settings = {"pairs": pairs, "alpha": 8, "rng": 0}
        yield f"chsic, {pairs}", chsic.chsic, (x, y, z), settings
        yield f"chsic, {pairs}, plane", chsic.chsic, (plane, y, plane), settings
    graphs = {"nearest": chsic.nearest_pairs(z, 6, rng=0), "blocks": chsic.block_pairs(z, 6, rng=0)}
    for name, graph in graphs.items():
        yield f"chsic, {name}", chsic.chsic, (x, y, z), {"pairs": graph}
    for bandwidth in ("median", 0.5, (0.5, "median")):
        yield f"hsic, {bandwidth}", chsic.hsic, (x, y), {"bandwidth": bandwidth}
        yield f"chsic, {bandwidth}", chsic.chsic, (x, y, z), {"bandwidth": bandwidth}
    yield "hsic, two columns", chsic.hsic, (plane, y), {}
    yield "hsic, codes", chsic.hsic, tuple(codes), {"kernel": "categorical"}
    yield "chsic, codes", chsic.chsic, (*codes, z), {"kernel": "categorical"}


def tables():
    """Name, columns and confounders of tables whose pairs are tested."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=500)
    frame = {f"v{k}": rng.normal(size=500) + z * (k % 2) for k in range(4)} | {"z": z}
    frame["v3"] = frame["v3"] + 0.3 * frame["v1"]
    yield "", frame, "z"
    yield "no z, ", frame, None
    yield "two columns, ", frame, ["z", "v0"]
    mixed = frame | {"c": np.array(list("abcd"))[rng.integers(0, 4, 500)],
                     "b": (frame["v1"] > 1) * 1.0}  # fmt: skip
    yield "mixed, ", mixed, "z"
    yield "given a category, ", mixed, "c"
    yield "given both, ", mixed, ["c", "z"]


def answers():
    made = {
        f"{name}, n = {n}": answer(samples, settings)
        for n in SIZES
        for name, samples, settings in questions(n)
    }
    for n in SIZES:
        for name, function, samples, settings in measured(n):
            made[f"{name}, n = {n}"] = {"value": function(*samples, **settings)}
    for name, frame, given in tables():
        for pair in chsic.screen(frame, given, rng=0):
            made[f"screen, {name}{pair.x} and {pair.y}"] = {
                "pvalue": pair.pvalue, "coefficient": pair.coefficient, "low": pair.low,
                "high": pair.high,
            }  # fmt: skip
    for name, frame, _ in tables():
        tests = chsic.Discovery(frame)
        for given in ((), ("z",), ("z", "v0"), ("c",), ("c", "z")):
            if not set(given) <= frame.keys():
                continue
            found = tests.answer("v1", "v3", given)
            made[f"discovery, {name}given {list(given)}"] = {
                "pvalue": found.pvalue, "coefficient": found.coefficient,
            }  # fmt: skip
    for scenario in ("add", "m_plus-10dB", "levels"):
        x, y, z = chsic.datasets.draw_scenario(scenario, 200, rng=0)
        discrete = scenario == "levels"
        settings = {} if discrete else {"alphas": [4, 16]}
        along = chsic.sensitivity(x, y, z, bandwidths=[0.6, 2.0], rng=0, **settings)
        for point in (*along.along_alpha, *along.along_bandwidth):
            made[f"sensitivity, {scenario}, {point.alpha}, {point.bandwidth}"] = {
                "pvalue": point.pvalue, "coefficient": point.coefficient,
                "statistic": point.statistic,
            }  # fmt: skip
        table = chsic.calibrate(x, y, z, n_sim=10, effect_sizes=[0.3], n_resamples=199, rng=0)
        for effect, pvalues in zip(table.effect_sizes, table.pvalues, strict=True):
            made[f"calibrate, {scenario}, {effect}"] = {"pvalue": float(np.mean(pvalues))}
        made |= adapted(scenario, x, y, z)
    return made


def adapted(scenario, x, y, z):
    """Answers of the adapters that need no other library than scikit-learn."""
    data = np.column_stack([x, y, z])
    columns = [2, *range(3, data.shape[1])]
    selector = ConditionalDependenceSelector(given=2, random_state=0).fit(data[:, [0, 0, 2]], y)
    return {
        f"dowhy, {scenario}": {"pvalue": dowhy.independence_test(x, y, z, rng=0)},
        f"dowhy, {scenario}, no z": {"pvalue": dowhy.independence_test(x, y, rng=0)},
        f"gcastle, {scenario}": {"pvalue": gcastle.ci_test(data, 0, 1, columns, rng=0)[2]},
        f"scikit-learn, {scenario}": {
            "pvalue": float(selector.pvalues_[0]),
            "coefficient": float(selector.scores_[0]),
        },
    }


def differences(tolerance):
    """Compare with the stored answers, field by field; list those that differ by more."""
    stored, made = json.loads(PATH.read_text(encoding="utf-8")), answers()
    differing = [f"{name}: missing" for name in stored.keys() ^ made.keys()]
    for name in stored.keys() & made.keys():
        for field, value in stored[name].items():
            now = made[name][field]
            number = isinstance(value, float)
            same = np.isclose(now, value, rtol=tolerance, atol=0) if number else now == value
            if not same:
                differing.append(f"{name}: {field} was {value}, is {now}")
    return sorted(differing)


if __name__ == "__main__":
    if sys.argv[1:] == ["--compare"]:
        print(*differences(1e-9), sep="\n")
    else:
        PATH.write_text(json.dumps(answers(), indent=1) + "\n", encoding="utf-8")
