"""What plotly is asked to draw: valid by its own schema, short, and free of markup from data."""

import dataclasses
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import plotly.graph_objects
import pytest

import chsic
from chsic.show.pictures.profile import profile_picture
from chsic.show.report.gather import gather
from chsic.show.report.page import pictures
from chsic.show.report.plotly_figures import plotly_spec

MARKUP = "<b>&amp; \"bold\"</b> <a href='http://example.org'>link</a>"
OWN_MARKUP = ("<br>", "<extra></extra>")  # lines, and no second box beside what is hovered over


@pytest.fixture(scope="module", params=["x", MARKUP])
def drawn(request):
    """Return the pictures of two reports: along numbers alone, and along levels and dates too."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(100, 3)), columns=[request.param + end for end in "abc"])
    a, b, c = (frame[name] for name in frame)
    z = pd.DataFrame(
        {
            f"{request.param} level": rng.choice([request.param, "<script>"], 100),
            f"{request.param} day": pd.date_range("2024-01-01", periods=100),
        }
    )
    facts = [gather(a, b, given, n_resamples=99, rng=0) for given in (c, z)]
    return [picture for one in facts for picture in pictures(one)]


def texts(part):
    """Yield every text in a specification."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict | list | tuple):
        for inner in part.values() if isinstance(part, dict) else part:
            yield from texts(inner)


def test_plotly_knows_every_property_and_value(drawn):
    assert {type(picture) for picture in drawn} == set(plotly_spec.registry) - {object}
    for picture in drawn:
        spec = plotly_spec(picture)
        plotly.graph_objects.Figure(spec)  # which raises unless it does
        assert set(spec) == {"data", "layout"}
        assert json.loads(json.dumps(spec, allow_nan=False))["layout"]


@pytest.mark.parametrize("part", ["data", "layout"])
def test_plotly_refuses_what_it_does_not_know(drawn, part):
    """So the test above can fail."""
    spec = plotly_spec(drawn[0])
    target = spec["data"][0] if part == "data" else spec["layout"]["xaxis"]
    target["colour"] = "red"
    with pytest.raises(ValueError, match="Invalid property"):
        plotly.graph_objects.Figure(spec)


def test_no_text_of_the_data_is_markup(drawn):
    for picture in drawn:
        for text in texts(plotly_spec(picture)):
            for own in OWN_MARKUP:
                text = text.replace(own, "")
            assert "<" not in text
            assert "&amp;" not in text.replace("&amp;amp;", "")  # escaped once more, as all text is


def test_every_trace_lies_in_the_panel_of_its_axes(drawn):
    for picture in drawn:
        spec = plotly_spec(picture)
        for trace in spec["data"]:
            for letter, other in ("xy", "yx"):
                name = trace.get(f"{letter}axis", letter)
                axis = spec["layout"][name.replace(letter, f"{letter}axis")]
                assert axis.get("anchor", other) == trace.get(f"{other}axis", other)


def test_coordinates_have_six_digits_and_gaps_are_null():
    result = chsic.chsic_test(*chsic.datasets.draw_scenario("add", 100, rng=0), rng=0)
    size = 10.0 ** np.arange(-12, 6)
    values = np.random.default_rng(0).normal(size=(100, len(size))) * size
    special = [0.0, np.nan, np.inf, -np.inf, 12345678.25, 1.23456e-200, -1.5e308]
    picture = dataclasses.replace(
        profile_picture(result, 0), z=values.ravel(), contribution=np.array(special)
    )
    trace = plotly_spec(picture)["data"][0]
    assert trace["x"] == [float(f"{value:.6g}") for value in values.ravel()]
    zero, *gaps, large, tiny, largest = trace["y"]
    assert gaps == [None, None, None]
    assert (zero, large, largest) == (0.0, 12345678.0, -1.5e308)  # no digit before the point drops
    assert tiny == pytest.approx(1.23456e-200, rel=1e-12, abs=0)


def test_a_page_needs_no_classes_of_plotly():
    """They check each property, which would take most of the time of a page."""
    code = (
        "import sys, chsic\n"
        "from chsic.show.report.gather import gather\n"
        "from chsic.show.report.page import render_page\n"
        "x, y, z = chsic.datasets.draw_scenario('add', 100, rng=0)\n"
        "render_page(gather(x, y, z, n_resamples=99, rng=0))\n"
        "print([m for m in ('plotly.graph_objs', 'plotly.subplots') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
