"""Print the modules of chsic that a call enters, in order, and how often it changes between them.

``python tools/walk.py`` prints a table for the public functions, ``--modules`` their modules too. A
change is counted when a function of another module is called, and when it returns there.
"""

import argparse
import itertools
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import chsic

N_SAMPLES = 300


def walk(call: Callable[[], object]) -> tuple[list[str], int]:
    """Return the modules that a call enters, in order, and the number of changes between them."""
    visited: list[str] = []

    def module(frame: Any) -> str | None:
        name = "" if frame is None else frame.f_globals.get("__name__", "")
        return name if name.partition(".")[0] == "chsic" else None

    def record(frame: Any, event: str, _: Any) -> None:
        if module(frame) is None or event not in ("call", "return"):
            return
        if event == "return":
            frame = frame.f_back
            while frame is not None and module(frame) is None:  # through NumPy, say
                frame = frame.f_back
        name = module(frame)
        if name is not None:
            visited.append(name)

    call()  # what is loaded or compiled at the first call is not counted
    sys.setprofile(record)
    try:
        call()
    finally:
        sys.setprofile(None)
    changes = sum(before != after for before, after in itertools.pairwise(visited))
    return [name.removeprefix("chsic.") for name in dict.fromkeys(visited)], changes


def calls(folder: Path) -> dict[str, Callable[[], object]]:
    """Return the calls that are walked through: plain samples of three columns."""
    rng = np.random.default_rng(0)
    z, e, h = rng.normal(size=(3, N_SAMPLES))
    x, y = np.sin(z) + e, z + h
    columns = {"x": x, "y": y, "w": x * y, "z": z}
    return {
        "hsic": lambda: chsic.hsic(x, y),
        "chsic": lambda: chsic.chsic(x, y, z),
        "hsic_test": lambda: chsic.hsic_test(x, y, rng=0),
        "chsic_test": lambda: chsic.chsic_test(x, y, z, rng=0),
        "screen": lambda: chsic.screen(columns, "z", rng=0),
        "write_report": lambda: chsic.write_report(folder / "report.html", x, y, z, rng=0),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--modules", action="store_true", help="list the modules as well")
    listed = parser.parse_args().modules
    with tempfile.TemporaryDirectory() as folder:
        for name, call in calls(Path(folder)).items():
            modules, changes = walk(call)
            print(f"{name:<13} {len(modules):>3} modules {changes:>6} changes")
            if listed:
                print("    " + " ".join(modules))


if __name__ == "__main__":
    main()
