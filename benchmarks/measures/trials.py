"""Draw, measure and time, in a way that can be stopped and taken up again."""

import dataclasses
import json
import time
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from benchmarks.measures.registry import MEASURES, VARIANTS, Measure
from benchmarks.measures.settings import (
    Setting,
    all_pairs,
    draw,
    reference,
    scenarios,
    with_matched,
)

from chsic._util.files import write_whole


@dataclasses.dataclass(frozen=True)
class Trials:
    """Values of one measure in one setting, and the seconds each of them took."""

    values: list[float]
    seconds: list[float]


Results = dict[Setting, dict[str, Trials]]


def plan() -> dict[Setting, dict[str, Measure]]:
    """Return what is measured where; variants only where pairs of settings are compared once."""
    compared = [reference(), *scenarios()]
    with_variants = {
        s for pair in compared for s in (pair.null, pair.alternative, with_matched(pair).null)
    }
    everywhere = dict.fromkeys(s for pair in all_pairs() for s in (pair.null, pair.alternative))
    return {s: MEASURES | VARIANTS if s in with_variants else MEASURES for s in everywhere}


def run(
    work: dict[Setting, dict[str, Measure]],
    trials: int,
    seed: int,
    kept: Path,
    progress: Callable[[Setting], None] = lambda setting: None,
) -> Results:
    """Measure everywhere; settings found finished in the file `kept` are not measured again."""
    done = _load(kept, trials, seed)
    results: Results = {}
    for setting, measures in work.items():
        results[setting] = done.get(str(setting), {})
        missing = {name: f for name, f in measures.items() if name not in results[setting]}
        if missing:
            results[setting] |= measure(setting, missing, trials, seed)
            done[str(setting)] = results[setting]
            _keep(kept, trials, seed, done)
        progress(setting)
    return results


def measure(
    setting: Setting, measures: dict[str, Measure], trials: int, seed: int
) -> dict[str, Trials]:
    """Measure the same data sets with every measure."""
    found = {name: Trials([], []) for name in measures}
    for sample in _samples(setting, trials, seed):
        for name, function in measures.items():
            start = time.perf_counter()
            value = float(function(*sample))
            found[name].seconds.append(time.perf_counter() - start)
            if not np.isfinite(value):
                raise ValueError(f"{name} is {value} on {setting}.")
            found[name].values.append(value)
    return found


def _samples(setting: Setting, trials: int, seed: int) -> Iterable:
    # A stream of its own for every data set, whatever else is measured.
    place = zlib.crc32(str(setting).encode())
    for trial in range(trials):
        key = np.random.SeedSequence(seed, spawn_key=(place, trial))
        yield draw(setting, np.random.default_rng(key))


def _keep(path: Path, trials: int, seed: int, done: dict[str, dict[str, Trials]]) -> None:
    rows = {
        setting: {name: dataclasses.asdict(found) for name, found in by_measure.items()}
        for setting, by_measure in done.items()
    }
    text = json.dumps({"trials": trials, "seed": seed, "done": rows})
    write_whole(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def _load(path: Path, trials: int, seed: int) -> dict[str, dict[str, Trials]]:
    if not path.exists():
        return {}
    kept = json.loads(path.read_text(encoding="utf-8"))
    if (kept["trials"], kept["seed"]) != (trials, seed):
        return {}
    return {
        setting: {name: Trials(**found) for name, found in by_measure.items()}
        for setting, by_measure in kept["done"].items()
    }
