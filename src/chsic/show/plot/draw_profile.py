"""Where along z the dependence sits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chsic.inference.result import IndependenceResult
from chsic.show.pictures.profile import profile_picture
from chsic.show.pictures.style import BLUE, GREY, ORANGE
from chsic.show.plot.axes import axes_or_new, hide_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    picture = profile_picture(result, column)
    ax = axes_or_new(ax)
    ax.axhline(0, color=GREY, lw=1)
    ax.plot(picture.z, picture.contribution, ".", color=BLUE, alpha=0.5, label=picture.units_label)
    if len(picture.mean_z):
        style: dict[str, Any] = {"marker": "D", "ls": ""} if picture.is_category else {"lw": 2}
        ax.plot(picture.mean_z, picture.mean, color=ORANGE, label=picture.mean_label, **style)
    ax.set_xlabel(picture.x_label, parse_math=False)
    if picture.is_category:
        ax.set_xticks(range(len(picture.levels)), picture.levels, parse_math=False)
    ax.set_ylabel(picture.y_label)
    ax.set_title(picture.title, loc="left", fontsize=11, parse_math=False)
    ax.legend(frameon=False, fontsize=9)
    hide_frame(ax)
    return ax
