"""Where along z the dependence sits."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from chsic._util.names import readable
from chsic._util.validate import Array
from chsic.inference.result import IndependenceResult
from chsic.show.plot.canvas import BLUE, DAYS, GREY, ORANGE, axes_or_new, plainly

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
    along = profile_along(result, column)
    ax = axes_or_new(ax)
    ax.axhline(0, color=GREY, lw=1)
    ax.plot(along.z, along.contribution, ".", color=BLUE, alpha=0.5, label="units of neighbours")
    if len(along.mean_z):
        style = {"marker": "D", "ls": ""} if along.is_category else {"lw": 2}
        ax.plot(along.mean_z, along.mean, color=ORANGE, label=along.mean_of, **style)
    ax.set_xlabel(along.label, parse_math=False)
    if along.is_category:
        shown = [readable(level) for level in along.levels]
        ax.set_xticks(range(len(shown)), shown, parse_math=False)
    ax.set_ylabel("contribution to the estimate")
    ax.set_title("Where the dependence sits", loc="left", fontsize=11)
    ax.legend(frameon=False, fontsize=9)
    plainly(ax)
    return ax


@dataclasses.dataclass(frozen=True, eq=False)
class ProfileAlong:
    """What a picture of a profile along one column of z shows."""

    label: str
    levels: tuple[str, ...]  # of a category
    z: Array
    contribution: Array
    mean_z: Array
    mean: Array
    mean_of: str

    @property
    def is_category(self) -> bool:
        """Whether it is along a category."""
        return bool(self.levels)


def profile_along(result: IndependenceResult, column: int) -> ProfileAlong:
    """Work out the points, and their means along the column."""
    names = result.names["z"]
    if not 0 <= column < len(names):
        raise ValueError(
            f"column: z has {len(names)} columns, got {column}; count from 0."
            if names
            else "result: without z there is nothing to draw along."
        )
    name, z = names[column], result.profile.z[:, column]
    contribution = result.profile.contribution * len(z)  # comparable with the whole
    order = np.argsort(z, kind="stable")[: int(np.isfinite(z).sum())]  # NaN last, and not drawn
    z, contribution = z[order], contribution[order]
    levels = result.levels.get(name, ())
    is_category = bool(levels)
    mean_z = mean = np.empty(0)
    if is_category:
        mean_z, inverse = np.unique(z, return_inverse=True)
        mean = np.bincount(inverse, contribution) / np.bincount(inverse)
    elif len(z) >= 2 * WINDOW:
        window = np.ones(WINDOW) / WINDOW
        mean_z, mean = np.convolve(z, window, "valid"), np.convolve(contribution, window, "valid")
    mean_of = "mean" if is_category else f"mean of {WINDOW} units"
    label = readable(name) + (DAYS if result.kinds[name] == "date" else "")
    return ProfileAlong(label, levels, z, contribution, mean_z, mean, mean_of)
