"""A caution says when a p-value leans on a regression that missed something."""

import dataclasses

import numpy as np
import pytest

import chsic
from chsic.inference import compare
from chsic.inference.echo import GROUPS, Nearby

SAID = "still follow"


def warned(result):
    return any(SAID in one for one in result.warnings)


def fast_wave(rng, n=500):
    z = rng.random(n)
    wave = np.sin(200 * np.pi * z)
    return wave + 0.4 * rng.normal(size=n), wave + 0.4 * rng.normal(size=n), z


def signs_of_three(rng, n=500):
    z = rng.normal(size=(n, 5))
    f = np.sign(z[:, :3].prod(axis=1))
    return f + 0.5 * rng.normal(size=n), f + 0.5 * rng.normal(size=n), z


@pytest.mark.parametrize("draw", [fast_wave, signs_of_three])
def test_what_both_regressions_miss_is_told(draw):
    result = chsic.chsic_test(*draw(np.random.default_rng(0)), rng=0)
    assert result.pvalue < 0.01  # although x and y are independent given z
    [caution] = [one for one in result.warnings if SAID in one]
    assert caution.startswith("x and y still follow ")
    assert ("alpha=1" in caution) == (draw is fast_wave)
    if draw is fast_wave:  # the remedy helps
        data = draw(np.random.default_rng(0))
        closest = chsic.chsic_test(*data, pairs="closest", alpha=1, rng=0)
        assert closest.pvalue > 1e3 * result.pvalue


def test_what_one_regression_misses_is_not(monkeypatch):
    x, _, z = fast_wave(np.random.default_rng(0))
    y = np.random.default_rng(1).normal(size=len(z))
    y = y + np.sin(2 * z)
    monkeypatch.setattr(compare, "SMALL", 1.0)
    assert not warned(chsic.chsic_test(x, y, z, rng=0))


@pytest.mark.levels
@pytest.mark.parametrize("d", [1, 2, 5])
def test_false_alarms_are_rare(d):
    smooth = [chsic.datasets.draw_scenario("linear", 200, d, rng=seed) for seed in range(40)]
    assert sum(warned(chsic.chsic_test(*one, rng=0)) for one in smooth) <= 2
    related = [chsic.datasets.draw_scenario("add", 200, d, rng=seed) for seed in range(20)]
    results = [chsic.chsic_test(*one, rng=0) for one in related]
    assert np.mean([one.pvalue <= 0.05 for one in results]) > 0.7
    # 5 of 20 at a true 1 in 25: 1 in 1,000
    assert sum(map(warned, results)) < 5


def test_the_caution_changes_nothing_else(monkeypatch):
    data = fast_wave(np.random.default_rng(0))
    told = chsic.chsic_test(*data, rng=0)
    monkeypatch.setattr(compare, "SMALL", -1.0)
    silent = chsic.chsic_test(*data, rng=0)
    assert warned(told)
    assert not warned(silent)
    assert told.pvalue == silent.pvalue
    assert dataclasses.replace(told, warnings=()).to_dict() == (
        dataclasses.replace(silent, warnings=()).to_dict()
    )


def test_no_regression_no_caution():
    x, y, z = fast_wave(np.random.default_rng(0))
    assert not warned(chsic.chsic_test(x, y, z, adjust="none", rng=0))
    assert not warned(chsic.chsic_test(x, y, np.floor(4 * z), rng=0))
    assert not warned(chsic.hsic_test(x, y, rng=0))


def test_neighbours_are_the_nearest_others():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(300, 2))
    z[:50] = z[0]  # many samples are equal
    nearby = Nearby(z, z, None)
    for found in nearby.neighbours:
        assert (found != nearby.rows).all()
    apart = np.linalg.norm(z[:, np.newaxis] - z[nearby.rows], axis=-1)
    apart[nearby.rows, np.arange(300)] = np.inf
    distances = [np.linalg.norm(z[k] - z[nearby.rows], axis=1) for k in nearby.neighbours]
    np.testing.assert_allclose(np.sort(distances, axis=0), np.sort(apart, axis=0)[:4])
    order = np.argsort(z[:, 0], kind="stable")
    on_line = Nearby(z[:, :1], z[:, :1], order)
    before, after = on_line.neighbours
    np.testing.assert_array_equal(on_line.rows, order)
    np.testing.assert_array_equal(before[1:], order[:-1])
    np.testing.assert_array_equal(after[:-1], order[1:])
    assert len(on_line.starts) == GROUPS


@pytest.mark.parametrize("several", [False, True])
def test_many_samples_are_looked_at_in_part(monkeypatch, several):
    monkeypatch.setattr("chsic.inference.echo.SAMPLES", 400)
    draw = signs_of_three if several else fast_wave
    assert warned(chsic.chsic_test(*draw(np.random.default_rng(1), 600), rng=0))


def test_regressions_on_a_part_of_the_samples_are_looked_at(monkeypatch):
    monkeypatch.setattr("chsic.inference.ridge.LARGEST_FIT", 400)
    monkeypatch.setattr("chsic.inference.learner.STEP_SAMPLES", 300)
    assert warned(chsic.chsic_test(*fast_wave(np.random.default_rng(1), 600), rng=0))
