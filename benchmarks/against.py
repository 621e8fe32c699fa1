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
from pathlib import Path

import numpy as np
from benchmarks.machine import describe

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "against.json"
TURNS = 5


def cases() -> dict[str, tuple[Callable[[], object], int]]:
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
        test = lambda x=x, y=y, z=z: chsic.chsic_test(x, y, z, rng=0)  # noqa: E731
        calls[f"chsic_test, n = {n}, {d} columns of z"] = test, times
    x, y, z = samples(10_000)
    levels = np.round(2 * z)
    calls["chsic_test, n = 10000, z of few values"] = (
        lambda: chsic.chsic_test(x, y, levels, rng=0), 8)  # fmt: skip
    calls["hsic_test, n = 10000"] = lambda: chsic.hsic_test(x, y, rng=0), 8
    for n, times in ((100, 50), (1_000, 30), (100_000, 3)):
        u, v, w = samples(n)
        measure = lambda u=u, v=v, w=w: chsic.chsic(u, v, w)  # noqa: E731
        calls[f"chsic, n = {n}"] = measure, times
    frame = {f"v{k}": rng.normal(size=500) + z[:500] for k in range(12)} | {"z": z[:500]}
    calls["screen, 66 pairs of 500 samples"] = lambda: chsic.screen(frame, "z", rng=0), 2

    def discover() -> None:
        tests = chsic.Discovery(frame)
        for k in range(5):
            for given in ("z", ["z", "v7"]):
                tests.answer(f"v{k}", f"v{k + 1}", given)

    calls["discovery, 10 questions"] = discover, 2
    a, b, c = (column[:400] for column in (x, y, z))
    calls["sensitivity, n = 400"] = lambda: chsic.sensitivity(a, b, c, rng=0), 2
    calls["calibrate, n = 400"] = lambda: chsic.calibrate(a, b, c, n_sim=10, rng=0), 1
    folder = tempfile.mkdtemp()
    for n in (400, 2_000, 10_000):
        u, v, w = (column[:n] for column in (x, y, z))
        write = lambda u=u, v=v, w=w: chsic.write_report(  # noqa: E731
            Path(folder) / "report.html", u, v, w, rng=0
        )
        calls[f"write_report, n = {n}"] = write, 2
    return calls


def measure() -> dict[str, float]:
    """Return the smallest processor time of each call in this process."""
    seconds = {}
    for name, (call, times) in cases().items():
        call()  # what is loaded or compiled at the first call
        taken = []
        for _ in range(times):
            start = time.process_time()
            call()
            taken.append(time.process_time() - start)
        seconds[name] = min(taken)
    return seconds


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
