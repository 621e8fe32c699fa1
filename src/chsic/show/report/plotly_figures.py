"""Pictures for plotly, to hover over and zoom into, as the JSON that its JavaScript reads.

The properties are those of https://plotly.com/javascript/reference. They are written as plain
dictionaries: the classes of plotly's Python library check each of them, which took most of the time
of a page, and the tests check them with the same classes.
"""

from __future__ import annotations

import functools
import html
import textwrap
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from chsic.show.pictures.differences import DifferencesPicture
from chsic.show.pictures.null import NullPicture
from chsic.show.pictures.profile import ProfilePicture
from chsic.show.pictures.sensitivity import SensitivityPicture
from chsic.show.pictures.style import BLUE, GREY, ORANGE, Picture
from chsic.show.sentences import pvalue

DIGITS = 6  # of coordinates: more cannot be seen
WIDEST_TITLE, WIDEST_SCALE = 34, 14  # letters beside one panel of two, above a scale of colours
TICKS = (1, 0.5, 0.2, 0.1, 0.05, 0.01, 0.001, 1e-4, 1e-5, 1e-6)  # of p-values
LEFT, RIGHT = "", "2"  # ends of the names of axes, as in xaxis and xaxis2
DOMAINS = {LEFT: (0.0, 0.45), RIGHT: (0.55, 1.0)}  # shares of the width

JSON: TypeAlias = dict[str, Any]


@functools.cache
def plotly_script() -> str:
    """Return the program that draws, to stand in the page: 5 MB, which are read once."""
    from plotly.offline import get_plotlyjs

    script: str = get_plotlyjs()
    return script


@functools.singledispatch
def plotly_spec(picture: Picture) -> JSON:
    """Return what plotly draws, as plain lists and dictionaries.

    Examples
    --------
    >>> import chsic
    >>> from chsic.show.pictures.null import null_picture
    >>> from chsic.show.report.plotly_figures import plotly_spec
    >>> x, y, _ = chsic.datasets.draw_scenario("add", 100, rng=0)
    >>> spec = plotly_spec(null_picture(chsic.hsic_test(x, y, rng=0)))
    >>> spec["data"][0]["type"]
    'bar'
    """
    raise TypeError(f"picture: no figure of a {type(picture).__name__} is known; register one.")


@plotly_spec.register
def _(picture: DifferencesPicture) -> JSON:
    data, titles, axes = [], [], {}
    for at, panel in zip((LEFT, RIGHT), picture.panels, strict=True):
        data.append(
            _scatter(
                _short(panel.x), _short(panel.y), at, mode="markers", showlegend=False,
                marker={"color": _short(panel.z), "size": 5, "coloraxis": "coloraxis"},
                meta=_label(picture.z_label),
                hovertemplate="%{x}, %{y}; %{meta} %{marker.color}<extra></extra>",
            )
        )  # fmt: skip
        titles.append(_panel_title(_wrapped(panel.title), at))
        axes[f"xaxis{at}"] = _x_axis(_wrapped(panel.x_label), at)
        axes[f"yaxis{at}"] = _y_axis(_wrapped(panel.y_label), at)
    scale = {"title": {"text": _wrapped(picture.z_label, WIDEST_SCALE)}}
    colours = {"colorscale": "Viridis", "colorbar": scale}
    return {"data": data, "layout": {**axes, "annotations": titles, "coloraxis": colours}}


@plotly_spec.register
def _(picture: NullPicture) -> JSON:
    middles = _short((picture.edges[1:] + picture.edges[:-1]) / 2)
    width = float(picture.edges[1] - picture.edges[0])
    bars = [
        {
            "type": "bar", "x": middles, "y": counts.tolist(), "width": width, "showlegend": False,
            "marker": {"color": colour, "line": {"width": 0}},
            "hovertemplate": f"about %{{x}}: %{{y}} {what}<extra></extra>",
        }
        for counts, colour, what in (
            (picture.counts, GREY, "draws"),
            (picture.counts_beyond, BLUE, "draws as large as the observed one or larger"),
        )
    ]  # fmt: skip
    observed = {
        "text": _label(picture.estimate_label), "font": {"color": ORANGE}, "showarrow": False,
        "x": picture.estimate, "xref": "x", "xanchor": "left",
        "y": 1, "yref": "y domain", "yanchor": "top",
    }  # fmt: skip
    layout = {
        "barmode": "overlay",
        "shapes": [_vertical_line(picture.estimate, color=ORANGE, width=3)],
        "annotations": [observed],
        "xaxis": {"title": {"text": _label(picture.x_label)}},
        "yaxis": {"title": {"text": _label(picture.y_label)}},
    }
    return {"data": bars, "layout": layout}


@plotly_spec.register
def _(picture: SensitivityPicture) -> JSON:
    data, lines, axes = [], [], {}
    p_axis = {"type": "log", "tickvals": TICKS, "ticktext": [f"{tick:g}" for tick in TICKS]}
    for at, curve in zip((LEFT, RIGHT), picture.curves, strict=True):
        pvalues, coefficients = map(pvalue, curve.pvalues), _short(curve.coefficients)
        data.append(
            _scatter(
                list(curve.at), list(curve.heights), at, mode="lines+markers", showlegend=False,
                line={"color": BLUE}, marker={"size": 8},
                customdata=[list(answer) for answer in zip(pvalues, coefficients, strict=True)],
                hovertemplate="%{x}: p = %{customdata[0]}, strength %{customdata[1]:.3f}"
                "<extra></extra>",
            )
        )  # fmt: skip
        lines.append(_horizontal_line(picture.level, at, color=GREY, dash="dash", width=1))
        axes[f"xaxis{at}"] = _x_axis(_label(curve.x_label), at, type="log", tickvals=curve.at)
    axes["yaxis"] = _y_axis(_label(picture.y_label), LEFT, **p_axis)
    axes["yaxis2"] = _y_axis("", RIGHT, matches="y", showticklabels=False, **p_axis)
    return {"data": data, "layout": {**axes, "shapes": lines}}


@plotly_spec.register
def _(picture: ProfilePicture) -> JSON:
    hover = "%{x}: %{y}<extra></extra>"
    units = _scatter(
        _short(picture.z), _short(picture.contribution), name=_label(picture.units_label),
        mode="markers", marker={"color": BLUE, "opacity": 0.6}, hovertemplate=hover,
    )  # fmt: skip
    means = _scatter(
        _short(picture.mean_z), _short(picture.mean), name=_label(picture.mean_label),
        mode="markers" if picture.is_category else "lines", hovertemplate=hover,
        marker={"color": ORANGE, "size": 10}, line={"color": ORANGE, "width": 3},
    )  # fmt: skip
    x_axis: JSON = {"title": {"text": _label(picture.x_label)}}
    if picture.is_category:
        x_axis["tickvals"] = list(range(len(picture.levels)))
        x_axis["ticktext"] = [_label(level) for level in picture.levels]
    layout = {
        "shapes": [_horizontal_line(0, color=GREY, width=1)],
        "legend": {"orientation": "h", "y": 1.1},
        "xaxis": x_axis,
        "yaxis": {"title": {"text": _label(picture.y_label)}},
    }
    return {"data": [units, means] if len(picture.mean_z) else [units], "layout": layout}


def _scatter(x: Sequence[Any], y: Sequence[Any], at: str = LEFT, **properties: Any) -> JSON:
    return {"type": "scatter", "x": x, "y": y, "xaxis": f"x{at}", "yaxis": f"y{at}", **properties}


def _x_axis(title: str, at: str, **properties: Any) -> JSON:
    """Return the axis below one panel of two."""
    return {"title": {"text": title}, "anchor": f"y{at}", "domain": DOMAINS[at], **properties}


def _y_axis(title: str, at: str, **properties: Any) -> JSON:
    """Return the axis beside one panel of two."""
    return {"title": {"text": title}, "anchor": f"x{at}", **properties}


def _panel_title(text: str, at: str) -> JSON:
    """Return a line above one panel of two."""
    return {
        "text": text, "font": {"size": 13}, "showarrow": False,
        "x": sum(DOMAINS[at]) / 2, "xref": "paper", "xanchor": "center",
        "y": 1, "yref": "paper", "yanchor": "bottom",
    }  # fmt: skip


def _horizontal_line(y: float, at: str = LEFT, **line: Any) -> JSON:
    """Return a line from the left to the right end of a panel."""
    return {
        "type": "line", "xref": f"x{at} domain", "x0": 0, "x1": 1,
        "yref": f"y{at}", "y0": y, "y1": y, "line": line,
    }  # fmt: skip


def _vertical_line(x: float, **line: Any) -> JSON:
    """Return a line from the lower to the upper end of the only panel."""
    return {
        "type": "line", "xref": "x", "x0": x, "x1": x,
        "yref": "y domain", "y0": 0, "y1": 1, "line": line,
    }  # fmt: skip


def _label(text: str) -> str:
    """Escape text for plotly, which takes some HTML for markup."""
    return html.escape(text, quote=False)


def _wrapped(text: str, widest: int = WIDEST_TITLE) -> str:
    """Break text into lines that fit beside one panel of two, also on a phone."""
    return "<br>".join(_label(line) for line in textwrap.wrap(text, widest))


def _short(values: npt.ArrayLike) -> list[float | None]:
    """Round to `DIGITS` digits, for a short page; JSON knows null, but no infinity and no NaN."""
    exact = np.asarray(values, dtype=float)
    with np.errstate(divide="ignore"):  # zero has no first digit
        places = DIGITS - 1 - np.floor(np.log10(np.abs(exact)))
    # No digit before the point is dropped, and no power of ten overflows.
    power = 10.0 ** np.clip(places, 0, 300)
    rounded = (np.round(exact * power) / power).astype(object)
    rounded[~np.isfinite(exact)] = None
    short: list[float | None] = rounded.tolist()
    return short
