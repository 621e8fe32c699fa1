"""Which methods meet which scenarios, and how often."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from chsic.datasets import SCENARIOS
from chsic.datasets.rough import DEPENDENT, INDEPENDENT

ROUGH = {*INDEPENDENT, *DEPENDENT}  # scenarios of the frontier, which the full set leaves out
FRONTIER_SIZES = (500, 2_000)

SIZES = (100, 200, 400, 1_000)
LARGE = (10_000, 100_000)
SLOW_PEERS = ("CMIknn", "GCM", "FCIT")
# Scenarios with categories, classes, signs or counts, which mCMIkNN is made for.
MIXED = (
    "mixed", "levels-3", "levels-30", "binary", "counts", "levels", "counts-shared", "cancel",
)  # fmt: skip

# The slow peers of the reduced set meet only these: two true nulls and two alternatives.
REDUCED_FOR_SLOW = ("m_plus-10dB", "sharp", "m_minus-10dB", "add")
REDUCED_MIXED = ("mixed", "levels")  # and mCMIkNN these
REDUCED_SIZE = 200
REDUCED_REPETITIONS = {
    "chsic": 100, "KCI": 40, "RCIT": 40, "RCoT": 40, "CMIknn": 20, "GCM": 20, "FCIT": 20,
    "mCMIkNN": 10,
}  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """One method on one scenario with d columns of z and n samples, repeated."""

    method: str
    scenario: str
    d: int
    n: int
    repetitions: int


def full() -> list[Cell]:
    """Return every cell: a few hours on two cores."""
    return [*_ours(), *_kernel_peers(), *_slow_peers()]


def reduced() -> list[Cell]:
    """Return part of the full set, with fewer repetitions: a few minutes on two cores."""
    return [
        replace(cell, repetitions=REDUCED_REPETITIONS[cell.method])
        for cell in full()
        if cell.n == REDUCED_SIZE
        and cell.d == SCENARIOS[cell.scenario].dimensions[0]
        and _in_reduced(cell)
    ]


def _in_reduced(cell: Cell) -> bool:
    if cell.method == "mCMIkNN":
        return cell.scenario in REDUCED_MIXED
    return cell.method not in SLOW_PEERS or cell.scenario in REDUCED_FOR_SLOW


def frontier() -> list[Cell]:
    """Return rough functions of z and designs of GKCM."""
    cells = []
    for name in SCENARIOS:
        if name not in ROUGH:
            continue
        for d in SCENARIOS[name].dimensions:
            for n in FRONTIER_SIZES:
                cells.append(Cell("chsic", name, d, n, _repetitions(name)))
            cells += [Cell(peer, name, d, 500, 100) for peer in ("KCI", "RCIT", "RCoT")]
    return cells


def _ours() -> Iterator[Cell]:
    for scenario, d in _everywhere():
        for n in SIZES:
            yield Cell("chsic", scenario, d, n, _repetitions(scenario))
    for scenario, d in _at_large_sizes():
        for n in LARGE:
            # Power is 1 there; levels are what is to be seen.
            often = SCENARIOS[scenario].independent
            yield Cell("chsic", scenario, d, n, 1_000 if often else 200)


def _repetitions(scenario: str) -> int:
    """Return how often we meet a scenario: a level is near 0.05, and power may be anything."""
    return 1_000 if SCENARIOS[scenario].independent else 300


def _kernel_peers() -> Iterator[Cell]:
    for method in ("KCI", "RCIT", "RCoT"):
        for scenario, d in _everywhere():
            for n in SIZES:
                yield Cell(method, scenario, d, n, 300 if n <= 400 else 100)
    for scenario, d in _at_large_sizes():
        for n in LARGE:  # KCI has n^3 operations
            for method in ("RCIT", "RCoT"):
                yield Cell(method, scenario, d, n, 100)


def _slow_peers() -> Iterator[Cell]:
    for method in SLOW_PEERS:
        for name, scenario in SCENARIOS.items():
            if name not in ROUGH:
                yield Cell(method, name, scenario.dimensions[0], 200, 100)
    for name in MIXED:
        yield Cell("mCMIkNN", name, SCENARIOS[name].dimensions[0], 200, 100)


def _everywhere() -> list[tuple[str, int]]:
    return [
        (name, d)
        for name, scenario in SCENARIOS.items()
        for d in scenario.dimensions
        if name not in ROUGH
    ]


def _at_large_sizes() -> list[tuple[str, int]]:
    models = [(name, 1) for name in SCENARIOS if name.startswith(("m_plus", "m_minus"))]
    return [*models, ("linear", 2), ("pnl-II", 1)]
