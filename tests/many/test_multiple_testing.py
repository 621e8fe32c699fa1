"""Adjusted p-values: known ones, and the definitions by brute force."""

import itertools

import numpy as np
import pytest

import chsic
from chsic.many.multiple_testing import benjamini_hochberg, holm

# The example of Benjamini and Hochberg (1995), section 4.1.
KNOWN = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240,
         0.4262, 0.5719, 0.6528, 0.7590, 1.0000]  # fmt: skip


def test_the_example_of_benjamini_and_hochberg():
    """They reject four hypotheses at 0.05, and Holm's procedure three."""
    assert (benjamini_hochberg(KNOWN) <= 0.05).sum() == 4
    assert (holm(KNOWN) <= 0.05).sum() == 3
    np.testing.assert_allclose(benjamini_hochberg(KNOWN)[:4], [0.0015, 0.003, 0.0095, 0.035625])
    np.testing.assert_allclose(holm(KNOWN)[:4], [0.0015, 0.0056, 0.0247, 0.114])
    assert benjamini_hochberg(KNOWN)[-1] == holm(KNOWN)[-1] == 1


def rejected_by_step_up(pvalues, level):
    """The procedure of Benjamini and Hochberg: all up to the last below its line."""
    ordered = np.sort(pvalues)
    m = len(ordered)
    below = [k for k in range(1, m + 1) if ordered[k - 1] <= level * k / m * (1 + 1e-12)]
    return pvalues <= ordered[below[-1] - 1] if below else np.zeros(m, bool)


def smallest_rejecting_level(pvalues):
    m = len(pvalues)
    levels = sorted({min(1.0, p * m / k) for p in pvalues for k in range(1, m + 1)} | {1.0})
    return [
        next(level for level in levels if rejected_by_step_up(pvalues, level)[i]) for i in range(m)
    ]


def by_closed_testing(pvalues):
    """Holm's procedure is closed testing by Bonferroni: every set of hypotheses that has i."""
    m = len(pvalues)
    subsets = [s for size in range(1, m + 1) for s in itertools.combinations(range(m), size)]
    return [
        max(min(1.0, len(s) * min(pvalues[j] for j in s)) for s in subsets if i in s)
        for i in range(m)
    ]


@pytest.mark.parametrize("seed", range(20))
def test_definitions_by_brute_force(seed):
    rng = np.random.default_rng(seed)
    pvalues = rng.uniform(size=rng.integers(1, 9)) ** rng.choice([1, 3, 8])
    if seed % 3 == 0:
        pvalues = np.round(pvalues, 1)  # ties, zeros and ones
    before = pvalues.copy()
    expected = smallest_rejecting_level(pvalues)
    np.testing.assert_allclose(benjamini_hochberg(pvalues), expected, rtol=1e-12)
    np.testing.assert_allclose(holm(pvalues), by_closed_testing(pvalues), rtol=1e-12)
    np.testing.assert_array_equal(pvalues, before)


def test_no_pvalues():
    assert len(benjamini_hochberg([])) == len(holm([])) == 0


def test_a_screen_adjusts_over_all_its_pairs():
    pairs = chsic.screen(chsic.datasets.summer(), rng=0, n_resamples=99).pairs
    assert len(pairs) == 6
    raw = [pair.pvalue for pair in pairs]
    assert [pair.pvalue_bh for pair in pairs] == benjamini_hochberg(raw).tolist()
    assert [pair.pvalue_holm for pair in pairs] == holm(raw).tolist()
