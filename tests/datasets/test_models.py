"""The models have the moments they should, and the example file is what its script makes."""

import runpy
from pathlib import Path

import numpy as np
import pytest

import chsic
from chsic.datasets import m_minus, m_plus

N = 200_000


@pytest.mark.parametrize("model", [m_plus, m_minus])
@pytest.mark.parametrize("gamma", [0.0, 10.0])
def test_x_and_y_have_the_moments_of_their_equations(model, gamma):
    """E[a^2] = 1 for a ~ U(0, sqrt 3): mean 0, variance gamma + 1, no covariance."""
    x, y, z = model(N, gamma, rng=1)
    for values in (x, y):
        assert abs(values.mean()) < 5 * np.sqrt((gamma + 1) / N)
        assert values.var() == pytest.approx(gamma + 1, rel=0.03)
    assert np.abs(np.corrcoef([x, y, z]) - np.eye(3)).max() < 5 / np.sqrt(N)


def test_z_has_the_law_of_its_equation():
    z = m_plus(N, 10.0, rng=2).z
    assert z.min() >= 0
    assert z.max() <= np.sqrt(3)
    assert z.mean() == pytest.approx(np.sqrt(3) / 2, abs=0.01)
    z = m_minus(N, 10.0, rng=2).z  # b - c: triangular on +-sqrt 3, variance 1/2
    assert np.abs(z).max() <= np.sqrt(3)
    assert z.var() == pytest.approx(0.5, rel=0.02)


def test_m_plus_depends_and_m_minus_only_given_z():
    """x^2 and y^2 share a in M+, so they correlate; in M- only once z is held."""
    x, y, _ = m_plus(N, 10.0, rng=3)
    assert np.corrcoef(x**2, y**2)[0, 1] > 0.3
    x, y, z = m_minus(N, 10.0, rng=3)
    assert abs(np.corrcoef(x**2, y**2)[0, 1]) < 5 / np.sqrt(N)
    near = np.abs(z) < 0.05
    assert np.corrcoef(x[near] ** 2, y[near] ** 2)[0, 1] > 0.3


def test_seed_decides():
    assert np.array_equal(m_plus(50, 1.0, 7).x, m_plus(50, 1.0, np.random.default_rng(7)).x)
    assert not np.array_equal(m_plus(50, 1.0, 7).x, m_plus(50, 1.0, 8).x)
    assert not np.array_equal(m_plus(50, 1.0).x, m_plus(50, 1.0).x)


def test_summer_is_what_its_script_makes(tmp_path):
    root = Path(__file__).parents[2]
    script = runpy.run_path(str(root / "examples" / "make_summer.py"))
    script["main"](str(tmp_path / "summer.csv"))
    bundled = root / "src" / "chsic" / "datasets" / "summer.csv"
    assert (tmp_path / "summer.csv").read_text() == bundled.read_text()
    columns = chsic.datasets.summer()
    for name, values in script["simulate"]().items():
        np.testing.assert_array_equal(columns[name], values)
