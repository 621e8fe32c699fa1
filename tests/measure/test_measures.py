"""hsic and chsic against the literal equations, and the symmetries they must have."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chsic
from chsic import paper
from chsic.kernels import KERNELS
from chsic.kernels.bandwidth import in_bandwidths
from chsic.measure.engines import dense
from chsic.measure.engines.overlap import overlap_sum
from tests.conftest import literal_kappa, paper_bandwidth


def draw_sample(seed, n, dx=1, dy=1, dz=1):
    """x, y and z that depend on each other; one column means a 1-D array."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, dz))
    x = np.sin(z[:, :1]) + rng.normal(size=(n, dx))
    y = np.cos(z[:, :1]) + 0.5 * x[:, :1] ** 2 + rng.normal(size=(n, dy))
    return tuple(a[:, 0] if a.shape[1] == 1 else a for a in (x, y, z))


def literal_c_hsic(x, y, graph, kernel):
    return paper.c_hsic(
        x,
        y,
        graph.i,
        graph.j,
        literal_kappa(kernel, paper_bandwidth(x)),
        literal_kappa(kernel, paper_bandwidth(y)),
    )


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(5, 60),
    dims=st.tuples(*[st.integers(1, 3)] * 3),
    kernel=st.sampled_from(sorted(KERNELS)),
    part=st.floats(0, 1),
    pairs=st.sampled_from(["closest", "random"]),
)
@settings(max_examples=60, deadline=None)
def test_laplacian_form_is_equation_18(seed, n, dims, kernel, part, pairs):
    x, y, z = draw_sample(seed, n, *dims)
    alpha = 1 + part * (n - 2)
    graph = chsic.closest_pairs(z, alpha) if pairs == "closest" else chsic.random_pairs(n, alpha, 1)
    expected = literal_c_hsic(x, y, graph, kernel)
    assert chsic.chsic(x, y, z, pairs=graph, kernel=kernel) == pytest.approx(expected, rel=1e-12)
    if pairs == "closest":
        by_name = chsic.chsic(x, y, z, alpha=alpha, kernel=kernel)
        assert by_name == pytest.approx(expected, rel=1e-12)


@given(seed=st.integers(0, 10**6), n=st.integers(4, 60), kernel=st.sampled_from(sorted(KERNELS)))
@settings(max_examples=40, deadline=None)
def test_hsic_is_equation_6(seed, n, kernel):
    x, y, z = draw_sample(seed, n, dx=2)
    kappas = (literal_kappa(kernel, paper_bandwidth(a)) for a in (x, y))
    value = chsic.hsic(x, y, kernel=kernel)
    assert value == pytest.approx(paper.hsic(x, y, *kappas), rel=1e-12)
    # "complete" and alpha = n - 1 take the same road as hsic ...
    assert chsic.chsic(x, y, z, pairs="complete", kernel=kernel) == value
    assert chsic.chsic(x, y, z, alpha=n - 1, kernel=kernel) == value
    assert chsic.chsic(x, y, z, pairs=chsic.complete_pairs(n), kernel=kernel) == value
    # ... so the Laplacian of all pairs is compared as well.
    scaled = in_bandwidths(*(np.atleast_2d(a.T).T for a in (x, y)), "paper")
    lap = chsic.complete_pairs(n).laplacian()
    trace = dense.laplacian_trace(*scaled, lap, KERNELS[kernel], workers=1, rows=(0, n))
    assert trace / (n * (n - 1)) ** 2 == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("pairs", ["closest", "random"])
@pytest.mark.parametrize("alpha", [1, 4, 20])
def test_tiles_do_not_change_the_value(monkeypatch, pairs, alpha):
    """Tiles of one row, of a few, and one tile for all; n is large enough for many of them."""
    x, y, z = draw_sample(1, 150, dz=2)
    expected = chsic.chsic(x, y, z, alpha=alpha, pairs=pairs, rng=1)
    expected_hsic = chsic.hsic(x, y)
    for rows in (1, 7):
        monkeypatch.setattr(dense, "CACHED_TILE_BYTES", 8 * 150 * rows)
        monkeypatch.setattr(dense, "LARGEST_TILE_BYTES", 8 * 150 * rows)
        tiled = chsic.chsic(x, y, z, alpha=alpha, pairs=pairs, rng=1)
        assert tiled == pytest.approx(expected, rel=1e-13)
        assert chsic.hsic(x, y) == pytest.approx(expected_hsic, rel=1e-13)


def test_a_hub_and_samples_without_partners_are_equation_18():
    x, y, z = draw_sample(2, 30)
    hub = chsic.PairGraph(np.zeros(20, dtype=int), np.arange(5, 25), 30)
    expected = literal_c_hsic(x, y, hub, "gaussian")
    assert chsic.chsic(x, y, z, pairs=hub) == pytest.approx(expected, rel=1e-12)


@given(seed=st.integers(0, 10**6), alpha=st.sampled_from([1, 4, 11]))
@settings(max_examples=25, deadline=None)
def test_order_shifts_and_scales_change_nothing(seed, alpha):
    """Swapping x and y, reordering samples, shifting and scaling change nothing but rounding."""
    x, y, z = draw_sample(seed, 40)
    order = np.random.default_rng(seed + 1).permutation(40)
    for rule in ("paper", "median"):
        value = chsic.chsic(x, y, z, alpha=alpha, bandwidth=rule)
        same = pytest.approx(value, rel=1e-9)
        assert chsic.chsic(y, x, z, alpha=alpha, bandwidth=rule) == same
        assert chsic.chsic(x[order], y[order], z[order], alpha=alpha, bandwidth=rule) == same
        assert chsic.chsic(x + 100, y - 7, z + 3, alpha=alpha, bandwidth=rule) == same
        assert chsic.chsic(1e-3 * x, -50 * y, 8 * z, alpha=alpha, bandwidth=rule) == same
    value = chsic.hsic(x, y)
    assert chsic.hsic(y, x) == pytest.approx(value, rel=1e-12)
    assert chsic.hsic(x[order], y[order]) == pytest.approx(value, rel=1e-12)
    assert chsic.hsic(5 + 1e4 * x, -y) == pytest.approx(value, rel=1e-9)


def test_scaling_single_columns_does_not_matter():
    x, y, z = draw_sample(4, 50, dx=3, dz=2)
    value = chsic.chsic(x, y, z)
    assert chsic.chsic(x * [1, 1e6, 1e-6], y, z * [1e3, 1]) == pytest.approx(value, rel=1e-9)


def test_a_fixed_bandwidth_is_not_scale_free():
    x, y, z = draw_sample(5, 50)
    assert chsic.chsic(x, y, z, bandwidth=1.0) != pytest.approx(
        chsic.chsic(3 * x, y, z, bandwidth=1.0), rel=1e-2
    )


def test_a_tuple_of_bandwidths_is_for_x_and_y():
    x, y, z = draw_sample(6, 50)
    graph = chsic.closest_pairs(z, 4)
    kappas = literal_kappa("gaussian", 0.4), literal_kappa("gaussian", paper_bandwidth(y))
    expected = paper.c_hsic(x, y, graph.i, graph.j, *kappas)
    assert chsic.chsic(x, y, z, bandwidth=(0.4, "paper")) == pytest.approx(expected, rel=1e-12)


def test_users_own_kernel_gets_distances_in_bandwidths():
    x, y, z = draw_sample(7, 40, dx=2)
    named = chsic.chsic(x, y, z, kernel="gaussian", bandwidth=0.7)
    assert chsic.chsic(x, y, z, kernel=lambda s: np.exp(-s * s), bandwidth=0.7) == named
    assert chsic.hsic(x, y, kernel=lambda s: np.exp(-s * s)) == chsic.hsic(x, y)


def test_large_offsets_keep_their_digits():
    """x = 1e9 + noise: the differences are exact, so the kernel must not lose more."""
    x, y, z = draw_sample(8, 60)
    far = 1e9 + x
    near = far - 1e9  # what is left of x at that offset
    assert chsic.chsic(far, y, z) == pytest.approx(chsic.chsic(near, y, z), rel=1e-9)


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e150, 1e300])
def test_extreme_scales_change_nothing(scale):
    x, y, z = draw_sample(9, 40)
    assert chsic.chsic(scale * x, y, scale * z) == pytest.approx(chsic.chsic(x, y, z), rel=1e-9)


def test_read_only_and_integer_input_is_left_alone():
    x, y, z = (np.round(10 * a).astype(int) for a in draw_sample(10, 50))
    for a in (x, y, z):
        a.setflags(write=False)
    copies = x.copy(), y.copy(), z.copy()
    assert chsic.chsic(x, y, z) == chsic.chsic(*(a.astype(float) for a in copies))
    assert chsic.chsic(list(x), list(y), list(z)) == chsic.chsic(x, y, z)
    assert chsic.chsic(x[:, None], y[:, None], z[:, None]) == chsic.chsic(x, y, z)
    for a, copy in zip((x, y, z), copies, strict=True):
        np.testing.assert_array_equal(a, copy)


def test_random_pairs_follow_the_seed():
    x, y, z = draw_sample(11, 60)
    values = [chsic.chsic(x, y, z, pairs="random", rng=seed) for seed in (1, 1, 2)]
    assert values[0] == values[1] != values[2]


@pytest.mark.parametrize("pairs", ["closest", "random"])
def test_overlap_is_the_part_with_common_samples(pairs):
    x, y, z = draw_sample(14, 40, dx=2)
    graph = chsic.closest_pairs(z, 5) if pairs == "closest" else chsic.random_pairs(40, 5, 0)
    i, j = graph.i, graph.j
    kappas = [literal_kappa("laplace", paper_bandwidth(a)) for a in (x, y)]
    Kb, Qb = (paper.tuple_kernel_matrix(a, i, j, k) for a, k in zip((x, y), kappas, strict=True))
    share = np.zeros((len(i), len(i)), dtype=bool)
    for a in (i, j):
        for b in (i, j):
            share |= a[:, None] == b[None, :]
    scaled = in_bandwidths(x, y[:, None], "paper")
    assert overlap_sum(*scaled, graph, KERNELS["laplace"]) == pytest.approx(
        (Kb * Qb)[share].sum(), rel=1e-11
    )
