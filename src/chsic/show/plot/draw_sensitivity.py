"""The answer along alpha and along the bandwidth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chsic.many.sensitivity import Sensitivity
from chsic.show.pictures.sensitivity import (
    SensitivityCurve,
    SensitivityPicture,
    sensitivity_picture,
)
from chsic.show.pictures.style import BLUE, GREY
from chsic.show.plot.axes import hide_frame, two_axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def sensitivity(result: Sensitivity, axes: tuple[Axes, Axes] | None = None) -> tuple[Axes, Axes]:
    """Draw the p-value along alpha and along the bandwidth.

    Parameters
    ----------
    result : Sensitivity
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
    >>> result = chsic.sensitivity(x, y, z, alphas=[4, 8], bandwidths=[1.2, 5], rng=0)
    >>> [ax.get_xlabel() for ax in plot.sensitivity(result)]
    ['alpha, neighbours of a sample', 'bandwidth, in median distances']
    """
    picture = sensitivity_picture(result)
    left, right = two_axes_or_new(axes)
    _draw(left, picture, picture.along_alpha)
    _draw(right, picture, picture.along_bandwidth)
    return left, right


def _draw(ax: Axes, picture: SensitivityPicture, curve: SensitivityCurve) -> None:
    ax.axhline(picture.level, color=GREY, lw=1, linestyle="--")
    ax.annotate(f"{picture.level:g}", (1, picture.level), xycoords=("axes fraction", "data"),
                fontsize=9, color=GREY, ha="right", va="bottom")  # fmt: skip
    ax.plot(curve.at, curve.heights, "o-", color=BLUE)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_ylim(min(0.005, *curve.heights) / 2, 1.5)
    ax.set_xticks(curve.at, [f"{value:g}" for value in curve.at])
    ax.minorticks_off()
    ax.set_xlabel(curve.x_label)
    ax.set_ylabel(picture.y_label)
    hide_frame(ax)
