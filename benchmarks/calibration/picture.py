"""Rejection rates -> a picture of level and power."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from benchmarks.calibration.table import Row
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from chsic import plot
from chsic.datasets import SCENARIOS

# Okabe and Ito's colours, which colour-blind readers can tell apart, and shapes for everybody.
STYLES = {
    "chsic": ("#0072B2", "o"),
    "KCI": ("#D55E00", "s"),
    "RCIT": ("#E69F00", "^"),
    "RCoT": ("#999999", "<"),
    "CMIknn": ("#009E73", "D"),
    "GCM": ("#CC79A7", "v"),
    "FCIT": ("#56B4E9", "P"),
    "mCMIkNN": ("#F0E442", "X"),
}
BAND = (0.025, 0.075)
GAP = 1  # lanes between two stripes

Stripes = dict[tuple[str, int], dict[str, list[Row]]]


def draw(rows: Sequence[Row]) -> Figure:
    """Draw the level on every null scenario and the power on every alternative.

    A stripe of a panel is a scenario with d columns of z; in it each method has a lane of its own,
    and the marks grow with n.
    """
    rows = [row for row in rows if row.rate_05 is not None]
    null = [row for row in rows if row.independent]
    alternative = [row for row in rows if not row.independent]
    lanes = max(1, *(_lanes(_stripes(part)) for part in (null, alternative)))
    figure = Figure(figsize=(12, 1.6 + 0.1 * lanes), layout="constrained")
    left, right = figure.subplots(1, 2)
    for ax, part in ((left, null), (right, alternative)):
        _panel(ax, _stripes(part))
        ax.set_ylim(lanes, 0)
    _show_level(left)
    right.set(title="Power: dependent given z", xlabel="rejection rate at 0.05", xlim=(-0.02, 1.02))
    figure.legend(handles=_method_handles(rows), loc="outside upper center", ncols=6, frameon=False)
    figure.legend(handles=_size_handles(rows), loc="outside lower center", ncols=6, frameon=False)
    return figure


def save(rows: Sequence[Row], path: Path) -> None:
    plot.save(draw(rows), path)


def _stripes(rows: Sequence[Row]) -> Stripes:
    """Return the rows by scenario and d, and there by method."""
    stripes: Stripes = {}
    order = list(SCENARIOS)
    for row in sorted(rows, key=lambda row: (order.index(row.scenario), row.d, row.n)):
        stripe = stripes.setdefault((row.scenario, row.d), {})
        stripe.setdefault(row.method, []).append(row)
    return stripes


def _lanes(stripes: Stripes) -> int:
    return sum(len(stripe) + GAP for stripe in stripes.values())


def _panel(ax: Axes, stripes: Stripes) -> None:
    top, ticks, labels = 0, [], []
    for number, ((scenario, d), stripe) in enumerate(stripes.items()):
        bottom = top + len(stripe) + GAP
        if number % 2:
            ax.axhspan(top, bottom, color="black", alpha=0.05, lw=0)
        methods = [method for method in STYLES if method in stripe]
        for lane, method in enumerate(methods):
            _points(ax, stripe[method], top + (GAP + 1) / 2 + lane, *STYLES[method])
        ticks.append((top + bottom) / 2)
        labels.append(f"{scenario}, d = {d}" if d > 1 else scenario)
        top = bottom
    ax.set_yticks(ticks, labels)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", alpha=0.25)


def _points(ax: Axes, points: Sequence[Row], height: float, color: str, marker: str) -> None:
    rates = [row.rate_05 for row in points]
    heights = [height] * len(points)
    sizes = [_area(row.n) for row in points]
    ax.plot(rates, heights, color=color, lw=0.8, alpha=0.6)
    ax.scatter(rates, heights, sizes, color=color, marker=marker, lw=0, alpha=0.85, clip_on=False)


def _area(n: int) -> float:
    """Let marks grow with log n, from 10 points at 100 samples to 58 at 100,000."""
    return 10 + 16 * (np.log10(n) - 2)


def _show_level(ax: Axes) -> None:
    """Stretch the axis near 0.05, where a level is judged, and show the band."""
    root = (lambda v: np.sqrt(np.maximum(v, 0)), np.square)
    ax.set_xscale("function", functions=root)
    ticks = [0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1]
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.set_xlim(0, 1)
    ax.axvspan(*BAND, color="#009E73", alpha=0.15, lw=0)
    ax.axvline(0.05, color="black", lw=0.8, ls=":")
    ax.set(
        title="Level: independent given z", xlabel="rejection rate at 0.05 (band: 0.025 to 0.075)"
    )


def _method_handles(rows: Sequence[Row]) -> list[Line2D]:
    present = {row.method for row in rows}
    return [
        Line2D([], [], color=color, marker=marker, lw=0.8, markersize=7, label=method)
        for method, (color, marker) in STYLES.items()
        if method in present
    ]


def _size_handles(rows: Sequence[Row]) -> list[Line2D]:
    return [
        Line2D([], [], color="grey", marker="o", lw=0, ms=_area(n) ** 0.5, label=f"n = {n:,}")
        for n in sorted({row.n for row in rows})
    ]
