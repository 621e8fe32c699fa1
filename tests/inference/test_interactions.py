"""Dependence that changes along one of several columns of z."""

import array_api_strict
import numpy as np
import pytest

import chsic
from chsic.inference.interactions import Interactions
from chsic.pairs.nearest_neighbours import nearest_in_space


def changing(seed, n=300, strength=1.0):
    """Dependence of x and y that changes its sign along the third of four columns."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 4))
    e, h = rng.normal(size=(2, n))
    x = z[:, 0] + e
    return x, z[:, 1] + strength * e * z[:, 2] + h, z


def test_features_are_centred_and_of_unit_length():
    z = np.random.default_rng(0).normal(size=(300, 5))
    made = Interactions.of(z, 3.0, nearest_in_space(z, 10, np.random.default_rng(0)))
    features = made(z)
    assert features.mean(axis=0) == pytest.approx(np.zeros(features.shape[1]), abs=1e-12)
    assert (features**2).sum(axis=1).mean() == pytest.approx(1)
    strict = made(array_api_strict.asarray(z))
    assert np.from_dlpack(strict) == pytest.approx(features, abs=1e-9)


def test_features_tell_along_which_column_anything_changes():
    z = np.random.default_rng(0).normal(size=(500, 5))
    features = Interactions.of(z, 3.0, nearest_in_space(z, 10, np.random.default_rng(0)))(z)
    for column in z.T:
        fitted = features @ np.linalg.lstsq(features, column, rcond=None)[0]
        assert np.corrcoef(fitted, column)[0, 1] > 0.95


@pytest.mark.no_cover
def test_what_changes_its_sign_is_seen():
    """17 of 20; without this member 3 were."""
    pvalues = [chsic.chsic_test(*changing(seed, strength=0.4)).pvalue for seed in range(20)]
    assert np.count_nonzero(np.array(pvalues) <= 0.05) >= 12


def test_the_winner_is_the_interaction():
    result = chsic.chsic_test(*changing(0))
    assert result.winner == len(result.members) - 1
    assert len(result.bandwidths) == 3


@pytest.mark.levels
def test_level_with_several_columns():
    """Of 60 true nulls, nine rejections at 0.05 happen once in 500 times."""
    rejected = sum(chsic.chsic_test(*changing(s, 200, 0.0)).pvalue <= 0.05 for s in range(60))
    assert rejected <= 8


def test_batches_add_up(monkeypatch):
    """Cut into batches, units and partners are the same."""
    x, y, z = changing(1, 400)
    whole = chsic.chsic_test(x, y, z)
    monkeypatch.setattr("chsic.inference.batches.ROWS_IN_SPACE", 100)
    parts = chsic.chsic_test(x, y, z)
    assert parts.pvalue == pytest.approx(whole.pvalue, rel=1e-9)
    assert parts.members[-1].statistic == pytest.approx(whole.members[-1].statistic, rel=1e-9)


def test_screen_and_discovery_have_the_same_members():
    x, y, z = changing(2)
    data = {"x": x, "y": y} | {f"z{k}": column for k, column in enumerate(z.T)}
    confounders = [name for name in data if name[0] == "z"]
    alone = chsic.chsic_test(x, y, z).pvalue
    discovery = chsic.Discovery(data)
    assert discovery.result("x", "y", confounders).pvalue == pytest.approx(alone, rel=1e-6)
    [screened] = chsic.screen(data, given=confounders).pairs
    assert screened.pvalue == pytest.approx(alone, rel=1e-6)


def test_one_column_has_none():
    x, y, z = changing(3)
    members = chsic.chsic_test(x, y, z[:, 2]).members
    assert [member.augmented for member in members] == [True] * 4


def test_without_kernels_on_z_there_is_none():
    result = chsic.chsic_test(*changing(4), augment=False)
    assert not any(member.augmented for member in result.members)
    assert len(result.members) == 3
