"""Jumps along z: where they are found, and what becomes of the level beside them."""

import array_api_strict
import numpy as np
import pytest

import chsic
from chsic.inference.learner import Learner
from chsic.inference.steps import Condition, Steps, find_steps


def learn(z, x):
    z = z if z.ndim == 2 else z[:, None]
    z = (z - z.mean(axis=0)) / z.std(axis=0)
    return Learner(z).learn(x[:, None]).ridge.steps


def smooth(n):
    return np.full((n, 1), n**-0.5)


def test_steps_are_rare_in_noise():
    rng = np.random.default_rng(0)
    number = sum(len(learn(*rng.normal(size=(2, 200)))) > 0 for _ in range(100))
    assert number <= 5  # one is expected, six happen once in 1,700 times


def test_noise_that_changes_along_z_is_no_jump():
    """Without the variance of the samples that a step weighs, 0.4 of these had one."""
    rng = np.random.default_rng(1)
    draws = (rng.normal(size=(2, 400)) for _ in range(50))
    assert sum(len(learn(z, z + abs(z) * e)) > 0 for z, e in draws) <= 8


def test_steps_are_where_jumps_are():
    rng = np.random.default_rng(1)
    z = rng.random(500)
    x = np.floor(4 * z) + 0.3 * rng.normal(size=500)
    steps = learn(z, x)
    places = sorted(region[0].threshold * z.std() + z.mean() for region in steps.regions)
    assert places == pytest.approx([0.25, 0.5, 0.75], abs=0.01)


def test_a_jump_of_one_column_may_depend_on_another():
    rng = np.random.default_rng(2)
    z = rng.normal(size=(600, 3))
    x = 2.0 * (z[:, 0] > 0) * (z[:, 1] > 0.3) + 0.5 * rng.normal(size=600)
    deepest = max(learn(z, x).regions, key=len)
    assert sorted(condition.direction for condition in deepest) == [0, 1]


def test_gain_is_that_of_a_least_squares_fit():
    """The step that is added first lowers the residual sum of squares most."""
    rng = np.random.default_rng(3)
    z = rng.random((60, 1))
    target = (z > 0.6) + 0.3 * rng.normal(size=(60, 1))
    line = np.linalg.qr(np.column_stack([np.ones(60), z]))[0]
    [(first,)] = find_steps(z, np.eye(1), target, line).regions[:1]
    left = {}
    for threshold in np.sort(z[:, 0])[5:-5]:
        functions = np.column_stack([line, z[:, 0] < threshold])
        left[threshold] = np.linalg.lstsq(functions, target, rcond=None)[1][0]
    best = min(left, key=left.get)
    below = z[z < best].max()
    assert below < first.threshold < best


def test_superfluous_steps_are_dropped():
    """A bump makes steps at both its ends, and none that it needed on the way."""
    rng = np.random.default_rng(4)
    z = np.sort(rng.random((400, 1)), axis=0)
    target = 3.0 * ((z > 0.3) & (z < 0.6)) + 0.3 * rng.normal(size=(400, 1))
    regions = find_steps(z, np.eye(1), target, smooth(400)).regions
    assert sorted(r[0].threshold for r in regions) == pytest.approx([0.3, 0.6], abs=0.01)


def test_steps_are_evaluated_in_any_namespace():
    z = np.random.default_rng(5).normal(size=(20, 2))
    regions = ((Condition(0, 0.1, below=True), Condition(1, 0.2, below=False)),)
    steps = Steps(np.eye(2), regions)
    expected = ((z[:, 0] <= 0.1) & (z[:, 1] > 0.2)).astype(float)
    assert steps(z)[:, 0].tolist() == expected.tolist()
    strict = steps(array_api_strict.asarray(z))
    assert np.from_dlpack(strict)[:, 0].tolist() == expected.tolist()


def test_constant_targets_make_no_steps():
    assert not len(find_steps(np.arange(50.0)[:, None], np.eye(1), np.ones((50, 1)), smooth(50)))


def test_the_result_tells_what_z_explains():
    rng = np.random.default_rng(6)
    z = rng.random(400)
    x, y = (z > 0.5) + 0.2 * rng.normal(size=400), rng.normal(size=400)
    result = chsic.chsic_test(x, y, z)
    assert result.explained["x"] == pytest.approx(0.25 / 0.29, abs=0.03)
    assert result.explained["y"] < 0.05
    assert result.jumps == {"x": 1, "y": 0}


ROUGH = {
    "four jumps": (1, lambda z: np.floor(4 * z[:, 0])),
    "sawtooth": (1, lambda z: (7 * z[:, 0]) % 1),
    "opening hours": (1, lambda z: abs((10 * z[:, 0]) % 1 - 0.5) < 0.2),
    "bump": (1, lambda z: np.exp(-(((z[:, 0] - 0.5) / 0.02) ** 2))),
    "fast wave": (1, lambda z: np.sin(40 * np.pi * z[:, 0])),
    "threshold of two of five": (5, lambda z: 1.0 * (z[:, 0] > 0.5) * (z[:, 1] > 0.4)),
}


QUICK = {"four jumps", "threshold of two of five"}  # the others take longer


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name in QUICK else pytest.mark.levels) for name in ROUGH],
)
def test_the_level_holds_where_z_is_rough(name):
    """Of 40 true nulls, eight rejections at 0.05 happen once in 4,000 times; once all were."""
    d, function = ROUGH[name]
    rejected = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        z, (e, h) = rng.random((500, d)), rng.normal(size=(2, 500))
        f = function(z) / function(z).std()
        rejected += chsic.chsic_test(f + 0.5 * e, f + 0.5 * h, z).pvalue <= 0.05
    assert rejected <= 7
