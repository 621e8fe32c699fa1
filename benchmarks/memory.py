"""Peak memory of a test at a million samples: ``python -m benchmarks.memory``.

Each test runs in a process of its own, whose largest resident size is what the system says it was:
the interpreter, the libraries and the data are in it.
"""

import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from benchmarks.machine import describe

RESULTS = Path(__file__).parent / "results" / "memory.json"
N = 10**6
WANTED = 600e6  # bytes


def questions(name: str, n: int) -> tuple:
    """Draw x, y and maybe z."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, n))
    if name == "no z":
        return x, y
    z = {
        "z of ten values": lambda: rng.integers(0, 10, n).astype(float),
        "z of n / 5 values": lambda: rng.integers(0, n // 5, n).astype(float),
        "one column of z": lambda: rng.normal(size=n),
        "two columns of z": lambda: rng.normal(size=(n, 2)),
        "five columns of z": lambda: rng.normal(size=(n, 5)),
    }[name]()
    first = z if z.ndim == 1 else z[:, 0]
    return x + first, y + first, z


BOUNDED = ("no z", "z of ten values", "z of n / 5 values", "one column of z", "two columns of z")
NAMES = (*BOUNDED, "five columns of z")


def peak(name: str) -> dict:
    """Measure one test in this process, which must be new."""
    import chsic

    samples = questions(name, N)
    start = time.perf_counter()
    chsic.chsic_test(*samples, rng=0)
    seconds = time.perf_counter() - start
    # In kilobytes on Linux, and in bytes on macOS.
    unit = 1 if sys.platform == "darwin" else 1024
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return {"question": name, "peak_bytes": size, "seconds": seconds}


def main() -> None:
    rows = []
    for name in NAMES:
        command = [sys.executable, "-m", "benchmarks.memory", name]
        rows.append(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))
        print(f"{name}: {rows[-1]['peak_bytes'] / 1e6:.0f} MB, {rows[-1]['seconds']:.1f} s")
    made = {"machine": describe("chsic", "numpy", "scipy"), "n": N, "tests": rows}
    RESULTS.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(peak(sys.argv[1])))
    else:
        main()
