"""The test: its answers, its settings, its results, its warnings and its errors."""

import dataclasses
import json

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import chsic
from chsic.datasets import draw_scenario
from chsic.inference import compare
from chsic.inference.ridge import Ridge


def test_without_z_is_hsic_test():
    x, noise = np.random.default_rng(0).normal(size=(2, 150))
    a, b = chsic.hsic_test(x, x**2 + noise, rng=3), chsic.chsic_test(x, x**2 + noise, rng=3)
    assert a.to_dict() == b.to_dict()
    assert a.pvalue < 0.001
    assert (a.pairs, a.adjust, a.n_pairs) == ("complete", "none", 150 * 149 // 2)


def test_statistic_is_the_measure():
    """Without adjustment and z, the statistic is HSIC at that bandwidth, up to tol."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=100)
    y = x + rng.normal(size=100)
    found = chsic.hsic_test(x, y, bandwidth=0.8, rng=0)
    # tr(P K P Q) / (L - 1)^2 against tr(Lap K Lap Q) / (4 K_max^2): the same number.
    assert found.statistic == pytest.approx(chsic.hsic(x, y, bandwidth=0.8), rel=1e-2)
    z = rng.normal(size=100)
    given = chsic.chsic_test(
        x, y, z, pairs="closest", alpha=6, adjust="none", augment=False, bandwidth=0.8, rng=0
    )
    assert given.statistic == pytest.approx(chsic.chsic(x, y, z, alpha=6, bandwidth=0.8), rel=1e-2)


def test_answers_are_continuous_where_units_grow():
    """From 128 samples on, units hold several: p-values must not jump there."""
    x, y, z = draw_scenario("add", 129, rng=8)
    found = [chsic.chsic_test(x[:n], y[:n], z[:n]) for n in (127, 128, 129)]
    assert [result.unit_size for result in found] == [1, 1, 129 / 128]
    assert np.ptp(np.log([result.pvalue for result in found])) < 1


def test_units_of_several_samples_give_the_same_answer_on_average():
    changes = []
    for seed in range(12):
        x, y, z = draw_scenario("oscillating", 129, rng=seed)
        single, *larger = (chsic.chsic_test(x, y, z, unit_size=size).pvalue for size in (1, 2, 3))
        changes += [np.log(pvalue / single) for pvalue in larger]
    assert abs(np.mean(changes)) < 0.1
    assert np.sqrt(np.mean(np.square(changes))) < 0.3


@pytest.mark.parametrize("workers", [2, 3])
def test_workers_do_not_change_the_answer(monkeypatch, workers):
    monkeypatch.setattr(compare, "THREADS_FROM", 0)
    x, y, z = draw_scenario("wave", 300, 2, rng=0)
    one, other = (chsic.chsic_test(x, y, z, rng=1, workers=w) for w in (1, workers))
    assert one.to_dict() == other.to_dict()
    assert np.array_equal(one.null_distribution, other.null_distribution)


@pytest.mark.parametrize("d", [1, 2])
def test_x_and_y_have_the_same_part(d):
    x, y, z = draw_scenario("square", 300, d, rng=5)
    one, other = chsic.chsic_test(x, y, z, rng=1), chsic.chsic_test(y, x, z, rng=1)
    assert one.pvalue == pytest.approx(other.pvalue, rel=1e-6)
    assert one.coefficient == pytest.approx(other.coefficient, rel=1e-9)
    assert one.confidence_interval() == pytest.approx(other.confidence_interval(), rel=1e-6)


def test_the_order_of_samples_does_not_matter_much():
    """Widths come from all of z, not from its first samples."""
    z = draw_scenario("oscillating", 900, rng=5).z
    order = np.argsort(z)
    scales = [Ridge(values[:, None])._scale for values in (z, z[order], z[order[::-1]])]
    assert max(scales) < 1.15 * min(scales)


# --------------------------------------------------------------------------------------- result


def test_result_is_frozen_readable_and_plain():
    result = chsic.chsic_test(*draw_scenario("add", 200, rng=0), rng=0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.pvalue = 0
    with pytest.raises(TypeError):
        iter(result)
    with pytest.raises(TypeError):
        chsic.IndependenceResult(1, 2, 3)
    assert repr(result).startswith("IndependenceResult(pvalue=")
    assert len(repr(result)) < 120
    plain = result.to_dict()
    json.dumps(plain)
    assert plain["pvalue"] == result.pvalue
    assert len(plain["members"]) == len(result.members) == 4
    assert result.alpha == pytest.approx(48, abs=4)
    assert (result.engine, result.pairs, result.adjust) == ("features", "nearest", "ridge")
    low, high = result.confidence_interval(0.5)
    wide = result.confidence_interval(0.99)
    assert wide.low < low < result.coefficient < high < wide.high


@pytest.mark.parametrize(
    "settings",
    [{"pairs": "closest"}, {"pairs": "nearest", "alpha": 4}, {"pairs": "blocks"},
     {"pairs": "blocks", "block_size": 5}, {"adjust": "none"},
     {"augment": False}, {"augment": True}, {"null": "signs"},
     {"bandwidth": 0.5}, {"bandwidth": (0.5, 1.0)}, {"bandwidth": ["median", 0.3]},
     {"bandwidth": "paper"}, {"unit_size": 10}, {"tol": 1e-2},
     {"n_resamples": 99, "null": "signs"}],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("d", [1, 2])
def test_every_setting_is_used(settings, d):
    """It changes the answer or what is reported, and finds a strong dependence."""
    x, y, z = draw_scenario("add", 200, d, rng=3)
    y = y + x
    usual, result = chsic.chsic_test(x, y, z, rng=0), chsic.chsic_test(x, y, z, rng=0, **settings)
    assert result.pvalue <= 0.02
    assert result.to_dict() != usual.to_dict()


@pytest.mark.no_cover
@pytest.mark.parametrize("n", [12, 90, 400, 3_000])
def test_no_seed_decides(n):
    """z absent, discrete, continuous, tied, of several columns, and rare events."""
    rng = np.random.default_rng(n)
    e, h, z, w = rng.normal(size=(4, n))
    x, y = z + e, z + h + 0.2 * e
    for given in (None, np.arange(n) % 3, z, np.round(3 * z), np.column_stack([z, w])):
        results = [chsic.chsic_test(x, y, given, rng=seed).to_dict() for seed in (0, 1, None)]
        assert results[0] == results[1] == results[2]
    rare = (np.arange(n) < 2).astype(float)
    first, second = (chsic.chsic_test(rare, rare * e, z, rng=seed).to_dict() for seed in (0, 1))
    assert first == second


def test_defaults_are_what_the_result_calls_them():
    x, y, z = draw_scenario("oscillating", 200, rng=3)
    named = {"pairs": "nearest", "alpha": 48, "adjust": "ridge"}
    usual = chsic.chsic_test(x, y, z, rng=0)
    assert chsic.chsic_test(x, y, z, rng=0, **named).to_dict() == usual.to_dict()
    drawn = chsic.chsic_test(x, y, z, rng=0, null="signs")
    assert (usual.null, drawn.null) == ("pearson3", "signs")
    assert drawn.pvalue == pytest.approx(usual.pvalue, abs=0.02)


@pytest.mark.no_cover
def test_any_regressor_of_scikit_learn_adjusts():
    x, y, z = draw_scenario("oscillating", 200, 2, rng=0)
    forest = RandomForestRegressor(5, min_samples_leaf=5, random_state=0)
    result = chsic.chsic_test(x, y, z, adjust=forest, rng=0, bandwidth="median")
    assert result.adjust == "RandomForestRegressor"
    again = chsic.chsic_test(x, y, z, adjust=forest, rng=0, bandwidth="median")
    assert again.to_dict() == result.to_dict()


def test_a_regressor_takes_off_what_it_predicts():
    """All pairs are compared, so that only the regression can know of z."""
    x, y, z = draw_scenario("linear", 200, rng=0)
    settings = {"alpha": 199, "rng": 0, "bandwidth": "median"}
    assert chsic.chsic_test(x, y, z, adjust="none", **settings).pvalue < 1e-6
    assert chsic.chsic_test(x, y, z, adjust=LinearRegression(), **settings).pvalue > 0.05


class _Wrong(LinearRegression):
    def predict(self, z):
        return np.full(len(z), np.nan)


class _Short(LinearRegression):
    def predict(self, z):
        return np.zeros(3)


@pytest.mark.parametrize(
    ("regressor", "what"), [(_Wrong(), "not finite"), (_Short(), "3 values for 40 rows")]
)
def test_a_regressor_that_fails_is_refused(regressor, what):
    x, y, z = draw_scenario("linear", 200, rng=0)
    with pytest.raises(ValueError, match=f"adjust: predict of .* returned .*{what}"):
        chsic.chsic_test(x, y, z, adjust=regressor, rng=0)


@pytest.mark.parametrize("bandwidth", [0.001, 1e-200, [1.0, 0.001]])
def test_bandwidths_within_which_there_is_nothing_are_refused(bandwidth):
    """They made independent data certainly dependent."""
    x, y, z = np.random.default_rng(0).normal(size=(3, 200))
    with pytest.raises(ValueError, match=r"is too narrow for x, with .* other samples within it"):
        chsic.chsic_test(x, y, z, bandwidth=bandwidth)
    with pytest.raises(ValueError, match="is too narrow for x"):
        chsic.hsic_test(x, y, bandwidth=bandwidth)


@pytest.mark.levels
def test_narrow_bandwidths_do_not_find_what_is_not_there():
    """x and y have different landmarks, also where the kernel tells all samples apart."""
    data = (np.random.default_rng(seed).normal(size=(2, 200)) for seed in range(60))
    found = [chsic.hsic_test(x, y, bandwidth=0.02, n_resamples=199, rng=0) for x, y in data]
    assert sum(one.pvalue <= 0.05 for one in found) <= 9  # 1 in 1,000 at a true 0.05


def test_results_cannot_be_written_into():
    result = chsic.chsic_test(*draw_scenario("add", 100, rng=0), rng=0)
    for held in (result.null_distribution, result.profile.contribution, result.leave_one_out):
        with pytest.raises(ValueError, match="read-only"):
            held[0] = 5.0


@pytest.mark.parametrize("argument", ["x", "y"])
@pytest.mark.parametrize(
    ("value", "told"),
    [(999_999, "1 value is more than 100 standard deviations"), (50, "one sample has 9")],
)
def test_one_value_far_off_is_told(argument, value, told):
    x, y, z = np.random.default_rng(0).normal(size=(3, 200))
    (x if argument == "x" else y)[7] = value
    [found] = chsic.chsic_test(x, y, z, rng=0).warnings
    assert found.startswith(f"{argument}: {told}")


def test_given_pairs_are_the_pairs_that_are_used():
    x, y, z = draw_scenario("add", 200, rng=0)
    graph = chsic.closest_pairs(z, 12)
    given = chsic.chsic_test(x, y, z, pairs=graph, rng=0)
    assert given.n_pairs == graph.n_pairs
    assert given.pairs == "given"
    assert given.pvalue < 0.05


def test_units_shifts_and_scales_do_not_matter():
    x, y, z = draw_scenario("square", 200, 2, rng=0)
    usual = chsic.chsic_test(x, y, z, rng=0)
    moved = chsic.chsic_test(1e6 + 1e3 * x, 1e-9 * y, z * [1e-5, 1e5] - 7, rng=0)
    assert moved.pvalue == pytest.approx(usual.pvalue, rel=0.05)
    assert moved.coefficient == pytest.approx(usual.coefficient, rel=1e-3)


def test_several_columns_of_x_are_tested_together():
    x, y, z = draw_scenario("add", 300, rng=0)
    rng = np.random.default_rng(1)
    wide = np.column_stack([x, rng.normal(size=300)])
    assert chsic.chsic_test(wide, y, z, rng=0).pvalue < 0.05
    beside_z = chsic.chsic_test(np.column_stack([x, 2 * z]), y, z, rng=0)
    assert "x[1] is a function of z" in beside_z.warnings[0]
    alone = chsic.chsic_test(x, y, z, rng=0).pvalue
    assert beside_z.pvalue == pytest.approx(alone, rel=1e-6)  # two columns round differently
    assert chsic.chsic_test(rng.normal(size=(300, 3)), y, z, rng=0).pvalue > 0.01


# ------------------------------------------------------------------------------------- warnings


def test_warnings_apply_to_the_data():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 120))
    assert chsic.chsic_test(x, y, rng.normal(size=120), rng=0).warnings == ()
    many = chsic.chsic_test(x, y, rng.normal(size=(120, 6)), rng=0).warnings
    assert any("6 confounders" in sentence for sentence in many)
    few = chsic.chsic_test(x[:12], y[:12], rng.normal(size=12), rng=0)
    assert few.null == "exhaustive"
    assert any("only 12 samples" in sentence for sentence in few.warnings)
    rare = np.r_[np.repeat([0.0, 1.0], 58), 5.0, 6.0, 7.0, 8.0]
    assert any("4 of 120 samples" in s for s in chsic.chsic_test(x, y, rare, rng=0).warnings)
    tied = np.r_[np.repeat(rng.normal(size=25), 3), rng.normal(size=45)]
    assert any("share their value of z" in s for s in chsic.chsic_test(x, y, tied, rng=0).warnings)
    closest = chsic.chsic_test(x, y, rng.integers(0, 10, 120), pairs="closest", alpha=4, rng=0)
    assert not any("far apart" in s for s in closest.warnings)
    far = chsic.chsic_test(x, y, rng.normal(size=(120, 3)), adjust="none", alpha=110, rng=0)
    assert any("far apart" in s for s in far.warnings)


# --------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"pairs": "near"}, "pairs: unknown choice 'near'"),
     ({"adjust": "spline"}, "adjust: unknown choice 'spline'"),
     ({"augment": "yes"}, "augment: expected 'auto', True or False"),
     ({"null": "normal"}, "null: unknown choice"),
     ({"n_resamples": 5}, "n_resamples: expected at least 19"),
     ({"alpha": 500}, "alpha: must lie between 1 and n - 1"),
     ({"nan_policy": "ignore"}, "nan_policy: unknown choice"),
     ({"tol": 0.5}, "tol: must lie between"),
     ({"block_size": 0}, "block_size: expected at least 1"),
     ({"bandwidth": -1.0}, "bandwidth: must be positive"),
     ({"bandwidth": []}, "bandwidth: the list is empty"),
     ({"pairs": "blocks", "alpha": 4}, "alpha: is not used with these pairs"),
     ({"pairs": "blocks", "block_size": 1}, "block_size: pairs='blocks' needs between 2 and"),
     ({"unit_size": 60}, "unit_size: 60 makes 1 units of 100 samples"),
     ({"pairs": "strata"}, "pairs: 'strata' needs samples with equal z")],
    ids=str,
)  # fmt: skip
def test_errors_name_the_argument(settings, message):
    x, y, z = draw_scenario("add", 100, rng=0)
    with pytest.raises(ValueError, match=message):
        chsic.chsic_test(x, y, z, **settings)


def test_settings_that_contradict_each_other_are_refused():
    x, y, z = draw_scenario("add", 100, rng=0)
    with pytest.raises(TypeError, match="adjust: expected 'auto'"):
        chsic.chsic_test(x, y, z, adjust=3)
    with pytest.raises(ValueError, match="alpha: has no meaning without z"):
        chsic.chsic_test(x, y, alpha=4)
    with pytest.raises(ValueError, match="pairs: the PairGraph is for 50 samples"):
        chsic.chsic_test(x, y, z, pairs=chsic.complete_pairs(50))
    codes = np.repeat([0.0, 1.0], 50)
    with pytest.raises(ValueError, match="adjust: pairs inside strata are exactly equal in z"):
        chsic.chsic_test(x, y, codes, pairs="strata", adjust="ridge")
    assert chsic.chsic_test(x, y, codes, adjust="ridge", rng=0).pairs == "nearest"
    with pytest.raises(ValueError, match="level: must lie between 0 and 1"):
        chsic.chsic_test(x, y, z, rng=0).confidence_interval(95)


def test_missing_values_are_refused_or_left_out():
    x, y, z = draw_scenario("add", 100, rng=0)
    x[3], z[7] = np.nan, np.nan
    with pytest.raises(ValueError, match="x: 1 of 100; z: 1 of 100 samples are missing"):
        chsic.chsic_test(x, y, z)
    omitted = chsic.chsic_test(x, y, z, nan_policy="omit", rng=0)
    keep = ~(np.isnan(x) | np.isnan(z))
    assert omitted.n_samples == 98
    assert omitted.pvalue == chsic.chsic_test(x[keep], y[keep], z[keep], rng=0).pvalue
    assert omitted.warnings[0] == "2 rows with missing values were left out."
    one = chsic.chsic_test(x, y, nan_policy="omit", rng=0)
    assert one.warnings[0] == "1 row with a missing value was left out."
    as_objects = np.where(np.isnan(x), None, x)
    assert chsic.chsic_test(as_objects, y, z, nan_policy="omit", rng=0).pvalue == omitted.pvalue


def test_a_regressor_inside_a_pipeline_is_repeatable():
    x, y, z = draw_scenario("add", 100, rng=0)
    regressor = make_pipeline(StandardScaler(), RandomForestRegressor(2, max_depth=2))
    settings = {"adjust": regressor, "bandwidth": "median", "rng": 0}
    one, two = (chsic.chsic_test(x, y, z, **settings) for _ in range(2))
    assert one.to_dict() == two.to_dict()
