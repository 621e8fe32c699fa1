"""Axes to draw on with matplotlib, and picture files that appear whole."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chsic._util.files import require_outputs, write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def axes_or_new(ax: Axes | None, size: tuple[float, float] = (6.0, 4.0)) -> Axes:
    """Return the given axes, or those of a new figure that is not tied to a screen."""
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    return Figure(figsize=size, layout="constrained").subplots()


def two_axes_or_new(axes: tuple[Axes, Axes] | None) -> tuple[Axes, Axes]:
    """Return the given two axes, or those of a new figure, side by side."""
    if axes is not None:
        left, right = axes
        return left, right
    from matplotlib.figure import Figure

    left, right = Figure(figsize=(10, 4), layout="constrained").subplots(1, 2)
    return left, right


def hide_frame(ax: Axes) -> None:
    """Hide the lines that frame no data."""
    ax.spines[["top", "right"]].set_visible(False)


def save(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure whole, in the format of the file's ending; same figure, same bytes.

    The format is PNG if there is no ending.
    """
    import matplotlib

    require_outputs([("path", path)])
    kind = Path(path).suffix.removeprefix(".").lower() or "png"
    # A salt of our own for the ids and no date, which would differ from run to run.
    settings: dict[str, Any] = {
        "format": kind,
        "dpi": 150,
        "metadata": {"Date": None} if kind == "svg" else None,
    }
    with matplotlib.rc_context({"svg.hashsalt": "chsic"}):
        write_whole(Path(path), lambda temporary: figure.savefig(temporary, **settings))
