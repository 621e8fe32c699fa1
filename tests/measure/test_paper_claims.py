"""What the paper says about its figure 1, on fixed seeds with statistical bounds.

Differences of means are held against their standard errors over the trials: five standard errors
is far from chance, and every comparison uses the same data for both sides where it can.
"""

import numpy as np
import pytest

import chsic
from chsic import paper
from chsic.measure.comparison import compare
from chsic.measure.figure1 import MEASURES, MODELS
from tests.conftest import literal_kappa, paper_bandwidth

pytestmark = pytest.mark.levels

HSIC, CLOSE4, CLOSE64, RANDOM4, RANDOM64 = range(5)
TRIALS = {100: 100, 600: 25}


class Values(dict):
    """For each model, gamma in dB and n an array (trials, measures), once it is asked for."""

    def __missing__(self, cell):
        model, gamma, n = cell
        rng = np.random.default_rng([2410, 15888, gamma, n, model == "M+"])
        samples = [MODELS[model](n, 10 ** (gamma / 10), rng) for _ in range(TRIALS[n])]
        self[cell] = np.array([[m(s, rng) for m in MEASURES] for s in samples])
        return self[cell]


@pytest.fixture(scope="module")
def values():
    return Values()


def standard_error(values):
    return values.std(ddof=1) / np.sqrt(len(values))


def surely_greater(a, b, sigmas=5.0):
    """Whether mean(a) exceeds mean(b) by that many standard errors of the two."""
    return a.mean() - b.mean() > sigmas * np.hypot(standard_error(a), standard_error(b))


def test_m_plus_hsic_grows_with_gamma_and_c_hsic_stays_low(values):
    at = [values["M+", gamma, 100] for gamma in (0, 10, 20)]
    assert surely_greater(at[1][:, HSIC], at[0][:, HSIC])
    assert surely_greater(at[2][:, HSIC], at[1][:, HSIC])
    for later in at[1:]:
        assert not surely_greater(later[:, CLOSE4], at[0][:, CLOSE4], sigmas=2)
    assert surely_greater(at[2][:, HSIC], 4 * at[2][:, CLOSE4])


def test_m_minus_c_hsic_grows_with_gamma_and_hsic_stays_low(values):
    at = [values["M-", gamma, 100] for gamma in (0, 10, 20)]
    assert surely_greater(at[1][:, CLOSE4], at[0][:, CLOSE4])
    assert surely_greater(at[2][:, CLOSE4], at[1][:, CLOSE4], sigmas=2)
    assert at[2][:, HSIC].mean() < 1.15 * at[0][:, HSIC].mean()
    assert surely_greater(at[2][:, CLOSE4], 2 * at[2][:, HSIC])


@pytest.mark.parametrize("alpha", [4, 30])
def test_random_pruning_has_hsic_as_its_mean_but_for_the_bias_of_squares(alpha):
    """Over all random prunings of one data set the mean is known exactly.

    C-HSIC averages products over pairs of pairs. Two different pairs of the K kept ones are as
    good as any two of all K_max, a pair with itself counts 1/K instead of 1/K_max: the mean is
    HSIC + (1/K - 1/K_max) (mean over a pair with itself - mean over different pairs) / 4.
    """
    x, y, z = chsic.datasets.m_plus(40, 10.0, rng=5)
    kappas = [literal_kappa("gaussian", paper_bandwidth(a)) for a in (x, y)]
    f1, f2 = np.triu_indices(40, k=1)
    Kb, Qb = (paper.tuple_kernel_matrix(a, f1, f2, k) for a, k in zip((x, y), kappas, strict=True))
    products = Kb * Qb / 4
    same = np.trace(products) / len(f1)
    different = (products.sum() - np.trace(products)) / (len(f1) * (len(f1) - 1))
    K = int(40 * alpha / 2)
    expected = chsic.hsic(x, y) + (1 / K - 1 / len(f1)) * (same - different)
    draws = np.array(
        [chsic.chsic(x, y, z, alpha=alpha, pairs="random", rng=s) for s in range(1500)]
    )
    assert abs(draws.mean() - expected) < 4 * standard_error(draws)
    assert standard_error(draws) < 0.01 * expected


def test_random_pruning_follows_hsic_with_a_larger_spread(values):
    for model in MODELS:
        at = values[model, 10, 100]
        np.testing.assert_allclose(at[:, RANDOM64].mean(), at[:, HSIC].mean(), rtol=0.05)
        assert at[:, RANDOM4].std() > 1.2 * at[:, HSIC].std()
    plus = values["M+", 20, 100]
    np.testing.assert_allclose(plus[:, RANDOM4].mean(), plus[:, HSIC].mean(), rtol=0.15)
    assert surely_greater(plus[:, RANDOM4], 4 * plus[:, CLOSE4])


def test_at_low_gamma_random_and_closest_pruning_agree(values):
    for model in MODELS:
        at = values[model, 0, 100]
        np.testing.assert_allclose(at[:, CLOSE4].mean(), at[:, RANDOM4].mean(), rtol=0.12)


def test_alpha_64_is_worse_than_4_at_100_samples(values):
    plus, minus = values["M+", 20, 100], values["M-", 20, 100]
    assert surely_greater(plus[:, CLOSE64], plus[:, CLOSE4])
    assert surely_greater(minus[:, CLOSE4], minus[:, CLOSE64])


@pytest.mark.parametrize(("model", "gamma"), [("M-", 10), ("M+", 20)])
def test_gap_between_alphas_shrinks_with_more_samples(values, model, gamma):
    """For M+ at 10 dB the gap is small already at L = 100: two errors of opposite sign meet there.

    Milder pruning conditions less, which raises C-HSIC; stricter pruning has fewer pairs, whose
    self-products raise it too. At 20 dB the first dominates, as it should in this comparison.
    """
    small, large = (values[model, gamma, n] for n in (100, 600))
    gap_small, gap_large = (np.abs(v[:, CLOSE4] - v[:, CLOSE64]) for v in (small, large))
    assert surely_greater(gap_small, gap_large)
    assert abs(large[:, CLOSE4].mean() - large[:, CLOSE64].mean()) < 0.5 * abs(
        small[:, CLOSE4].mean() - small[:, CLOSE64].mean()
    )


def test_m_plus_c_hsic_falls_with_more_samples_and_m_minus_stays_above_its_floor(values):
    for measure in (CLOSE4, CLOSE64):
        assert surely_greater(values["M+", 10, 100][:, measure], values["M+", 10, 600][:, measure])
    minus = values["M-", 10, 600]
    assert surely_greater(minus[:, CLOSE4], 2 * minus[:, HSIC])
    assert surely_greater(minus[:, CLOSE64], 2 * minus[:, HSIC])


def test_floor_is_where_c_hsic_stands_when_x_and_y_are_unrelated_given_z():
    """M+ is conditionally independent: C-HSIC less its floor averages to zero; M- is not."""
    for model, related_given_z in (("M+", False), ("M-", True)):
        samples = [MODELS[model](200, 10.0, seed) for seed in range(100)]
        results = [compare(*sample, n_controls=1, rng=0) for sample in samples]
        given_z, ignoring_z = (
            np.array([getattr(r, name) for r in results]) for name in ("given_z", "ignoring_z")
        )
        some, none = (given_z, ignoring_z) if related_given_z else (ignoring_z, given_z)
        assert abs(none.mean()) < 3 * standard_error(none)
        assert some.mean() > 10 * standard_error(some)


def test_alpha_4_varies_more_than_64(values):
    minus = values["M-", 10, 100]
    assert minus[:, CLOSE4].std() > 1.2 * minus[:, CLOSE64].std()
