"""The picture that makes the method clear: samples, and their differences over close pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chsic._util.validate import RNGLike
from chsic.data.arguments import Data
from chsic.data.samples import read_samples
from chsic.show.pictures.differences import differences_picture
from chsic.show.pictures.style import GREY
from chsic.show.plot.axes import hide_frame, two_axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def differences(
    x: Data,
    y: Data,
    /,
    z: Data,
    *,
    data: Data = None,
    alpha: float = 4,
    nan_policy: str = "raise",
    axes: tuple[Axes, Axes] | None = None,
    rng: RNGLike | None = 0,
) -> tuple[Axes, Axes]:
    """Draw x against y coloured by z, and differences of x against differences of y.

    Differences are taken over pairs of neighbours in z: what z explains cancels in them, and what
    is left of a pattern is not due to z.

    Parameters
    ----------
    x, y, z : array_like or series, or names of columns of `data`
        One column of numbers each.
    data : data frame, mapping or array, optional
        Where the columns are that x, y and z name.
    alpha : float
        Number of neighbours of a sample.
    nan_policy : {"raise", "omit"}
        ``"omit"`` leaves out rows with a missing value.
    axes : pair of matplotlib.axes.Axes, optional
        Where to draw; on a new figure if not given.
    rng : None, int or numpy.random.Generator
        Draws 2,000 samples and pairs if there are more.

    Returns
    -------
    pair of matplotlib.axes.Axes

    Examples
    --------
    >>> import chsic
    >>> from chsic import plot
    >>> x, y, z = chsic.datasets.draw_scenario("oscillating", 200, rng=0)
    >>> [ax.get_title(loc="left") for ax in plot.differences(x, y, z)]
    ['Samples', 'Differences over pairs close in z']
    """
    samples = read_samples(x, y, z, data=data, nan_policy=nan_policy)
    picture = differences_picture(samples, alpha=alpha, rng=rng)
    left, right = two_axes_or_new(axes)
    right.axhline(0, color=GREY, lw=0.5)
    right.axvline(0, color=GREY, lw=0.5)
    for ax, panel in zip((left, right), picture.panels, strict=True):
        points = ax.scatter(panel.x, panel.y, c=panel.z, s=8, cmap="viridis")
        if ax is left:
            left.figure.colorbar(points, ax=left).set_label(picture.z_label, parse_math=False)
        ax.set_title(panel.title, loc="left", fontsize=11, parse_math=False)
        ax.set_xlabel(panel.x_label, parse_math=False)
        ax.set_ylabel(panel.y_label, parse_math=False)
        hide_frame(ax)
    return left, right
