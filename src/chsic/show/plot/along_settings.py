"""The answer along alpha and along the bandwidth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from chsic.many.sensitivity import Sensitivity, SensitivityPoint
from chsic.show.plot.canvas import BLUE, GREY, plainly, two_axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SMALLEST = 1e-6  # p-values below are drawn there


def sensitivity(found: Sensitivity, axes: tuple[Axes, Axes] | None = None) -> tuple[Axes, Axes]:
    """Draw the p-value along alpha and along the bandwidth.

    Parameters
    ----------
    found : Sensitivity
        From `chsic.sensitivity`.
    axes : pair of matplotlib.axes.Axes, optional
        Where to draw; on a new figure if not given.

    Returns
    -------
    pair of matplotlib.axes.Axes

    Examples
    --------
    >>> import chsic
    >>> from chsic import plot
    >>> x, y, z = chsic.datasets.draw_scenario("add", 100, rng=0)
    >>> found = chsic.sensitivity(x, y, z, alphas=[4, 8], bandwidths=[1.2, 5], rng=0)
    >>> [ax.get_xlabel() for ax in plot.sensitivity(found)]
    ['alpha, neighbours of a sample', 'bandwidth, in median distances']
    """
    left, right = two_axes_or_new(axes)
    _draw(left, [point.alpha for point in found.along_alpha], found.along_alpha)
    left.set_xlabel("alpha, neighbours of a sample")
    widths = [point.bandwidth or 1.0 for point in found.along_bandwidth]
    _draw(right, widths, found.along_bandwidth)
    right.set_xlabel("bandwidth, in median distances")
    return left, right


def _draw(ax: Axes, at: Sequence[float], points: Sequence[SensitivityPoint]) -> None:
    ax.axhline(0.05, color=GREY, lw=1, linestyle="--")
    ax.annotate("0.05", (1, 0.05), xycoords=("axes fraction", "data"), fontsize=9, color=GREY,
                ha="right", va="bottom")  # fmt: skip
    pvalues = [max(point.pvalue, SMALLEST) for point in points]
    ax.plot(at, pvalues, "o-", color=BLUE)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_ylim(min(0.005, *pvalues) / 2, 1.5)
    ax.set_xticks(at, [f"{value:g}" for value in at])
    ax.minorticks_off()
    ax.set_ylabel("p-value")
    plainly(ax)
