"""The feature engine: it keeps its tolerance, or tells its error."""

import warnings

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import chsic
from chsic.kernels import KERNELS
from chsic.kernels.bandwidth import in_bandwidths
from chsic.kernels.features import RandomFourier
from chsic.measure.engines.choose import c_hsic
from chsic.measure.engines.dense import dense_sum
from chsic.measure.engines.features import products_of
from chsic.pairs import laplacian
from tests.measure.engines.cases import GRAPHS, KINDS, agree, columns, graph_of, uncancelled


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(30, 300),
    kinds=st.tuples(*[st.sampled_from(KINDS)] * 3),
    graph=st.sampled_from(GRAPHS),
    kernel=st.sampled_from(["gaussian", "cauchy", "matern32", "laplace"]),
    tol=st.sampled_from([1e-3, 1e-6]),
)
@example(seed=0, n=30, kinds=("repeated", "outlier", "clusters"), graph="closest 1",
         kernel="gaussian", tol=1e-3)  # fmt: skip
@example(seed=0, n=163, kinds=("outlier", "clusters", "normal"), graph="closest 1",
         kernel="gaussian", tol=1e-6)  # fmt: skip
@example(seed=0, n=80, kinds=("outlier", "normal", "heavy tails"), graph="closest 1",
         kernel="matern32", tol=1e-6)  # fmt: skip
@settings(max_examples=150, deadline=None)
def test_landmark_features_keep_their_tolerance(seed, n, kinds, graph, kernel, tol):
    """Up to 300 samples there are landmarks enough for any kernel."""
    rng = np.random.default_rng(seed)
    x, y, z = (columns(kind, rng, n) for kind in kinds)
    pairs = graph_of(graph, z, rng)
    exact = chsic.chsic(x, y, z, pairs=pairs, kernel=kernel, engine="dense")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", chsic.AccuracyWarning)
        value = chsic.chsic(x, y, z, pairs=pairs, kernel=kernel, engine="features", tol=tol)
    assert agree(value, exact, pairs, tol)
    # It may be unsure of that only where nearly everything cancels and rounding is what is left.
    assert not told or exact < 1e-6 * uncancelled(pairs)


def test_a_kernel_of_ones_own_need_not_start_at_one():
    x, y, z = chsic.datasets.m_minus(300, 10.0, 1)

    def kernel(s):
        return 5 * np.exp(-s * s)

    exact = 25 * chsic.chsic(x, y, z, engine="dense")
    for engine in ("dense", "features"):
        assert chsic.chsic(x, y, z, kernel=kernel, engine=engine) == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize("graph", GRAPHS)
def test_chunks_do_not_change_the_value(monkeypatch, graph):
    rng = np.random.default_rng(6)
    x, y, z = chsic.datasets.m_minus(300, 10.0, rng)
    pairs = graph_of(graph, z, rng)
    whole = chsic.chsic(x, y, z, pairs=pairs, engine="features", tol=1e-8)
    monkeypatch.setattr(laplacian, "CHUNK", 7)
    chunked = chsic.chsic(x, y, z, pairs=pairs, engine="features", tol=1e-8)
    assert chunked == pytest.approx(whole, rel=1e-11)
    exact = chsic.chsic(x, y, z, pairs=pairs, engine="dense")
    assert chunked == pytest.approx(exact, rel=1e-8)


def test_categories_are_exact():
    rng = np.random.default_rng(7)
    z = rng.normal(size=500)
    x, y = rng.integers(0, 5, 500), rng.integers(0, 7, (500, 2))
    x = np.where(z > 0, x, 2)
    for pairs in (chsic.closest_pairs(z, 4), chsic.complete_pairs(500)):
        exact = chsic.chsic(x, y, z, pairs=pairs, kernel="categorical", engine="dense")
        value = chsic.chsic(x, y, z, pairs=pairs, kernel="categorical")
        assert value == pytest.approx(exact, rel=1e-12)
    assert chsic.explain(x, x, kernel="categorical").engine == "features"


@pytest.mark.parametrize("kernel", ["gaussian", "laplace", "cauchy", "matern32"])
def test_random_frequencies_have_the_kernel_as_their_mean(kernel):
    rng = np.random.default_rng(8)
    for d in (1, 3):
        s = np.linspace(0, 2, 9)
        direction = np.full(d, d**-0.5)
        w = KERNELS[kernel].frequencies(rng, 200_000, d)
        waves = np.cos(np.outer(w @ direction, s))
        error = 4 * waves.std(axis=0) / np.sqrt(len(w)) + 1e-12
        assert np.all(np.abs(waves.mean(axis=0) - KERNELS[kernel].kappa(s)) < error)


def test_random_features_say_how_far_off_they_are(monkeypatch):
    """Over many draws of frequencies: right on average, and within two standard errors mostly."""
    rng = np.random.default_rng(9)
    x, y = rng.normal(size=(2, 400, 4))
    y[:, 0] += x[:, 0] ** 2
    z = rng.normal(size=400)
    scaled = in_bandwidths(x, y, "paper")
    graph = chsic.closest_pairs(z, 4)
    exact, _ = c_hsic(dense_sum(*scaled, graph, KERNELS["gaussian"]))
    values, errors = [], []
    for _ in range(60):
        maps = tuple(RandomFourier(KERNELS["gaussian"].frequencies(rng, 200, 4)) for _ in range(2))
        value, error = c_hsic(products_of(*scaled, graph, maps))
        values.append(value / exact - 1)
        errors.append(error * value / exact)
    values, errors = np.array(values), np.array(errors)
    assert abs(values.mean()) < 4 * values.std() / np.sqrt(60)
    assert np.mean(np.abs(values) < errors) > 0.85  # 0.95 expected, less than that once in 2,000
    assert errors.mean() < 3 * values.std()


def test_samples_that_landmarks_were_not_chosen_from_are_accounted_for():
    """Above 10,000 samples the features see some of them only; the Fourier engine sees all."""
    x, y, z = chsic.datasets.m_minus(30_000, 10.0, 0)
    x[:3] = [40.0, -55.0, 70.0]
    graph = chsic.closest_pairs(z, 4)
    exact = chsic.chsic(x, y, z, pairs=graph, engine="fourier", tol=1e-9)
    value = chsic.chsic(x, y, z, pairs=graph, engine="features", tol=1e-5)
    assert value == pytest.approx(exact, rel=1e-5)
