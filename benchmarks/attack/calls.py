"""One public function on one question."""

import dataclasses
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.attack.questions import Question

import chsic
from chsic.measure.comparison import compare
from chsic.show.sentences import answer, question, strength

ENGINES = ("auto", "dense", "fourier", "exponential", "features")


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What a call gave.

    Attributes
    ----------
    numbers : dict
        Numbers that have to be finite, by name.
    pvalues : list of float
        Those that have to lie in (0, 1].
    texts : list of str
        What people read.
    plain : object
        What has to be valid JSON.
    unexplained : list of str
        Reasons for failed pairs that do not say what to do.
    """

    numbers: dict[str, float] = dataclasses.field(default_factory=dict)
    pvalues: list[float] = dataclasses.field(default_factory=list)
    texts: list[str] = dataclasses.field(default_factory=list)
    plain: Any = None
    reasons: list[str] = dataclasses.field(default_factory=list)


def _of_result(result: chsic.IndependenceResult) -> Outcome:
    low, high = result.confidence_interval()
    numbers = {
        "statistic": result.statistic,
        "estimate": result.estimate,
        "coefficient": result.coefficient,
        "low": low,
        "high": high,
        "alpha": result.alpha,
        "draws": float(result.null_distribution.sum()),
        "profile": float(result.profile.contribution.sum()),
        "order": float(low <= result.coefficient <= high) - 1.0 or 0.0,
    }
    pvalues = [result.pvalue, *(member.pvalue for member in result.members)]
    texts = [repr(result), question(result), answer(result), strength(result), *result.warnings]
    return Outcome(numbers, pvalues, [*texts, result._repr_html_()], result.to_dict())


def test(asked: Question, rng: np.random.Generator) -> Outcome:
    """Call `chsic_test` with its defaults."""
    result = chsic.chsic_test(asked.x, asked.y, asked.z, **asked.keywords, n_resamples=999,
                              rng=int(rng.integers(99)))  # fmt: skip
    return _of_result(result)


def test_with_settings(asked: Question, rng: np.random.Generator) -> Outcome:
    """Call `chsic_test` with settings of all kinds."""
    settings = {
        "pairs": ["auto", "nearest", "closest", "blocks", "strata"],
        "adjust": ["auto", "none", "ridge"],
        "augment": ["auto", True, False],
        "null": ["auto", "signs", "exhaustive", "pearson3"],
        "alpha": ["auto", 1.0, 4.0, 15],
        "unit_size": ["auto", 1, 7],
        "bandwidth": ["auto", "paper", "median", 1.0, 1e-9, 1e9, ["paper", "median"]],
        "tol": [1e-4, 1e-14, 0.1],
        "workers": [1, 2],
    }
    chosen = {
        name: values[rng.integers(len(values))]
        for name, values in settings.items()
        if rng.random() < 0.3
    }
    result = chsic.chsic_test(asked.x, asked.y, asked.z, **asked.keywords, **chosen,
                              n_resamples=199, rng=0)  # fmt: skip
    return _of_result(result)


def measure(asked: Question, rng: np.random.Generator) -> Outcome:
    """Call `hsic`, `chsic`, `explain` and `compare`."""
    kernel = str(rng.choice(["gaussian", "laplace", "cauchy", "matern32"]))
    engine = str(rng.choice(ENGINES))
    numbers = {"hsic": chsic.hsic(asked.x, asked.y, kernel=kernel, engine=engine)}
    text = repr(chsic.explain(asked.x, asked.y, kernel=kernel))
    if asked.z is None:
        return Outcome(numbers, texts=[text])
    pairs = str(rng.choice(["closest", "random", "complete"]))
    numbers["chsic"] = chsic.chsic(asked.x, asked.y, asked.z, kernel=kernel, engine=engine,
                                   pairs=pairs, rng=0)  # fmt: skip
    both = compare(asked.x, asked.y, asked.z, **asked.keywords, n_controls=2, rng=0)
    return Outcome(numbers, texts=[text], plain=both.to_dict())


def pairs(asked: Question, rng: np.random.Generator) -> Outcome:
    """Choose pairs by z, or without it."""
    n = len(pd.Series(asked.plain[0])) if asked.z is not None else 10
    given = range(n) if asked.z is None else asked.z
    graphs = [
        chsic.closest_pairs(given, 2, rng=0),
        chsic.nearest_pairs(given, 2, rng=0),
        chsic.block_pairs(given, 3, rng=0),
        chsic.random_pairs(n, 2, rng=0),
        chsic.complete_pairs(n),
    ]
    return Outcome({repr(graph): float(graph.laplacian().sum()) for graph in graphs})


def _frame(asked: Question, rng: np.random.Generator) -> dict[str, Any]:
    made = {"x": asked.plain[0], "y": asked.plain[1]}
    n = len(pd.Series(asked.plain[0]))
    made["noise"] = rng.normal(size=n)
    if asked.z is not None:
        z = asked.z
        columns = z if isinstance(z, dict) else pd.DataFrame(np.asarray(z))
        made |= {f"z{k}": np.asarray(columns[name]) for k, name in enumerate(columns)}
    return made


def screen(asked: Question, rng: np.random.Generator) -> Outcome:
    """Screen a few columns, twice with the same file of finished pairs."""
    frame = _frame(asked, rng)
    given = [name for name in frame if name.startswith("z")]
    policy = asked.keywords.get("nan_policy", "raise")
    with tempfile.TemporaryDirectory() as folder:
        runs = [
            chsic.screen(frame, given, nan_policy=policy, n_resamples=99, rng=0,
                         resume=Path(folder, "run.jsonl"))
            for _ in range(2)
        ]  # fmt: skip
    first, again = runs
    numbers = {"same": float(first.rows() == again.rows()) - 1.0 or 0.0}
    for pair in first:
        named = (pair.coefficient, pair.low, pair.high, pair.statistic)
        numbers |= {f"{pair.x}-{pair.y}-{k}": value for k, value in enumerate(named)}
    pvalues = [p for pair in first for p in (pair.pvalue, pair.pvalue_bh, pair.pvalue_holm)]
    reasons = [*first.skipped.values(), *first.failed.values()]
    return Outcome(numbers, pvalues, [repr(first), first._repr_html_()], first.to_dict(), reasons)


def discovery(asked: Question, rng: np.random.Generator) -> Outcome:
    """Ask several questions about one frame."""
    frame = _frame(asked, rng)
    policy = asked.keywords.get("nan_policy", "raise")
    tests = chsic.Discovery(frame, nan_policy=policy, n_resamples=99)
    given = [name for name in frame if name.startswith("z")]
    answers = [tests.answer("x", "y", given), tests.answer("noise", "y"), tests.answer("x", "y")]
    numbers = {f"{k}": v for k, a in enumerate(answers) for v in (a.statistic, a.coefficient)}
    return Outcome(numbers, [a.pvalue for a in answers], [repr(tests)])


def sensitivity(asked: Question, rng: np.random.Generator) -> Outcome:
    """Test along settings."""
    found = chsic.sensitivity(asked.x, asked.y, asked.z, **asked.keywords, alphas=[2, 8],
                              bandwidths=[1.2], n_resamples=99, rng=0)  # fmt: skip
    points = (*found.along_alpha, *found.along_bandwidth)
    numbers = {f"{k}": v for k, p in enumerate(points) for v in (p.statistic, p.coefficient)}
    return Outcome(numbers, [p.pvalue for p in points], [str(found)], found.to_dict())


def calibrate(asked: Question, rng: np.random.Generator) -> Outcome:
    """Simulate data like these."""
    found = chsic.calibrate(asked.x, asked.y, asked.z, **asked.keywords, n_sim=3,
                            effect_sizes=[0.5], n_resamples=99, rng=0)  # fmt: skip
    return Outcome({}, [p for row in found.pvalues for p in row], [str(found)], found.to_dict())


def report(asked: Question, rng: np.random.Generator) -> Outcome:
    """Write a page."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "report.html")
        result = chsic.write_report(path, asked.x, asked.y, asked.z, **asked.keywords,
                                    n_resamples=99, rng=0)  # fmt: skip
        size = path.stat().st_size
    return Outcome({"bytes": float(size)}, [result.pvalue])


# How often each is called, of a thousand calls that are not true nulls.
SHARES: dict[Callable[[Question, np.random.Generator], Outcome], int] = {
    test: 300, test_with_settings: 300, measure: 150, pairs: 70, screen: 70, discovery: 50,
    sensitivity: 40, calibrate: 17, report: 3,
}  # fmt: skip


def draw_call(rng: np.random.Generator) -> Callable[[Question, np.random.Generator], Outcome]:
    """Draw a function."""
    functions, shares = list(SHARES), np.array(list(SHARES.values()), float)
    return functions[rng.choice(len(functions), p=shares / shares.sum())]


def is_json(plain: Any) -> bool:
    """Tell whether a value can be written as JSON that any reader takes."""
    try:
        json.dumps(plain, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True
