"""Time this version against an earlier one: ``python -m benchmarks.against COMMIT``.

Both run the same calls in processes that take turns, so that a ratio is not one of two moments. The
smallest processor time of all turns is compared; results: ``benchmarks/results/against.json``.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from benchmarks.machine import describe

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "against.json"
TURNS = 5


def cases(folder: Path) -> dict[str, tuple[Callable[[], object], int]]:
    """Return calls that both versions know, and how often each is repeated in a turn."""
    import chsic

    rng = np.random.default_rng(0)

    def samples(n: int, d: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        z = rng.normal(size=(n, d))
        s = z.sum(axis=1) / d**0.5
        return np.sin(s) + rng.normal(size=n), s + rng.normal(size=n), z[:, 0] if d == 1 else z

    calls: dict[str, tuple[Callable[[], object], int]] = {}
    for n, d, times in ((100, 1, 40), (300, 1, 30), (1_000, 1, 20), (10_000, 1, 8), (100_000, 1, 2),
                        (300, 2, 8), (2_000, 3, 4), (20_000, 2, 2)):  # fmt: skip
        x, y, z = samples(n, d)
        name = f"chsic_test, n = {n}, columns of z: {d}"
        calls[name] = partial(chsic.chsic_test, x, y, z, rng=0), times
    x, y, z = samples(10_000)
    levels = np.round(2 * z)
    of_levels = partial(chsic.chsic_test, x, y, levels, rng=0)
    calls["chsic_test, n = 10000, z of few values"] = of_levels, 8
    calls["hsic_test, n = 10000"] = partial(chsic.hsic_test, x, y, rng=0), 8
    for n, times in ((100, 50), (1_000, 30), (100_000, 3)):
        u, v, w = samples(n)
        calls[f"chsic, n = {n}"] = partial(chsic.chsic, u, v, w), times
    frame = {f"v{k}": rng.normal(size=500) + z[:500] for k in range(12)} | {"z": z[:500]}
    calls["screen, 66 pairs of 500 samples"] = partial(chsic.screen, frame, "z", rng=0), 2

    def discover() -> None:
        tests = chsic.Discovery(frame)
        for k in range(5):
            for given in ("z", ["z", "v7"]):
                tests.answer(f"v{k}", f"v{k + 1}", given)

    calls["discovery, 10 questions"] = discover, 2
    a, b, c = (column[:400] for column in (x, y, z))
    calls["sensitivity, n = 400"] = partial(chsic.sensitivity, a, b, c, rng=0), 2
    calls["calibrate, n = 400"] = partial(chsic.calibrate, a, b, c, n_sim=10, rng=0), 1
    for n in (400, 2_000, 10_000):
        u, v, w = (column[:n] for column in (x, y, z))
        page = folder / "report.html"
        calls[f"write_report, n = {n}"] = partial(chsic.write_report, page, u, v, w, rng=0), 2
    return calls


def measure() -> dict[str, float]:
    """Return the smallest processor time of each call in this process."""
    best = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, (call, times) in cases(Path(folder)).items():
            call()  # what is loaded or compiled at the first call
            seconds = []
            for _ in range(times):
                start = time.process_time()
                call()
                seconds.append(time.process_time() - start)
            best[name] = min(seconds)
    return best


def _in_process(source: Path) -> dict[str, float]:
    command = [sys.executable, "-c", "import json; from benchmarks.against import measure; "
               "print(json.dumps(measure()))"]  # fmt: skip
    settings = {**os.environ, "PYTHONPATH": f"{source}{os.pathsep}{ROOT}", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=settings, check=True, capture_output=True, text=True)
    timed: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return timed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit", help="the earlier version")
    parser.add_argument("--turns", type=int, default=TURNS)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "clone", "--quiet", str(ROOT), folder], check=True)
        subprocess.run(["git", "-C", folder, "checkout", "--quiet", arguments.commit], check=True)
        sources = {"before": Path(folder) / "src", "now": ROOT / "src"}
        best: dict[str, dict[str, float]] = {version: {} for version in sources}
        for turn in range(arguments.turns):
            for version, source in sources.items():
                for name, seconds in _in_process(source).items():
                    best[version][name] = min(seconds, best[version].get(name, np.inf))
            print(f"turn {turn + 1} of {arguments.turns}", file=sys.stderr)
    rows = {
        name: {"before_s": before, "now_s": best["now"][name],
               "ratio": best["now"][name] / before}
        for name, before in best["before"].items()
    }  # fmt: skip
    for name, row in rows.items():
        print(f"{name:<42} {row['before_s'] * 1e3:9.1f} ms  {row['now_s'] * 1e3:9.1f} ms  "
              f"{row['ratio']:.2f}")  # fmt: skip
    result = {"commit": arguments.commit, "machine": describe("numpy", "scipy"), "calls": rows}
    RESULTS.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
