"""Pictures drawn with plotly, to hover over and zoom into."""

from __future__ import annotations

import functools
import html
import json
import textwrap
from typing import Any

import numpy as np

from chsic.show.pictures.differences import DifferencesPicture
from chsic.show.pictures.null import NullPicture
from chsic.show.pictures.profile import ProfilePicture
from chsic.show.pictures.sensitivity import SensitivityPicture
from chsic.show.pictures.style import BLUE, GREY, ORANGE, Picture
from chsic.show.sentences import pvalue

DIGITS = 6  # of coordinates: more cannot be seen
WIDEST_TITLE, WIDEST_SCALE = 34, 14  # letters beside one panel of two, above a scale of colours
TICKS = (1, 0.5, 0.2, 0.1, 0.05, 0.01, 0.001, 1e-4, 1e-5, 1e-6)  # of p-values


def plotly_script() -> str:
    """Return the program that draws, to stand in the page."""
    from plotly.offline import get_plotlyjs

    script: str = get_plotlyjs()
    return script


def plotly_spec(picture: Picture) -> dict[str, Any]:
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
    spec: dict[str, Any] = json.loads(_figure(picture).to_json())
    spec["layout"].pop("template", None)  # thousands of characters that the page sets itself
    return spec


@functools.singledispatch
def _figure(picture: Picture) -> Any:
    raise TypeError(f"picture: no figure of a {type(picture).__name__} is known; register one.")


@_figure.register
def _(picture: DifferencesPicture) -> Any:
    from plotly.subplots import make_subplots

    titles = [_wrapped(panel.title) for panel in picture.panels]
    figure = make_subplots(1, 2, subplot_titles=titles)
    figure.update_annotations(font_size=13)
    for column, panel in enumerate(picture.panels, start=1):
        figure.add_scatter(
            x=_short(panel.x), y=_short(panel.y), mode="markers", showlegend=False,
            marker={"color": _short(panel.z), "size": 5, "coloraxis": "coloraxis"},
            customdata=_short(panel.z), meta=_label(picture.z_label), row=1, col=column,
            hovertemplate="%{x}, %{y}; %{meta} %{customdata}<extra></extra>",
        )  # fmt: skip
        figure.update_xaxes(title_text=_wrapped(panel.x_label), col=column)
        figure.update_yaxes(title_text=_wrapped(panel.y_label), col=column)
    bar = {"title": {"text": _wrapped(picture.z_label, WIDEST_SCALE)}}
    figure.update_layout(coloraxis={"colorscale": "Viridis", "colorbar": bar})
    return figure


@_figure.register
def _(picture: NullPicture) -> Any:
    from plotly.graph_objects import Figure

    middles = _short((picture.edges[1:] + picture.edges[:-1]) / 2)
    width = float(picture.edges[1] - picture.edges[0])
    figure = Figure()
    for counts, colour, what in (
        (picture.counts, GREY, "draws"),
        (picture.counts_beyond, BLUE, "draws as large as the observed one or larger"),
    ):
        figure.add_bar(
            x=middles, y=counts.tolist(), width=width, showlegend=False,
            marker={"color": colour, "line": {"width": 0}},
            hovertemplate=f"about %{{x}}: %{{y}} {what}<extra></extra>",
        )  # fmt: skip
    figure.add_vline(
        x=picture.estimate, line={"color": ORANGE, "width": 3},
        annotation={"text": picture.estimate_label, "font": {"color": ORANGE}},
    )  # fmt: skip
    figure.update_layout(barmode="overlay")
    figure.update_xaxes(title_text=picture.x_label)
    figure.update_yaxes(title_text=picture.y_label)
    return figure


@_figure.register
def _(picture: SensitivityPicture) -> Any:
    from plotly.subplots import make_subplots

    figure = make_subplots(1, 2, shared_yaxes=True)
    for column, curve in enumerate(picture.curves, start=1):
        answers = zip(curve.pvalues, curve.coefficients, strict=True)
        figure.add_scatter(
            x=curve.at, y=curve.heights, mode="lines+markers", showlegend=False,
            line={"color": BLUE}, marker={"size": 8}, row=1, col=column,
            customdata=[[pvalue(p), coefficient] for p, coefficient in answers],
            hovertemplate="%{x}: p = %{customdata[0]}, strength %{customdata[1]:.3f}"
            "<extra></extra>",
        )  # fmt: skip
        figure.update_xaxes(title_text=curve.x_label, type="log", tickvals=curve.at, col=column)
    figure.update_yaxes(type="log", tickvals=TICKS, ticktext=[f"{tick:g}" for tick in TICKS])
    figure.update_yaxes(title_text=picture.y_label, col=1)
    figure.add_hline(y=picture.level, line={"color": GREY, "dash": "dash", "width": 1})
    return figure


@_figure.register
def _(picture: ProfilePicture) -> Any:
    from plotly.graph_objects import Figure

    figure = Figure()
    figure.add_scatter(
        x=_short(picture.z), y=_short(picture.contribution), mode="markers",
        name=picture.units_label, marker={"color": BLUE, "opacity": 0.6},
        hovertemplate="%{x}: %{y}<extra></extra>",
    )  # fmt: skip
    if len(picture.mean_z):
        figure.add_scatter(
            x=_short(picture.mean_z), y=_short(picture.mean), name=picture.mean_label,
            mode="markers" if picture.is_category else "lines",
            marker={"color": ORANGE, "size": 10}, line={"color": ORANGE, "width": 3},
            hovertemplate="%{x}: %{y}<extra></extra>",
        )  # fmt: skip
    figure.add_hline(y=0, line={"color": GREY, "width": 1})
    figure.update_layout(legend={"orientation": "h", "y": 1.1})
    figure.update_xaxes(title_text=_label(picture.x_label))
    if picture.is_category:
        texts = [_label(level) for level in picture.levels]
        figure.update_xaxes(tickvals=list(range(len(texts))), ticktext=texts)
    figure.update_yaxes(title_text=picture.y_label)
    return figure


def _label(text: str) -> str:
    """Escape text for plotly, which takes some HTML for markup."""
    return html.escape(text, quote=False)


def _wrapped(text: str, widest: int = WIDEST_TITLE) -> str:
    """Break text into lines that fit beside one panel of two, also on a phone."""
    return "<br>".join(_label(line) for line in textwrap.wrap(text, widest))


def _short(values: Any) -> list[float]:
    return [float(f"{value:.{DIGITS}g}") for value in np.asarray(values).tolist()]
