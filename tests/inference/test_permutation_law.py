"""Moments under permutations within strata, against all permutations."""

import itertools

import numpy as np
import pytest

import chsic
from chsic.inference.permutation_law import PermutationLaw
from chsic.inference.sums import StratumMoments

# Two bandwidths, each with all contributions and with those of the same stratum alone.
BOTH_KINDS = [(0, False), (0, True), (1, False), (1, True)]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def moments(features, strata):
    """Those of features of several bandwidths, by literal loops."""
    values = np.hstack(features)
    number = strata.max() + 1
    grams, fourth = [], []
    for s in range(number):
        grams.append(sum(np.outer(u, u) for u in values[strata == s]))
        fourth.append([sum((u @ u) ** 2 for u in one[strata == s]) for one in features])
    ranks = tuple(one.shape[1] for one in features)
    return StratumMoments(0, ranks, np.array(grams), np.array(fourth))


def residual_features(rng, strata, ranks):
    made = [rng.gamma(1.0, size=(len(strata), r)) for r in ranks]  # skewed, as kernels' may be
    for one in made:
        for s in np.unique(strata):
            one[strata == s] -= one[strata == s].mean(axis=0)
    return made


def all_permutations(strata):
    """All orders of the samples that leave each in its stratum."""
    own = [np.flatnonzero(strata == s) for s in np.unique(strata)]
    for choice in itertools.product(*(itertools.permutations(rows) for rows in own)):
        order = np.empty(len(strata), int)
        for rows, permuted in zip(own, choice, strict=True):
            order[rows] = permuted
        yield order


def statistics(x, y, strata):
    """T of each bandwidth: of all contributions, and of those of each stratum by themselves."""
    values = []
    for u, v in zip(x, y, strict=True):
        own = [(strata == s).sum() * u[strata == s].T @ v[strata == s] for s in np.unique(strata)]
        values += [(sum(own) ** 2).sum(), sum((c**2).sum() for c in own)]
    return values


@pytest.mark.parametrize("sizes", [[6], [3], [4, 3], [2, 5], [3, 2, 4], [2, 2, 2, 1]])
def test_mean_and_variance_are_those_of_all_permutations(sizes, rng):
    strata = np.repeat(np.arange(len(sizes)), sizes)
    x, y = (residual_features(rng, strata, ranks) for ranks in ([2, 1], [3, 2]))
    every = np.array(
        [statistics(x, [v[order] for v in y], strata) for order in all_permutations(strata)]
    )
    law = PermutationLaw.of(moments(x, strata), moments(y, strata), np.array(sizes), BOTH_KINDS)
    np.testing.assert_allclose(law.means, every.mean(axis=0))
    np.testing.assert_allclose([one.scale**2 for one in law.laws], every.var(axis=0), atol=1e-9)


@pytest.mark.levels
def test_skewness_and_correlations_are_those_of_many_permutations(rng):
    strata = np.repeat(np.arange(3), [80, 120, 200])
    x, y = (residual_features(rng, strata, ranks) for ranks in ([3, 1], [2, 2]))
    drawn = []
    for _ in range(20_000):
        keys = strata + rng.random(len(strata))
        drawn.append(statistics(x, [v[np.argsort(keys)] for v in y], strata))
    drawn = np.array(drawn)
    law = PermutationLaw.of(moments(x, strata), moments(y, strata), np.bincount(strata), BOTH_KINDS)
    standard = (drawn - drawn.mean(axis=0)) / drawn.std(axis=0)
    np.testing.assert_allclose(
        [one.skewness for one in law.laws], (standard**3).mean(axis=0), rtol=0.12
    )
    np.testing.assert_allclose(law.correlations, np.corrcoef(drawn.T), atol=0.03)


def test_leading_components_give_the_skewness_of_all(rng):
    # Twenty features, of which twelve enter: those of a kernel decay, and cubes decay faster.
    strata = np.repeat(np.arange(4), 50)
    decay = 0.6 ** np.arange(20)
    x, y = ([one * decay for one in residual_features(rng, strata, [20])] for _ in range(2))
    plain = [(0, False)]
    law = PermutationLaw.of(moments(x, strata), moments(y, strata), np.bincount(strata), plain)
    joint = sum(
        50**2 / 49 * np.kron(u, v)
        for u, v in zip(moments(x, strata).grams, moments(y, strata).grams, strict=True)
    )
    variance, third = 2 * np.trace(joint @ joint), 8 * np.trace(joint @ joint @ joint)
    assert law.laws[0].skewness == pytest.approx(third / variance**1.5, rel=1e-6)


@pytest.mark.parametrize("kind", ["no z", "levels", "levels of x"])
@pytest.mark.parametrize("n", [60, 300, 2000])
def test_neither_seed_nor_order_of_rows_decides(kind, n, rng):
    x, z = rng.normal(size=n), rng.integers(0, 5, n)
    y = rng.normal(size=n) + 1.6 / n**0.5 * x
    x = x.round() if kind == "levels of x" else x

    def pvalue(rows, seed):
        if kind == "no z":
            return chsic.hsic_test(x[rows], y[rows], rng=seed).pvalue
        return chsic.chsic_test(x[rows], y[rows], z[rows], rng=seed).pvalue

    values = [pvalue(rng.permutation(n), seed) for seed in range(4)]
    assert max(values) < 1.1 * min(values)
    assert len({pvalue(np.arange(n), seed) for seed in range(3)}) == 1


def test_rare_events_are_left_to_signs(rng):
    # Two events in x and two in y: a law of three moments does not describe such a count.
    x, y = np.zeros(400), np.zeros(400)
    x[:2] = y[1:3] = 1
    assert chsic.hsic_test(x, y).null == "signs"
    assert chsic.hsic_test(rng.normal(size=400), rng.normal(size=400)).null == "pearson3"


def test_no_pvalue_is_zero():
    x = np.random.default_rng(0).normal(size=20_000)
    assert 0 < chsic.hsic_test(x, x).pvalue < 1e-200
    assert chsic.hsic_test(x[:6], x[:6], null="pearson3").pvalue > 1 / 720
