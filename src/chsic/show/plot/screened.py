"""All pairs of a screen: as a heat map, and as a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chsic._util.names import readable
from chsic.many.screen_result import Screen
from chsic.show.plot.canvas import BLUE, GREY, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NAMED = 60  # columns whose names can be read beside each other
LONGEST_TICK = 24  # letters beside a heat map
MOST_UPRIGHT = 16  # of them around a circle, without being turned
UNTESTED = "#eeeeee"
WIDEST = 6.0  # line of a network, in points


def heat_map(found: Screen, *, level: float = 0.05, ax: Axes | None = None) -> Axes:
    """Draw the strength of every pair as a matrix, those that are significant with a dot.

    Parameters
    ----------
    found : Screen
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
    >>> found = chsic.screen(chsic.datasets.summer(), "temperature", rng=0)
    >>> [label.get_text() for label in plot.heat_map(found).get_yticklabels()]
    ['ice_cream', 'lemonade', 'rescues']
    """
    names = _names(found)
    strengths = found.matrix("coefficient")
    for_names = 0.1 * min(max(map(len, names)), LONGEST_TICK)
    side = min(max(3.0, 0.3 * len(names)), 12.0) + for_names
    ax = axes_or_new(ax, (side + 1.2, side))
    seen = strengths[np.isfinite(strengths)]
    # Strengths just above and below 0 are chance; a scale that ends there would make them look big.
    largest = max(0.1, float(seen.max())) if len(seen) else 1.0
    ax.set_facecolor(UNTESTED)
    image = ax.imshow(np.maximum(strengths, 0), cmap="Blues", vmin=0, vmax=largest)
    with np.errstate(invalid="ignore"):
        rows, columns = np.nonzero(found.matrix("pvalue_bh") <= level)
    size = 2 + 100 / len(names)
    ax.plot(columns, rows, "o", color="white", ms=min(size, 9), mec="black", mew=0.8)
    for_people = [_tick(name) for name in names] if len(names) <= MOST_NAMED else []
    small = 10 if len(names) <= 20 else 7
    places = range(len(for_people))
    ax.set_xticks(places, for_people, rotation=60, ha="right", fontsize=small, parse_math=False)
    ax.set_yticks(places, for_people, fontsize=small, parse_math=False)
    ax.set_title(f"Strength{_given(found)}; dots: adjusted p ≤ {level:g}", loc="left", fontsize=11,
                 parse_math=False)  # fmt: skip
    if ax.figure is not None:
        ax.figure.colorbar(image, ax=ax, label="coefficient", shrink=0.8)
    return ax


def network(found: Screen, *, level: float = 0.05, by: str = "bh", ax: Axes | None = None) -> Axes:
    """Draw columns as points on a circle, and a line between those that are related.

    The thicker a line, the stronger the relation.

    Parameters
    ----------
    found : Screen
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
    >>> found = chsic.screen(chsic.datasets.summer(), "temperature", rng=0)
    >>> len(plot.network(found, level=0.01).lines)
    1
    """
    ax = axes_or_new(ax, (7.0, 7.0))
    names = _names(found)
    angles = np.pi / 2 - 2 * np.pi * np.arange(len(names)) / max(len(names), 1)
    place = dict(zip(names, zip(np.cos(angles), np.sin(angles), strict=True), strict=True))
    related = found.significant(level, by)
    strongest = max((pair.coefficient for pair in related), default=1.0)
    for pair in related:
        share = max(pair.coefficient, 0) / strongest if strongest > 0 else 0.0
        ends = zip(place[pair.x], place[pair.y], strict=True)
        ax.plot(*ends, color=BLUE, lw=1 + (WIDEST - 1) * share, alpha=0.4 + 0.6 * share, zorder=1)
    in_line = {name for pair in related for name in (pair.x, pair.y)}
    for name, angle in zip(names, angles, strict=True):
        x, y = place[name]
        ax.scatter([x], [y], s=60, color=BLUE if name in in_line else GREY, zorder=2)
        if len(names) <= MOST_NAMED:
            _write_beside(ax, name, angle, turned=len(names) > MOST_UPRIGHT)
    ax.set_title(f"Related{_given(found)}, adjusted p ≤ {level:g}", fontsize=11, parse_math=False)
    ax.set_aspect("equal")
    ax.set_axis_off()
    room = 1.25 + 0.035 * max((len(readable(name)) for name in names), default=0)  # for names
    ax.set_xlim(-room, room)
    ax.set_ylim(-room, room)
    return ax


def _write_beside(ax: Axes, name: str, angle: float, *, turned: bool) -> None:
    """Write a name outside of the circle: upright, or along the radius where names are many."""
    across, up = float(np.cos(angle)), float(np.sin(angle))
    side = "right" if across < -1e-9 else "left" if across > 1e-9 or turned else "center"
    height = "center" if turned or abs(up) < 0.9 else "bottom" if up > 0 else "top"
    turn = np.degrees(angle) + (180 if across < -1e-9 else 0) if turned else 0.0
    ax.text(1.1 * across, 1.1 * up, readable(name), rotation=turn, rotation_mode="anchor",
            ha=side, va=height, fontsize=10, parse_math=False)  # fmt: skip


def _names(found: Screen) -> list[str]:
    names = found.names()
    if not names:
        raise ValueError("found: no column could be tested, so there is nothing to draw.")
    return names


def _tick(name: str) -> str:
    line = readable(name)
    return line if len(line) <= LONGEST_TICK else line[: LONGEST_TICK - 1] + "…"


def _given(found: Screen) -> str:
    return f" given {readable(', '.join(found.given))}" if found.given else ""
