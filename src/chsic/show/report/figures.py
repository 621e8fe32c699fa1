"""The pictures of a report, to hover over and zoom into."""

from __future__ import annotations

import dataclasses
import html
import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from chsic._util.names import readable
from chsic.inference.result import IndependenceResult
from chsic.many.sensitivity import SensitivityPoint
from chsic.show.plot.along_settings import SMALLEST
from chsic.show.plot.along_z import profile_along
from chsic.show.plot.canvas import BLUE, GREY, ORANGE
from chsic.show.plot.differences import BeforeAndAfter
from chsic.show.report.facts import Facts
from chsic.show.words import listed, pvalue

DIGITS = 6  # of coordinates: more cannot be seen
BINS = 60
TICKS = (1, 0.5, 0.2, 0.1, 0.05, 0.01, 0.001, 1e-4, 1e-5, 1e-6)  # of p-values


@dataclasses.dataclass(frozen=True)
class Picture:
    """A picture with its words.

    Attributes
    ----------
    title, caption : str
        Plain text.
    spec : str
        What plotly draws, as JSON.
    """

    title: str
    caption: str
    spec: str


def require_plotly() -> Any:
    """Return plotly, or say what is missing."""
    try:
        import plotly
    except ImportError as error:
        raise ImportError("a report needs plotly; install 'chsic[report]'.") from error
    return plotly


def plotly_script() -> str:
    """Return the program that draws, to stand in the page."""
    from plotly.offline import get_plotlyjs

    script: str = get_plotlyjs()
    return script


def pictures(facts: Facts) -> Iterator[Picture]:
    """Draw what these data allow."""
    if facts.seen is not None:
        yield _before_and_after(facts.seen)
    if len(facts.result.null_distribution) > 1:
        yield _null(facts.result)
    if facts.sensitivity is not None:
        yield _sensitivity(facts)
    for column in range(len(facts.result.names["z"])):
        yield _profile(facts.result, column)


def _before_and_after(seen: BeforeAndAfter) -> Picture:
    from plotly.subplots import make_subplots

    figure = make_subplots(1, 2, subplot_titles=("Samples", "Differences over close pairs"))
    for column, (x, y, z) in enumerate((seen.samples, seen.differences), start=1):
        figure.add_scatter(
            x=_short(x), y=_short(y), mode="markers", showlegend=False, row=1, col=column,
            marker={"color": _short(z), "size": 5, "coloraxis": "coloraxis"},
            customdata=_short(z), meta=_label(seen.z),
            hovertemplate="%{x}, %{y}; %{meta} %{customdata}<extra></extra>",
        )  # fmt: skip
    figure.update_layout(
        coloraxis={"colorscale": "Viridis", "colorbar": {"title": {"text": _label(seen.z)}}}
    )
    figure.update_xaxes(title_text=_label(seen.x), col=1)
    figure.update_yaxes(title_text=_label(seen.y), col=1)
    figure.update_xaxes(title_text=f"difference of {_label(seen.x)}", col=2)
    figure.update_yaxes(title_text=f"difference of {_label(seen.y)}", col=2)
    return _picture(
        "Before and after",
        f"Left: {seen.x} against {seen.y}, coloured by {seen.z}. Right: differences between "
        f"samples that are close in {seen.z}. What {seen.z} explains cancels in differences; a "
        "pattern that is left on the right is not due to it.",
        figure,
    )


def _null(result: IndependenceResult) -> Picture:
    from plotly.graph_objects import Figure

    draws = result.null_distribution
    x, y, z = (listed(map(readable, result.names[argument])) for argument in "xyz")
    known = f" given {z}" if z else ""
    counts, edges = np.histogram(draws, bins=BINS)
    middles = (edges[1:] + edges[:-1]) / 2
    beyond = middles >= result.estimate
    figure = Figure()
    figure.add_bar(
        x=_short(middles), y=counts.tolist(), width=float(edges[1] - edges[0]), showlegend=False,
        marker={"color": [BLUE if late else GREY for late in beyond], "line": {"width": 0}},
        hovertemplate="about %{x}: %{y} draws<extra></extra>",
    )  # fmt: skip
    figure.add_vline(
        x=result.estimate, line={"color": ORANGE, "width": 3},
        annotation={"text": f"observed, p = {pvalue(result.pvalue)}", "font": {"color": ORANGE}},
    )  # fmt: skip
    figure.update_xaxes(title_text="estimate")
    figure.update_yaxes(title_text="draws")
    return _picture(
        "If nothing were related",
        f"The estimate under {len(draws)} draws of random signs, which is how it would vary if {x} "
        f"and {y} were unrelated{known}, and the observed one. The p-value counts several "
        "bandwidths at once, so it is a little larger than the share of draws to the right.",
        figure,
    )


def _sensitivity(facts: Facts) -> Picture:
    from plotly.subplots import make_subplots

    assert facts.sensitivity is not None
    figure = make_subplots(1, 2, shared_yaxes=True)
    along_alpha, along_width = facts.sensitivity.along_alpha, facts.sensitivity.along_bandwidth
    curves: list[tuple[Sequence[SensitivityPoint], list[float], str]] = [
        (along_alpha, [point.alpha for point in along_alpha], "alpha, neighbours of a sample"),
        (along_width, [p.bandwidth or 1.0 for p in along_width], "bandwidth, in median distances"),
    ]
    for column, (points, at, name) in enumerate(curves, start=1):
        figure.add_scatter(
            x=at, y=[max(point.pvalue, SMALLEST) for point in points], mode="lines+markers",
            showlegend=False, line={"color": BLUE}, marker={"size": 8}, row=1, col=column,
            customdata=[[pvalue(point.pvalue), point.coefficient] for point in points],
            hovertemplate="%{x}: p = %{customdata[0]}, strength %{customdata[1]:.3f}"
            "<extra></extra>",
        )  # fmt: skip
        figure.update_xaxes(title_text=name, type="log", tickvals=at, col=column)
    figure.update_yaxes(type="log", tickvals=TICKS, ticktext=[f"{tick:g}" for tick in TICKS])
    figure.update_yaxes(title_text="p-value", col=1)
    figure.add_hline(y=0.05, line={"color": GREY, "dash": "dash", "width": 1})
    used = facts.n_for_sensitivity
    drawn = f" From {used} samples drawn at random." if used < facts.result.n_samples else ""
    return _picture(
        "Does the answer depend on the settings?",
        "The p-value with more or fewer neighbours, and with kernels that see fine or coarse "
        f"structure alone. The dashed line is 0.05.{drawn}",
        figure,
    )


def _profile(result: IndependenceResult, column: int) -> Picture:
    from plotly.graph_objects import Figure

    along = profile_along(result, column)
    x, y = (listed(map(readable, result.names[argument])) for argument in "xy")
    figure = Figure()
    figure.add_scatter(
        x=_short(along.z), y=_short(along.contribution), mode="markers", name="units of neighbours",
        marker={"color": BLUE, "opacity": 0.6}, hovertemplate="%{x}: %{y}<extra></extra>",
    )  # fmt: skip
    if len(along.mean_z):
        figure.add_scatter(
            x=_short(along.mean_z), y=_short(along.mean), name=along.mean_of,
            mode="markers" if along.is_category else "lines",
            marker={"color": ORANGE, "size": 10}, line={"color": ORANGE, "width": 3},
            hovertemplate="%{x}: %{y}<extra></extra>",
        )  # fmt: skip
    figure.add_hline(y=0, line={"color": GREY, "width": 1})
    figure.update_layout(legend={"orientation": "h", "y": 1.1})
    figure.update_xaxes(title_text=_label(along.label))
    if along.is_category:
        texts = [_label(level) for level in along.levels]
        figure.update_xaxes(tickvals=list(range(len(texts))), ticktext=texts)
    figure.update_yaxes(title_text="contribution to the estimate")
    return _picture(
        f"Where along {readable(along.label)} the relation sits",
        f"Points scatter by chance. Where their mean stays above zero, {x} and {y} are related.",
        figure,
    )


def _picture(title: str, caption: str, figure: Any) -> Picture:
    spec = json.loads(figure.to_json())
    spec["layout"].pop("template", None)  # thousands of characters that the page sets itself
    return Picture(title, caption, json.dumps(spec, separators=(",", ":")))


def _label(name: str) -> str:
    """Escape a name for plotly, which takes some HTML for markup."""
    return html.escape(readable(name), quote=False)


def _short(values: Any) -> list[float]:
    return [float(f"{value:.{DIGITS}g}") for value in np.asarray(values).tolist()]
