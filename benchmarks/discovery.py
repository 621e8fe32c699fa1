"""PC on 20 variables with our test and with KCI, in one run: ``make bench``.

Graphs are random, noise is added to nonlinear functions. KCI gets the same data cut down to as many
samples as it can do in the time ours takes for all of them. For 1,000 samples it is stopped after
15 times our time for as many.
"""

import argparse
import json
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from benchmarks.machine import describe
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from chsic._util.files import write_whole

RESULTS = Path(__file__).parent / "results"
N_VARIABLES = 20
N_EDGES = 24
N_SAMPLES = 5_000
SIZES_FOR_KCI = (100, 150, 200, 300, 400, 500, 700)
FACTOR = 10  # how many times faster than KCI we promise to be
STARTING = 20.0  # seconds that a process may take to begin
ALPHA = 0.01  # PC's level

FUNCTIONS = (
    lambda s: np.tanh(2 * s),
    lambda s: np.sin(2 * s),
    lambda s: s**2,
    np.abs,
    lambda s: np.exp(-(s**2)) * 2,
)

Skeleton = set[frozenset[int]]


def random_graph(rng: np.random.Generator) -> list[tuple[int, int]]:
    """Draw edges i -> j, i < j, of which no variable has more than three coming in."""
    parents = np.zeros(N_VARIABLES, int)
    edges: list[tuple[int, int]] = []
    possible = [(i, j) for j in range(N_VARIABLES) for i in range(j)]
    for k in rng.permutation(len(possible)):
        i, j = possible[k]
        if len(edges) < N_EDGES and parents[j] < 3:
            edges.append((i, j))
            parents[j] += 1
    return edges


def simulate(edges: list[tuple[int, int]], n: int, rng: np.random.Generator) -> np.ndarray:
    """Every variable is a sum of functions of its parents and noise, standardised."""
    data = np.empty((n, N_VARIABLES))
    for j in range(N_VARIABLES):
        value = rng.standard_normal(n)
        for i in (i for i, child in edges if child == j):
            effect = FUNCTIONS[rng.integers(len(FUNCTIONS))](data[:, i])
            value += 1.5 * (effect - effect.mean()) / effect.std()
        data[:, j] = (value - value.mean()) / value.std()
    return data


def pc_skeleton(data: np.ndarray, test: str) -> tuple[Skeleton, float]:
    """Run causal-learn's PC and return which variables it joins, and the seconds."""
    from causallearn.search.ConstraintBased.PC import pc

    import chsic.adapters.causal_learn  # noqa: F401  (registers our test)

    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = pc(data, alpha=ALPHA, indep_test=test, show_progress=False)
    seconds = time.perf_counter() - start
    rows, columns = np.nonzero(found.G.graph)
    return {frozenset((int(i), int(j))) for i, j in zip(rows, columns, strict=True)}, seconds


def f1(found: Skeleton, true: Skeleton) -> float:
    return 2 * len(found & true) / (len(found) + len(true))


def one_run(seed: int, n: int, test: str) -> dict:
    rng = np.random.default_rng(seed)
    edges = random_graph(rng)
    data = simulate(edges, N_SAMPLES, rng)[:n]
    pc_skeleton(data[:100, :3], test)  # loads what is needed
    found, seconds = pc_skeleton(data, test)
    true = {frozenset(edge) for edge in edges}
    return {"test": test, "n": n, "f1": f1(found, true), "seconds": seconds}


def in_a_child(seed: int, n: int, test: str, limit: float | None = None) -> dict | None:
    """Run PC in a process of its own; None if it was stopped after `limit` seconds."""
    command = [sys.executable, "-m", "benchmarks.discovery", "--run", str(seed), str(n), test]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=True,
            timeout=None if limit is None else limit + STARTING,
        )
    except subprocess.TimeoutExpired:
        return None
    found: dict = json.loads(done.stdout.splitlines()[-1])
    return None if limit is not None and found["seconds"] > limit else found


def one_graph(seed: int, progress: Progress) -> dict:
    bar = progress.add_task(f"graph {seed}", total=len(SIZES_FOR_KCI) + 3)

    def measure(n: int, test: str, limit: float | None = None) -> dict | None:
        progress.update(bar, description=f"graph {seed}, {test}, n = {n:,}")
        found = in_a_child(seed, n, test, limit)
        progress.advance(bar)
        return found

    ours, ours_at_1000 = measure(N_SAMPLES, "chsic"), measure(1_000, "chsic")
    assert ours is not None
    assert ours_at_1000 is not None
    in_time = []
    for n in SIZES_FOR_KCI:
        found = measure(n, "kci", ours["seconds"])
        if found is None:
            break
        in_time.append(found)
    # Its time at 1,000 samples is of interest only up to the factor that is promised, and a half.
    limit = 1.5 * FACTOR * ours_at_1000["seconds"]
    kci_at_1000 = measure(1_000, "kci", limit)
    progress.update(bar, completed=len(SIZES_FOR_KCI) + 3)
    return {
        "seed": seed,
        "ours": ours,
        "ours_at_1000": ours_at_1000,
        "kci_in_the_time_of_ours": in_time,
        "kci_at_1000": kci_at_1000,
        "kci_over_ours_at_1000": (limit if kci_at_1000 is None else kci_at_1000["seconds"])
        / ours_at_1000["seconds"],
    }


def show(graphs: list[dict]) -> None:
    table = Table("graph", "F1", "seconds", "F1 of KCI", "its n", "KCI / ours at n = 1,000")
    for graph in graphs:
        # Nothing found scores nothing.
        best = (graph["kci_in_the_time_of_ours"] or [{"f1": 0.0, "n": f"< {SIZES_FOR_KCI[0]}"}])[-1]
        table.add_row(
            str(graph["seed"]),
            f"{graph['ours']['f1']:.2f}",
            f"{graph['ours']['seconds']:.0f}",
            f"{best['f1']:.2f}",
            str(best["n"]),
            ("> " if graph["kci_at_1000"] is None else "")
            + f"{graph['kci_over_ours_at_1000']:.1f}",
        )
    Console().print(table)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.discovery", description=__doc__)
    parser.add_argument("--graphs", type=int, default=3, help="how many graphs")
    parser.add_argument("--run", nargs=3, metavar=("SEED", "N", "TEST"), help="one run of PC alone")
    given = parser.parse_args()
    if given.run:
        seed, n, test = given.run
        print(json.dumps(one_run(int(seed), int(n), test)))
        return
    graphs: list[dict] = []
    with Progress(console=Console(stderr=True)) as progress:
        for seed in range(given.graphs):
            graphs.append(one_graph(seed, progress))
            text = (
                json.dumps(
                    {"machine": describe("chsic", "causal-learn", "numpy"), "graphs": graphs},
                    indent=2,
                )
                + "\n"
            )
            write_whole(RESULTS / "discovery.json", lambda path, text=text: path.write_text(text))
    show(graphs)


if __name__ == "__main__":
    main()
