"""No p-value is smaller than the data can support."""

import itertools
from math import factorial

import numpy as np
import pytest

import chsic
from chsic.inference.null import pvalue_of_units, table_probability
from chsic.inference.units import units_in_strata


def test_table_probability_is_the_share_of_permutations():
    """By going through all permutations of y inside two strata."""
    strata = np.array([0, 0, 0, 0, 1, 1, 1])
    x, y = np.array([0, 0, 1, 1, 0, 1, 2]), np.array([0, 1, 1, 1, 2, 2, 0])

    def table(y):
        return sorted(zip(strata, x, y, strict=True))

    orders = itertools.product(itertools.permutations(range(4)), itertools.permutations((4, 5, 6)))
    same = [table(y[[*a, *b]]) == table(y) for a, b in orders]
    assert len(same) == factorial(4) * factorial(3)
    assert table_probability(strata, x, y) == pytest.approx(np.mean(same))


def test_few_units_that_outweigh_all_others_decide_nothing():
    assert pvalue_of_units(np.eye(20)) == 2.0**-39
    one_beside_many = np.diag([1.0, *[1e-6] * 100])
    assert pvalue_of_units(one_beside_many) == pytest.approx(0.5, rel=1e-3)
    assert pvalue_of_units(np.zeros((5, 5))) == 1


@pytest.mark.parametrize("n", [50, 200, 1_000])
def test_one_coincidence_is_as_certain_as_it_is_rare(n):
    event = np.arange(n) == 7
    assert chsic.hsic_test(event * 1.0, event * 2.0, rng=0).pvalue == pytest.approx(1 / n)
    strata = np.arange(n) % 5
    found = chsic.chsic_test(event * 1.0, event * 2.0, strata, rng=0)
    # Where the event's stratum has few units, their signs show a little less than the table does.
    assert (1 - 1e-9) * 5 / n <= found.pvalue < 1.5 * 5 / n


def test_many_coincidences_are_certain():
    rng = np.random.default_rng(0)
    x = (rng.random(300) < 0.1).astype(float)
    for z in (None, np.arange(300) % 4, rng.normal(size=300)):
        assert chsic.chsic_test(x, x, z, rng=0).pvalue <= 1e-4


def test_a_large_stratum_beside_many_small_ones_is_cut_into_units():
    rng = np.random.default_rng(0)
    strata = np.where(rng.random(2_000) < 0.4, 0, rng.integers(1, 300, 2_000))
    strata = np.unique(strata, return_inverse=True)[1]
    units = units_in_strata(strata, 128)
    assert units.sizes.max() < 2 * 2_000 / 128 + 20
    of_large = strata[units.order] == 0
    inside = np.add.reduceat(of_large, units.bounds[:-1])
    assert set(inside / units.sizes) == {0.0, 1.0}
    small = strata[units.order[units.bounds[1:-1] - 1]] == strata[units.order[units.bounds[1:-1]]]
    assert (strata[units.order[units.bounds[1:-1]]][small] == 0).all()  # no other one is cut


def test_level_with_one_large_stratum_beside_many():
    """At a true 0.05, more than 8 of 40 come up in 1 of 5,000 cases; 23 were rejected."""
    rng = np.random.default_rng(1)
    rejected = 0
    for seed in range(40):
        z = np.where(rng.random(2_000) < 0.4, 0, rng.integers(0, 300, 2_000))
        x, y = rng.normal(size=(2, 2_000))
        rejected += chsic.chsic_test(x, y, z, n_resamples=199, rng=seed).pvalue <= 0.05
    assert rejected <= 8
