"""The law of the smallest p-value of a family."""

import numpy as np
import pytest

import chsic
from chsic.inference import decide
from chsic.inference.null import joint_null
from chsic.inference.smallest_pvalue import DRAWS, TAIL_DRAWS, as_shares, pvalue_of_smallest


def equal_correlations(k, correlation):
    return np.full((k, k), correlation) + (1 - correlation) * np.eye(k)


@pytest.mark.parametrize("smallest", [0.5, 0.1, 0.01, 1e-3, 1e-6, 1e-20])
def test_bounds_are_reached_by_equal_and_by_independent_members(smallest):
    assert pvalue_of_smallest(smallest, np.ones((4, 4))) == pytest.approx(smallest, rel=0.1)
    sidak = -np.expm1(4 * np.log1p(-smallest))
    assert pvalue_of_smallest(smallest, np.eye(4)) == pytest.approx(sidak, rel=0.1)
    assert pvalue_of_smallest(smallest, np.eye(1)) == smallest
    between = pvalue_of_smallest(smallest, equal_correlations(4, 0.6))
    assert smallest <= between <= sidak


@pytest.mark.parametrize("method", ["pearson3", "signs"])
def test_a_member_of_large_weight_has_a_larger_part_in_the_level(method):
    rng = np.random.default_rng(2)
    grams = [products @ products.T for products in rng.normal(size=(2, 60, 3))]
    large = [3 * np.abs(gram - np.diag(np.diag(gram))).sum() ** 0.5 * 4 for gram in grams]

    def pvalue(weights, values=(large[0], 0.0)):
        return joint_null(values, grams, weights=weights, method=method).pvalue

    first, equal, last = pvalue([4, 1]), pvalue([1, 1]), pvalue([1, 4])
    assert first < equal < last
    assert equal == pvalue(None)


def test_weighted_members_have_the_level_together():
    """P(min p_k / w_k <= s) of two independent uniform p-values is 1 - (1 - w_1 s)(1 - w_2 s)."""
    shares = as_shares([3.0, 1.0])
    for smallest in (0.3, 0.05, 1e-4):
        exact = 1 - np.prod(1 - shares * smallest)
        assert pvalue_of_smallest(smallest, np.eye(2), shares) == pytest.approx(exact, rel=0.1)
    assert pvalue_of_smallest(0.9, np.eye(2), shares) == 1.0


def test_it_increases_without_a_step():
    values = np.geomspace(1e-5, 0.9, 400)
    found = np.array([pvalue_of_smallest(v, equal_correlations(6, 0.5)) for v in values])
    assert np.all(np.diff(found) >= 0)
    tail = TAIL_DRAWS / DRAWS
    assert np.all(np.diff(found)[found[1:] < 3 * tail] < 0.25 * tail)
    assert pvalue_of_smallest(1.0, equal_correlations(6, 0.5)) == pytest.approx(1, abs=1e-4)


def test_squared_lengths_of_correlated_normal_pairs_follow_it():
    """The model itself, simulated with other draws: two members of correlation 0.49."""
    rng = np.random.default_rng(5)
    g = rng.normal(size=(2, 100_000, 2))
    other = 0.7 * g[0] + np.sqrt(1 - 0.49) * g[1]
    smallest = np.minimum(*(np.exp(-(a**2).sum(axis=1) / 2) for a in (g[0], other)))
    for level in (0.01, 0.05, 0.2):
        expected = (smallest <= level).mean()
        assert pvalue_of_smallest(level, equal_correlations(2, 0.49)) == pytest.approx(
            expected, rel=0.08
        )


@pytest.mark.levels
@pytest.mark.parametrize(
    ("scenario", "n", "d"), [("add", 200, 1), ("oscillating", 100, 3), ("mixed", 200, 2)]
)
def test_families_of_the_test_follow_it(scenario, n, d, monkeypatch):
    """Draws of signs taken as data: p-values by laws are those that other draws give."""
    grams, weights = [], []

    def spy(observed, of_members, **settings):
        grams.extend(of_members)
        weights.extend(settings["weights"])
        return joint_null(observed, of_members, **settings)

    monkeypatch.setattr(decide, "joint_null", spy)
    chsic.chsic_test(*chsic.datasets.draw_scenario(scenario, n, d, rng=0))
    assert len(grams) == len(weights) == (4 if d == 1 else 5)
    rng = np.random.default_rng(1)
    hollow = [gram - np.diag(np.diag(gram)) for gram in grams]
    signs = rng.choice([-1.0, 1.0], size=(2_000, len(grams[0])))
    drawn = np.array([np.einsum("ij,ij->i", signs @ h, signs) for h in hollow])
    pvalues = [joint_null(values, grams, weights=weights).pvalue for values in drawn.T]
    for level in (0.02, 0.05, 0.1):
        within = 4 * np.sqrt(level * (1 - level) / 2_000) + 0.1 * level
        assert np.mean(np.array(pvalues) <= level) == pytest.approx(level, abs=within)
