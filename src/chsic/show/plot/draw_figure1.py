"""The paper's figure 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from chsic.measure.figure1 import Point
from chsic.show.pictures.figure1 import Figure1Panel, figure1_picture

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
MODELS = {"M+": "$\\mathcal{M}^+$", "M-": "$\\mathcal{M}^-$"}  # as the paper writes them


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

    picture = figure1_picture(points)
    figure = Figure(figsize=(9.5, 7), layout="constrained")
    axes = figure.subplots(2, 2, sharey="row")
    for ax, panel in zip(axes.flat, picture.panels, strict=True):
        _draw(ax, panel)
    for ax in axes[:, 0]:
        ax.set_ylabel(picture.y_label)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False)
    return figure


def _draw(ax: Axes, panel: Figure1Panel) -> None:
    for curve in panel.curves:
        style = STYLES[curve.label]
        ax.plot(curve.at, curve.mean, label=curve.label, markersize=4, lw=1.2, **style)
        ax.fill_between(curve.at, curve.low, curve.high, color=style["color"], alpha=0.12, lw=0)
    title = f"({panel.letter})  {MODELS[panel.model]}: {panel.truth}, {panel.fixed}"
    ax.set_title(title, fontsize=10, loc="left")
    ax.set_xlabel(panel.x_label)
    ax.grid(alpha=0.25)
    ax.set_ylim(bottom=0)
    ax.margins(x=0.02)
