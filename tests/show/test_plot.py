"""Pictures of results: what they show, not how it looks."""

import matplotlib.figure
import numpy as np
import pandas as pd
import pytest

import chsic
from chsic import plot
from chsic.datasets import draw_scenario


@pytest.fixture(scope="module")
def result():
    x, y, z = draw_scenario("add", 200, rng=0)
    frame = pd.DataFrame({"dose": x, "answer": y, "age": z})
    return chsic.chsic_test(frame["dose"], frame["answer"], frame["age"], rng=0)


def test_null_distribution_shows_all_draws_and_the_estimate(result):
    ax = plot.null_distribution(result)
    drawn = sum(patch.get_height() for patch in ax.containers[0])
    assert drawn == len(result.null_distribution)
    assert ax.lines[0].get_xdata()[0] == result.estimate
    assert "p = " in ax.get_legend().get_texts()[-1].get_text()


def test_profile_adds_up_and_names_z(result):
    ax = plot.profile(result)
    assert ax.get_xlabel() == "age"
    points = ax.lines[1]
    assert np.mean(points.get_ydata()) == pytest.approx(result.profile.contribution.sum())
    with pytest.raises(ValueError, match="column: z has 1 columns, got 1"):
        plot.profile(result, column=1)
    alone = chsic.hsic_test(*np.random.default_rng(0).normal(size=(2, 50)), rng=0)
    with pytest.raises(ValueError, match="without z there is nothing to draw along"):
        plot.profile(alone)


def test_profile_of_a_category_has_a_mean_for_each_level():
    rng = np.random.default_rng(0)
    found = chsic.chsic_test(*rng.normal(size=(2, 90)), rng.choice(list("abc"), 90), rng=0)
    assert len(plot.profile(found).lines[-1].get_xdata()) == 3


def test_sensitivity_shows_every_point():
    found = chsic.sensitivity(
        *draw_scenario("add", 100, rng=0), alphas=[4, 8], bandwidths=[1.2], rng=0
    )
    left, right = plot.sensitivity(found)
    assert list(left.lines[-1].get_ydata()) == [point.pvalue for point in found.along_alpha]
    assert list(right.lines[-1].get_xdata()) == [1.2]


def test_differences_are_those_of_close_pairs():
    z = np.arange(30.0)
    x = 2 * z
    left, right = plot.differences(x, 3 * z, z, alpha=2)
    assert len(left.collections[0].get_offsets()) == 30
    offsets = np.abs(right.collections[0].get_offsets())
    np.testing.assert_array_equal(offsets, np.tile([2.0, 3.0], (29, 1)))
    many = plot.differences(*np.random.default_rng(0).normal(size=(3, 5_000)))
    assert [len(ax.collections[0].get_offsets()) for ax in many] == [2_000, 2_000]
    with pytest.raises(ValueError, match="y: one column of numbers is needed"):
        plot.differences(x, list("ab") * 15, z)


def test_pictures_can_be_drawn_side_by_side(result):
    figure = matplotlib.figure.Figure()
    first, second = figure.subplots(1, 2)
    assert plot.null_distribution(result, ax=first) is first
    assert plot.profile(result, ax=second) is second


@pytest.fixture(scope="module")
def screened():
    rng = np.random.default_rng(0)
    a, b, c, d = rng.normal(size=(4, 150))
    return chsic.screen({"a": a, "b": a + 0.5 * b, "$c^$": c, "d" * 10_000: d}, rng=0)


def test_heat_map_shows_strengths_and_significance(screened):
    ax = plot.heat_map(screened)
    shown = ax.images[0].get_array()
    assert shown[0, 1] == screened.pairs[0].coefficient
    assert sorted(zip(*ax.lines[0].get_data(), strict=True)) == [(0, 1), (1, 0)]
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels[:3] == ["a", "b", "$c^$"]
    assert len(labels[3]) == 24
    ax.figure.draw_without_rendering()  # names are not formulas


def test_a_screen_without_columns_cannot_be_drawn():
    nothing = chsic.screen({"a": np.ones(9), "b": np.ones(9), "z": np.arange(9.0)}, "z", rng=0)
    for draw in (plot.heat_map, plot.network):
        with pytest.raises(ValueError, match="no column could be tested"):
            draw(nothing)


def test_profile_along_a_category_among_several_columns():
    rng = np.random.default_rng(0)
    z = pd.DataFrame({"age": rng.normal(size=300), "ward": rng.choice(["north", "south"], 300)})
    found = chsic.chsic_test(*rng.normal(size=(2, 300)), z, rng=0)
    ax = plot.profile(found, 1)
    assert set(ax.lines[1].get_xdata()) == {0.0, 1.0}
    assert [label.get_text() for label in ax.get_xticklabels()] == ["north", "south"]
    assert found.to_dict()["levels"] == {"ward": ["north", "south"]}


def test_network_has_a_line_for_each_related_pair(screened):
    ax = plot.network(screened)
    [line] = ax.lines
    [(x, y)] = [(pair.x, pair.y) for pair in screened.significant()]
    assert (x, y) == ("a", "b")
    np.testing.assert_allclose(line.get_data(), [[0, 1], [1, 0]], atol=1e-9)
    ax.figure.draw_without_rendering()


def test_names_of_columns_are_not_formulas():
    x, y, z = np.random.default_rng(0).normal(size=(3, 50))
    frame = pd.DataFrame({"$x^$": x, "a\nb": y, "z" * 1_000: z})
    left, _ = plot.differences(frame["$x^$"], frame["a\nb"], frame["z" * 1_000])
    left.figure.draw_without_rendering()
    assert left.get_xlabel() == "$x^$"
    assert left.get_ylabel() == "a b"
