"""Many tests of rows that depend on each other in time, or are compared inside their groups."""

import numpy as np
import pandas as pd
import pytest

import chsic
from chsic.data.samples import read_samples
from chsic.many.simulation import Source
from tests.inference.test_stretches import series

WAYS = {
    "days": {"time": "day"},
    "twelve days": {"time": "day", "stretch": 12},
    "series": {"groups": "shop", "time": "day", "stretch": 7},
    "inside": {"groups": "shop", "within": True},
}
ways = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


@pytest.fixture(scope="module")
def frame():
    """Sales of 240 days in any order, those of a month in the same shop."""
    rng = np.random.default_rng(0)
    z, e, h, w = (series(rng, 240, 0.8) for _ in range(4))
    shop = np.repeat(np.arange(8), 30)
    level = 2 * rng.normal(size=8)[shop]
    columns = {
        "day": pd.date_range("2024-01-01", periods=240),
        "shop": shop,
        "x": level + np.sin(z) + e,
        "y": level + z + h + 0.5 * e,
        "w": level + w,
        "z": z,
    }
    return pd.DataFrame(columns).sample(frac=1, random_state=0, ignore_index=True)


@pytest.fixture(scope="module")
def gaps(frame):
    """A day that is missing, and a value in another row."""
    gaps = frame.copy()
    gaps.loc[7, "day"] = pd.NaT
    gaps.loc[50, "x"] = np.nan
    return gaps


@ways
@pytest.mark.parametrize("given", [["z"], []], ids=["z", "nothing"])
def test_a_screen_is_what_separate_tests_give(frame, given, way):
    found = chsic.screen(frame, given, columns=["x", "w"], target="y", **way)
    for pair in found:
        expected = chsic.chsic_test(pair.x, pair.y, given or None, data=frame, **way)
        assert pair.pvalue == pytest.approx(expected.pvalue, rel=1e-9)
        assert pair.statistic == pytest.approx(expected.statistic, rel=1e-9)
        assert pair.warnings == expected.warnings
    assert found.within == ("within" in way)
    if "time" in way:
        assert (found.stretch, found.stretch_unit) == (way.get("stretch", "auto"), "days")


@pytest.mark.parametrize(
    ("way", "told"),
    [
        ("days", ", rows in stretches of time:"),
        ("twelve days", ", rows in 20 stretches of 12 days:"),
        ("inside", ", rows compared inside 8 groups:"),
    ],
)
def test_a_screen_tells_how_rows_were_taken(frame, way, told):
    found = chsic.screen(frame, columns=["x", "y"], **WAYS[way])
    assert told in repr(found)
    assert set(found.kinds) == {"x", "y"}
    assert "day" not in chsic.screen(frame, "z", time="day", stretch=60).names()


@ways
def test_gaps_are_those_of_a_pair(gaps, way):
    settings = {"nan_policy": "omit", **way}
    tests = chsic.Discovery(gaps, **settings)
    for pair in chsic.screen(gaps, "z", columns=["x", "w"], target="y", **settings):
        expected = chsic.chsic_test(pair.x, pair.y, "z", data=gaps, **settings)
        answer = tests.result(pair.x, pair.y, "z")
        for found in (pair, answer):
            assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-9)
            assert (found.n_omitted, found.n_samples) == (expected.n_omitted, expected.n_samples)


@ways
@pytest.mark.parametrize("given", [["z"], []], ids=["z", "nothing"])
def test_discovery_is_what_separate_tests_give(frame, given, way):
    tests = chsic.Discovery(frame, **way)
    for x, y in (("x", "y"), ("w", "x")):
        found = tests.result(x, y, given)
        expected = chsic.chsic_test(x, y, given or None, data=frame, **way)
        assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-9)
        for name in ("n_groups", "stretch", "stretch_unit", "within", "warnings"):
            assert getattr(found, name) == getattr(expected, name)
    assert "day" not in chsic.Discovery(frame, time="day").names


def test_discovery_tells_how_rows_were_taken(frame):
    told = [repr(chsic.Discovery(frame, **way)).split(", columns")[0] for way in WAYS.values()]
    assert told[0] == "Discovery(n_samples=240, stretch='auto', stretch_unit='days'"
    assert told[1].endswith("n_groups=20, stretch=12.0, stretch_unit='days'")
    assert told[3].endswith("n_groups=8, within=True")


@ways
def test_sensitivity_is_what_separate_tests_give(frame, way):
    found = chsic.sensitivity("x", "y", "z", data=frame, alphas=[4, 16], bandwidths=[1], **way)
    for point in found.along_alpha:
        expected = chsic.chsic_test(
            "x", "y", "z", data=frame, alpha=point.alpha, pairs="nearest", **way
        )
        assert point.pvalue == pytest.approx(expected.pvalue, rel=1e-6)


@pytest.mark.no_cover
def test_time_may_be_a_confounder(frame):
    [pair] = chsic.screen(frame, "day", columns=["x", "y"], time="day")
    expected = chsic.chsic_test("x", "y", "day", data=frame, time="day")
    assert pair.pvalue == pytest.approx(expected.pvalue, rel=1e-9)
    with pytest.raises(ValueError, match="columns: column 'day' is named for time as well"):
        chsic.screen(frame, columns=["x", "day"], time="day")


def test_a_checkpoint_belongs_to_what_is_said_of_rows(frame, tmp_path):
    path = tmp_path / "run.jsonl"
    settings = {"given": "z", "columns": ["x", "y"], "rng": 0, "resume": path}
    chsic.screen(frame, **settings, **WAYS["series"])
    for way in ({}, {"time": "day", "stretch": 7}, {**WAYS["series"], "stretch": 8}):
        with pytest.raises(ValueError, match="is of a run with other data;"):
            chsic.screen(frame, **settings, **way)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"time": "dey"}, ValueError, "time: there is no column 'dey'"),
        ({"stretch": 3}, ValueError, "stretch: is a length of time; give time as well"),
        ({"within": True}, ValueError, "within: rows are compared inside their group"),
        ({"groups": "shop", "within": 1}, TypeError, "within: expected True or False, got 1"),
        ({**WAYS["inside"], "time": "day"}, ValueError, "within: .* leave time out"),
    ],
)
@pytest.mark.parametrize("function", ["screen", "Discovery"])
def test_wrong_settings_are_refused(frame, function, settings, error, message):
    with pytest.raises(error, match=message):
        getattr(chsic, function)(frame, **settings)
    if settings.keys() & {"stretch", "within"}:
        with pytest.raises(error, match=message):
            chsic.calibrate("x", "y", "z", data=frame, **settings)


# --- Calibration ----------------------------------------------------------------------------------


def test_stretches_are_groups_of_a_simulation(frame):
    settings = {"data": frame, "n_sim": 2, "effect_sizes": [], "rng": 0}
    found = chsic.calibrate("x", "y", "z", time="day", **settings)
    expected = chsic.chsic_test("x", "y", "z", data=frame, time="day")
    assert (found.n_groups, found.stretch) == (expected.n_groups, expected.stretch)
    assert f"samples in {found.n_groups} stretches of " in str(found)
    assert " days each, x and y redrawn" in str(found).replace("\n", " ")
    given = chsic.calibrate("x", "y", "z", time="day", stretch=12, **settings)
    days = (frame["day"] - frame["day"].min()).dt.days
    groups = chsic.calibrate("x", "y", "z", groups=days // 12, **settings)
    assert given.pvalues == groups.pvalues


def confounded(seed, number=50, each=4):
    """x and y that differ from group to group together, and inside by z and by noise."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(number), each)
    level = 2 * rng.normal(size=number)[groups]
    z, e, h = rng.normal(size=(3, len(groups)))
    return level + np.sin(z) + e, level + z + h, z, groups


def test_a_simulation_keeps_the_levels_of_groups():
    x, y, z, groups = confounded(0)
    source = Source.of(read_samples(x, y, z, groups=groups, within=True), np.random.default_rng(0))
    [of_x], [of_y] = source.draw(0.0, np.random.default_rng(0))

    def inside(values):
        return values - (np.bincount(groups, values) / 4)[groups]

    for made, own, of_z in ((of_x.values, x, np.sin(z)), (of_y.values, y, z)):
        levels = [np.bincount(groups, values) for values in (made, own)]
        assert np.corrcoef(*levels)[0, 1] > 0.99
        spreads = [np.std(inside(values - of_z)) for values in (made, own)]
        assert spreads[0] == pytest.approx(spreads[1], rel=0.1)
        assert np.corrcoef(inside(made - of_z), inside(own - of_z))[0, 1] < 0.3
    ignored = chsic.chsic_test(of_x.values, of_y.values, z, groups=groups)
    inside = chsic.chsic_test(of_x.values, of_y.values, z, groups=groups, within=True)
    assert ignored.pvalue < 0.001 < 0.05 < inside.pvalue


def test_levels_of_few_values_are_not_simulated():
    x, y, z, groups = confounded(0)
    with pytest.raises(ValueError, match=r"y: y has few values, .* leave within out"):
        chsic.calibrate(x, y > 0, z, groups=groups, within=True, n_sim=1)
    in_strata = {"n_sim": 1, "effect_sizes": [], "groups": groups, "within": True}
    chsic.calibrate(x, y > 0, np.where(z > 0, "high", "low"), **in_strata)


@pytest.mark.levels
def test_calibrate_holds_the_level_inside_groups():
    """Of 24 true nulls, six rejections at 0.05 happen once in 900 times."""
    x, y, z, groups = confounded(1)
    settings = {"n_sim": 24, "effect_sizes": [0.5], "rng": 0}
    found = chsic.calibrate(x, y, z, groups=groups, within=True, **settings)
    assert found.rejection_rate(0.0) <= 5 / 24
    assert found.rejection_rate(0.5) > 0.9
    assert "200 samples compared inside 50 groups each" in str(found)
