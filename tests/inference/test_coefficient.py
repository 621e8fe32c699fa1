"""The strength of a dependence: coefficient, interval, and where along z it sits."""

import dataclasses

import numpy as np
import pytest
import scipy.stats

import chsic
from chsic.datasets import draw_scenario


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


@pytest.mark.levels
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


def test_interval_near_zero_is_short():
    """It does not jump at an estimate of 0, and does not reach up to 1 just above it."""
    result = chsic.chsic_test(*draw_scenario("oscillating", 200, rng=0), rng=0)
    ends = [
        dataclasses.replace(result, coefficient=value).confidence_interval()
        for value in (-1e-6, 1e-6)
    ]
    assert ends[0] == pytest.approx(ends[1], abs=1e-4)
    assert ends[1].high < 0.2


def test_intervals_of_two_valued_variables_cover():
    """Half of all distances are between equal samples: those are no unit for a bandwidth."""
    found = [
        chsic.chsic_test(*draw_scenario("cancel", 300, rng=seed), rng=0, n_resamples=99)
        for seed in range(40)
    ]
    assert np.ptp([result.bandwidths[1] for result in found]) < 0.3
    covered = sum(low <= 0 <= high for low, high in (r.confidence_interval() for r in found))
    assert covered >= 34  # fewer in 1 of 250 at a true 0.95


@pytest.mark.parametrize("n", [4, 6, 10])
def test_intervals_hold_the_estimate(n):
    for seed in range(20):
        x, y, z = np.random.default_rng(seed).normal(size=(3, n))
        result = chsic.chsic_test(x, y, z, rng=0)
        low, high = result.confidence_interval()
        assert low <= result.coefficient <= high


@pytest.mark.levels
@pytest.mark.parametrize(
    ("scenario", "n", "number"), [("m_minus-10dB", 3_000, 40), ("levels", 3_000, 40)]
)
def test_intervals_are_as_wide_as_the_coefficient_varies(scenario, n, number):
    """They were four times too wide: units along z took change along z for chance."""
    results = [
        chsic.chsic_test(*chsic.datasets.draw_scenario(scenario, n, rng=seed))
        for seed in range(number)
    ]
    deviation = np.std([result.coefficient for result in results], ddof=1)
    widths = [np.ptp(result.confidence_interval()) / (2 * 1.96) for result in results]
    # A standard deviation of 40 values is known up to 11 percent: three of these, and 15 percent.
    assert 0.6 < np.mean(widths) / deviation < 1.6


def test_dependence_that_cancels_along_z_does_not_widen_the_interval():
    x, y, z = chsic.datasets.draw_scenario("cancel", 3_000, rng=0)
    unrelated = chsic.chsic_test(x, np.random.default_rng(1).permutation(y), z)
    found = chsic.chsic_test(x, y, z)
    assert found.null_spread < 2 * unrelated.null_spread
