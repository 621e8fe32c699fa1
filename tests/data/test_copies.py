"""Copies of rows are told from rows that are equal by chance."""

import numpy as np
import pytest

import chsic
from chsic.data.column import Column
from chsic.data.copies import number_of_copies


def numbers(*values):
    return [Column(str(k), "number", np.asarray(v, float)) for k, v in enumerate(values)]


def mostly_equal(rng, levels):
    x = rng.integers(0, levels, 400)
    return x, np.where(rng.random(400) < 0.6, x, rng.integers(0, levels, 400))


INDEPENDENT = {
    "numbers": lambda rng: rng.normal(size=(3, 300)),
    "rounded": lambda rng: rng.normal(size=(3, 300)).round(1),
    "the same measure twice": lambda rng: mostly_equal(rng, 30),
    "the same fine measure twice": lambda rng: mostly_equal(rng, 3_000),
    "mostly zero": lambda rng: np.where(rng.random((2, 300)) < 0.6, 0, rng.normal(size=(2, 300))),
    "doses and events": lambda rng: (rng.integers(0, 25, 900) / 7, *(rng.random((2, 900)) < 0.1)),
    "large counts": lambda rng: rng.lognormal(5, 1, (2, 400)).round(),
}


@pytest.mark.parametrize("name", INDEPENDENT)
def test_independent_rows_have_no_copies(name):
    alarms = [
        number_of_copies(numbers(*INDEPENDENT[name](np.random.default_rng(seed)))) > 0
        for seed in range(60)
    ]
    assert np.mean(alarms) <= 1 / 60


@pytest.mark.parametrize("copies", [2, 4, 10])
def test_copies_are_counted(copies):
    rows = np.random.default_rng(0).permutation(np.repeat(np.arange(300 // copies), copies))
    x, y, z = np.random.default_rng(1).normal(size=(3, 300))
    letter = Column("letter", "category", (x > 0).astype(float)[rows], ("a", "b"))
    assert number_of_copies([*numbers(x[rows], y[rows], z[rows]), letter]) == 300


def test_a_few_copies_among_many_rows_do_not_matter():
    x, y = np.random.default_rng(0).normal(size=(2, 1_000))
    rows = np.append(np.arange(1_000), [3, 4])
    assert number_of_copies(numbers(x[rows], y[rows])) == 0


def test_a_test_of_copies_says_so():
    rows = np.repeat(np.arange(100), 2)
    x, y, z = np.random.default_rng(2).normal(size=(3, 100))
    result = chsic.chsic_test(x[rows], (x + y)[rows], z[rows])
    assert "200 of 200 rows are equal to another" in " ".join(result.warnings)
    grouped = chsic.chsic_test(x[rows], (x + y)[rows], z[rows], groups=rows)
    assert "are equal to another" not in " ".join(grouped.warnings)
