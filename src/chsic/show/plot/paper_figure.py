"""The paper's figure 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from chsic.measure.figure1 import FIXED_GAMMA_DB, FIXED_SIZE, MEASURES, Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which colour-blind readers can tell apart.
STYLES: dict[str, dict[str, Any]] = {
    "HSIC": {"color": "black", "marker": "o"},
    "C-HSIC, α = 4": {"color": "#0072B2", "marker": "s"},
    "C-HSIC, α = 64": {"color": "#D55E00", "marker": "^"},
    "random pruning, α = 4": {"color": "#56B4E9", "marker": "x", "linestyle": "--"},
    "random pruning, α = 64": {"color": "#E69F00", "marker": "+", "linestyle": "--"},
}
TITLES = {"a": "$\\mathcal{M}^+$: independent given z", "b": "$\\mathcal{M}^-$: dependent given z"}


def figure1(points: Sequence[Point]) -> Figure:
    """Draw the paper's figure 1: four panels of means with standard-deviation bands.

    Parameters
    ----------
    points : sequence of Point
        From `chsic.measure.figure1.simulate`.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from chsic import plot
    >>> from chsic.measure.figure1 import simulate
    >>> figure = plot.figure1(simulate(trials=2, workers=1))
    >>> len(figure.axes)
    4
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.5, 7), layout="constrained")
    axes = figure.subplots(2, 2, sharey="row")
    for row, letter in enumerate("ab"):
        for column, number in enumerate("12"):
            panel = f"{letter}.{number}"
            _panel(axes[row, column], panel, [p for p in points if p.panel == panel])
        axes[row, 0].set_ylabel("dependence measure")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False)
    return figure


def _panel(ax: Axes, panel: str, points: Sequence[Point]) -> None:
    against_gamma = panel.endswith("1")
    for measure in MEASURES:
        curve = [p for p in points if p.measure == measure.label]
        at = [p.gamma_db if against_gamma else p.n_samples for p in curve]
        low, high = [p.mean - p.std for p in curve], [p.mean + p.std for p in curve]
        style = STYLES[measure.label]
        ax.plot(at, [p.mean for p in curve], label=measure.label, markersize=4, lw=1.2, **style)
        ax.fill_between(at, low, high, color=style["color"], alpha=0.12, lw=0)
    held = f"L = {FIXED_SIZE}" if against_gamma else f"γ = {FIXED_GAMMA_DB:g} dB"
    ax.set_title(f"({panel})  {TITLES[panel[0]]}, {held}", fontsize=10, loc="left")
    ax.set_xlabel("γ (dB)" if against_gamma else "L")
    ax.grid(alpha=0.25)
    ax.set_ylim(bottom=0)
    ax.margins(x=0.02)
