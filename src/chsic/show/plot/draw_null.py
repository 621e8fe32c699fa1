"""The observed statistic among those of random signs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chsic.inference.result import IndependenceResult
from chsic.show.pictures.null import null_picture
from chsic.show.pictures.style import BLUE, GREY, ORANGE
from chsic.show.plot.axes import axes_or_new, hide_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def null_distribution(result: IndependenceResult, ax: Axes | None = None) -> Axes:
    """Draw the null distribution of the winning member, with the observed estimate.

    The p-value is joint over all members, so that it is a little larger than the share of draws to
    the right of the line.

    Parameters
    ----------
    result : IndependenceResult
        From `chsic.chsic_test`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; on a new figure if not given.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import chsic
    >>> from chsic import plot
    >>> result = chsic.chsic_test(*chsic.datasets.draw_scenario("add", 200, rng=0), rng=0)
    >>> plot.null_distribution(result).get_xlabel()
    'estimate'
    """
    picture = null_picture(result)
    ax = axes_or_new(ax)
    bars: dict[str, Any] = {
        "x": picture.edges[:-1],
        "width": np.diff(picture.edges),
        "align": "edge",
    }
    handles: list[Any] = [
        ax.bar(height=picture.counts, color=GREY, label=picture.draws_label, **bars)
    ]
    if picture.counts_beyond.any():
        handles.append(
            ax.bar(height=picture.counts_beyond, color=BLUE, label=picture.beyond_label, **bars)
        )
    handles.append(ax.axvline(picture.estimate, color=ORANGE, lw=2, label=picture.estimate_label))
    ax.ticklabel_format(axis="x", style="sci", scilimits=(-2, 3))
    ax.locator_params(axis="x", nbins=6)
    ax.set_xlabel(picture.x_label)
    ax.set_ylabel(picture.y_label)
    ax.set_title(picture.title, loc="left", fontsize=11)
    ax.legend(handles=handles, frameon=False, fontsize=9)
    hide_frame(ax)
    return ax
