"""Bandwidth rules, against their definitions."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from chsic.kernels import bandwidth


def test_paper_rule_is_the_standard_deviation_shrunk():
    x = np.array([[1.0, 10.0], [2.0, 30.0], [4.0, 20.0], [9.0, 40.0]])
    expected = np.sqrt(((x - x.mean(axis=0)) ** 2).sum(axis=0) / 3) * 4 ** (-0.2)
    np.testing.assert_allclose(bandwidth.paper_rule("x", x), expected, rtol=1e-14)


@pytest.mark.parametrize("n", [4, 5, 6, 51, 300])
def test_median_rule_of_one_column_is_the_median_distance(n):
    x = np.random.default_rng(n).normal(size=(n, 1))
    assert bandwidth.median_rule("x", x) == pytest.approx(np.median(pdist(x)), rel=1e-14)


def test_median_rule_of_several_columns_is_of_standardised_ones():
    x = np.random.default_rng(0).normal(size=(60, 3)) * [1, 100, 0.01]
    scale = x.std(axis=0, ddof=1)
    np.testing.assert_allclose(
        bandwidth.median_rule("x", x), scale * np.median(pdist(x / scale)), rtol=1e-12
    )


def test_median_rule_of_many_rows_uses_a_fixed_subset():
    x = np.random.default_rng(0).normal(size=(5000, 2))
    first, second = bandwidth.median_rule("x", x), bandwidth.median_rule("x", x)
    np.testing.assert_array_equal(first, second)
    # Two standard normal columns: the median distance is sqrt(2 * 2 ln 2) = 1.665.
    assert first / x.std(axis=0, ddof=1) == pytest.approx(1.665, rel=0.02)


def test_samples_are_shifted_by_their_median_and_scaled():
    x = np.array([[1.0], [2.0], [4.0], [9.0]])
    scaled, _ = bandwidth.in_bandwidths(x, x, (2.0, "paper"))
    np.testing.assert_allclose(scaled[:, 0], [-1.0, -0.5, 0.5, 3.0])


def test_distances_of_one_column_are_those_beside_a_constant_one():
    rng = np.random.default_rng(0)
    x, distinct_in = rng.normal(size=(2, 500, 1)).round(1)
    beside = np.hstack([x, np.zeros_like(x)])
    for apart in (None, distinct_in):
        one = bandwidth.some_distances(x, 1_000, apart)
        assert len(one) == 1_000 if apart is None else 900 < len(one) < 1_000
        np.testing.assert_array_equal(one, bandwidth.some_distances(beside, 1_000, apart))
