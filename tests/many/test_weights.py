"""Weights of rows, in screens, discovery, sensitivity and calibration."""

import numpy as np
import pandas as pd
import pytest

import chsic
from chsic.data.samples import read_samples
from chsic.many.simulation import Source
from tests.inference.test_groups import patients

FACTS = ("n_samples", "n_omitted", "n_groups", "n_effective", "warnings")


@pytest.fixture(scope="module")
def frame():
    """Measurements of 30 patients, four rows of each, and how many patients a row stands for."""
    x, y, z, groups = patients(0, number=30, related=0.5)
    rng = np.random.default_rng(0)
    columns = {
        "patient": [f"patient {k}" for k in groups],
        "x": x,
        "y": y,
        "z": z,
        "w": np.cos(z) + rng.normal(size=len(z)),
        "ward": rng.choice(list("abc"), len(z)),
        "day": pd.date_range("2024-01-01", periods=len(z)),
        "ones": np.full(len(z), 3.0),
        "whole": rng.integers(1, 4, len(z)),
        "weight": rng.uniform(0.5, 4.0, len(z)) * (rng.random(len(z)) > 0.05),
    }
    return pd.DataFrame(columns)


@pytest.fixture(scope="module")
def repeated(frame):
    """Rows of whole weights, as often as these say."""
    return frame.loc[frame.index.repeat(frame["whole"])].reset_index(drop=True)


@pytest.fixture(scope="module")
def gaps(frame):
    """A weight that is missing, and a value in another row."""
    gaps = frame.copy()
    rows = np.flatnonzero(gaps["weight"] > 0)
    gaps.loc[rows[3], "weight"] = np.nan
    gaps.loc[rows[40], "x"] = np.nan
    return gaps


WAYS = {
    "rows": {},
    "groups": {"groups": "patient"},
    "inside": {"groups": "patient", "within": True},
    "stretches": {"time": "day", "stretch": 6},
    "time": {"time": "day"},
}
ways = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


# --- Equal weights --------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["rows", "inside", "time"])
def test_equal_weights_are_none(frame, way):
    of_rows = WAYS[way]

    def found(**weights):
        settings = {**of_rows, **weights}
        screened = chsic.screen(frame, "z", columns=["x", "y", "w"], **settings)
        settings |= {"data": frame, "rng": 0}
        return (
            screened.pairs,
            screened.n_effective,
            chsic.Discovery(frame, **of_rows, **weights).answer("x", "y", "z"),
            chsic.sensitivity("x", "y", "z", alphas=[4], bandwidths=[1], **settings),
            chsic.calibrate("x", "y", "z", n_sim=2, effect_sizes=[], **settings),
        )

    assert found() == found(weights="ones") == found(weights=np.ones(120))


# --- Screens --------------------------------------------------------------------------------------


@ways
@pytest.mark.parametrize("given", [["z"], ["ward"], []], ids=["number", "category", "nothing"])
def test_a_screen_is_what_separate_tests_give(frame, given, way):
    settings = {"weights": "weight", **way}
    found = chsic.screen(frame, given, columns=["x", "w"], target="y", **settings)
    for pair in found:
        expected = chsic.chsic_test(pair.x, pair.y, given or None, data=frame, **settings)
        assert pair.pvalue == pytest.approx(expected.pvalue, rel=1e-9)
        assert pair.statistic == pytest.approx(expected.statistic, rel=1e-9)
        assert (pair.low, pair.high) == pytest.approx(expected.confidence_interval(), rel=1e-9)
        assert (pair.n_samples, pair.warnings) == (expected.n_samples, expected.warnings)
        if expected.n_samples == (frame["weight"] > 0).sum():  # all have a partner
            assert found.n_effective == pytest.approx(expected.n_effective)
    ignoring = chsic.screen(frame, given, columns=["x", "w"], target="y", **way)
    assert ignoring.n_effective is None
    assert ignoring.pairs[0].pvalue != found.pairs[0].pvalue
    assert f" weighted (as good as {found.n_effective:.0f} of equal weight):" in repr(found)


def test_the_weights_of_a_screen_are_not_tested(frame):
    some = frame[["x", "y", "z", "weight"]]
    found = chsic.screen(some, "z", weights="weight")
    assert (found.names(), found.skipped) == (["x", "y"], {})
    unnamed = chsic.screen(some.drop(columns="weight"), "z", weights=frame["weight"])
    assert unnamed.pairs == found.pairs
    by_number = chsic.screen(some.to_numpy(), 2, weights=3)
    assert by_number.pairs[0].pvalue == found.pairs[0].pvalue


@pytest.mark.parametrize("way", ["rows", "groups"])
def test_gaps_are_those_of_a_pair(gaps, way):
    settings = {"weights": "weight", **WAYS[way]}
    with pytest.raises(ValueError, match="weights, column weight: 1 of 120"):
        chsic.screen(gaps, "z", **settings)
    settings["nan_policy"] = "omit"
    tests = chsic.Discovery(gaps, **settings)
    for pair in chsic.screen(gaps, "z", columns=["x", "w"], target="y", **settings):
        expected = chsic.chsic_test(pair.x, pair.y, "z", data=gaps, **settings)
        answer = tests.result(pair.x, pair.y, "z")
        for found in (pair, answer):
            assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-9)
            assert (found.n_omitted, found.n_samples) == (expected.n_omitted, expected.n_samples)


def test_a_row_without_a_weight_takes_no_other_with_it(frame):
    copies = pd.concat([frame, frame.iloc[:1]], ignore_index=True)
    copies.loc[120, "weight"] = np.nan
    settings = {"groups": "patient", "weights": "weight", "nan_policy": "omit"}
    expected = chsic.chsic_test("x", "y", "z", data=copies, **settings)
    [pair] = chsic.screen(copies, "z", columns=["x", "y"], **settings)
    answer = chsic.Discovery(copies, **settings).result("x", "y", "z")
    for found in (pair, answer):
        assert (found.n_samples, found.n_omitted) == (expected.n_samples, 1)
        assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-9)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"weights": "wait"}, ValueError, "weights: there is no column 'wait'"),
        (
            {"weights": "ward"},
            TypeError,
            "weights: 'ward' has text or categories; numbers are needed",
        ),
        ({"weights": "day"}, TypeError, "weights: 'day' has dates; numbers are needed"),
        ({"weights": np.arange(-1, 119)}, ValueError, "weights: row 0 has the weight -1; none"),
        ({"weights": np.zeros(120)}, ValueError, "weights: no row has a weight above zero"),
        (
            {"weights": np.arange(120) < 2},
            TypeError,
            "weights: 'weights' has text or categories; numbers",
        ),
        ({"weights": np.eye(120)[0]}, ValueError, "weights: 1 of 120 rows have a weight above 0"),
        ({"weights": np.ones(7)}, ValueError, "has 120, weights has 7"),
        ({"weights": np.ones((120, 2))}, ValueError, "weights: got 2 columns; one is needed"),
    ],
)
def test_bad_weights_are_refused(frame, settings, error, message):
    columns = frame[["x", "y", "z", "ward", "day"]]
    with pytest.raises(error, match=message):
        chsic.screen(columns, "z", columns=["x", "y"], **settings)
    with pytest.raises(error, match=message):
        chsic.Discovery(columns, **settings)
    for function in (chsic.sensitivity, chsic.calibrate):
        with pytest.raises(error, match="weights"):
            function("x", "y", "z", data=columns, **settings)


@pytest.mark.parametrize(
    ("settings", "argument"),
    [
        ({"given": ["z", "weight"]}, "given"),
        ({"columns": ["x", "weight"]}, "columns"),
        ({"target": "weight"}, "target"),
    ],
)
def test_weights_of_a_screen_are_nothing_else(frame, settings, argument):
    message = f"{argument}: column 'weight' is named for weights as well"
    with pytest.raises(ValueError, match=message):
        chsic.screen(frame, **settings, weights="weight")


def test_a_checkpoint_belongs_to_the_weights(frame, tmp_path):
    path = tmp_path / "run.jsonl"
    settings = {"given": "z", "columns": ["x", "y"], "rng": 0, "resume": path}
    found = chsic.screen(frame, **settings, weights="weight")
    assert chsic.screen(frame, **settings, weights="weight").pairs == found.pairs
    for weights in (None, "whole", np.roll(frame["weight"], 1)):
        with pytest.raises(ValueError, match="is of a run with other data;"):
            chsic.screen(frame, **settings, weights=weights)


def test_a_checkpoint_counts_rows_that_were_merged(repeated, tmp_path):
    settings = {"given": "z", "columns": ["x", "y", "w"], "groups": "patient"}
    settings["resume"] = tmp_path / "run.jsonl"
    found = chsic.screen(repeated, **settings)
    assert [pair.n_samples for pair in found] == [len(repeated)] * 3
    assert chsic.screen(repeated, **settings).pairs == found.pairs


# --- Discovery ------------------------------------------------------------------------------------


@ways
@pytest.mark.parametrize("given", [["z"], ["z", "w"], []], ids=["z", "z and w", "nothing"])
def test_discovery_is_what_separate_tests_give(frame, given, way):
    settings = {"weights": "weight", **way}
    found = chsic.Discovery(frame, **settings).result("x", "y", given)
    expected = chsic.chsic_test("x", "y", given or None, data=frame, **settings)
    assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-9)
    assert found.coefficient == pytest.approx(expected.coefficient, rel=1e-9)
    for name in FACTS:
        assert getattr(found, name) == getattr(expected, name)


def test_discovery_cannot_be_asked_about_weights(frame):
    some = frame[["weight", "x", "y", "z"]]
    tests = chsic.Discovery(some, weights="weight")
    assert tests.names == ["x", "y", "z"]
    assert tests.answer(0, 1, 2) == tests.answer("x", "y", "z")
    n, n_effective = (some["weight"] > 0).sum(), tests.result("x", "y").n_effective
    assert repr(tests).startswith(f"Discovery(n_samples={n}, n_effective={n_effective:.1f}, col")
    with pytest.raises(ValueError, match="z: there is no column 'weight'"):
        tests.answer("x", "y", "weight")
    unnamed = chsic.Discovery(some.drop(columns="weight"), weights=some["weight"])
    assert unnamed.answer("x", "y", "z") == tests.answer("x", "y", "z")


# --- Whole weights --------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["groups", "inside"])
def test_whole_weights_are_repeated_rows_of_a_group(frame, repeated, way):
    way = WAYS[way]

    def found(frame, **weights):
        settings = {**way, **weights}
        screened = chsic.screen(frame, "z", columns=["x", "y", "w"], **settings)
        answer = chsic.Discovery(frame, **settings).answer("x", "y", "z")
        settings |= {"data": frame, "rng": 0}
        along = chsic.sensitivity("x", "y", "z", alphas=[4], bandwidths=[1], **settings)
        made = chsic.calibrate("x", "y", "z", n_sim=2, effect_sizes=[], **settings)
        pvalues = [point.pvalue for point in (*along.along_alpha, *along.along_bandwidth)]
        return [(pair.statistic, pair.pvalue) for pair in screened], answer, pvalues, made

    weighted, of_copies = found(frame, weights="whole"), found(repeated)
    assert weighted[:2] == of_copies[:2]
    assert weighted[2] == pytest.approx(of_copies[2], rel=1e-9)
    assert weighted[3].pvalues[0] == pytest.approx(of_copies[3].pvalues[0], rel=1e-9)
    assert (weighted[3].n_samples, of_copies[3].n_samples) == (120, len(repeated))
    assert of_copies[3].n_effective is None  # nobody gave weights
    assert found(frame)[0] != weighted[0]


def test_groups_of_copies_are_counted(frame):
    twice = frame.loc[frame.index.repeat(2)].assign(row=np.repeat(np.arange(120), 2))
    expected = chsic.chsic_test("x", "y", "z", data=twice, groups="row")
    assert (expected.n_samples, expected.n_groups) == (240, 120)
    screened = chsic.screen(twice, "z", columns=["x", "y"], groups="row")
    tests = chsic.Discovery(twice, groups="row")
    settings = {"data": twice, "n_sim": 1, "effect_sizes": [], "rng": 0}
    made = chsic.calibrate("x", "y", "z", groups="row", **settings)
    assert screened.n_groups == tests.result("x", "y").n_groups == made.n_groups == 120
    assert repr(tests).startswith("Discovery(n_samples=240, n_groups=120, columns")
    assert str(made).startswith("1 data sets of 240 samples in 120 groups each")


# --- Sensitivity and calibration ------------------------------------------------------------------


@ways
def test_sensitivity_is_what_separate_tests_give(frame, way):
    settings = {"data": frame, "weights": "weight", **way}
    found = chsic.sensitivity("x", "y", "z", alphas=[4, 16], bandwidths=[1], **settings)
    for point in found.along_alpha:
        expected = chsic.chsic_test("x", "y", "z", alpha=point.alpha, pairs="nearest", **settings)
        assert point.pvalue == pytest.approx(expected.pvalue, rel=1e-6)


@ways
def test_weights_stay_with_their_rows_in_a_simulation(frame, way):
    settings = {"data": frame, "weights": "weight", **way}
    found = chsic.calibrate("x", "y", "z", n_sim=2, effect_sizes=[0.5], rng=0, **settings)
    expected = chsic.chsic_test("x", "y", "z", **settings)
    assert found.n_effective == pytest.approx(expected.n_effective)
    assert (found.n_samples, found.n_groups) == (expected.n_samples, expected.n_groups)
    assert f" weighted (as good as {found.n_effective:.0f} of equal weight) each" in str(found)
    unweighted = chsic.calibrate("x", "y", "z", n_sim=2, effect_sizes=[0.5], rng=0, **{
        **settings, "weights": None
    })  # fmt: skip
    assert unweighted.pvalues != found.pvalues


@pytest.mark.parametrize("within", [False, True])
def test_a_simulation_has_the_spread_of_the_rows(within):
    """What a weighted regression took from the noise of a row is given back.

    Groups keep their levels, so that what differs inside of them is to be as large as it was.
    """
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(100), 4)
    z, e, h = rng.normal(size=(3, 400))
    settings = {"groups": groups, "within": True} if within else {}
    samples = read_samples(np.sin(z) + e, z + h, z, weights=rng.uniform(0.1, 5, 400), **settings)
    source = Source.of(samples, rng)
    draws = [source.draw(0.0, np.random.default_rng(seed)) for seed in range(10)]

    def spread(values):
        return np.std(values - within * (np.bincount(groups, values) / 4)[groups])

    of_x = np.mean([spread(x.values - np.sin(z)) for [x], _ in draws])
    of_y = np.mean([spread(y.values - z) for _, [y] in draws])
    assert (of_x, of_y) == pytest.approx((spread(e), spread(h)), rel=0.08)


def test_selection_is_not_taken_for_a_rough_regression():
    """Rows of large x and y are drawn more often: the weighted regressions run below them."""
    rng = np.random.default_rng(0)
    z, e, h = rng.normal(size=(3, 3_000))
    drawn = 1 / (1 + np.exp(-2 * (e + h)))
    rows = rng.random(3_000) < drawn
    x, y = (np.sin(z) + e)[rows], (z + h)[rows]
    samples = read_samples(x, y, z[rows], weights=1 / drawn[rows])
    assert Source.of(samples, rng).missed == ()
