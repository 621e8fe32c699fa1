"""A claim that the coefficient is small, and the verdict in a word."""

import numpy as np
import pytest

import chsic
from chsic.inference.result import HARDLY_MATTERS


def pair(rho, n, rng):
    x, e = rng.normal(size=(2, n))
    return x, rho * x + (1 - rho**2) ** 0.5 * e


def test_it_claims_no_more_than_the_interval():
    # The two-sided interval of level 1 - 2 p ends where a claim could have the p-value p.
    result = chsic.hsic_test(*pair(0.3, 500, np.random.default_rng(0)))
    for level in (0.5, 0.9, 0.99):
        high = result.confidence_interval(level).high
        assert (1 - level) / 2 <= result.equivalence(high) < 0.5
    bounds = np.linspace(0.01, 0.9, 30)
    pvalues = [result.equivalence(bound) for bound in bounds]
    assert np.all(np.diff(pvalues) <= 0)


@pytest.mark.levels
def test_a_coefficient_at_the_bound_is_seldom_called_smaller():
    """Normal x and y of the correlation 0.3 have the coefficient 0.039: no claim is true."""
    for n in (60, 200):  # where the interval alone would be wrong in up to 12 percent
        claims = [
            chsic.hsic_test(*pair(0.3, n, np.random.default_rng(seed))).equivalence(0.039) <= 0.05
            for seed in range(100)
        ]
        # More than 12 of 100 at a true 0.05: 1 in 1,000.
        assert sum(claims) <= 12


def test_more_samples_decide():
    rng = np.random.default_rng(1)
    verdicts = [chsic.hsic_test(*pair(0.0, n, rng)).verdict for n in (30, 3_000)]
    assert verdicts == ["undecided", "practically unrelated"]
    assert chsic.hsic_test(*pair(0.5, 300, rng)).verdict == "yes"
    assert chsic.hsic_test(*pair(0.5, 300, rng)).to_dict()["verdict"] == "yes"


def test_nothing_is_claimed_where_nothing_varies():
    x = np.arange(40) % 2
    result = chsic.chsic_test(x, np.random.default_rng(0).normal(size=40), x)
    assert (result.equivalence(0.5), result.verdict) == (1.0, "undecided")


@pytest.mark.parametrize("bound", [0, 1, -0.1, float("nan")])
def test_a_bound_lies_between_0_and_1(bound):
    result = chsic.hsic_test(*pair(0.0, 50, np.random.default_rng(0)))
    with pytest.raises(ValueError, match="bound"):
        result.equivalence(bound)


def test_the_default_bound_is_that_of_a_weak_correlation():
    weak = chsic.hsic_test(*pair(0.2, 50_000, np.random.default_rng(0))).coefficient
    assert weak < HARDLY_MATTERS < 1.4 * weak
