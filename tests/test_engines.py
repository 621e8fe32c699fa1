"""Every engine gives the same value, within the accuracy asked for."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import chsic
from chsic.bandwidth import in_bandwidths
from chsic.engines import fourier
from chsic.engines.choose import choose
from chsic.engines.dense import DenseCovariances
from chsic.kernels import KERNELS
from chsic.pairs.entries import degrees, laplacian_entries
from chsic.pairs.intervals import Intervals
from chsic.terms import merge

TOLERANCES = [1e-3, 1e-6, 1e-9, 1e-12]


def columns(kind, rng, n):
    """One column of data of some nasty kind."""
    return {
        "normal": lambda: rng.normal(size=n),
        "heavy tails": lambda: rng.standard_t(1.5, n),
        "clusters": lambda: rng.choice([0.0, 1.0, 50.0], n) + 1e-3 * rng.normal(size=n),
        "offset": lambda: 1e9 + rng.normal(size=n),
        "tiny": lambda: 1e-200 * rng.normal(size=n),
        "repeated": lambda: rng.choice(rng.normal(size=10), n),
        "binary": lambda: np.resize([0.0, 1.0], n)[rng.permutation(n)],
        "counts": lambda: rng.poisson(3.0, n).astype(float),
        "outlier": lambda: np.append(rng.normal(size=n - 1), 1e6),
    }[kind]()


KINDS = [
    "normal",
    "heavy tails",
    "clusters",
    "offset",
    "tiny",
    "repeated",
    "binary",
    "counts",
    "outlier",
]


def graph_of(kind, z, rng):
    n = len(z)
    return {
        "closest 1": lambda: chsic.closest_pairs(z, 1),
        "closest 4": lambda: chsic.closest_pairs(z, 4),
        "closest 20": lambda: chsic.closest_pairs(z, 20),
        "random": lambda: chsic.random_pairs(n, 4, rng),
        "complete": lambda: chsic.complete_pairs(n),
    }[kind]()


GRAPHS = ["closest 1", "closest 4", "closest 20", "random", "complete"]


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
    value = chsic.chsic(x, y, z, pairs=pairs, bandwidth=bandwidth, engine="fourier", tol=tol)
    assert value == pytest.approx(exact, rel=max(tol, rounding(exact, n)))


def rounding(value, n):
    """What the dense engine itself may be off by: kernel values of 1 cancel down to `value`."""
    return 1e-14 / max(value, 1e-300)


@pytest.mark.parametrize("kernel", ["gaussian", "matern32", "cauchy"])
@pytest.mark.parametrize("tol", [1e-3, 1e-5, 1e-6])
@pytest.mark.parametrize("graph", GRAPHS)
def test_kernels_with_a_known_spectrum(kernel, tol, graph):
    rng = np.random.default_rng(1)
    x, y, z = chsic.datasets.m_minus(300, 10.0, rng)
    pairs = graph_of(graph, z, rng)
    exact = chsic.chsic(x, y, z, pairs=pairs, kernel=kernel, engine="dense")
    value = chsic.chsic(x, y, z, pairs=pairs, kernel=kernel, engine="fourier", tol=tol)
    assert value == pytest.approx(exact, rel=tol)


@pytest.mark.parametrize("tol", TOLERANCES)
def test_outliers_do_not_blow_up_the_grid(tol):
    """A sample a million standard deviations away, at a bandwidth that does not follow it."""
    x, y, z = chsic.datasets.m_minus(400, 10.0, 1)
    x[7], y[11] = 1e6 * x.std(), -1e6 * y.std()
    scaled = in_bandwidths(x[:, None], y[:, None], 0.5)
    space = fourier.fit_space(*scaled, KERNELS["gaussian"], tol)
    assert max(space.shape) < 400
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


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"engine": "fourier", "kernel": lambda s: np.exp(-s)}, "spectrum of '<lambda>'"),
        ({"tol": 0}, "tol: must lie between 1e-14 and 0.1"),
        ({"tol": 1.0}, "tol: must lie"),
        ({"workers": 0}, "workers: expected at least 1"),
        ({"engine": "gpu"}, "known are 'auto', 'dense', 'fourier'"),
    ],
)
def test_bad_engine_settings(settings, message):
    x, y, z = chsic.datasets.m_plus(50, 1.0, 0)
    with pytest.raises(ValueError, match=message):
        chsic.chsic(x, y, z, **settings)
    with pytest.raises(ValueError, match=message):
        chsic.hsic(x, y, **settings)


def test_several_columns_are_refused_by_fourier():
    x, y, _ = chsic.datasets.m_plus(50, 1.0, 0)
    with pytest.raises(ValueError, match="one column, got 2 and 1"):
        chsic.hsic(np.column_stack([x, y]), y, engine="fourier")


@pytest.mark.parametrize("graph", GRAPHS)
def test_workers_do_not_change_a_bit(monkeypatch, graph):
    monkeypatch.setattr(fourier, "PIECE", 100)
    rng = np.random.default_rng(3)
    x, y, z = chsic.datasets.m_minus(500, 10.0, rng)
    pairs = graph_of(graph, z, rng)
    values = {
        chsic.chsic(x, y, z, pairs=pairs, engine="fourier", workers=workers)
        for workers in (1, 2, 3, 8)
    }
    assert len(values) == 1


def blocks_of(kind, z, rng):
    """A graph with five blocks of neighbours in z: complete, or with some of the pairs."""
    n = len(z)
    order = np.argsort(z)
    blocks = np.empty(n, np.intp)
    blocks[order] = np.arange(n) * 5 // n
    if kind == "complete":
        stops = np.searchsorted(blocks[order], blocks[order], side="right")
        none = np.empty(0, np.intp)
        return chsic.PairGraph.from_intervals(Intervals(order, stops), none, none, blocks=blocks)
    i, j = np.triu_indices(n, k=1)
    kept = (blocks[i] == blocks[j]) & (rng.random(len(i)) < 0.1)
    return chsic.PairGraph(i[kept], j[kept], n, blocks=blocks)


@pytest.mark.parametrize("kind", ["complete", "some pairs"])
def test_blocks_and_shards_agree_between_engines(kind):
    rng = np.random.default_rng(4)
    x, y, z = chsic.datasets.m_minus(200, 10.0, rng)
    graph = blocks_of(kind, z, rng)
    scaled = in_bandwidths(x[:, None], y[:, None], "paper")
    exact = merge([DenseCovariances(*scaled, graph, KERNELS["gaussian"])])
    space = fourier.fit_space(*scaled, KERNELS["gaussian"], 1e-10)
    whole = merge([fourier.fourier_covariances(graph, space)])
    scale = np.abs(exact.gram).max()
    np.testing.assert_allclose(whole.gram, exact.gram, rtol=0, atol=1e-8 * scale)
    np.testing.assert_array_equal(whole.n_pairs, exact.n_pairs)
    assert exact.gram.sum() == pytest.approx(whole.gram.sum(), rel=whole.error)
    assert exact.n_pairs.sum() == graph.n_pairs

    shards = []
    for chosen in ([0, 1], [2], [3, 4]):
        samples = np.flatnonzero(np.isin(graph.blocks, chosen))
        pairs = np.isin(graph.blocks[graph.i], chosen)
        part = chsic.PairGraph(
            np.searchsorted(samples, graph.i[pairs]),
            np.searchsorted(samples, graph.j[pairs]),
            len(samples),
            blocks=graph.blocks[samples] - chosen[0],
        )
        shards.append(fourier.fourier_covariances(part, space, samples=samples))
    merged = merge(shards)
    np.testing.assert_allclose(merged.gram, exact.gram, rtol=0, atol=1e-8 * scale)
    np.testing.assert_array_equal(merged.n_pairs, exact.n_pairs)


@pytest.mark.parametrize("size", [2, 7, 10**6])
@pytest.mark.parametrize("kind", ["closest 4", "closest 20", "random", "complete", "blocks"])
def test_entries_are_those_of_the_laplacian(size, kind):
    rng = np.random.default_rng(5)
    z = np.round(rng.normal(size=40), 1)
    graph = blocks_of("some pairs", z, rng) if kind == "blocks" else graph_of(kind, z, rng)
    found = np.zeros((40, 40))
    for piece in laplacian_entries(graph, size):
        np.add.at(found, (piece.rows, piece.columns), piece.values)
        assert set(graph.blocks[piece.rows]) == {piece.block}
        assert len(piece.rows) <= size or size == 2
    np.testing.assert_array_equal(found, graph.laplacian().toarray())
    np.testing.assert_array_equal(degrees(graph), found.diagonal())


def test_choice_is_explained():
    gaussian = KERNELS["gaussian"]
    few = choose(n_samples=100, d_x=1, d_y=1, kernel=gaussian, tol=1e-6)
    assert few.engine == "dense"
    assert "100 samples" in few.reason
    wide = choose(n_samples=10**5, d_x=1, d_y=3, kernel=gaussian, tol=1e-6)
    assert wide.engine == "dense"
    assert "y has 3 columns" in wide.reason
    many = choose(n_samples=10**5, d_x=1, d_y=1, kernel=gaussian, tol=1e-12)
    assert many.engine == "fourier"
    for kernel, tol in (("laplace", 1e-3), ("cauchy", 1e-9)):
        slow = choose(n_samples=10**5, d_x=1, d_y=1, kernel=KERNELS[kernel], tol=tol)
        assert slow.engine == "dense"
        assert kernel in slow.reason


def test_a_million_samples_measured():
    """The dense engine is out of reach here; a coarser and a finer tolerance must agree."""
    x, y, z = chsic.datasets.m_minus(10**6, 10.0, 0)
    coarse, fine = (chsic.chsic(x, y, z, tol=tol, workers=2) for tol in (1e-4, 1e-9))
    assert coarse == pytest.approx(fine, rel=1e-4)
    assert chsic.hsic(x, y, tol=1e-4) == pytest.approx(chsic.hsic(x, y, tol=1e-9), rel=1e-4)
