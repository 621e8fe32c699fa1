"""The test: its answers, its level and power on fixed seeds, its results and its errors."""

import dataclasses
import json

import numpy as np
import pytest
import scipy.stats
from sklearn.ensemble import RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import chsic
from chsic.datasets import draw_scenario
from chsic.pairs.entries import degrees
from chsic.smooth import Smoother


def rejections(name, n, reps, d=None, **settings):
    """Count rejections at 0.05 over fixed seeds."""
    count = 0
    for seed in range(reps):
        x, y, z = draw_scenario(name, n, d, rng=seed)
        count += chsic.chsic_test(x, y, z, rng=seed, n_resamples=499, **settings).pvalue <= 0.05
    return count


# Level: at a true 0.05 in 100 tests, more than 12 come up in 1 of 700 cells.
@pytest.mark.parametrize(
    ("name", "n", "d"),
    [("m_plus-10dB", 100, 1), ("sharp", 200, 1), ("scale", 200, 1), ("levels-30", 200, None),
     ("mixed", 200, 2), ("oscillating", 200, 3), ("counts", 200, 1)],
)  # fmt: skip
def test_level(name, n, d):
    assert rejections(name, n, 100, d) <= 12


@pytest.mark.parametrize(
    ("name", "n", "d", "at_least"),
    [("add", 200, 1, 27), ("square", 200, 1, 26), ("add", 200, 3, 26), ("m_minus-10dB", 200, 1, 26),
     ("circle", 200, 1, 24), ("levels", 400, None, 22)],
)  # fmt: skip
def test_power(name, n, d, at_least):
    """Out of 30; the laboratory measured .95 and more, circle .9, levels .9."""
    assert rejections(name, n, 30, d) >= at_least


def sign_change(n, seed):
    rng = np.random.default_rng(seed)
    x, z, noise = rng.normal(size=(3, n))
    return x, np.sign(z) * x + noise, z


def test_augmentation_finds_what_cancels_along_z():
    """y = sign(z) x + noise: averaged over z, x and y are uncorrelated.

    A wide bandwidth, which sees little but correlation, shows it most clearly.
    """

    def found(augment):
        settings = {"augment": augment, "bandwidth": 6.0}
        tests = (chsic.chsic_test(*sign_change(200, s), rng=s, **settings) for s in range(20))
        return sum(test.pvalue <= 0.05 for test in tests)

    assert found(False) <= 5
    assert found(True) == 20
    assert chsic.chsic_test(*sign_change(200, 0), rng=0).pvalue < 0.001
    winner = chsic.chsic_test(*sign_change(200, 0), rng=0)
    assert winner.members[winner.winner].augmented


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
    found = [chsic.chsic_test(x[:n], y[:n], z[:n], rng=0) for n in (127, 128, 129)]
    assert [result.block_size for result in found] == [1, 1, 129 / 128]
    assert np.ptp(np.log([result.pvalue for result in found])) < 1
    for size in (1, 2, 3):
        other = chsic.chsic_test(x, y, z, block_size=size, rng=0)
        assert abs(np.log(other.pvalue / found[-1].pvalue)) < 1.2


@pytest.mark.parametrize("workers", [2, 3])
def test_workers_and_seeds(workers):
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
    scales = [Smoother(values[:, None])._scale for values in (z, z[order], z[order[::-1]])]
    assert max(scales) < 1.15 * min(scales)


def test_tied_z_in_the_order_of_y_carries_no_information():
    """Samples sorted by x and y inside ties of z must not look dependent."""
    rng = np.random.default_rng(6)
    z = np.repeat(rng.normal(size=100), 2)  # pairs of ties: too few for strata
    x, y = rng.normal(size=(2, 200))
    order = np.lexsort([y, z])
    pvalues = [chsic.chsic_test(x[order], y[order], z[order], rng=s).pvalue for s in range(5)]
    assert max(pvalues) > 0.05


# ---------------------------------------------------------------------------------- coefficient


def test_coefficient_is_one_for_y_equal_x():
    x, _, z = draw_scenario("oscillating", 300, rng=0)
    found = chsic.chsic_test(x, x, z, rng=0)
    assert found.coefficient == pytest.approx(1.0)
    assert found.confidence_interval().high <= 1.0
    assert found.pvalue < 1e-6


def test_coefficient_is_comparable_across_sizes_and_the_raw_value_is_not():
    small = np.mean(
        [chsic.chsic_test(*draw_scenario("add", 250, rng=s), rng=0).coefficient for s in range(12)]
    )
    large = chsic.chsic_test(*draw_scenario("add", 8000, rng=0), rng=0).coefficient
    assert small == pytest.approx(large, rel=0.25)
    raw = [chsic.chsic(*draw_scenario("add", n, rng=0)) for n in (250, 8000)]
    assert raw[0] > 2 * raw[1]


def test_coefficient_is_centred_under_conditional_independence():
    values = [
        chsic.chsic_test(*draw_scenario("oscillating", 150, rng=s), rng=0).coefficient
        for s in range(60)
    ]
    assert abs(np.mean(values)) < 3.5 * np.std(values) / np.sqrt(60)


def test_profile_shows_where_dependence_sits():
    """y follows x for positive z only."""
    rng = np.random.default_rng(0)
    x, z, noise = rng.normal(size=(3, 600))
    found = chsic.chsic_test(x, np.where(z > 0, x, 0) + 0.5 * noise, z, rng=0)
    profile = found.profile
    positive = profile.z[:, 0] > 0
    assert profile.contribution[positive].sum() > 10 * abs(profile.contribution[~positive].sum())
    middle = found.bandwidths[1]
    plain = chsic.chsic_test(
        x, np.where(z > 0, x, 0) + 0.5 * noise, z, rng=0, bandwidth=middle, augment=False
    )
    assert profile.contribution.sum() == pytest.approx(plain.estimate, rel=1e-2)


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
    assert len(plain["members"]) == len(result.members) == 6
    assert result.alpha == pytest.approx(result.n_samples // 8, abs=2)
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
     {"bandwidth": "paper"}, {"block_size": 10}, {"tol": 1e-2},
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


def test_named_defaults():
    x, y, z = draw_scenario("oscillating", 200, rng=3)
    named = {"pairs": "nearest", "alpha": len(x) // 8, "adjust": "ridge"}
    usual = chsic.chsic_test(x, y, z, rng=0)
    assert chsic.chsic_test(x, y, z, rng=0, **named).to_dict() == usual.to_dict()
    fitted = chsic.chsic_test(x, y, z, rng=0, null="pearson3")
    assert (usual.null, fitted.null) == ("signs", "pearson3")
    assert fitted.pvalue == pytest.approx(usual.pvalue, abs=0.1)


def test_any_regressor():
    x, y, z = draw_scenario("oscillating", 200, 2, rng=0)
    forest = RandomForestRegressor(20, min_samples_leaf=5, random_state=0)
    result = chsic.chsic_test(x, y, z, adjust=forest, rng=0, bandwidth="median")
    assert result.adjust == "RandomForestRegressor"
    assert result.pvalue > 0.001
    again = chsic.chsic_test(x, y, z, adjust=forest, rng=0, bandwidth="median")
    assert again.to_dict() == result.to_dict()


def test_given_pairs():
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


def test_several_columns_of_x_and_y():
    x, y, z = draw_scenario("add", 300, rng=0)
    rng = np.random.default_rng(1)
    wide = np.column_stack([x, rng.normal(size=300)])
    assert chsic.chsic_test(wide, y, z, rng=0).pvalue < 0.05
    beside_z = chsic.chsic_test(np.column_stack([x, 2 * z]), y, z, rng=0)
    assert "x, column x[1] is a function of z" in beside_z.warnings[0]
    alone = chsic.chsic_test(x, y, z, rng=0).pvalue
    assert beside_z.pvalue == pytest.approx(alone, rel=1e-6)  # two columns round differently
    assert chsic.chsic_test(rng.normal(size=(300, 3)), y, z, rng=0).pvalue > 0.01


# ------------------------------------------------------------------------------------- warnings


def test_warnings_apply_to_the_data():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 120))
    assert chsic.chsic_test(x, y, rng.normal(size=120), rng=0).warnings == ()
    many = chsic.chsic_test(x, y, rng.normal(size=(120, 6)), rng=0).warnings
    assert any("6 columns" in sentence for sentence in many)
    few = chsic.chsic_test(x[:12], y[:12], rng.normal(size=12), rng=0)
    assert few.null == "exhaustive"
    assert any("Only 12 units" in sentence for sentence in few.warnings)
    rare = np.r_[np.repeat([0.0, 1.0], 58), 5.0, 6.0, 7.0, 8.0]
    assert any("4 samples" in s for s in chsic.chsic_test(x, y, rare, rng=0).warnings)
    tied = np.r_[np.repeat(rng.normal(size=25), 3), rng.normal(size=45)]
    assert any("share their z" in s for s in chsic.chsic_test(x, y, tied, rng=0).warnings)
    closest = chsic.chsic_test(x, y, rng.integers(0, 10, 120), pairs="closest", alpha=4, rng=0)
    assert not any("far apart" in s for s in closest.warnings)
    far = chsic.chsic_test(x, y, rng.normal(size=(120, 3)), adjust="none", alpha=110, rng=0)
    assert any("far apart" in s for s in far.warnings)


def test_function_of_z_leaves_nothing():
    z, y = np.random.default_rng(0).normal(size=(2, 100))
    found = chsic.chsic_test(3 * z + 1, y, z, rng=0)
    assert found.pvalue == 1
    assert "x is a function of z" in found.warnings[0]
    assert repr(found)
    json.dumps(found.to_dict())


@pytest.mark.parametrize("n", [4, 5, 6, 8, 12, 20, 25])
@pytest.mark.parametrize("kind", ["line", "plane", "binary", "none", "many columns"])
def test_few_samples_give_an_answer(n, kind):
    rng = np.random.default_rng(n)
    x, y = rng.normal(size=(2, n))
    z = {
        "line": rng.normal(size=n),
        "plane": rng.normal(size=(n, 2)),
        "binary": np.resize([0.0, 1.0], n),
        "none": None,
        "many columns": rng.normal(size=(n, n + 2)),
    }[kind]
    found = chsic.chsic_test(x, y, z, rng=0)
    assert 0 < found.pvalue <= 1
    assert np.isfinite(found.confidence_interval()).all()
    if kind == "many columns":
        assert any("do not trust the p-value" in sentence for sentence in found.warnings)


def test_noise_free_functions_of_z_are_told():
    """What a regression leaves of sin z is its own error, and x and y share it."""
    z = np.random.default_rng(0).normal(size=300)
    found = chsic.chsic_test(np.sin(z), np.sin(z), z, rng=0)
    for name, sentence in zip("xy", found.warnings[:2], strict=True):
        assert sentence.startswith(f"{name} is nearly a function of z")
    x, y, z = draw_scenario("strong", 300, rng=0)
    assert chsic.chsic_test(x, y, z, rng=0).warnings == ()


def test_function_of_a_discrete_z_leaves_nothing():
    rng = np.random.default_rng(0)
    z = rng.integers(0, 4, 200).astype(float)
    found = chsic.chsic_test(z % 2, rng.normal(size=200), z, rng=0)
    assert found.pvalue == 1
    assert "x is a function of z" in found.warnings[0]


def test_columns_of_z_that_repeat_each_other():
    rng = np.random.default_rng(0)
    x, y, z = draw_scenario("oscillating", 200, rng=0)
    codes = rng.integers(0, 3, 200)
    for wide in (
        np.column_stack([z, z]),
        np.column_stack([z, 2 * z + 1, rng.normal(size=200)]),
        np.column_stack([z, *(codes == k for k in range(3))]),
    ):
        assert chsic.chsic_test(x, y, wide, rng=0).pvalue > 1e-3


@pytest.mark.parametrize("d", [0, 1, 2])
def test_rare_events(d):
    """Two in a thousand: most samples that distances are taken between are equal."""
    rng = np.random.default_rng(0)
    n = 3000
    x, y = (rng.random((2, n)) < 0.002).astype(float)
    x[0] = y[1] = 1
    z = None if d == 0 else rng.normal(size=(n, d))
    assert 0 < chsic.chsic_test(x, y, z, rng=0).pvalue <= 1
    if d == 1:
        assert chsic.calibrate(x, y, z, n_sim=5, rng=0, n_resamples=99).n_sim == 5


def test_many_small_strata_do_not_fill_the_memory():
    rng = np.random.default_rng(0)
    n = 6000
    x, y = rng.normal(size=(2, n))
    found = chsic.chsic_test(x, y, np.repeat(np.arange(n // 3), 3), rng=0)
    assert found.pairs == "strata"
    assert n / found.block_size <= 128
    assert found.pvalue > 1e-3


def test_level_where_units_hold_several_samples():
    """30 strata and augmentation: products inside a unit are a part of what varies."""
    rejected = 0
    for seed in range(60):
        x, y, z = draw_scenario("levels-30", 600, rng=seed)
        rejected += (
            chsic.chsic_test(x, y, z, rng=seed, augment=True, n_resamples=199).pvalue <= 0.05
        )
    assert rejected <= 8  # of 60 at a true 0.05: 1 in 130


def test_matching_many_equal_rows_is_quick_and_blind_to_their_order():
    rng = np.random.default_rng(0)
    z = rng.integers(0, 2, (3000, 2)).astype(float)
    blocks = chsic.block_pairs(z, 4, rng=0).blocks
    assert np.bincount(blocks).max() <= 8
    mixed = sum(len(np.unique(z[blocks == b], axis=0)) > 1 for b in range(blocks.max() + 1))
    assert mixed <= 6
    assert not np.array_equal(blocks, chsic.block_pairs(z, 4, rng=1).blocks)


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
     ({"block_size": 60}, "block_size: 60 makes 1 units of 100 samples"),
     ({"pairs": "strata"}, "pairs: 'strata' needs samples with equal z")],
    ids=str,
)  # fmt: skip
def test_errors_name_the_argument(settings, message):
    x, y, z = draw_scenario("add", 100, rng=0)
    with pytest.raises(ValueError, match=message):
        chsic.chsic_test(x, y, z, **settings)


def test_more_errors():
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


def test_missing_values():
    x, y, z = draw_scenario("add", 100, rng=0)
    x[3], z[7] = np.nan, np.nan
    with pytest.raises(ValueError, match="x: 1 of 100; z: 1 of 100 samples are missing"):
        chsic.chsic_test(x, y, z)
    omitted = chsic.chsic_test(x, y, z, nan_policy="omit", rng=0)
    keep = ~(np.isnan(x) | np.isnan(z))
    assert omitted.n_samples == 98
    assert omitted.pvalue == chsic.chsic_test(x[keep], y[keep], z[keep], rng=0).pvalue
    assert "2 rows with missing values" in omitted.warnings[0]
    as_objects = np.where(np.isnan(x), None, x)
    assert chsic.chsic_test(as_objects, y, z, nan_policy="omit", rng=0).pvalue == omitted.pvalue


def test_interval_ends_where_the_estimate_is_as_far_off_as_it_may_be():
    """(estimate - theta)^2 = t^2 (a theta + b) at both ends, the variance known at the estimate."""
    result = chsic.chsic_test(*draw_scenario("add", 300, rng=1), rng=0)
    values = result.leave_one_out
    n_units = len(values)
    variance = (n_units - 1) / n_units * ((values - values.mean()) ** 2).sum()
    b = result.null_spread**2
    slope = (variance - b) / result.coefficient
    quantile = scipy.stats.t.ppf(0.95, n_units - 1)
    for end in result.confidence_interval(0.9):
        allowed = quantile**2 * (slope * end + b)
        assert (end - result.coefficient) ** 2 == pytest.approx(allowed, rel=1e-9)


def test_level_with_few_samples_and_several_columns():
    """A fit takes much of few samples; 16 of 150 at a true 0.05 come up in 1 of 300 cases."""
    rejected = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(2, 30))
        found = chsic.chsic_test(x, y, rng.normal(size=(30, 3)), rng=seed, n_resamples=199)
        rejected += found.pvalue <= 0.05
    assert rejected <= 15


def test_a_sample_far_off_makes_no_p_value_of_nothing():
    """With two units, one far off, no two are near in z: nothing is weighted by z, or is NaN."""
    rng = np.random.default_rng(0)
    x, y, z = rng.normal(size=(3, 191))
    z[0] = 1e6
    found = chsic.chsic_test(x, y, z, block_size=95, null="signs", rng=0)
    assert found.pvalue > 0.3
    assert np.isfinite(found.null_distribution).all()
    assert not any(member.augmented for member in found.members)


def test_interval_near_zero_is_short():
    """It does not jump at an estimate of 0, and does not reach up to 1 just above it."""
    result = chsic.chsic_test(*draw_scenario("oscillating", 200, rng=0), rng=0)
    ends = [
        dataclasses.replace(result, coefficient=value).confidence_interval()
        for value in (-1e-6, 1e-6)
    ]
    assert ends[0] == pytest.approx(ends[1], abs=1e-4)
    assert ends[1].high < 0.2


def test_many_samples_of_equal_z_are_partners_of_each_other():
    """None of them becomes the partner of all, as a tree would have it."""
    rng = np.random.default_rng(1)
    z = rng.normal(size=(2_000, 2)) * (rng.random((2_000, 1)) < 0.4)
    graph = chsic.nearest_pairs(z, 10)
    assert degrees(graph).max() < 60
    x, noise = rng.normal(size=(2, 2_000))
    assert chsic.chsic_test(x, noise + 0.3 * x, z, rng=0).pvalue < 1e-6


def test_rare_values_of_z():
    """Those few samples that a width is chosen on may all be equal."""
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 20_000))
    z = np.zeros(20_000)
    z[:3] = 1
    for settings in ({"pairs": "nearest"}, {"adjust": "ridge"}):
        assert 0 < chsic.chsic_test(x, y, z, rng=0, **settings).pvalue <= 1


def test_a_regressor_inside_a_pipeline_is_repeatable():
    x, y, z = draw_scenario("add", 100, rng=0)
    regressor = make_pipeline(StandardScaler(), RandomForestRegressor(2, max_depth=2))
    one, two = (chsic.chsic_test(x, y, z, adjust=regressor, rng=0) for _ in range(2))
    assert one.to_dict() == two.to_dict()
