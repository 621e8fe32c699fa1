"""Where along z the dependence sits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chsic.plot.canvas import BLUE, GREY, ORANGE, axes_or_new, plainly
from chsic.result import IndependenceResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WINDOW = 9  # units that the line averages over


def profile(result: IndependenceResult, column: int = 0, ax: Axes | None = None) -> Axes:
    """Draw what each unit of neighbouring samples adds to the estimate, along one column of z.

    Points scatter by chance; a stretch of z where the line stays above zero is where x and y are
    related.

    Parameters
    ----------
    result : IndependenceResult
        From `chsic.chsic_test`, with a z.
    column : int
        Which column of z is drawn along.
    ax : matplotlib.axes.Axes, optional
        Where to draw; on a new figure if not given.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import chsic
    >>> from chsic import plot
    >>> result = chsic.chsic_test(*chsic.datasets.draw_scenario("local", 400, rng=0), rng=0)
    >>> plot.profile(result).get_xlabel()
    'z'
    """
    names = result.names["z"]
    if not 0 <= column < len(names):
        raise ValueError(
            f"column: z has {len(names)} columns, got {column}; count from 0."
            if names
            else "result: without z there is nothing to draw along."
        )
    ax = axes_or_new(ax)
    z, contribution = result.profile.z[:, column], result.profile.contribution
    order = np.argsort(z, kind="stable")
    z, contribution = z[order], contribution[order] * len(contribution)  # comparable with the whole
    ax.axhline(0, color=GREY, lw=1)
    ax.plot(z, contribution, ".", color=BLUE, alpha=0.5, label="units of neighbours")
    if result.kinds[names[column]] == "category":
        levels, inverse = np.unique(z, return_inverse=True)
        means = np.bincount(inverse, contribution) / np.bincount(inverse)
        ax.plot(levels, means, "D", color=ORANGE, label="mean")
    elif len(z) >= 2 * WINDOW:
        window = np.ones(WINDOW) / WINDOW
        ax.plot(
            np.convolve(z, window, "valid"),
            np.convolve(contribution, window, "valid"),
            color=ORANGE,
            lw=2,
            label=f"mean of {WINDOW} units",
        )
    ax.set_xlabel(names[column])
    ax.set_ylabel("contribution to the estimate")
    ax.set_title("Where the dependence sits", loc="left", fontsize=11)
    ax.legend(frameon=False, fontsize=9)
    plainly(ax)
    return ax
