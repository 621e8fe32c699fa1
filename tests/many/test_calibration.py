"""The test along its settings, and on data simulated to be like the user's own."""

import json

import numpy as np
import pytest
from scipy import stats

import chsic
from chsic.data.samples import read_samples
from chsic.datasets import draw_scenario
from chsic.many.exchange import _match, _others
from chsic.many.simulation import Source


def test_sensitivity_is_the_test_along_settings():
    x, y, z = draw_scenario("add", 200, rng=0)
    found = chsic.sensitivity(x, y, z, alphas=[4, 16], bandwidths=[0.6, 5], rng=0)
    assert [p.alpha for p in found.along_alpha] == [4, 16]
    assert [p.bandwidth for p in found.along_bandwidth] == [0.6, 5]
    assert found.along_alpha[0].pvalue != found.along_alpha[1].pvalue
    assert len(str(found).splitlines()) == 5
    json.dumps(found.to_dict())
    assert max(p.alpha for p in chsic.sensitivity(x[:20], y[:20], z[:20], rng=0).along_alpha) <= 19
    with pytest.raises(TypeError, match="unexpected keyword argument 'alpha'"):
        chsic.sensitivity(x, y, z, alpha=4)
    with pytest.raises(ValueError, match="pairs: alpha can be varied for 'nearest'"):
        chsic.sensitivity(x, y, z, pairs="blocks")
    with pytest.raises(ValueError, match="bandwidths: positive numbers are needed"):
        chsic.sensitivity(x, y, z, bandwidths=[0.0])


@pytest.mark.levels
@pytest.mark.parametrize(("name", "d"), [("oscillating", 1), ("levels-3", None), ("binary", 1)])
def test_calibration_simulates_independence_and_dependence(name, d):
    x, y, z = draw_scenario(name, 150, d, rng=0)
    found = chsic.calibrate(x, y, z, n_sim=40, effect_sizes=[0.6], rng=0, n_resamples=199)
    assert found.effect_sizes == (0.0, 0.6)
    assert found.rejection_rate(0.0) <= 0.175  # 7 of 40 at a true 0.05: 1 in 300
    assert found.rejection_rate(0.6) >= 0.6
    low, high = found.interval(0.0)
    assert low <= found.rejection_rate(0.0) <= high
    assert "level 0.05" in str(found)


def strata_of_numbers(rng, n=600):
    x = rng.normal(size=n)
    return x, x + 0.2 * rng.normal(size=n), rng.choice(["a", "b", "c"], n)


def alike_binary(rng, n=1000):
    z = rng.normal(size=n)
    x = rng.random(n) < 1 / (1 + np.exp(-z))
    return x, np.where(rng.random(n) < 0.98, x, ~x), z


def alike_numbers(rng, n=300):
    z, e = rng.normal(size=(2, n))
    return np.sin(2 * z) + e, np.cos(2 * z) + e, z


def alike_and_mostly_zero(rng, n=300):
    x = rng.normal(size=n) * (rng.random(n) < 0.1)
    return x, x + 0.0, rng.normal(size=n)


@pytest.mark.levels
@pytest.mark.parametrize(
    "draw", [strata_of_numbers, alike_binary, alike_numbers, alike_and_mostly_zero]
)
def test_what_is_related_is_redrawn_independent(draw):
    data = draw(np.random.default_rng(0))
    assert chsic.chsic_test(*data, rng=0).pvalue < 1e-4
    found = chsic.calibrate(*data, n_sim=40, effect_sizes=[], rng=0, n_resamples=199)
    assert found.effect_sizes == (0.0,)
    # More than 7 of 40 at a true 0.05: 1 in 1,400; if the dependence were kept, nearly all 40.
    assert found.rejection_rate(0.0) <= 0.175


def test_settings_that_cannot_be_followed_are_refused():
    x, y, z = draw_scenario("add", 100, rng=0)
    for refused, message in (
        (lambda: chsic.calibrate(x, y, None), "z: is needed here"),
        (lambda: chsic.sensitivity(x, y, None), "z: is needed here"),
        (lambda: chsic.sensitivity(x, y, z, alphas=[500]), "alphas: 500 is more than the n - 1"),
        (lambda: chsic.sensitivity(x, y, z, bandwidths=[1e9]), "is too wide for x"),
        (lambda: chsic.sensitivity(x, y, z, bandwidths=[1e-6]), "is too narrow for x"),
    ):
        with pytest.raises(ValueError, match=message):
            refused()
    for refused, message in (
        (lambda: chsic.calibrate(x, y, z, effect_sizes=0.3), r"effect_sizes: .*write \[0\.3\]"),
        (lambda: chsic.sensitivity(x, y, z, alphas=4), r"alphas: .*write \[4\]"),
    ):
        with pytest.raises(TypeError, match=message):
            refused()


def test_calibration_does_not_depend_on_workers():
    x, y, z = draw_scenario("add", 100, rng=0)
    one, two = (chsic.calibrate(x, y, z, n_sim=6, workers=w, rng=0, n_resamples=99) for w in (1, 2))
    assert one == two
    with pytest.raises(ValueError, match="effect_sizes: must lie between 0 and 1"):
        chsic.calibrate(x, y, z, effect_sizes=[2])
    with pytest.raises(ValueError, match=r"effect_size: 0\.7 was not simulated"):
        one.rejection_rate(0.7)


def test_redrawn_data_keep_their_laws():
    x, y, z = draw_scenario("scale", 2000, rng=0)
    source = Source.of(read_samples(x, y, z), np.random.default_rng(0))
    [drawn_x], [drawn_y] = (
        [column.values for column in columns]
        for columns in source.draw(0.0, np.random.default_rng(1))
    )
    assert stats.ks_2samp(drawn_x, x).pvalue > 0.01
    low, high = np.abs(z) < 0.3, np.abs(z) > 1
    assert drawn_x[low].std() < 0.5 * drawn_x[high].std()  # the spread still follows z
    assert drawn_y.shape == (2000,)


def test_redrawn_categories_are_categories():
    rng = np.random.default_rng(0)
    z = rng.normal(size=300)
    x = np.where(z + rng.normal(size=300) > 0, "high", "low")
    y = rng.choice(["a", "b", "c"], 300)
    found = chsic.calibrate(x, y, z, n_sim=20, effect_sizes=[1.0], rng=0, n_resamples=99)
    assert found.rejection_rate(0.0) <= 0.25
    assert found.rejection_rate(1.0) >= 0.8


@pytest.mark.levels
def test_what_the_regression_missed_is_simulated_and_told():
    rng = np.random.default_rng(0)
    z = rng.random(500)
    x, y = np.sin(200 * np.pi * z) + 0.4 * rng.normal(size=(2, 500))
    assert chsic.chsic_test(x, y, z, rng=0).pvalue < 0.01
    found = chsic.calibrate(x, y, z, n_sim=20, effect_sizes=[0.9], rng=0, n_resamples=99)
    assert found.missed == ("x", "y")
    assert found.rejection_rate(0.0) > 0.5
    assert found.rejection_rate(0.9) > 0.5
    assert "The regression has missed something of both x and y" in str(found)
    alone = chsic.calibrate(x, rng.normal(size=500), z, n_sim=20, effect_sizes=[], rng=0)
    assert alone.missed == ("x",)
    assert alone.rejection_rate(0.0) <= 0.25
    assert "missed" not in str(alone)


def test_all_samples_are_matched_with_neighbours():
    rng = np.random.default_rng(0)
    for d in (1, 3):
        near = _others(rng.random((200, d)), 2)
        labels = _match(near, rng)
        assert np.bincount(labels).min() >= 2
        assert all((labels[near[i]] == labels[i]).any() or labels[i] in labels[near]
                   for i in range(200))  # fmt: skip
        assert (labels != _match(near, rng)).any()


def test_values_are_exchanged_and_none_is_lost():
    rng = np.random.default_rng(0)
    z = rng.random(300)
    x, y = np.sin(120 * np.pi * z) + 0.2 * rng.normal(size=(2, 300))
    source = Source.of(read_samples(x, y, z), np.random.default_rng(0))
    assert source.exchange is not None
    ways = source.exchange.x, source.exchange.y
    drawn = source.draw(0.0, np.random.default_rng(1))
    given = [
        column.values / way.units - way.fit[:, 0] for [column], way in zip(drawn, ways, strict=True)
    ]
    for got, way in zip(given, ways, strict=True):
        np.testing.assert_allclose(np.sort(got), np.sort(way.residuals[:, 0]), atol=1e-12)
    from_x, from_y = (
        np.abs(got[:, np.newaxis] - way.residuals[:, 0]).argmin(axis=1)
        for got, way in zip(given, ways, strict=True)
    )
    assert (from_x != from_y).all()
    assert np.abs(z[from_x] - z).max() < 0.1
    [again], _ = source.draw(0.0, np.random.default_rng(2))
    assert (again.values != drawn[0][0].values).mean() > 0.2


def test_rough_events_are_exchanged_as_they_are():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(1_000, 5))
    shares = 1 / (1 + np.exp(-3 * np.sign(z[:, :3].prod(axis=1))))
    x, y = np.where(rng.random((2, 1_000)) < shares, "yes", "no")
    source = Source.of(read_samples(x, y, z), np.random.default_rng(0))
    assert source.missed == ("x", "y")
    [drawn], _ = source.draw(0.3, np.random.default_rng(1))
    assert drawn.levels == ("no", "yes")
    assert set(drawn.values) == {0.0, 1.0}
