"""Time one measure and one p-value beside the peers, in one run: ``make bench``.

Every value is computed in a process of its own, which tells the time of the call, without imports
and after a small warm-up, and its peak memory. What takes more than a minute is stopped, and larger
sizes are not tried. Methods whose times are held against each other take turns several times where
they are quick, so that a change of the machine's pace meets all of them, and the median is told.
KCI, RCIT and FastKCI have no measure without a p-value. ``python -m benchmarks.peers --targets``
measures again what the p-value's targets compare, in one run, and leaves all else as it is.
"""

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from benchmarks.machine import describe
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import chsic
from chsic import paper, plot
from chsic._util.files import write_whole

RESULTS = Path(__file__).parent / "results"
SIZES = (100, 300, 1_000, 2_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 10_000_000)
LIMIT = 60.0  # seconds for one value
ROUNDS, QUICK = 5, 20.0  # how often a value is computed that takes less than so many seconds
HELD_AGAINST = ("chsic_test", "causal-learn KCI", "causal-learn RCIT")


def ours(x, y, z):
    return chsic.chsic(x, y, z, workers=2)


def ours_dense(x, y, z):
    return chsic.chsic(x, y, z, engine="dense", workers=2)


def literal(x, y, z):
    f1, f2 = paper.sorted_pairs(z, 4)
    h_x, h_y = (np.std(a, ddof=1) * len(a) ** -0.2 for a in (x, y))
    return paper.c_hsic(
        x, y, f1, f2, lambda s: np.exp(-((s / h_x) ** 2)), lambda s: np.exp(-((s / h_y) ** 2))
    )


def our_pvalue(x, y, z):
    return chsic.chsic_test(x, y, z, rng=0, workers=2).pvalue


def kci(x, y, z):
    from causallearn.utils.KCI.KCI import KCI_CInd

    return KCI_CInd().compute_pvalue(x[:, None], y[:, None], z[:, None])


def fast_kci(x, y, z):
    from causallearn.utils.FastKCI.FastKCI import FastKCI_CInd

    return FastKCI_CInd().compute_pvalue(x[:, None], y[:, None], z[:, None])


def rcit(x, y, z):
    from causallearn.utils.RCIT.RCIT import RCIT

    return RCIT().compute_pvalue(x[:, None], y[:, None], z[:, None])


def cmi_knn(x, y, z):
    from tigramite.independence_tests.cmiknn import CMIknn

    return CMIknn().get_dependence_measure(np.vstack([x, y, z]), np.array([0, 1, 2]))


def cmi_knn_pvalue(x, y, z):
    from tigramite.independence_tests.cmiknn import CMIknn

    test = CMIknn(significance="shuffle_test", seed=0)
    return test.run_test_raw(x[:, None], y[:, None], z[:, None])[1]


def partial_dcor(x, y, z):
    import dcor

    return dcor.partial_distance_correlation(x, y, z)


def conditional_dcorr(x, y, z):
    from hyppo.conditional import ConditionalDcorr

    return ConditionalDcorr().statistic(x[:, None], y[:, None], z[:, None])


MEASURES = {
    "chsic": ours,
    "chsic, dense engine": ours_dense,
    "literal eq. 18": literal,
    "tigramite CMIknn": cmi_knn,
    "dcor partial": partial_dcor,
    "hyppo conditional dcorr": conditional_dcorr,
}
PVALUES = {
    "chsic_test": our_pvalue,
    "causal-learn KCI": kci,
    "causal-learn FastKCI": fast_kci,
    "causal-learn RCIT": rcit,
    "tigramite CMIknn, p-value": cmi_knn_pvalue,
}
METHODS = {**MEASURES, **PVALUES}


def child(method: str, n: int) -> None:
    """Compute one value and print the seconds and the bytes it took."""
    warnings.simplefilter("ignore")
    function = METHODS[method]
    function(*chsic.datasets.m_minus(100, 10.0, rng=1))
    sample = chsic.datasets.m_minus(n, 10.0, rng=0)
    start = time.perf_counter()
    function(*sample)
    seconds = time.perf_counter() - start
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"seconds": seconds, "peak_bytes": peak}))


def measure(method: str, n: int) -> dict:
    """Run one value in a child process; a row with ``stopped`` if it takes too long or fails."""
    command = [sys.executable, "-m", "benchmarks.peers", method, str(n)]
    row = {"method": method, "n": n}
    # A group of its own: processes that a peer leaves behind would slow down the next one.
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        output, errors = process.communicate(timeout=LIMIT + 30)
    except subprocess.TimeoutExpired:
        return {**row, "stopped": f"more than {LIMIT:g} s"}
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if process.returncode:
        lines = errors.strip().splitlines()
        return {**row, "stopped": lines[-1][:100] if lines else "killed"}
    row.update(json.loads(output.strip().splitlines()[-1]))
    if row["seconds"] > LIMIT:
        row["stopped"] = f"more than {LIMIT:g} s"
    return row


def growth(rows: list[dict]) -> float | None:
    """Fit seconds ~ n^p on the three largest sizes."""
    points = [(r["n"], r["seconds"]) for r in rows if "stopped" not in r][-3:]
    if len(points) < 3:
        return None
    n, seconds = np.array(points).T
    return float(np.polyfit(np.log(n), np.log(seconds), 1)[0])


def run_targets(rows: list[dict]) -> list[dict]:
    """Measure again, in turns, what the targets compare, and leave all other rows as they are."""
    cells = {(method, n) for peer, n, _, _ in TARGETS for method in (peer, "chsic_test")}
    found: dict[tuple[str, int], list[dict]] = {cell: [] for cell in sorted(cells)}
    for _ in range(ROUNDS):
        for cell, of_cell in found.items():
            of_cell.append(measure(*cell))
    again = {cell: middle(of_cell) for cell, of_cell in found.items()}
    return [again.get((row["method"], row["n"]), row) for row in rows]


def run() -> list[dict]:
    rows: list[dict] = []
    alive = list(METHODS)
    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task("peers", total=len(METHODS) * len(SIZES))
        for position, n in enumerate(SIZES):
            at_n: dict[str, list[dict]] = {method: [] for method in alive}
            for _ in range(ROUNDS):
                for method, found in at_n.items():
                    if not found or wants_another(found[0]):
                        progress.update(task, description=f"{method}, L = {n}")
                        found.append(measure(method, n))
            rows += map(middle, at_n.values())
            alive = [row["method"] for row in rows if row["n"] == n and "stopped" not in row]
            progress.update(task, completed=(position + 1) * len(METHODS))
    return sorted(rows, key=lambda row: list(METHODS).index(row["method"]))


def wants_another(row: dict) -> bool:
    """Whether its time is held against others, and quick to have once more."""
    return row["method"] in HELD_AGAINST and row.get("seconds", LIMIT) < QUICK


def middle(found: list[dict]) -> dict:
    """Return the run of median time, with the times of all; a stopped one if there is any."""
    stopped = [row for row in found if "stopped" in row]
    if stopped:
        return stopped[0]
    by_time = sorted(found, key=lambda row: row["seconds"])
    return {**by_time[len(by_time) // 2], "all_seconds": [row["seconds"] for row in found]}


def show(title: str, methods: Iterable[str], rows: list[dict], exponents: dict) -> None:
    table = Table(title=f"{title}: seconds (peak memory)")
    table.add_column("L", justify="right")
    for method in methods:
        table.add_column(method, justify="right")
    cells = {(r["method"], r["n"]): r for r in rows}
    for n in SIZES:
        table.add_row(str(n), *(_cell(cells.get((method, n))) for method in methods))
    growths = [exponents[method] for method in methods]
    table.add_row("growth", *("" if p is None else f"L^{p:.2f}" for p in growths))
    Console(highlight=False, width=150).print(table)


def _cell(row: dict | None) -> str:
    if row is None:
        return ""
    if "stopped" in row:
        return "stopped"
    return f"{row['seconds']:.3g} ({row['peak_bytes'] / 1e9:.2g} GB)"


def picture(rows: list[dict]) -> Figure:
    figure = Figure(figsize=(12, 5), layout="constrained")
    axes = figure.subplots(1, 2, sharex=True, sharey=True)
    for ax, methods, title in zip(axes, (MEASURES, PVALUES), ("measure", "p-value"), strict=True):
        for method, marker in zip(methods, "os^vDP"[: len(methods)], strict=True):
            _line(ax, [r for r in rows if r["method"] == method], method, marker)
        ax.axhline(LIMIT, color="grey", lw=0.8, ls=":")
        ax.set(xlabel="L", title=f"One {title} of conditional dependence")
        ax.grid(alpha=0.25)
        ax.legend(frameon=False, fontsize=8)
    axes[0].set_ylabel("seconds")
    return figure


def _line(ax: Axes, rows: list[dict], method: str, marker: str) -> None:
    points = [(r["n"], r["seconds"]) for r in rows if "stopped" not in r]
    ours = method in ("chsic", "chsic_test")
    ax.loglog(*zip(*points, strict=True), marker=marker, markersize=4, label=method,
              lw=2.2 if ours else 1.1, color="black" if ours else None)  # fmt: skip


TARGETS = (
    ("causal-learn KCI", 1_000, "seconds", 20),
    ("causal-learn KCI", 2_000, "seconds", 100),
    ("causal-learn RCIT", 10_000, "seconds", 1),
    ("causal-learn RCIT", 100_000, "seconds", 1),
    ("causal-learn RCIT", 1_000_000, "seconds", 5),
    ("causal-learn RCIT", 1_000_000, "peak_bytes", 1),
)


def pvalue_targets(rows: list[dict]) -> list[dict]:
    """Ratios of seconds that the test promises, and of memory at the end."""
    cells = {(r["method"], r["n"]): r for r in rows if "stopped" not in r}
    found = []
    for peer, n, what, at_least in TARGETS:
        known = (peer, n) in cells and ("chsic_test", n) in cells  # else one of them was stopped
        ratio = cells[peer, n][what] / cells["chsic_test", n][what] if known else None
        name = f"{peer} over chsic_test, {what}, L = {n}"
        found.append({"name": name, "found": ratio, "wanted": f"at least {at_least}"})
    return found


def main() -> None:
    path = RESULTS / "peers.json"
    again = sys.argv[1:] == ["--targets"]
    rows = run_targets(json.loads(path.read_text())["rows"]) if again else run()
    exponents = {m: growth([r for r in rows if r["method"] == m]) for m in METHODS}
    show("One measure", MEASURES, rows, exponents)
    show("One p-value", PVALUES, rows, exponents)
    targets = pvalue_targets(rows)
    for target in targets:
        ratio = "stopped" if target["found"] is None else f"{target['found']:.3g}"
        print(f"{target['name']}: {ratio} ({target['wanted']})")
    packages = ("chsic", "numpy", "scipy", "finufft", "causal-learn", "tigramite", "dcor", "hyppo")
    result = {
        "machine": describe(*packages),
        "pvalue_targets": targets,
        "growth_exponents": exponents,
        "rows": rows,
    }
    text = json.dumps(result, indent=1) + "\n"
    write_whole(path, lambda path: path.write_text(text))
    plot.save(picture(rows), RESULTS / "peers.png")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        child(sys.argv[1], int(sys.argv[2]))
    else:
        main()
