"""Time the literal eq. 18 against its Laplacian form, as L and alpha grow: ``make bench``.

Ratios within one run on one machine are what counts; seconds are kept to make the ratios.
"""

import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from benchmarks.machine import describe
from matplotlib.figure import Figure
from rich.console import Console
from rich.progress import track
from rich.table import Table

import chsic
from chsic import paper, plot
from chsic._util.files import write_whole

RESULTS = Path(__file__).parent / "results"
SIZES = (50, 100, 140, 200, 400, 800, 1600, 3200, 6400, 12800)
ALPHAS = (4, 64)
LITERAL_LIMIT = 5 * 10**7  # K^2 numbers in each matrix of eq. 18: 400 MB


def best_time(function: Callable[[], float], repeats: int = 3) -> tuple[float, float]:
    """Return the shortest of several times, and the value computed."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        value = function()
        times.append(time.perf_counter() - start)
        if sum(times) > 10:
            break
    return min(times), value


def literal(x, y, graph, h_x, h_y):
    return paper.c_hsic(
        x,
        y,
        graph.i,
        graph.j,
        lambda s: np.exp(-((s / h_x) ** 2)),
        lambda s: np.exp(-((s / h_y) ** 2)),
    )


def measure(n: int, alpha: int) -> dict[str, float | None]:
    x, y, z = chsic.datasets.m_minus(n, 10.0, rng=0)
    h_x, h_y = (float(np.std(a, ddof=1) * n**-0.2) for a in (x, y))
    pairs_seconds, _ = best_time(lambda: chsic.closest_pairs(z, alpha).n_pairs)
    graph = chsic.closest_pairs(z, alpha)
    seconds, value = best_time(
        lambda: chsic.chsic(x, y, z, pairs=graph, bandwidth=(h_x, h_y), engine="dense")
    )
    row = {"n": n, "alpha": alpha, "pairs_s": pairs_seconds, "laplacian_s": seconds}
    if graph.n_pairs**2 <= LITERAL_LIMIT:
        row["literal_s"], reference = best_time(lambda: literal(x, y, graph, h_x, h_y))
        row["ratio"] = row["literal_s"] / seconds
        row["relative_difference"] = abs(value / reference - 1)
    return row


def growth(rows: list[dict], alpha: int, column: str) -> float:
    """Fit seconds ~ n^p on the three largest sizes, where overhead counts least."""
    points = [(r["n"], r[column]) for r in rows if r["alpha"] == alpha and column in r]
    n, seconds = np.array(points[-3:]).T
    return float(np.polyfit(np.log(n), np.log(seconds), 1)[0])


def show(rows: list[dict], exponents: dict[str, float]) -> None:
    table = Table(title="C-HSIC, seconds")
    for name in ("L", "alpha", "pairs", "Laplacian form", "literal eq. 18", "literal / Laplacian"):
        table.add_column(name, justify="right")
    for row in rows:
        times = (row["pairs_s"], row["laplacian_s"], row.get("literal_s"))
        cells = [f"{t:.4f}" if t is not None else "-" for t in times]
        ratio = f"{row['ratio']:.1f}" if "ratio" in row else "-"
        table.add_row(str(row["n"]), str(row["alpha"]), *cells, ratio)
    console = Console(highlight=False)
    console.print(table)
    for name, exponent in exponents.items():
        console.print(f"time of {name} grows as L^{exponent:.2f}")


def picture(rows: list[dict]) -> Figure:
    figure = Figure(figsize=(6.5, 4.5), layout="constrained")
    ax = figure.subplots()
    for alpha, marker in zip(ALPHAS, "so", strict=True):
        for column, label, style in (
            ("literal_s", "literal eq. 18", "--"),
            ("laplacian_s", "Laplacian form", "-"),
        ):
            points = [(r["n"], r[column]) for r in rows if r["alpha"] == alpha and column in r]
            color = "#D55E00" if style == "--" else "#0072B2"
            ax.loglog(*zip(*points, strict=True), style, marker=marker, color=color, markersize=4,
                      label=f"{label}, α = {alpha}")  # fmt: skip
    ax.set(xlabel="L", ylabel="seconds", title="One value of C-HSIC, pairs given")
    ax.grid(alpha=0.25)
    ax.legend(frameon=False)
    return figure


def main() -> None:
    cases = [(n, alpha) for alpha in ALPHAS for n in SIZES if alpha <= n - 1]
    rows = [measure(n, alpha) for n, alpha in track(cases, "timing", console=Console(stderr=True))]
    exponents = {
        f"{label}, alpha = {alpha}": growth(rows, alpha, column)
        for alpha in ALPHAS
        for column, label in (("laplacian_s", "Laplacian form"), ("literal_s", "literal eq. 18"))
    }
    show(rows, exponents)
    result = {
        "machine": describe("chsic", "numpy", "scipy"),
        "growth_exponents": exponents,
        "rows": rows,
    }
    text = json.dumps(result, indent=1) + "\n"
    write_whole(RESULTS / "laplacian.json", lambda path: path.write_text(text))
    plot.save(picture(rows), RESULTS / "laplacian.png")
    print(RESULTS.relative_to(Path.cwd()) if RESULTS.is_relative_to(Path.cwd()) else RESULTS)


if __name__ == "__main__":
    main()
