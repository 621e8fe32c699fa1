"""The Fourier engine: it keeps its tolerance, or says that it cannot."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import chsic
from chsic.kernels import KERNELS
from chsic.kernels.bandwidth import in_bandwidths
from chsic.measure.engines import fourier
from chsic.measure.engines.fourier import fit_axis
from tests.measure.engines.cases import GRAPHS, KINDS, agree, columns, graph_of

TOLERANCES = [1e-3, 1e-6, 1e-9, 1e-12]


@pytest.mark.no_cover
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(30, 300),
    kinds=st.tuples(*[st.sampled_from(KINDS)] * 3),
    graph=st.sampled_from(GRAPHS),
    bandwidth=st.sampled_from(["paper", "wide"]),
    tol=st.sampled_from(TOLERANCES),
)
@example(seed=0, n=200, kinds=("normal", "normal", "normal"), graph="complete", bandwidth="paper",
         tol=1e-12)  # fmt: skip
@settings(max_examples=300, deadline=None)
def test_fourier_keeps_its_tolerance(seed, n, kinds, graph, bandwidth, tol):
    rng = np.random.default_rng(seed)
    x, y, z = (columns(kind, rng, n) for kind in kinds)
    if bandwidth == "wide":
        bandwidth = tuple(3 * float(np.std(a / np.abs(a).max()) * np.abs(a).max()) for a in (x, y))
    pairs = graph_of(graph, z, rng)
    exact = chsic.chsic(x, y, z, pairs=pairs, bandwidth=bandwidth, engine="dense")
    with warnings.catch_warnings():
        if tol < 1e-6:  # the engine may say that rounding keeps it from being sure of that
            warnings.simplefilter("ignore", chsic.AccuracyWarning)
        value = chsic.chsic(x, y, z, pairs=pairs, bandwidth=bandwidth, engine="fourier", tol=tol)
    assert agree(value, exact, pairs, tol)


SMOOTH = itertools.product(("gaussian", "cauchy"), (1e-3, 1e-6, 1e-9, 1e-12), GRAPHS)
# A kink needs many frequencies, and at 1e-6 seconds, so one graph is enough there.
WITH_A_KINK = [*itertools.product(["matern32"], (1e-3, 1e-5), GRAPHS), ("matern32", 1e-6, "random")]


@pytest.mark.parametrize(("kernel", "tol", "graph"), [*SMOOTH, *WITH_A_KINK])
def test_kernels_with_a_known_spectrum_keep_their_tolerance(kernel, tol, graph):
    rng = np.random.default_rng(1)
    x, y, z = chsic.datasets.m_minus(300, 10.0, rng)
    pairs = graph_of(graph, z, rng)
    exact = chsic.chsic(x, y, z, pairs=pairs, kernel=kernel, engine="dense")
    value = chsic.chsic(x, y, z, pairs=pairs, kernel=kernel, engine="fourier", tol=tol)
    assert value == pytest.approx(exact, rel=tol)


@pytest.mark.parametrize("kinds", [("normal", "clusters"), ("offset", "tiny"),
                                   ("counts", "repeated")])  # fmt: skip
@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-9])
def test_copies_of_a_kernel_that_falls_slowly_are_taken_off(kinds, tol):
    rng = np.random.default_rng(5)
    x, y, z = (columns(kind, rng, 400) for kind in (*kinds, "normal"))
    pairs = graph_of("closest 4", z, rng)
    exact = chsic.chsic(x, y, z, pairs=pairs, kernel="cauchy", engine="dense")
    value = chsic.chsic(x, y, z, pairs=pairs, kernel="cauchy", engine="fourier", tol=tol)
    assert agree(value, exact, pairs, tol)


def test_axis_is_as_exact_as_it_says():
    """The kernel that the frequencies make, against kappa, up to a constant."""
    rng = np.random.default_rng(6)
    x = rng.normal(size=500) * 5
    distances = np.linspace(0, np.ptp(x), 1_001)
    for kernel in (KERNELS["gaussian"], KERNELS["cauchy"]):
        for accuracy in (1e-4, 1e-8, 1e-12):
            axis = fit_axis(x, kernel, accuracy)
            rate = np.ptp(axis.angles) / np.ptp(x)
            m = np.arange(len(axis.weights))
            both = np.where(m > 0, 2, 1) * axis.weights
            made = np.cos(np.outer(distances * rate, m)) @ both
            assert np.ptp(made - kernel.kappa(distances)) <= axis.accuracy <= 3 * accuracy


@pytest.mark.parametrize("tol", TOLERANCES)
def test_outliers_do_not_blow_up_the_grid(tol):
    """A sample a million standard deviations away, at a bandwidth that does not follow it."""
    x, y, z = chsic.datasets.m_minus(400, 10.0, 1)
    x[7], y[11] = 1e6 * x.std(), -1e6 * y.std()
    scaled = in_bandwidths(x[:, None], y[:, None], 0.5)
    grid = fourier.fit_grid(*scaled, KERNELS["gaussian"], tol)
    assert max(grid.shape) < 400
    exact = chsic.chsic(x, y, z, bandwidth=0.5, engine="dense")
    value = chsic.chsic(x, y, z, bandwidth=0.5, engine="fourier", tol=tol)
    assert value == pytest.approx(exact, rel=max(tol, 1e-12))


def test_grid_too_large_is_refused_or_left_to_another_engine():
    rng = np.random.default_rng(2)
    x, y, z = 1e4 * rng.random((3, 9000))
    with pytest.raises(ValueError, match="engine='fourier' needs frequencies up to"):
        chsic.hsic(x, y, bandwidth=1e-2, engine="fourier")
    assert chsic.explain(x, y).engine == "fourier"
    value = chsic.chsic(x[:900], y[:900], z[:900], bandwidth=1e-3, tol=1e-12)
    assert value == chsic.chsic(x[:900], y[:900], z[:900], bandwidth=1e-3, engine="dense")
    with pytest.raises(ValueError, match="'laplace' and this accuracy"):
        chsic.hsic(x, y, kernel="laplace", engine="fourier")


def test_several_columns_are_refused_by_fourier():
    x, y, _ = chsic.datasets.m_plus(50, 1.0, 0)
    with pytest.raises(ValueError, match="one column, got 2 and 1"):
        chsic.hsic(np.column_stack([x, y]), y, engine="fourier")
