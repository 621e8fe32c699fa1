"""What pictures show is computed once: matplotlib and plotly draw the same objects."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import chsic
from chsic import plot
from chsic.datasets import draw_scenario
from chsic.show.pictures.null import null_picture
from chsic.show.pictures.profile import profile_picture
from chsic.show.pictures.screen import heat_map_picture, network_picture
from chsic.show.pictures.sensitivity import SMALLEST, sensitivity_picture
from chsic.show.report.gather import gather
from chsic.show.report.page import pictures
from chsic.show.report.plotly_figures import plotly_spec


@pytest.fixture(scope="module")
def result():
    rng = np.random.default_rng(0)
    z = pd.DataFrame(
        {
            "age": rng.normal(size=200),
            "ward": rng.choice(["north", "south"], 200),
            "day": pd.date_range("2024-01-01", periods=200),
        }
    )
    return chsic.chsic_test(*rng.normal(size=(2, 200)), z, rng=0)


def test_computing_a_picture_loads_no_library_that_draws():
    code = (
        "import sys, chsic, pkgutil, importlib, chsic.show.pictures as p\n"
        "for module in pkgutil.iter_modules(p.__path__, p.__name__ + '.'):\n"
        "    importlib.import_module(module.name)\n"
        "from chsic.show.pictures.null import null_picture\n"
        "null_picture(chsic.chsic_test(*chsic.datasets.draw_scenario('add', 50, rng=0), rng=0))\n"
        "print([m for m in ('matplotlib', 'plotly', 'jinja2', 'rich') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_draws_beyond_the_estimate_are_counted_exactly(result):
    """Also in the bin in which the estimate lies, as the p-value of one bandwidth counts them."""
    picture = null_picture(result)
    draws = result.null_distribution
    assert picture.counts.sum() == len(draws)
    assert picture.counts_beyond.sum() == np.sum(draws >= result.estimate)
    assert picture.beyond_label == f"{np.sum(draws >= result.estimate)} as large or larger"
    assert np.all(picture.counts_beyond <= picture.counts)
    bars = plot.null_distribution(result).containers
    traces = plotly_spec(picture)["data"]
    for bar, trace, counts in zip(
        bars, traces, (picture.counts, picture.counts_beyond), strict=True
    ):
        np.testing.assert_array_equal([patch.get_height() for patch in bar], counts)
        assert trace["y"] == counts.tolist()


@pytest.mark.parametrize("column", range(3))
def test_both_libraries_draw_the_same_profile(result, column):
    picture = profile_picture(result, column)
    ax, spec = plot.profile(result, column), plotly_spec(picture)
    assert ax.get_title(loc="left") == picture.title
    assert ax.get_xlabel() == picture.x_label == spec["layout"]["xaxis"]["title"]["text"]
    _, units, means = ax.lines
    for line, trace in zip((units, means), spec["data"], strict=True):
        assert line.get_label() == trace["name"]
        np.testing.assert_allclose(line.get_xdata(), trace["x"], rtol=1e-5)
        np.testing.assert_allclose(line.get_ydata(), trace["y"], rtol=1e-5)


def test_both_libraries_draw_the_same_sensitivity():
    x, y, z = draw_scenario("add", 400, rng=0)
    along = chsic.sensitivity(x, x + 0.01 * y, z, alphas=[4, 8], bandwidths=[1.2, 5], rng=0)
    picture = sensitivity_picture(along)
    spec = plotly_spec(picture)
    for ax, curve, trace in zip(plot.sensitivity(along), picture.curves, spec["data"], strict=True):
        assert min(curve.pvalues) < SMALLEST == min(curve.heights)  # the floor is drawn,
        assert [row[0] for row in trace["customdata"]] == [f"{p:.0e}" for p in curve.pvalues]
        assert list(ax.lines[-1].get_ydata()) == trace["y"] == list(curve.heights)
        assert list(ax.lines[-1].get_xdata()) == trace["x"] == list(curve.at)


def test_both_libraries_draw_the_same_differences():
    x, y, z = ({name: v} for name, v in zip("abc", draw_scenario("add", 100, rng=0), strict=True))
    facts = gather(x, y, z, n_resamples=99, rng=3)
    picture = facts.differences
    assert next(pictures(facts)) is picture
    axes = plot.differences(x, y, z, rng=facts.settings["rng"])
    for ax, panel, trace in zip(axes, picture.panels, plotly_spec(picture)["data"], strict=True):
        assert ax.get_xlabel() == panel.x_label
        drawn = ax.collections[0].get_offsets()
        np.testing.assert_array_equal(drawn, np.column_stack([panel.x, panel.y]))
        np.testing.assert_allclose(trace["x"], panel.x, rtol=1e-5)
        np.testing.assert_allclose(trace["marker"]["color"], panel.z, rtol=1e-5)


def test_captions_speak_of_columns_by_name(result):
    for column, name in enumerate(("age", "ward", "day")):
        assert profile_picture(result, column).title == f"Where along {name} the relation sits"
    assert profile_picture(result, 2).x_label == "day (days since 1970)"
    assert "unrelated given age, ward and day" in null_picture(result).caption


def test_a_screen_as_numbers():
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, 150))
    screen = chsic.screen({"a": a, "b": a + 0.5 * b, "c": c, "long " * 30: b}, rng=0)
    heat = heat_map_picture(screen, 0.05)
    assert heat.largest == np.nanmax(heat.strengths) == np.nanmax(screen.matrix())
    assert np.nanmin(heat.strengths) == 0.0  # below it is chance
    network = network_picture(screen, 0.05, "bh")
    joined = {tuple(sorted(line.ends)) for line in network.lines}
    dots = zip(heat.dot_rows.tolist(), heat.dot_columns.tolist(), strict=True)
    assert joined == {tuple(sorted(ends)) for ends in dots}
    assert network.lines[0].share == 1.0
    assert network.connected == {end for ends in joined for end in ends}
    assert [len(names[-1]) for names in (heat.names, network.names)] == [24, 40]


def test_a_picture_that_no_figure_is_known_for_is_refused():
    screen = chsic.screen(chsic.datasets.summer(), "temperature", rng=0)
    with pytest.raises(TypeError, match="no figure of a HeatMapPicture is known"):
        plotly_spec(heat_map_picture(screen, 0.05))
