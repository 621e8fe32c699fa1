"""Rows that depend on each other in time: how long stretches are, and the level."""

import numpy as np
import pandas as pd
import pytest
from scipy.signal import lfilter
from scipy.stats import binom

import chsic
from chsic.inference.stretches import LONGER, Clock, stretch_length


def series(rng, n, memory):
    """An autoregressive series of variance 1."""
    noise = rng.normal(size=n + 200) * (1 - memory**2) ** 0.5
    return lfilter([1.0], [1.0, -memory], noise)[200:]


def with_memory(seed, n=400, memory=0.8, related=0.0):
    """x and y, each a function of z and a series of its own."""
    rng = np.random.default_rng(seed)
    z, e, h = (series(rng, n, memory) for _ in range(3))
    return np.sin(z) + e, z + h + related * e, z


@pytest.mark.parametrize("memory", [0.3, 0.6, 0.8])
def test_length_is_that_of_andrews_for_an_autoregressive_series(memory):
    """Times 1.1447 (4 r^2 n / (1 - r^2)^2)^(1/3), r the autocorrelation of products at one step."""
    n, r = 5_000, memory**2
    series = memory ** np.arange(75.0)
    length = stretch_length(series, series, n)
    assert length == pytest.approx(
        LONGER * 1.1447 * (4 * r**2 * n / (1 - r**2) ** 2) ** (1 / 3), rel=0.15
    )


def test_autocorrelations_are_those_of_the_definition():
    rng = np.random.default_rng(0)
    u = rng.normal(size=(300, 2)) + np.cumsum(rng.normal(size=(300, 2)), axis=0)
    found = Clock.of(np.arange(300.0), None).autocorrelations(u)
    centred = u - u.mean(axis=0)
    for lag in (1, 5, 20):
        products = (centred[lag:] * centred[:-lag]).sum(axis=1).mean()
        assert found[lag] == pytest.approx(products / (centred**2).sum(axis=1).mean())


def test_autocorrelations_of_irregular_times_are_those_of_distances_in_time():
    rng = np.random.default_rng(0)
    u = series(rng, 6_000, 0.8)[:, np.newaxis]
    some = np.sort(rng.choice(6_000, 3_000, replace=False))
    shuffled = rng.permutation(3_000)
    clock = Clock.of(some[shuffled] * 60.0, None)
    assert clock.unit == 60
    found = clock.autocorrelations(u[some[shuffled]])
    np.testing.assert_allclose(found[1:5], 0.8 ** np.arange(1, 5), atol=0.08)


def test_stretches_are_of_about_the_same_length_and_of_one_series():
    times = np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 98, 99, 0, 1, 2.0])
    firm = np.repeat([0, 1], [12, 3])
    rows = np.random.default_rng(0).permutation(15)
    stretches = Clock.of(times[rows], firm[rows]).stretches(5.0)
    found = np.empty(15, int)
    found[rows] = stretches
    groups = [list(times[found == one]) for one in dict.fromkeys(found)]
    assert groups == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9], [98, 99], [0, 1, 2]]


def test_independent_rows_pay_nothing():
    rng = np.random.default_rng(0)
    x, y, z = rng.normal(size=(3, 300))
    alone, timed = chsic.chsic_test(x, y, z), chsic.chsic_test(x, y, z, time="rows")
    assert (timed.pvalue, timed.stretch, timed.n_groups) == (alone.pvalue, 0.0, None)
    assert alone.stretch is None


def test_the_time_may_be_a_column_of_dates_in_any_order():
    x, y, z = with_memory(0)
    days = pd.date_range("2020-01-01", periods=len(x), freq="D")
    frame = pd.DataFrame({"x": x, "y": y, "z": z, "day": days}).sample(frac=1, random_state=0)
    by_date = chsic.chsic_test("x", "y", "z", data=frame, time="day")
    in_order = chsic.chsic_test(x, y, z, time="rows")
    assert by_date.stretch == pytest.approx(in_order.stretch, rel=1e-3)
    assert by_date.n_groups == in_order.n_groups
    assert by_date.statistic == pytest.approx(in_order.statistic, rel=1e-6)


def test_a_weak_memory_that_lasts_is_seen():
    """Products of small autocorrelations add up: once, rows were taken for independent."""
    seen = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x, y = (0.7 * series(rng, 1_000, 0.95) + rng.normal(size=1_000) for _ in "xy")
        seen.append(chsic.hsic_test(x, y, time="rows").stretch)
    assert min(seen) > 10


def test_volatility_is_a_memory():
    seen = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x, y = (np.exp(series(rng, 800, 0.97)) * rng.normal(size=800) for _ in "xy")
        seen.append(chsic.hsic_test(x, y, time="rows").stretch)
    assert np.median(seen) > 10


def test_levels_of_series_that_last_make_each_series_a_group():
    rng = np.random.default_rng(0)
    sensor, time = np.repeat(np.arange(50), 50), np.tile(np.arange(50), 50)
    x, y = (rng.normal(size=2_500) + 0.5 * rng.normal(size=50)[sensor] for _ in "xy")
    assert chsic.hsic_test(x, y, groups=sensor, time=time).n_groups == 50
    x, y = rng.normal(size=(2, 2_500))
    assert chsic.hsic_test(x, y, groups=sensor, time=time).n_groups is None


def test_rows_of_one_time_are_averaged_to_see_a_memory():
    rng = np.random.default_rng(0)
    time = np.repeat(np.arange(200), 5)
    x, y = (series(rng, 200, 0.8)[time] + rng.normal(size=1_000) for _ in "xy")
    assert chsic.hsic_test(x, y, time=time).stretch > 4


@pytest.mark.parametrize("unit", [1, 1 / 7, 1 / 24, 1e-3, 0.1])
@pytest.mark.parametrize("start", [0, 1_000])
def test_the_unit_of_time_does_not_matter(unit, start):
    time = np.repeat(np.arange(120), 3)
    x, y = np.random.default_rng(0).normal(size=(2, 120))[:, time]
    assert chsic.hsic_test(x, y, time=start + time * unit, stretch=unit).n_groups == 120


def test_a_length_that_is_given_is_used():
    x, y, z = with_memory(0)
    given = chsic.chsic_test(x, y, z, time="rows", stretch=20)
    assert (given.stretch, given.n_groups) == (20, 20)
    groups = chsic.chsic_test(x, y, z, groups=np.arange(400) // 20)
    assert given.pvalue == groups.pvalue


def test_each_group_is_a_series_of_its_own():
    rng = np.random.default_rng(0)
    firm = np.repeat(np.arange(30), 40)
    x, y = (np.concatenate([series(rng, 40, 0.5) for _ in range(30)]) for _ in "xy")
    result = chsic.hsic_test(x, y, groups=firm, time=np.tile(np.arange(40), 30))
    assert 30 < result.n_groups < 400
    assert result.pvalue > 0.01


def test_a_memory_too_long_for_the_data_is_told():
    rng = np.random.default_rng(0)
    x, y = np.cumsum(rng.normal(size=(2, 200)), axis=1)
    result = chsic.hsic_test(x, y, time="rows")
    assert "more than a tenth of the time" in " ".join(result.warnings)
    assert result.n_groups >= 10


def test_a_memory_longer_than_series_cuts_none_of_them():
    rng = np.random.default_rng(0)
    x, y = np.cumsum(rng.normal(size=(2, 12, 20)), axis=2).reshape(2, -1)
    firm, year = np.repeat(np.arange(12), 20), np.tile(np.arange(20), 12)
    result = chsic.hsic_test(x, y, groups=firm, time=year)
    assert result.n_groups == 12
    assert "more than a tenth of the time" not in " ".join(result.warnings)


@pytest.mark.levels
@pytest.mark.parametrize("kind", ["z", "no z", "levels", "hourly"])
def test_the_level_holds(kind):
    """Of 20 true nulls, six rejections at 0.05 happen once in 3,000 times."""
    rejected = 0
    for seed in range(20):
        x, y, z = with_memory(seed)
        if kind == "no z":
            x, y, z = x - np.sin(z), y - z, None
        elif kind == "levels":
            z = np.round(z)
        elif kind == "hourly":
            hourly = 2 * np.sin(2 * np.pi * np.arange(400) / 24)
            x, y, z = x - np.sin(z) + np.sin(hourly), y - z + hourly, hourly
        rejected += chsic.chsic_test(x, y, z, time="rows").pvalue <= 0.05
    assert binom.sf(5, 20, 0.05) < 1 / 3_000
    assert rejected <= 5


def test_relations_are_seen():
    x, y, z = with_memory(0, related=0.8)
    assert chsic.chsic_test(x, y, z, time="rows").pvalue < 0.01


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"time": np.zeros(400)}, ValueError, "time: all rows of a series have the same time"),
        ({"time": ["2020-01-01"] * 400}, TypeError, "pandas.to_datetime"),
        ({"time": "day"}, TypeError, "give the data frame as well"),
        ({"time": np.zeros((400, 2))}, ValueError, "time: got 2 columns; one is needed"),
        ({"stretch": 10}, ValueError, "give time as well"),
        ({"time": "rows", "stretch": 0}, ValueError, "stretch: a number above 0 is needed"),
        (
            {"time": "rows", "stretch": 500},
            ValueError,
            "stretch: 500 is as long as all",
        ),
        ({"time": [*range(399), np.inf]}, ValueError, "time: some times are infinite"),
        ({"time": np.exp(np.linspace(0, 600, 400))}, ValueError, "steps from one time"),
    ],
)
def test_wrong_times_are_refused(settings, error, message):
    with pytest.raises(error, match=message):
        chsic.chsic_test(*with_memory(0), **settings)
