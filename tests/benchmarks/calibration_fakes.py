"""Methods that the worker processes of the laboratory's tests import, so it imports little."""

import os
import time
from pathlib import Path

import numpy as np
from benchmarks.calibration import todo
from benchmarks.calibration.cells import Cell
from benchmarks.calibration.chunk import seeds
from benchmarks.calibration.run import run

from chsic.datasets import draw_scenario


def fake(x, y, z, rng):
    """A number in [0, 1] that tells which data and which generator arrived."""
    time.sleep(float(os.environ.get("FAKE_SECONDS", "0")))
    return (abs(x @ y) + rng.uniform()) % 1


def deadly(x, y, z, rng):
    """End the process in repetition 1 of its cell."""
    if x[0] == sample_of("linear", 1, 20, 1).x[0]:
        os._exit(3)
    return 0.5


def absent(x, y, z, rng):
    import a_package_that_nobody_has

    return a_package_that_nobody_has.pvalue


def sample_of(scenario, d, n, repetition):
    seed = seeds(scenario, d, n, repetition)[0]
    return draw_scenario(scenario, n, d, np.random.default_rng(seed))


METHODS = {"fake": fake, "again": fake, "deadly": deadly, "absent": absent}
CELLS = [
    Cell("fake", "linear", 2, 20, 45),
    Cell("fake", "cancel", 1, 30, 25),
    Cell("again", "linear", 2, 20, 5),
]


def run_slowly(path):
    """Be killed, in a process of its own."""
    os.environ["FAKE_SECONDS"] = "0.05"
    todo.CHUNK = 5
    run(CELLS, Path(path), methods=METHODS)
