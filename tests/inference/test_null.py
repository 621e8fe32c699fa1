"""Random signs, all signs and the fitted law agree, and joint p-values are what they claim."""

import numpy as np
import pytest
from scipy import stats

from chsic.inference.null import Law, joint_null


def gram_of(n_units, rank, seed):
    c = np.random.default_rng(seed).normal(size=(n_units, rank))
    return c @ c.T


def hollow(gram):
    return gram - np.diag(np.diag(gram))


def brute_force(gram):
    """s' H s over all signs, by loops."""
    n = len(gram)
    values = []
    for code in range(2 ** (n - 1)):
        s = np.array([1 - 2 * ((code >> k) & 1) for k in range(n)], dtype=float)
        values.append(sum(s[a] * s[b] * gram[a, b] for a in range(n) for b in range(n) if a != b))
    return np.array(values)


def test_moments_of_the_law_are_those_of_all_signs():
    gram = gram_of(9, 3, 0)
    values = brute_force(gram)
    law = Law.of(hollow(gram))
    assert values.mean() == pytest.approx(0, abs=1e-9)
    assert law.scale == pytest.approx(values.std(), rel=1e-9)
    assert law.skewness == pytest.approx((values**3).mean() / values.std() ** 3, rel=1e-9)


@pytest.mark.parametrize("skewness", [2.0, 0.4, -0.7, 0.0])
def test_law_is_pearson_three(skewness):
    law = Law(3.0, skewness)
    for value in (-4.0, 0.0, 2.0, 9.0, 30.0):
        expected = stats.pearson3.sf(value / 3, skewness)
        assert law.sf(value) == pytest.approx(expected, rel=1e-9, abs=1e-300)
        score = float(law.scores(np.array(value)))
        if 1e-3 < expected < 0.5:  # Wilson and Hilferty are close where members are compared
            assert stats.norm.sf(score) == pytest.approx(expected, rel=0.2)


def test_exhaustive_counts_all_signs():
    gram = gram_of(8, 2, 1)
    values = brute_force(gram)
    observed = float(np.sort(values)[-6])
    found = joint_null([observed], [gram], rng=np.random.default_rng(0))
    assert found.method == "exhaustive"
    assert found.pvalue == pytest.approx((1 + (values >= observed - 1e-9).sum()) / (1 + 2**7))
    assert len(found.draws) == 2**7


def test_every_member_has_its_own_draws():
    grams = [gram_of(8, 2, seed) * size for seed, size in ((1, 1.0), (2, 50.0), (3, 1e-9))]
    for winner, gram in enumerate(grams):
        values = brute_force(gram)
        observed = [0.0] * len(grams)
        observed[winner] = float(values.max())
        found = joint_null(observed, grams, rng=np.random.default_rng(0))
        assert found.winner == winner
        np.testing.assert_allclose(np.sort(found.draws), np.sort(values), rtol=0,
                                   atol=1e-6 * np.abs(values).max())  # fmt: skip


def test_signs_agree_with_all_signs():
    gram = gram_of(14, 3, 2)
    observed = float(np.quantile(brute_force(gram), 0.97))
    every = joint_null([observed], [gram], method="exhaustive", rng=np.random.default_rng(0))
    drawn = joint_null([observed], [gram], method="signs", rng=np.random.default_rng(0))
    assert drawn.method == "signs"
    assert len(drawn.draws) == 9999
    assert drawn.pvalue == pytest.approx(every.pvalue, abs=4 * np.sqrt(0.03 / 9999))


def test_smallest_pvalue_of_signs_is_one_in_one_more_than_the_draws():
    gram = gram_of(40, 2, 3)
    found = joint_null([1e9], [gram], method="signs", n_resamples=99, rng=np.random.default_rng(0))
    assert found.pvalue == 1 / 100


def test_the_default_is_the_law_and_draws_nothing():
    gram = gram_of(60, 4, 4)
    law = Law.of(hollow(gram))
    for value in (0.0, 2.2 * law.scale, 12 * law.scale):
        found = joint_null([value], [gram])
        assert found.method == "pearson3"
        assert found.pvalue == law.sf(value)
    assert 0 < found.pvalue < 1e-4


def test_quantiles_of_a_law_stand_for_draws():
    gram = gram_of(60, 4, 5)
    law, drawn = joint_null([0.0], [gram]), joint_null([0.0], [gram], method="signs")
    assert np.all(np.diff(law.draws) > 0)
    assert law.draws.std() == pytest.approx(drawn.draws.std(), rel=0.05)
    for share in (0.5, 0.9, 0.95, 0.99):
        expected = np.quantile(drawn.draws, share)
        assert np.quantile(law.draws, share) == pytest.approx(expected, abs=0.1 * law.draws.std())
    mirrored, normal = Law(2.0, -1.0).quantiles(99), Law(2.0, 0.0).quantiles(99)
    assert mirrored == pytest.approx(-Law(2.0, 1.0).quantiles(99)[::-1])
    assert normal == pytest.approx(stats.norm.ppf((np.arange(99) + 0.5) / 99) * 2)


def test_family_is_joint():
    """The same statistic twice costs nothing; many independent ones cost as Sidak says."""
    gram = gram_of(80, 5, 6)
    observed = 2.0 * Law.of(hollow(gram)).scale
    one = joint_null([observed], [gram], method="signs", rng=np.random.default_rng(1))
    twice = joint_null([observed] * 2, [gram] * 2, method="signs", rng=np.random.default_rng(1))
    assert twice.pvalue == one.pvalue
    grams = [gram_of(80, 5, seed) for seed in range(10, 15)]
    values = [float(Law.of(hollow(g)).scale) * 2.0 for g in grams]
    five = joint_null(values, grams, method="signs", rng=np.random.default_rng(1))
    sidak = 1 - (1 - min(five.member_pvalues)) ** 5
    assert five.pvalue == pytest.approx(sidak, rel=0.25)
    assert five.member_pvalues[five.winner] == pytest.approx(min(five.member_pvalues), rel=0.2)


@pytest.mark.levels
@pytest.mark.parametrize("method", ["auto", "signs"])
def test_joint_pvalues_are_uniform(method):
    """Random signs of the units themselves: the null is exact, so p-values must be uniform."""
    rng = np.random.default_rng(7)
    c = [rng.normal(size=(40, 3)), rng.standard_t(3, size=(40, 6))]
    grams = [a @ a.T for a in c]
    pvalues = []
    for _ in range(400):
        s = rng.choice([-1.0, 1.0], 40)
        values = [float(s @ hollow(g) @ s) for g in grams]
        found = joint_null(values, grams, method=method, n_resamples=999, rng=rng)
        pvalues.append(found.pvalue)
    assert stats.kstest(pvalues, "uniform").pvalue > 0.001


def test_all_signs_of_many_units_are_refused():
    with pytest.raises(ValueError, match="null: 'exhaustive' is for at most 20 units, here are 40"):
        joint_null([0.0], [gram_of(40, 2, 0)], method="exhaustive", rng=np.random.default_rng(0))


def test_signs_decide_where_a_few_units_outweigh_all_others():
    c = np.zeros((60, 1))
    c[:2] = 10.0  # two units make nearly everything, so one draw in two is as large as can be
    c[2:] = 0.1
    gram = c @ c.T
    found = [joint_null([200.0], [gram], rng=np.random.default_rng(seed)) for seed in range(2)]
    assert found[0].method == "signs"
    assert found[0].pvalue > 0.2
    assert found[0].pvalue == found[1].pvalue  # no seed decides


def test_laws_give_nothing_smaller_than_the_rarest_sign():
    gram = gram_of(22, 2, 8)
    assert joint_null([1e9], [gram], method="pearson3").pvalue == pytest.approx(2.0**-21)


def test_nothing_that_varies_is_no_evidence():
    found = joint_null([1e-30], [np.zeros((30, 30))])
    assert found.pvalue == 1.0
    assert found.member_pvalues == (1.0,)
