"""PC on 20 variables with our test and with KCI, in one run: ``make bench``.

Graphs are random, noise is added to nonlinear functions. KCI gets the same data cut down to as many
samples as it can do in the time ours takes for all of them; how long it takes for 1,000 samples is
measured as well.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
from benchmarks.machine import describe
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from chsic.files import write_whole

RESULTS = Path(__file__).parent / "results"
N_VARIABLES = 20
N_EDGES = 24
N_SAMPLES = 5_000
SIZES_FOR_KCI = (100, 150, 200, 300, 400, 500, 700, 1_000)
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


def one_graph(seed: int, progress: Progress) -> dict:
    rng = np.random.default_rng(seed)
    edges = random_graph(rng)
    data = simulate(edges, N_SAMPLES, rng)
    true = {frozenset(edge) for edge in edges}
    bar = progress.add_task(f"graph {seed}", total=len(SIZES_FOR_KCI) + 2)
    rows = []

    def measure(method: str, test: str, n: int) -> dict:
        progress.update(bar, description=f"graph {seed}, {method}, n = {n:,}")
        found, seconds = pc_skeleton(data[:n], test)
        progress.advance(bar)
        rows.append({"method": method, "n": n, "f1": f1(found, true), "seconds": seconds})
        return rows[-1]

    measure("chsic", "chsic", 1_000)  # which also loads everything
    ours_at_1000 = measure("chsic", "chsic", 1_000)
    rows.pop(0)
    ours = measure("chsic", "chsic", N_SAMPLES)
    for n in SIZES_FOR_KCI[:-1]:
        if measure("KCI", "kci", n)["seconds"] > ours["seconds"]:
            break
    kci_at_1000 = measure("KCI", "kci", SIZES_FOR_KCI[-1])
    progress.update(bar, completed=len(SIZES_FOR_KCI) + 2)
    in_time = [row for row in rows if row["method"] == "KCI" and row["seconds"] <= ours["seconds"]]
    return {
        "seed": seed,
        "f1": ours["f1"],
        "f1_of_kci_in_that_time": max((row["n"], row["f1"]) for row in in_time)[1],
        "n_of_kci_in_that_time": max(row["n"] for row in in_time),
        "seconds": ours["seconds"],
        "kci_over_ours_at_1000": kci_at_1000["seconds"] / ours_at_1000["seconds"],
        "kci_at_1000_over_ours_at_5000": kci_at_1000["seconds"] / ours["seconds"],
        "runs": rows,
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.discovery", description=__doc__)
    parser.add_argument("--graphs", type=int, default=3, help="how many graphs")
    given = parser.parse_args()
    console = Console(stderr=True)
    with Progress(console=console) as progress:
        graphs = [one_graph(seed, progress) for seed in range(given.graphs)]
    table = Table("graph", "F1", "F1 of KCI", "n of KCI", "seconds", "KCI / ours at 1,000")
    for graph in graphs:
        table.add_row(
            str(graph["seed"]),
            f"{graph['f1']:.2f}",
            f"{graph['f1_of_kci_in_that_time']:.2f}",
            str(graph["n_of_kci_in_that_time"]),
            f"{graph['seconds']:.0f}",
            f"{graph['kci_over_ours_at_1000']:.1f}",
        )
    Console().print(table)
    text = json.dumps({"machine": describe(), "graphs": graphs}, indent=2) + "\n"
    write_whole(RESULTS / "discovery.json", lambda path: path.write_text(text))


if __name__ == "__main__":
    main()
