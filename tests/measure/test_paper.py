"""The paper's own identities, among the equations as it states them."""

import numpy as np
import pytest
from scipy.integrate import quad

import chsic
from chsic import paper
from chsic.kernels import KERNELS
from tests.conftest import literal_kappa

# Gaussian kernel, h = 0.5, data within +-3: the features repeat with period sqrt(M) = 10, so the
# nearest copy of any sample is 4 = 8 h away, where kappa = exp(-64), and they stop at frequency 5,
# where G^2 = exp(-61).
M_EXACT = 100


@pytest.fixture
def sample():
    rng = np.random.default_rng(3)
    x = rng.uniform(-3, 3, 40)
    y = np.clip(x**2 / 3 + rng.normal(size=40), -3, 3)
    return x, y, rng.normal(size=40)


def features(x, y, M, h=0.5):
    window = KERNELS["gaussian"].window(h)
    return paper.steering_vectors(x, window, M), paper.steering_vectors(y, window, M)


def test_steering_vectors_element_by_element():
    x, M = np.array([0.3, -1.2, 0.7, 2.0]), 6
    G = KERNELS["laplace"].window(0.8)
    d = paper.steering_vectors(x, G, M)
    assert d.shape == (6, 4)
    for row, m in enumerate(range(-3, 3)):
        f = m / np.sqrt(M)
        for column, value in enumerate(x):
            expected = M ** (-1 / 4) * G(f) * np.exp(1j * 2 * np.pi * f * value)
            assert d[row, column] == pytest.approx(expected, rel=1e-14)


def test_sample_covariance_is_the_textbook_one(sample):
    U, V = features(*sample[:2], M=8)
    centred_u, centred_v = U - U.mean(1, keepdims=True), V - V.mean(1, keepdims=True)
    expected = sum(np.outer(u, v.conj()) for u, v in zip(centred_u.T, centred_v.T, strict=True))
    np.testing.assert_allclose(
        paper.sample_cross_covariance(U, V), expected / (len(sample[0]) - 1), rtol=0, atol=1e-15
    )


def test_complete_u_statistic_is_the_sample_covariance(sample):
    U, V = features(*sample[:2], M=16)
    f1, f2 = np.triu_indices(len(sample[0]), k=1)
    np.testing.assert_allclose(
        paper.u_statistic_covariance(U, V, f1, f2),
        paper.sample_cross_covariance(U, V),
        rtol=0,
        atol=1e-15,
    )


def test_feature_form_converges_to_hsic(sample):
    x, y, _ = sample
    kappa = literal_kappa("gaussian", 0.5)
    exact = paper.hsic(x, y, kappa, kappa)
    errors = []
    for M in (16, 36, 64, M_EXACT):
        C = paper.sample_cross_covariance(*features(x, y, M))
        errors.append(abs(paper.squared_frobenius_norm(C) / exact - 1))
    assert errors[-1] < 1e-10
    assert errors[0] > 1e-2, "M = 16 is too small; otherwise this test shows no convergence"
    assert errors == sorted(errors, reverse=True)
    assert len(set(errors)) == len(errors)


def test_feature_form_converges_to_c_hsic(sample):
    x, y, z = sample
    kappa = literal_kappa("gaussian", 0.5)
    f1, f2 = paper.sorted_pairs(z, alpha=4)
    C = paper.u_statistic_covariance(*features(x, y, M_EXACT), f1, f2)
    exact = paper.c_hsic(x, y, f1, f2, kappa, kappa)
    assert paper.squared_frobenius_norm(C) == pytest.approx(exact, rel=1e-10)
    assert chsic.chsic(x, y, z, bandwidth=0.5) == pytest.approx(exact, rel=1e-10)


def test_only_two_pi_gives_the_kernel(sample):
    """The exponent of the paper's eq. 1 as printed, with pi, tends to kappa(s / 2) instead."""
    x, M, G = sample[0], M_EXACT, KERNELS["gaussian"].window(0.5)
    s = x[:, None] - x[None, :]
    f = np.arange(-M // 2, M // 2) / np.sqrt(M)
    printed = M**-0.25 * G(f)[:, None] * np.exp(1j * np.pi * np.outer(f, x))
    ours = paper.steering_vectors(x, G, M)
    np.testing.assert_allclose(ours.conj().T @ ours, np.exp(-((s / 0.5) ** 2)), atol=1e-10)
    np.testing.assert_allclose(printed.conj().T @ printed, np.exp(-((s / 1.0) ** 2)), atol=1e-10)


@pytest.mark.parametrize("name", [k.name for k in KERNELS.values() if k.spectrum])
@pytest.mark.parametrize("h", [0.3, 2.0])
def test_kernel_is_the_fourier_transform_of_the_squared_window(name, h):
    G = KERNELS[name].window(h)
    norm, _ = quad(lambda f: float(G(f)) ** 2, -np.inf, np.inf)
    assert norm == pytest.approx(1, rel=1e-7)
    for s in (0.1, 0.5, 1.7):
        half, _ = quad(lambda f: float(G(f)) ** 2, 0, np.inf, weight="cos", wvar=2 * np.pi * s)
        expected = literal_kappa(name, h)(np.array([[s]]))
        assert 2 * half == pytest.approx(expected.item(), abs=1e-7)
    for f in (0.05, 0.4, 1.0):
        beyond, _ = quad(KERNELS[name].spectrum, f, np.inf)
        assert KERNELS[name].tail(np.array(f)) == pytest.approx(2 * beyond, rel=1e-6)


def test_all_pairs_make_c_hsic_hsic(sample):
    x, y, _ = sample
    kappa_x, kappa_y = literal_kappa("laplace", 0.7), literal_kappa("gaussian", 1.1)
    f1, f2 = np.triu_indices(len(x), k=1)
    assert paper.c_hsic(x, y, f1, f2, kappa_x, kappa_y) == pytest.approx(
        paper.hsic(x, y, kappa_x, kappa_y), rel=1e-12
    )


@pytest.mark.parametrize(("M", "error"), [(7, ValueError), (0, ValueError), (8.0, TypeError)])
def test_bad_number_of_features_is_refused(sample, M, error):
    with pytest.raises(error, match="M:"):
        paper.steering_vectors(sample[0], KERNELS["gaussian"].window(1), M)


@pytest.mark.parametrize("x", [np.arange(8.0).reshape(4, 2), 1.0, [0.0, np.nan]])
def test_steering_vectors_of_anything_but_scalars_are_refused(x):
    with pytest.raises(ValueError, match="finite scalars"):
        paper.steering_vectors(x, KERNELS["gaussian"].window(1), 8)


def test_no_pairs_and_bad_alpha_are_refused(sample):
    x, y, z = sample
    none = np.empty(0, int)
    with pytest.raises(ValueError, match="at least one pair"):
        paper.c_hsic(x, y, none, none, np.exp, np.exp)
    with pytest.raises(ValueError, match="at least one pair"):
        paper.u_statistic_covariance(x[None], y[None], none, none)
    for alpha in (-1, 0.5, 40, np.nan):
        with pytest.raises(ValueError, match="alpha from 1 to L - 1 = 39"):
            paper.sorted_pairs(z, alpha)
    with pytest.raises(ValueError, match="scalar z"):
        paper.sorted_pairs(z[:, None], 4)
