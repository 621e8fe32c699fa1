"""Rows compared inside their groups: what is constant in a group cancels."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import chsic
from chsic.inference.batches import Batch
from chsic.inference.clusters import Clusters
from chsic.inference.ridge import Ridge


def firms(seed, number=50, each=6, *, related=0.0):
    """x and y of firms whose levels relate them, of which z knows a part."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(number), each)
    level = 2 * rng.normal(size=number)[groups]
    e, h, noise = rng.normal(size=(3, len(groups)))
    z = 0.5 * level + noise
    return np.sin(2 * z) + level + e, z + level + h + related * e, z, groups


def test_a_regression_within_groups_is_that_with_an_indicator_of_each():
    rng = np.random.default_rng(0)
    labels, z = rng.integers(0, 10, 200), rng.normal(size=(200, 1))
    x = z + labels[:, np.newaxis] + rng.normal(size=(200, 1))
    ridge = Ridge(z, groups=Clusters(labels, within=True))
    fitted = ridge.fit(x)
    basis, fit = fitted.fit.basis, fitted.fit
    indicators = np.eye(10)[labels]
    functions = np.hstack([indicators, basis.design(z) @ basis.turn])
    penalty = np.concatenate([np.zeros(10), 1 / np.maximum(fit.shrinkage, 1e-300) - 1])
    equations = functions.T @ functions + np.diag(penalty)
    hat = functions @ np.linalg.solve(equations, functions.T)
    np.testing.assert_allclose(fitted.residuals, x - hat @ x, atol=1e-8)
    left = np.eye(200) - hat
    np.testing.assert_allclose(fitted.noise, (left**2).sum(axis=1), atol=1e-8)


def test_some_rows_are_of_whole_groups():
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.repeat(np.arange(400), rng.integers(1, 6, 400)))
    rows = Clusters(labels, within=True).some_rows(300)
    assert 290 <= len(rows) <= 300
    assert not {*labels[rows]} & {*np.delete(labels, rows)}


def test_a_regression_on_some_rows_sees_what_groups_have_left(monkeypatch):
    """Rows drawn one by one were alone in their groups: nothing was left to choose a width by."""
    rng = np.random.default_rng(0)
    labels, z = np.repeat(np.arange(1_000), 2), rng.normal(size=(2_000, 1))
    signal = np.sin(4 * z)
    x = signal + 3 * rng.normal(size=(1_000, 1))[labels] + 0.3 * rng.normal(size=(2_000, 1))
    clusters = Clusters(labels, within=True)
    monkeypatch.setattr("chsic.inference.ridge.LARGEST_FIT", 300)
    monkeypatch.setattr("chsic.inference.ridge.WIDTH_SAMPLES", 100)
    ridge = Ridge(z, groups=clusters)
    fit = ridge.fit(x[ridge.rows]).fit
    batch = Batch.at(slice(0, 2_000), z=z, groups=clusters.units)
    residuals, _ = fit.residuals(signal, batch)
    assert residuals.var() < 0.05 * clusters.less_means(signal).var()


def test_levels_of_groups_change_nothing():
    x, y, z, groups = firms(0)
    rng = np.random.default_rng(1)
    plain = chsic.chsic_test(x, y, z, groups=groups, within=True)
    more_x, more_y = 5 * rng.normal(size=(2, 50))[:, groups]
    shifted = chsic.chsic_test(x + more_x, y + more_y, z, groups=groups, within=True)
    assert shifted.coefficient == pytest.approx(plain.coefficient, abs=0.01)


def test_no_z_is_a_test_in_strata_of_groups():
    x, y, _, groups = firms(0)
    frame = pd.DataFrame({"x": x, "y": y, "firm": groups})
    within = chsic.chsic_test("x", "y", data=frame, groups="firm", within=True)
    assert (within.pairs, within.n_pairs, within.names["z"]) == ("strata", 50 * 15, ())
    assert within.profile.z.shape[1] == 0


def test_samples_alone_in_their_group_are_left_out():
    x, y, z, groups = firms(0)
    groups = np.where(np.arange(300) < 3, 100 + np.arange(300), groups)
    for given in (z, None, np.round(z)):
        result = chsic.chsic_test(x, y, given, groups=groups, within=True)
        assert result.n_samples < 300
        assert "are not used" in " ".join(result.warnings)


@pytest.mark.levels
@pytest.mark.parametrize("kind", ["numbers", "nothing", "categories", "large groups"])
def test_the_level_holds_where_levels_confound(kind):
    """Of 24 true nulls, six rejections at 0.05 happen once in 900 times."""
    rejected = 0
    for seed in range(24):
        x, y, z, groups = firms(seed, *((20, 20) if kind == "large groups" else (50, 6)))
        if kind == "nothing":
            x, y, z = x - np.sin(2 * z), y - z, None
        elif kind == "categories":
            ward = np.clip(np.round(z), -1, 1)
            x, y, z = x - np.sin(2 * z) + ward, y - z + ward, ward.astype(int).astype(str)
        rejected += chsic.chsic_test(x, y, z, groups=groups, within=True).pvalue <= 0.05
    assert binom.sf(5, 24, 0.05) < 1 / 900
    assert rejected <= 5
    assert chsic.chsic_test(*firms(0)[:3], groups=firms(0)[3]).pvalue < 0.01  # levels relate them


def test_two_variables_of_few_values_need_a_z_of_categories():
    """Of 50 groups of 10, nearly all true nulls were rejected otherwise."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(50), 10)
    level, z = 2 * rng.normal(size=50)[groups], rng.normal(size=500)
    x, y = (level + f + rng.normal(size=500) > 0 for f in (np.sin(z), z))
    with pytest.raises(ValueError, match="within: x and y have few values"):
        chsic.chsic_test(x, y, z, groups=groups, within=True)
    classes = np.digitize(z, [-0.5, 0.5]).astype(str)
    assert chsic.chsic_test(x, y, classes, groups=groups, within=True).n_samples > 400


def test_relations_inside_groups_are_seen():
    x, y, z, groups = firms(0, related=0.5)
    assert chsic.chsic_test(x, y, z, groups=groups, within=True).pvalue < 0.01
    assert chsic.hsic_test(x, y, groups=groups, within=True).pvalue < 0.01


def test_levels_that_lie_far_apart_hide_nothing():
    """Without the means of groups, bandwidths would be those of the levels."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(60), 6)
    (of_x, of_y), (x, noise) = 10 * rng.normal(size=(2, 60))[:, groups], rng.normal(size=(2, 360))
    y = np.cos(2 * x) + 0.5 * noise
    assert chsic.hsic_test(of_x + x, of_y + y, groups=groups, within=True).pvalue < 0.01


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "give groups as well"),
        ({"groups": np.arange(300)}, "every row is of a group of its own"),
        ({"groups": np.arange(300) // 6, "time": "rows"}, "leave time out"),
        ({"groups": np.arange(300) // 6, "pairs": "closest"}, "does not go with within=True"),
    ],
)
def test_what_does_not_go_with_within_is_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        chsic.chsic_test(*firms(0)[:3], within=True, **settings)


def test_within_is_true_or_false():
    with pytest.raises(TypeError, match="within: expected True or False"):
        chsic.chsic_test(*firms(0)[:3], groups=firms(0)[3], within="yes")
