"""Cuts of a line into segments: the cheapest there are, and where they end."""

import numpy as np
import pytest

import tests.inference.theory_reference as ref
from chsic.inference.segments import MOST_CUTS, find_cuts


def hours(n, days, noise, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.random(n)
    return z, (abs(days * z % 1 - 0.5) < 0.25) + noise * rng.normal(size=n)


@pytest.mark.parametrize("straight", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_no_other_cuts_are_cheaper(straight, seed):
    rng = np.random.default_rng(seed)
    z = np.round(rng.random(50), 2)  # equal values are not cut apart
    values = np.column_stack([np.floor(3 * z) + 0.1 * rng.normal(size=50), rng.normal(size=50)])
    order = np.argsort(z, kind="stable")
    expected = ref.cuts(z[order], values[order], straight)
    found = find_cuts(z, values, straight)
    assert found == pytest.approx(expected)
    assert not {*np.round(found, 9)} & {*z}


def test_ends_are_where_values_jump_among_many_samples():
    """Every tenth sample alone may end a segment at first."""
    z, x = hours(5_000, 10, 0.3)
    cuts = find_cuts(z, x[:, np.newaxis], straight=False)
    jumps = np.sort([(day + quarter) / 10 for day in range(10) for quarter in (0.25, 0.75)])
    assert len(cuts) == len(jumps)
    assert np.abs(np.array(cuts) - jumps).max() < 0.001


def test_noise_is_not_cut():
    rng = np.random.default_rng(0)
    draws = (rng.normal(size=(2, 300)) for _ in range(40))
    assert sum(len(find_cuts(z, x[:, np.newaxis], straight=False)) for z, x in draws) <= 2


def test_too_many_cuts_are_none():
    z, x = hours(2_000, MOST_CUTS, 0.01)
    assert find_cuts(z, x[:, np.newaxis], straight=False) == []


@pytest.mark.parametrize("values", [np.ones((50, 2)), np.zeros((9, 1))])
def test_what_does_not_vary_is_not_cut(values):
    assert find_cuts(np.arange(float(len(values))), values, straight=True) == []
