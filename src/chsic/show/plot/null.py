"""The observed statistic among those of random signs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chsic.inference.result import IndependenceResult
from chsic.show.plot.canvas import BLUE, GREY, ORANGE, axes_or_new, plainly
from chsic.show.words import pvalue

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
    ax = axes_or_new(ax)
    draws, estimate = result.null_distribution, result.estimate
    bins = np.histogram_bin_edges(draws, bins=60).tolist()
    ax.hist(draws, bins, color=GREY, label=f"{len(draws)} draws of random signs")
    beyond = draws[draws >= estimate]
    if len(beyond):
        ax.hist(beyond, bins, color=BLUE, label=f"{len(beyond)} as large or larger")
    ax.axvline(estimate, color=ORANGE, lw=2, label=f"observed, p = {pvalue(result.pvalue)}")
    ax.ticklabel_format(axis="x", style="sci", scilimits=(-2, 3))
    ax.locator_params(axis="x", nbins=6)
    ax.set_xlabel("estimate")
    ax.set_ylabel("draws")
    ax.set_title("If nothing were related", loc="left", fontsize=11)
    ax.legend(frameon=False, fontsize=9)
    plainly(ax)
    return ax
