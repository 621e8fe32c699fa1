"""docs/theory.md against the truth: means, variances and coverage over simulated data."""

import itertools

import numpy as np
import pytest
import scipy.stats

import chsic
import tests.inference.theory_reference as ref

pytestmark = pytest.mark.levels

EXACT = 1e-14  # `tol` with which features of few samples are exact kernels


def within(mean, values, deviations=4.0):
    """Whether values have that mean, as far as their number can tell."""
    values = np.asarray(values)
    return abs(values.mean() - mean) <= deviations * values.std() / len(values) ** 0.5


@pytest.mark.parametrize("z", [None, [0, 0, 0, 1, 1, 1]])
def test_the_centre_is_exact_in_strata(z):
    """The mean over all orders of y inside strata is zero, for five and six samples."""
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=6), rng.exponential(size=6)
    if z is None:
        x, y = x[:5], y[:5]
        orders = list(itertools.permutations(range(5)))
    else:
        orders = [
            a + b
            for a in itertools.permutations(range(3))
            for b in itertools.permutations(range(3, 6))
        ]
    estimates = [
        chsic.chsic_test(
            x,
            y[list(order)],
            z,
            bandwidth="median",
            augment="auto" if z is None else False,
            n_resamples=19,
            tol=EXACT,
            rng=0,
        ).estimate
        for order in orders
    ]
    assert np.std(estimates) > 1e-3
    assert np.mean(estimates) == pytest.approx(0, abs=1e-6 * np.std(estimates))


def test_the_table_bounds_pvalues():
    """Eq. 38, by counting orders: events that coincide are as rare as they are."""
    strata, x, y = [0, 0, 0, 0, 0, 1, 1], [1, 0, 0, 1, 0, 1, 0], [1, 0, 0, 1, 0, 1, 0]
    counted = ref.table_probability(strata, x, y)
    assert counted == pytest.approx(1 / 10 * 1 / 2)
    event = np.arange(40) == 5
    found = chsic.chsic_test(event.astype(float), event.astype(float), rng=0)
    assert found.pvalue == pytest.approx(1 / 40)
    z = np.repeat([0, 1], 20)
    in_both = (np.arange(40) % 20 == 5).astype(float)
    assert chsic.chsic_test(in_both, in_both, z, rng=0).pvalue == pytest.approx(1 / 20**2)


def white_noise(rng, n, features, draws):
    return rng.normal(size=(draws, n, features))


def test_the_mean_of_the_statistic():
    """Eqs. 19, 22 and 29: white noise, fits that do not depend on it, and a kernel on z."""
    rng = np.random.default_rng(0)
    n, draws = 30, 4000
    z = np.sort(rng.normal(size=n))
    scaled = ref.scaled_z(z)
    lap, units = ref.laplacian(ref.nearest_on_line(z, 8), n), ref.along(n, 5)
    fits = [ref.ridge(scaled, np.outer(f, f)) for f in (np.sin(3 * z), np.cos(z))]
    r_x, r_y = (fit.left for fit in fits)
    u, v = white_noise(rng, n, 2, draws), white_noise(rng, n, 3, draws)
    c = np.einsum("tia,ij,tjb->tab", u, lap, v)
    squares = np.trace(lap @ lap)
    assert within(2 * 3 * squares, (c**2).sum(axis=(1, 2)))
    # Eq. 22.
    u_left, v_left = np.einsum("ij,tja->tia", r_x, u), np.einsum("ij,tja->tia", r_y, v)
    c = np.einsum("tia,ij,tjb->tab", u_left, lap, v_left)
    share = np.trace(lap @ fits[0].square @ lap @ fits[1].square) / squares
    assert share < 0.97
    assert within(2 * 3 * squares * share, (c**2).sum(axis=(1, 2)))
    over_pairs = np.einsum("tia,ij,tja->t", u_left, lap, u_left)
    assert within(2 * np.trace(lap @ fits[0].square), over_pairs)
    lengths = (u_left**2).sum(axis=(0, 2)) / draws
    assert lengths == pytest.approx(2 * np.diag(fits[0].square), rel=0.15)
    # Eq. 29: contributions of units, weighted by a kernel between them.
    kernel = ref.kernel_between_units(scaled, units, 0.5)
    omega = ref.centre_left(lap, units, kernel)
    assert omega < 0.99
    parts = np.zeros((len(units), n, n))
    for part, unit in zip(parts, units, strict=True):
        part[unit] += lap[unit] / 2
        part[:, unit] += lap[:, unit] / 2
    c = np.einsum("tia,mij,tjb->mtab", u, parts, v, optimize=True)
    assert within(
        2 * 3 * squares * omega, np.einsum("mtab,mk,ktab->t", c, kernel, c, optimize=True)
    )


def test_the_null_has_the_variance_of_the_statistic():
    """Eqs. 24 to 32 over data sets: three units of eight samples, for which eq. 30 is needed."""
    rng = np.random.default_rng(1)
    n, draws = 24, 400
    strata, units = np.zeros(n, int), ref.along(n, 8)
    lap = ref.laplacian(ref.inside_strata(strata), n)
    plain = np.ones((3, 3))
    centred, under_signs, without_scaling = [], [], []
    for _ in range(draws):
        u, v = rng.normal(size=(2, n, 3))
        x, y = (ref.residuals_in_strata(w @ w.T, strata) for w in (u, v))
        compared = ref.compare(x, y, lap, units)
        member = ref.weighted(compared, plain, units)
        centred.append(member.estimate)
        under_signs.append(ref.moments(member.null)[0] ** 2)
        without_scaling.append(ref.moments(compared.null)[0] ** 2)
    assert within(0, centred)
    variance, error = np.var(centred), np.var(centred) * np.sqrt(8 / draws)  # of heavy tails
    assert abs(np.mean(under_signs) - variance) < 3 * error
    assert np.mean(under_signs) == pytest.approx(np.mean(without_scaling) * 552 / 384)


def curved(n, d, shared=0.0):
    """x and y follow one direction of z, and share a part of their noise."""

    def draw(rng):
        z, (e, h) = rng.normal(size=(n, d)), rng.normal(size=(2, n))
        s = z.sum(axis=1) / d**0.5
        return np.sin(2 * s) + 0.5 * e, np.cos(2 * s) + 0.5 * h + shared * e, z

    return draw


def plain_noise(n, shared=0.0):
    def draw(rng):
        e, h = rng.normal(size=(2, n))
        return e, h + shared * e

    return draw


def results(draw, number, **settings):
    settings = {"bandwidth": "median", "null": "signs", "n_resamples": 99, **settings}
    return [
        chsic.chsic_test(*draw(np.random.default_rng(seed)), rng=seed, **settings)
        for seed in range(number)
    ]


@pytest.mark.parametrize(
    ("draw", "settings"),
    [
        pytest.param(curved(80, 1), {"augment": False}, id="regression and pairs"),
        pytest.param(curved(80, 1), {"augment": True, "unit_size": 4}, id="kernel on z"),
        pytest.param(curved(50, 2), {"augment": False}, id="several columns"),
        pytest.param(
            curved(80, 1), {"augment": False, "adjust": "none", "alpha": 4}, id="pairs alone"
        ),
    ],
)
def test_estimates_under_conditional_independence(draw, settings):
    """The centre is the mean of the statistic, and signs show its variance, over data sets."""
    found = results(draw, 60, **settings)
    estimates = np.array([result.estimate for result in found])
    assert within(0, estimates)
    under_signs = np.mean([(result.null_distribution**2).mean() for result in found])
    # 60 data sets know their variance to 25 percent; few samples make the null wider by up to 30.
    assert 0.5 < under_signs / estimates.var() < 2


def test_joint_pvalues_are_uniform():
    found = results(plain_noise(40), 150, bandwidth="auto", n_resamples=199)
    pvalues = [result.pvalue for result in found]
    assert len(found[0].members) == 3
    assert scipy.stats.kstest(pvalues, "uniform").pvalue > 0.001
    smallest = [min(member.pvalue for member in result.members) for result in found]
    assert np.mean(np.array(smallest) <= 0.1) > np.mean(np.array(pvalues) <= 0.1)


def test_the_effective_number_of_members():
    """Eq. 37: the same member three times counts as one, up to what 20,000 draws can tell."""
    x, y = plain_noise(60, 0.8)(np.random.default_rng(0))
    once, thrice = (
        chsic.chsic_test(x, y, bandwidth=["median"] * number, null="pearson3", rng=0)
        for number in (1, 3)
    )
    assert once.pvalue == once.members[0].pvalue < 0.1
    assert once.pvalue <= thrice.pvalue < 1.1 * once.pvalue


def test_invariances_of_the_coefficient():
    z, e, h = np.random.default_rng(4).normal(size=(3, 60))
    x = np.sin(2 * z) + 0.5 * e
    y = np.cos(2 * z) + 0.5 * h + 0.3 * x
    first = chsic.chsic_test(x, y, z, tol=EXACT, rng=0)
    for a, b in ((y, x), (5 - 3 * x, y), (x, 1e4 * y + 7)):
        other = chsic.chsic_test(a, b, z, tol=EXACT, rng=0)
        assert other.coefficient == pytest.approx(first.coefficient, rel=1e-6)
        assert other.confidence_interval() == pytest.approx(first.confidence_interval(), rel=1e-5)
    same = chsic.chsic_test(x, 2 - x, z, tol=EXACT, rng=0)
    assert same.coefficient == pytest.approx(1, rel=1e-9)


def test_the_variance_law_and_the_interval():
    """Eqs. 42 to 44: the variance begins at that of signs, grows, and intervals cover."""
    independent, related = (results(plain_noise(60, s), 150) for s in (0.0, 0.6))
    spread = {}
    for name, found in (("independent", independent), ("related", related)):
        values = np.array([result.coefficient for result in found])
        m = len(found[0].leave_one_out)
        jackknife = [(m - 1) * result.leave_one_out.var() for result in found]
        spread[name] = values.var(), np.mean(jackknife)
    at_zero = np.mean([result.null_spread**2 for result in independent])
    variance, jackknife = spread["independent"]
    assert 0.7 < at_zero / variance < 1.5
    assert 1.5 < jackknife / at_zero < 2.5  # twice, where the linear part vanishes
    variance, jackknife = spread["related"]
    assert variance > 3 * at_zero
    assert 0.6 < jackknife / variance < 1.5
    truth = chsic.chsic_test(
        *plain_noise(20_000, 0.6)(np.random.default_rng(0)), bandwidth="median", n_resamples=19
    ).coefficient
    covered = [low <= truth <= high for low, high in (r.confidence_interval() for r in related)]
    assert sum(covered) >= 0.95 * 150 - 4 * (150 * 0.95 * 0.05) ** 0.5
