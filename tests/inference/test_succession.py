"""Rows that follow each other are told to be alike, and only if they are."""

import numpy as np
import pytest
from scipy.stats import binom

import chsic
from chsic.inference.succession import LAGS, Succession
from tests.inference.test_groups import patients
from tests.inference.test_stretches import with_memory

ALIKE = "Rows that follow each other are alike"


def said(*samples, **settings):
    return ALIKE in " ".join(chsic.chsic_test(*samples, **settings).warnings)


@pytest.mark.levels
def test_rows_with_a_memory_are_told_where_they_were_rejected():
    told, rejected = 0, 0
    for seed in range(30):
        samples = with_memory(seed)
        result = chsic.chsic_test(*samples)
        rejected += result.pvalue <= 0.05
        told += result.pvalue <= 0.05 and ALIKE in " ".join(result.warnings)
    assert rejected >= 5  # all are true nulls
    assert told == rejected


def test_rows_of_patients_one_after_the_other_are_told():
    x, y, z, groups = patients(0, number=100, related=0.2)
    assert said(x, y, z)
    assert not said(x, y, z, groups=groups)
    shuffled = np.random.default_rng(0).permutation(len(x))
    assert not said(x[shuffled], y[shuffled], z[shuffled])


@pytest.mark.levels
@pytest.mark.parametrize("order", ["none", "z", "x", "changes along z"])
def test_independent_rows_are_not(order):
    """Of 60, four alarms happen once in 900 times if one in a hundred is false."""
    alarms = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        x, z, noise = rng.normal(size=(3, 300))
        y = x * np.sin(3 * z) + noise if order == "changes along z" else x + z + noise
        by = {"none": noise, "x": x}.get(order, z)
        rows = np.arange(300) if order == "none" else np.argsort(by)
        alarms += said(x[rows], y[rows], z[rows])
    assert binom.sf(3, 60, 0.01) < 1 / 300
    assert alarms <= 3


def test_others_are_far_in_rows_and_near_in_z():
    z = np.random.default_rng(0).normal(size=(400, 1))
    succession = Succession.of(400, None, z)
    rows = np.arange(400 - LAGS)
    for lag, others in enumerate(succession.others, start=1):
        assert (np.abs(others - rows[:, np.newaxis]) > 10).all()
        apart = np.abs(z[others, 0] - z[rows + lag])
        assert np.median(apart) < 0.05 * np.median(np.abs(z - z.T))


def test_few_rows_tell_nothing():
    assert Succession.of(40, None, None).places.shape == (40,)
    assert not said(*with_memory(0, n=40, memory=0.95))
