"""Data that make a test stumble: few, tied, rare, far off, or without noise."""

import json

import numpy as np
import pytest

import chsic
from chsic.datasets import draw_scenario


def test_tied_z_in_the_order_of_y_carries_no_information():
    """Samples sorted by x and y inside ties of z must not look dependent."""
    rng = np.random.default_rng(6)
    z = np.repeat(rng.normal(size=100), 2)  # pairs of ties: too few for strata
    x, y = rng.normal(size=(2, 200))
    order = np.lexsort([y, z])
    pvalues = [chsic.chsic_test(x[order], y[order], z[order], rng=s).pvalue for s in range(5)]
    assert max(pvalues) > 0.05


def test_function_of_z_leaves_nothing():
    z, y = np.random.default_rng(0).normal(size=(2, 100))
    found = chsic.chsic_test(3 * z + 1, y, z, rng=0)
    assert found.pvalue == 1
    assert "x is a function of z" in found.warnings[0]
    assert repr(found)
    json.dumps(found.to_dict())


@pytest.mark.parametrize("n", [4, 5, 6, 8, 12, 20, 25])
@pytest.mark.parametrize("kind", ["line", "plane", "binary", "none", "many columns"])
def test_few_samples_give_an_answer(n, kind):
    rng = np.random.default_rng(n)
    x, y = rng.normal(size=(2, n))
    z = {
        "line": rng.normal(size=n),
        "plane": rng.normal(size=(n, 2)),
        "binary": np.resize([0.0, 1.0], n),
        "none": None,
        "many columns": rng.normal(size=(n, n + 2)),
    }[kind]
    found = chsic.chsic_test(x, y, z, rng=0)
    assert 0 < found.pvalue <= 1
    assert np.isfinite(found.confidence_interval()).all()
    if kind == "many columns":
        assert any("do not trust the p-value" in sentence for sentence in found.warnings)


def test_noise_free_functions_of_z_are_told():
    """What a regression leaves of sin z is its own error, and x and y share it."""
    z = np.random.default_rng(0).normal(size=300)
    found = chsic.chsic_test(np.sin(z), np.sin(z), z, rng=0)
    for name, sentence in zip("xy", found.warnings[:2], strict=True):
        assert sentence.startswith(f"{name} is nearly a function of z")
    x, y, z = draw_scenario("strong", 300, rng=0)
    assert chsic.chsic_test(x, y, z, rng=0).warnings == ()


def test_function_of_a_discrete_z_leaves_nothing():
    rng = np.random.default_rng(0)
    z = rng.integers(0, 4, 200).astype(float)
    found = chsic.chsic_test(z % 2, rng.normal(size=200), z, rng=0)
    assert found.pvalue == 1
    assert "x is a function of z" in found.warnings[0]


def test_columns_of_z_that_repeat_each_other_change_little():
    rng = np.random.default_rng(0)
    x, y, z = draw_scenario("oscillating", 200, rng=0)
    codes = rng.integers(0, 3, 200)
    for wide in (
        np.column_stack([z, z]),
        np.column_stack([z, 2 * z + 1, rng.normal(size=200)]),
        np.column_stack([z, *(codes == k for k in range(3))]),
    ):
        assert chsic.chsic_test(x, y, wide, rng=0).pvalue > 1e-3


@pytest.mark.levels
@pytest.mark.parametrize("d", [0, 1, 2])
def test_rare_events_that_never_coincide_are_no_evidence(d):
    """Two in a thousand, never both: most samples that distances are taken between are equal."""
    rng = np.random.default_rng(0)
    n = 3000
    x, y = (rng.random((2, n)) < 0.002).astype(float)
    x[0] = y[1] = 1
    z = None if d == 0 else rng.normal(size=(n, d))
    assert not (x * y).any()
    assert chsic.chsic_test(x, y, z, rng=0).pvalue > 0.05
    if d == 1:
        assert chsic.calibrate(x, y, z, n_sim=5, rng=0, n_resamples=99).n_sim == 5


def test_many_small_strata_do_not_fill_the_memory():
    rng = np.random.default_rng(0)
    n = 6000
    x, y = rng.normal(size=(2, n))
    found = chsic.chsic_test(x, y, np.repeat(np.arange(n // 3), 3), rng=0)
    assert found.pairs == "strata"
    assert n / found.unit_size <= 128
    assert found.pvalue > 1e-3


def test_matching_many_equal_rows_is_quick_and_blind_to_their_order():
    rng = np.random.default_rng(0)
    z = rng.integers(0, 2, (3000, 2)).astype(float)
    blocks = chsic.block_pairs(z, 4, rng=0).blocks
    assert np.bincount(blocks).max() <= 8
    mixed = sum(len(np.unique(z[blocks == b], axis=0)) > 1 for b in range(blocks.max() + 1))
    assert mixed <= 6
    assert not np.array_equal(blocks, chsic.block_pairs(z, 4, rng=1).blocks)


def test_a_sample_far_off_makes_no_p_value_of_nothing():
    """With two units, one far off, no two are near in z: nothing is weighted by z, or is NaN."""
    rng = np.random.default_rng(0)
    x, y, z = rng.normal(size=(3, 191))
    z[0] = 1e6
    found = chsic.chsic_test(x, y, z, unit_size=95, null="signs", rng=0)
    assert found.pvalue > 0.3
    assert np.isfinite(found.null_distribution).all()
    assert not any(member.augmented for member in found.members)


def test_many_samples_of_equal_z_are_partners_of_each_other():
    """None of them becomes the partner of all, as a tree would have it."""
    rng = np.random.default_rng(1)
    z = rng.normal(size=(2_000, 2)) * (rng.random((2_000, 1)) < 0.4)
    graph = chsic.nearest_pairs(z, 10)
    assert graph.degrees.max() < 60
    x, noise = rng.normal(size=(2, 2_000))
    assert chsic.chsic_test(x, noise + 0.3 * x, z, rng=0).pvalue < 1e-6


def test_rare_values_of_z_give_an_answer():
    """Those few samples that a width is chosen on may all be equal."""
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 20_000))
    z = np.zeros(20_000)
    z[:3] = 1
    for settings in ({"pairs": "nearest"}, {"adjust": "ridge"}):
        assert 0 < chsic.chsic_test(x, y, z, rng=0, **settings).pvalue <= 1
