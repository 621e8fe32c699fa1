"""All pairs of a screen: as a heat map, and as a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chsic.many.screen_result import Screen
from chsic.show.pictures.screen import MOST_NAMED, heat_map_picture, network_picture
from chsic.show.pictures.style import BLUE, GREY
from chsic.show.plot.axes import axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_UPRIGHT = 16  # names around a circle, without being turned
UNTESTED = "#eeeeee"
WIDEST = 6.0  # line of a network, in points


def heat_map(screen: Screen, *, level: float = 0.05, ax: Axes | None = None) -> Axes:
    """Draw the strength of every pair as a matrix, those that are significant with a dot.

    Parameters
    ----------
    screen : Screen
        From `chsic.screen`.
    level : float
        Largest p-value, adjusted by Benjamini and Hochberg, of a pair with a dot.
    ax : matplotlib.axes.Axes, optional
        Where to draw; on a new figure if not given.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import chsic
    >>> from chsic import plot
    >>> screen = chsic.screen(chsic.datasets.summer(), "temperature", rng=0)
    >>> [label.get_text() for label in plot.heat_map(screen).get_yticklabels()]
    ['ice_cream', 'lemonade', 'rescues']
    """
    picture = heat_map_picture(screen, level)
    n = len(picture.names)
    side = min(max(3.0, 0.3 * n), 12.0) + 0.1 * max(map(len, picture.names))  # inches
    ax = axes_or_new(ax, (side + 1.2, side))
    ax.set_facecolor(UNTESTED)
    image = ax.imshow(picture.strengths, cmap="Blues", vmin=0, vmax=picture.largest)
    size = min(2 + 100 / n, 9)
    ax.plot(picture.dot_columns, picture.dot_rows, "o", color="white", ms=size, mec="black",
            mew=0.8)  # fmt: skip
    ticks = picture.names if n <= MOST_NAMED else ()
    small = 10 if n <= 20 else 7
    places = range(len(ticks))
    ax.set_xticks(places, ticks, rotation=60, ha="right", fontsize=small, parse_math=False)
    ax.set_yticks(places, ticks, fontsize=small, parse_math=False)
    ax.set_title(picture.title, loc="left", fontsize=11, parse_math=False)
    if ax.figure is not None:
        ax.figure.colorbar(image, ax=ax, label=picture.scale_label, shrink=0.8)
    return ax


def network(screen: Screen, *, level: float = 0.05, by: str = "bh", ax: Axes | None = None) -> Axes:
    """Draw columns as points on a circle, and a line between those that are related.

    The thicker a line, the stronger the relation.

    Parameters
    ----------
    screen : Screen
        From `chsic.screen`.
    level : float
        Largest adjusted p-value of a pair that is drawn.
    by : {"bh", "holm", "none"}
        How p-values are adjusted.
    ax : matplotlib.axes.Axes, optional
        Where to draw; on a new figure if not given.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import chsic
    >>> from chsic import plot
    >>> screen = chsic.screen(chsic.datasets.summer(), "temperature", rng=0)
    >>> len(plot.network(screen, level=0.01).lines)
    1
    """
    picture = network_picture(screen, level, by)
    ax = axes_or_new(ax, (7.0, 7.0))
    places, n = picture.places, len(picture.names)
    for line in picture.lines:
        x, y = places[list(line.ends)].T
        width, alpha = 1 + (WIDEST - 1) * line.share, 0.4 + 0.6 * line.share
        ax.plot(x, y, color=BLUE, lw=width, alpha=alpha, zorder=1)
    colours = [BLUE if k in picture.connected else GREY for k in range(n)]
    ax.scatter(places[:, 0], places[:, 1], s=60, color=colours, zorder=2)
    if n <= MOST_NAMED:
        for name, angle in zip(picture.names, picture.angles, strict=True):
            _write_beside(ax, name, angle, turned=n > MOST_UPRIGHT)
    ax.set_title(picture.title, fontsize=11, parse_math=False)
    ax.set_aspect("equal")
    ax.set_axis_off()
    room = 1.25 + 0.035 * max(map(len, picture.names))  # for names
    ax.set_xlim(-room, room)
    ax.set_ylim(-room, room)
    return ax


def _write_beside(ax: Axes, name: str, angle: float, *, turned: bool) -> None:
    """Write a name outside of the circle: upright, or along the radius where names are many."""
    across, up = float(np.cos(angle)), float(np.sin(angle))
    side = "right" if across < -1e-9 else "left" if across > 1e-9 or turned else "center"
    height = "center" if turned or abs(up) < 0.9 else "bottom" if up > 0 else "top"
    turn = np.degrees(angle) + (180 if across < -1e-9 else 0) if turned else 0.0
    ax.text(1.1 * across, 1.1 * up, name, rotation=turn, rotation_mode="anchor",
            ha=side, va=height, fontsize=10, parse_math=False)  # fmt: skip
