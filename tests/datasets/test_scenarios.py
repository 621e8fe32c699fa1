"""Scenarios follow their equations, and x and y are independent given z where they say so."""

import math
from math import tanh

import numpy as np
import pytest
from scipy.stats import norm

from chsic import datasets
from chsic.datasets import SCENARIOS, draw_scenario

N = 20_000
NULL = [name for name, scenario in SCENARIOS.items() if scenario.independent]
ALTERNATIVE = [name for name in SCENARIOS if name not in NULL]
WHOLE = {"levels", "cancel", "binary", "counts", "counts-shared"}  # x and y are not standardised
CODES = {"levels-3", "levels-30", "levels"}  # z is a category
EVERY = [(name, d) for name, scenario in SCENARIOS.items() for d in scenario.dimensions]


def residual(values, signal):
    """What is left of values after a line in the signal, scaled to variance 1."""
    design = np.column_stack([np.ones(len(values)), signal])
    left = values - design @ np.linalg.lstsq(design, values)[0]
    return left / left.std()


def neighbours(z):
    """Disjoint pairs of samples that are next to each other in z, without the thin tails."""
    order = np.lexsort(np.atleast_2d(z.T))
    order = order[len(z) // 50 : len(z) - len(z) // 50]
    return order[0::2], order[1::2]


def sign_t(z, u, v):
    """Standard normal if u and v are independent given z: swapping v in a pair changes its sign."""
    i, j = neighbours(z)
    product = (u[i] - u[j]) * (v[i] - v[j])
    return product.sum() / np.sqrt((product**2).sum())


def test_the_table_is_complete():
    assert len(NULL) == 16 + 12
    assert len(ALTERNATIVE) == 15 + 3
    assert list(SCENARIOS)[: 16 + 12] == NULL  # in the order of the table
    assert len(EVERY) == 31 + 26 + 19
    assert all(name == scenario.name for name, scenario in SCENARIOS.items())


@pytest.mark.parametrize(("name", "d"), EVERY)
def test_samples_follow_the_seed_and_are_standardised(name, d):
    x, y, z = sample = draw_scenario(name, 300, d, rng=5)
    assert x.shape == y.shape == (300,)
    assert z.shape == ((300,) if d == 1 else (300, d))
    for values, again, other in zip(
        sample, draw_scenario(name, 300, d, rng=5), draw_scenario(name, 300, d, rng=6), strict=True
    ):
        assert values.dtype == np.float64
        assert np.array_equal(values, again)
        assert not np.array_equal(values, other)
    if name.startswith("m_"):  # as the paper gives them
        return
    columns = [] if name in WHOLE else [x, y]
    columns += [] if name in CODES else [z[:, 0] if name == "mixed" else z]
    for values in columns:
        np.testing.assert_allclose(values.mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(values.var(axis=0), 1)
    if name in WHOLE:
        np.testing.assert_array_equal(np.concatenate([x, y]) % 1, 0)


def test_the_smallest_samples_are_finite():
    for name, d in EVERY:
        assert all(np.isfinite(values).all() for values in draw_scenario(name, 4, d, rng=0))


def test_m_plus_and_m_minus_are_the_papers():
    for name, model, gamma in (
        ("m_plus-0dB", datasets.m_plus, 1.0),
        ("m_plus-20dB", datasets.m_plus, 100.0),
        ("m_minus-5dB", datasets.m_minus, 10**0.5),
        ("m_minus-10dB", datasets.m_minus, 10.0),
    ):
        for drawn, expected in zip(
            draw_scenario(name, 50, rng=3), model(50, gamma, 3), strict=True
        ):
            np.testing.assert_array_equal(drawn, expected)


# --- Truth ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in NULL if SCENARIOS[name].dimensions[0] < 5])
def test_independent_given_z(name):
    """Neighbours in z differ in x and in y by chance alone, whatever functions one looks at."""
    x, y, z = draw_scenario(name, N, rng=11)
    for g in (np.asarray, np.square, np.sign):
        for k in (np.asarray, np.square, np.sign):
            assert abs(sign_t(z, g(x), k(y))) < 4


MEANS = {  # E[x | z] and E[y | z] as functions of s, where they have a formula
    "linear": (lambda s: s, lambda s: s),
    "oscillating": (lambda s: np.sin(2 * s), lambda s: np.cos(2 * s)),
    "strong": (lambda s: s, lambda s: s),
    "scale": (lambda s: s, np.square),
    "sharp": (lambda s: np.exp(-(s**2) / 2) * np.sin(4 * s),) * 2,
}


@pytest.mark.parametrize(("name", "d"), [(n, d) for n, d in EVERY if n in MEANS])
def test_residuals_of_true_nulls_are_uncorrelated(name, d):
    x, y, z = draw_scenario(name, N, d, rng=12)
    s = z.reshape(N, d).sum(axis=1) / np.sqrt(d)
    left = [residual(a, mean(s)) for a, mean in zip((x, y), MEANS[name], strict=True)]
    assert abs(np.mean(left[0] * left[1])) < 4 * np.std(left[0] * left[1]) / np.sqrt(N)
    # Given z they are noise, but without it x and y are related wherever E[x | z] and E[y | z] are.
    if name in ("linear", "strong", "sharp"):
        assert np.corrcoef(x, y)[0, 1] > 0.5


LEFT = {  # what of e, the noise of x, is in y, and the correlation that follows from its size
    "add": (lambda e, z1: e, 0.2),
    "square": (lambda e, z1: e**2 - 1, 0.25),
    "wave": (lambda e, z1: np.sin(4 * e), 0.5),
    "sign": (lambda e, z1: np.sign(z1) * e, 0.3),
    "tails": (lambda e, z1: e * (np.abs(e) > 1.5), 0.4),
    "local": (lambda e, z1: e * ((norm.cdf(z1) > 0.5) & (norm.cdf(z1) < 0.6)), 1.0),
}


@pytest.mark.parametrize(("name", "d"), [(n, d) for n, d in EVERY if n in LEFT])
def test_dependence_left_in_the_oscillating_family(name, d):
    x, y, z = draw_scenario(name, N, d, rng=13)
    z = z.reshape(N, d)
    s = z.sum(axis=1) / np.sqrt(d)
    e, left = residual(x, np.sin(2 * s)), residual(y, np.cos(2 * s))
    function, size = LEFT[name]
    part = size * function(e, z[:, 0])
    expected = part.std() / np.sqrt(0.25 + part.var())
    assert np.corrcoef(part, left)[0, 1] == pytest.approx(expected, abs=0.03)
    assert expected > 0.3


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("m_minus-0dB", np.square),
        ("m_minus-5dB", np.square),
        ("m_minus-10dB", np.square),
        ("pnl-shared", np.asarray),
        ("levels", np.asarray),
        ("counts-shared", np.asarray),
    ],
)
def test_dependence_left_between_neighbours(name, function):
    x, y, z = draw_scenario(name, 10 * N, rng=14)  # at 0 dB little is left to see
    assert sign_t(z, function(x), function(y)) > 6


def test_circle_leaves_uncorrelated_residuals_on_a_circle():
    x, y, z = draw_scenario("circle", N, rng=15)
    u, v = residual(x, np.sin(2 * z)), residual(y, np.cos(2 * z))
    assert abs(np.corrcoef(u, v)[0, 1]) < 4 / np.sqrt(N)
    assert np.corrcoef(u**2, v**2)[0, 1] < -0.2  # cos^2 t + sin^2 t = 1


def test_product_leaves_uncorrelated_residuals_of_correlated_size():
    x, y, z = draw_scenario("product", N, rng=15)
    e, left = residual(x, z), residual(y, z)
    assert abs(np.mean(e * left)) < 4 * np.std(e * left) / np.sqrt(N)
    assert np.corrcoef(e**2, left**2)[0, 1] > 0.2


def test_cancel_is_uncorrelated_but_for_the_sign_of_z():
    """E[x y | z] = 0.4 sign(z), which is zero on average."""
    x, y, z = draw_scenario("cancel", N, rng=16)
    assert abs(np.mean(x * y)) < 4 / np.sqrt(N)
    assert np.mean(np.sign(z) * x * y) == pytest.approx(0.4, abs=0.03)


def test_binary_and_counts_have_the_means_of_their_equations():
    x, _, z = draw_scenario("binary", N, rng=17)
    assert set(np.unique(x)) == {0.0, 1.0}
    above = z > 0.5
    assert x[above].mean() == pytest.approx((1 / (1 + np.exp(-2 * z[above]))).mean(), abs=0.02)
    x, y, z = draw_scenario("counts", N, rng=17)
    assert x.mean() == pytest.approx(np.exp(0.5 * z).mean(), abs=0.04)
    assert y.mean() == pytest.approx(np.exp(0.3 * z + 0.2).mean(), abs=0.04)


def test_levels_are_equally_frequent():
    for name, count in (("levels-3", 3), ("levels-30", 30), ("levels", 3)):
        z = draw_scenario(name, N, rng=18).z
        assert np.array_equal(np.unique(z), np.arange(count))
        assert np.abs(np.bincount(z.astype(int)) * count / N - 1).max() < 0.2
    assert np.array_equal(np.unique(draw_scenario("mixed", N, rng=18).z[:, 1]), np.arange(4))
    x, y, _ = draw_scenario("levels", 999, rng=18)
    assert list(np.bincount(x.astype(int))) == [333, 333, 333]
    assert set(np.unique(y)) == {0.0, 1.0, 2.0}


def test_effects_of_categories_are_fixed_draws():
    """Another seed gives other samples of the same categories, not other categories."""
    means = []
    for seed in (1, 2):
        x, _, z = draw_scenario("levels-30", 10 * N, rng=seed)
        means.append([x[z == k].mean() for k in range(30)])
    np.testing.assert_allclose(*means, atol=0.05)
    # x = mu + e with var(mu) near 4, so z explains about four fifths of it.
    assert 0.6 < np.var(means[0]) < 0.95


# --- The post-nonlinear equations, one sample at a time -------------------------------------------


def literal_pnl(z, e, h, every_column):
    a = 0.7 * (z[0] ** 3 / 5 + z[0] / 2)
    b = (z[0] ** 3 / 4 + z[0]) / 3
    if every_column and len(z) >= 2:
        a = a / 2 + z[1]
        a = a / 2 + 0.7 * tanh(a)
        b = b / 2 + z[1]
        b = b / 2 + 0.7 * tanh(b)
        for column in z[2:]:
            a = 2 * a / 3 + 5 * column / 6
            a = a / 2 + 0.7 * tanh(a)
            b = 2 * b / 3 + 5 * column / 6
            b = b / 2 + 0.7 * tanh(b)
    t = a + tanh(e)
    x = t + t**3 / 3 + tanh(t / 3) / 2
    t = h + b
    return x, t + tanh(t / 3)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("name", ["pnl-I", "pnl-II", "pnl-shared"])
def test_post_nonlinear_samples_follow_their_equations(name, d):
    sample = draw_scenario(name, 40, d, rng=21)
    rng = np.random.default_rng(21)
    z = rng.standard_normal((40, d))
    e, h, r = rng.standard_normal((3, 40))
    pairs = [literal_pnl(*row, name != "pnl-I") for row in zip(z, e, h, strict=True)]
    for drawn, values in zip(sample, np.transpose(pairs), strict=False):
        expected = values + 0.5 * r if name == "pnl-shared" else values
        np.testing.assert_allclose(drawn, (expected - expected.mean()) / expected.std())


# --- Rough functions, and the designs of Bergen, Sejdinovic and Didelez ---------------------------

ROUGH = {  # functions of one sample of z that is uniform, or standard normal
    "four-jumps": lambda z: math.floor(4 * z[0]),
    "ten-jumps": lambda z: math.floor(10 * z[0]),
    "threshold": lambda z: float(z[0] > 0.3 if len(z) == 1 else z[0] > 0 and z[1] > 0.3),
    "sawtooth": lambda z: 7 * z[0] % 1 if len(z) == 1 else 3 * z[0] % 1 + 2 * z[1] % 1,
    "opening-hours": lambda z: float(1 / 3 < 10 * z[0] % 1 < 3 / 4),
    "bump": lambda z: math.exp(-(((z[0] - 0.5) / 0.02) ** 2)),
    "fast-wave": lambda z: math.sin(2 * math.pi * (20 if len(z) == 1 else 5) * z[0]),
    "products": lambda z: sum(z[k] * z[k + 1] for k in range(len(z) - 1)),
}


@pytest.mark.parametrize(("name", "d"), [(n, d) for n, d in EVERY if n in ROUGH])
def test_x_and_y_follow_a_rough_function_and_noise_of_their_own(name, d):
    n = 500
    drawn, rng = draw_scenario(name, n, d, rng=22), np.random.default_rng(22)
    z = rng.standard_normal((n, d)) if name in ("threshold", "products") else rng.random((n, d))
    f = np.array([ROUGH[name](row) for row in z])
    for values, noise in zip(drawn, rng.standard_normal((2, n)), strict=False):
        expected = (f - f.mean()) / f.std() + 0.5 * noise
        np.testing.assert_allclose(values, (expected - expected.mean()) / expected.std())


def literal_gkcm(name, z, e, h):
    z1, z2, z3, z4, z5, z6, z7 = z
    if name == "gkcm-null-1":
        x = 0.4 * z1 + 0.5 * z2 + 0.6 * z3 - 0.7 * z4 + z7 + e
        return x, 0.6 * z1 - 0.2 * z2 + 0.3 * z4 + 0.9 * z5 - 0.5 * z6 + h
    if name == "gkcm-null-2":
        x = tanh(0.5 * z1 - 0.9 * z2 + z3 + e)
        return x, math.exp(-0.8 * z4 * z5 + 0.6 * z6 * z7 + h)
    if name == "gkcm-null-3":
        x = 0.5 * z1 - 0.9 * z2 + 0.4 * z3**2 + z4 * z5 * e
        return x, -0.8 * z4 + z5**2 + math.exp(z6) + math.sin(2 * math.pi * z7) * h
    if name == "gkcm-null-4":
        return math.sin(2 * math.pi * z1) + 0.1 * e, math.sin(2 * math.pi * z1) + h
    if name == "gkcm-alt-1":
        x = 0.7 * z1 + z2 + e
        return x, 0.4 * z3 - 0.2 * z4 - 0.1 * x + h
    if name == "gkcm-alt-2":
        x = math.sin(z1) + e
        return x, tanh(z2) + 0.2 * x**2 * z3 + h
    x = 0.2 * z2**3 + tanh(z4) + e
    return x, math.sin(math.pi * z1) - 0.4 * z2**2 + math.cos(0.2 * math.pi * x) * h


@pytest.mark.parametrize("name", [name for name in SCENARIOS if name.startswith("gkcm")])
def test_designs_with_seven_columns_follow_their_equations(name):
    drawn, rng = draw_scenario(name, 40, rng=23), np.random.default_rng(23)
    z = rng.standard_normal((40, 7))
    noise = rng.standard_normal((2, 40))
    rows = [literal_gkcm(name, *row) for row in zip(z, *noise, strict=True)]
    for values, expected in zip(drawn, np.transpose(rows), strict=False):
        np.testing.assert_allclose(values, (expected - expected.mean()) / expected.std())


# --- Errors ---------------------------------------------------------------------------------------


def test_unknown_names_and_dimensions_are_refused():
    with pytest.raises(
        ValueError, match=r"name: .*'oscilating'; the nearest name is 'oscillating'"
    ):
        draw_scenario("oscilating", 100)
    with pytest.raises(ValueError, match="name: no scenario is called 3"):
        draw_scenario(3, 100)
    with pytest.raises(
        ValueError, match="d: scenario 'strong' has no z with 3 columns; write d=1 or"
    ):
        draw_scenario("strong", 100, d=3)
    with pytest.raises(ValueError, match=r"d: scenario 'mixed' .* 1 column; write d=2"):
        draw_scenario("mixed", 100, d=1)
    with pytest.raises(TypeError, match="d: expected a whole number"):
        draw_scenario("strong", 100, d=1.5)
    with pytest.raises(ValueError, match="n: expected at least 4, got 3"):
        draw_scenario("strong", 3)
    with pytest.raises(TypeError, match="rng: "):
        draw_scenario("strong", 100, rng="seed")
