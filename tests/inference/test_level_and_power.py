"""How often the test rejects, on fixed seeds and within binomial bounds."""

import numpy as np
import pytest

import chsic
from chsic.datasets import draw_scenario

pytestmark = pytest.mark.no_cover


def rejections(name, n, reps, d=None):
    """Count rejections at 0.05 over fixed seeds."""
    count = 0
    for seed in range(reps):
        x, y, z = draw_scenario(name, n, d, rng=seed)
        count += chsic.chsic_test(x, y, z, rng=seed, n_resamples=199).pvalue <= 0.05
    return count


NULLS = [
    ("m_plus-10dB", 100, 1), ("sharp", 200, 1), ("scale", 200, 1), ("levels-30", 200, None),
    ("mixed", 200, 2), ("oscillating", 200, 3), ("counts", 200, 1),
]  # fmt: skip


def test_level_is_kept():
    """At a true 0.05, one cell of the 7 has more than 6 of 30 rejected in 1 of 250 cases, and all
    together have more than 21 of 210 in 1 of 1,000.

    A rate of 0.3 in one cell is noticed in 5 of 6 cases, one of 0.15 in all of them in 49 of 50.
    The laboratory, whose results are committed, looks at every cell 1,000 times.
    """
    counts = {cell: rejections(*cell[:2], 30, cell[2]) for cell in NULLS}
    assert max(counts.values()) <= 6, counts
    assert sum(counts.values()) <= 21, counts


def rare_binary(rng):
    return (rng.random((2, 400)) < 0.06).astype(float)


def mostly_zero(rng):
    return rng.normal(size=(2, 300)) * (rng.random((2, 300)) < 0.1)


@pytest.mark.levels
@pytest.mark.parametrize("draw", [rare_binary, mostly_zero])
def test_level_where_hardly_any_sample_has_both(draw):
    """Products of single samples tell nothing of the variance then; partners' products do.

    With and without z, more than 9 of 60 come up in 1 of 1,300 cases at a true 0.05; at 0.2, in 4
    of 5.
    """
    count = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        x, y = draw(rng)
        z = rng.normal(size=len(x)) if seed % 2 else None
        count += chsic.chsic_test(x, y, z, rng=seed, n_resamples=199).pvalue <= 0.05
    assert count <= 9


@pytest.mark.levels
def test_level_where_events_nearly_follow_z():
    """Distances of residuals are then how the fit follows z, which no bandwidth should see.

    A fifth was rejected, with p-values down to 3e-19.
    """
    pvalues = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        z = rng.normal(size=200)
        x, y = (rng.random((2, 200)) < 1 / (1 + np.exp(10 - 8 * z))).astype(float)
        pvalues.append(chsic.chsic_test(x, y, z, rng=seed, n_resamples=199).pvalue)
    assert sum(p <= 0.05 for p in pvalues) <= 9
    assert min(pvalues) > 1e-4


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("name", "n", "d", "at_least"),
    [("add", 200, 1, 27), ("square", 200, 1, 26), ("add", 200, 3, 26), ("m_minus-10dB", 200, 1, 26),
     ("circle", 200, 1, 24), ("levels", 400, None, 22)],
)  # fmt: skip
def test_dependences_are_found(name, n, d, at_least):
    """Out of 30; the laboratory measured .95 and more, circle .9, levels .9."""
    assert rejections(name, n, 30, d) >= at_least


def sign_change(n, seed):
    rng = np.random.default_rng(seed)
    x, z, noise = rng.normal(size=(3, n))
    return x, np.sign(z) * x + noise, z


def test_augmentation_finds_what_cancels_along_z():
    """y = sign(z) x + noise: averaged over z, x and y are uncorrelated.

    A wide bandwidth, which sees little but correlation, shows it most clearly.
    """

    def found(augment):
        settings = {"augment": augment, "bandwidth": 6.0}
        tests = (chsic.chsic_test(*sign_change(200, s), rng=s, **settings) for s in range(20))
        return sum(test.pvalue <= 0.05 for test in tests)

    assert found(False) <= 5
    assert found(True) == 20
    assert chsic.chsic_test(*sign_change(200, 0), rng=0).pvalue < 0.001


@pytest.mark.levels
def test_level_where_units_hold_several_samples():
    """30 strata and augmentation: products inside a unit are a part of what varies."""
    rejected = 0
    for seed in range(60):
        x, y, z = draw_scenario("levels-30", 600, rng=seed)
        rejected += (
            chsic.chsic_test(x, y, z, rng=seed, augment=True, n_resamples=199).pvalue <= 0.05
        )
    assert rejected <= 8  # of 60 at a true 0.05: 1 in 130


@pytest.mark.levels
def test_level_with_few_samples_and_several_columns():
    """A fit takes much of few samples; 16 of 150 at a true 0.05 come up in 1 of 300 cases."""
    rejected = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(2, 30))
        found = chsic.chsic_test(x, y, rng.normal(size=(30, 3)), rng=seed, n_resamples=199)
        rejected += found.pvalue <= 0.05
    assert rejected <= 15
