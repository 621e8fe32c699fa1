"""Every engine gives the same value, within the accuracy asked for."""

import numpy as np
import pytest

import chsic
from chsic.kernels import KERNELS
from chsic.kernels.bandwidth import in_bandwidths
from chsic.measure.engines import dense, exponential, features, fourier
from chsic.measure.engines.choose import choose
from chsic.measure.engines.dense import DenseCovariances
from chsic.measure.terms import merge
from chsic.pairs.entries import laplacian_entries
from chsic.pairs.intervals import Intervals
from tests.measure.engines.cases import GRAPHS, graph_of


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"engine": "fourier", "kernel": lambda s: np.exp(-s)}, "spectrum of '<lambda>'"),
        ({"tol": 0}, "tol: must lie between 1e-14 and 0.1"),
        ({"tol": 1.0}, "tol: must lie"),
        ({"workers": 0}, "workers: expected at least 1"),
        ({"engine": "gpu"}, "known are 'auto', 'dense', 'fourier', 'exponential', 'features'"),
    ],
)
def test_bad_engine_settings_are_refused(settings, message):
    x, y, z = chsic.datasets.m_plus(50, 1.0, 0)
    with pytest.raises(ValueError, match=message):
        chsic.chsic(x, y, z, **settings)
    with pytest.raises(ValueError, match=message):
        chsic.hsic(x, y, **settings)


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("engine", ["dense", "fourier", "exponential", "features"])
def test_workers_do_not_change_a_bit(monkeypatch, graph, engine):
    monkeypatch.setattr(fourier, "PIECE", 100)
    monkeypatch.setattr(features, "CHUNK", 50)
    monkeypatch.setattr(dense, "CACHED_TILE_BYTES", 8 * 500 * 20)
    monkeypatch.setattr(dense, "LARGEST_TILE_BYTES", 8 * 500 * 20)
    rng = np.random.default_rng(3)
    x, y, z = chsic.datasets.m_minus(500, 10.0, rng)
    pairs = graph_of(graph, z, rng)
    kernel = "laplace" if engine == "exponential" else "gaussian"
    values = {
        chsic.chsic(x, y, z, pairs=pairs, engine=engine, kernel=kernel, workers=workers)
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


def fourier_shards(x, y, kernel):
    space = fourier.fit_space(x, y, kernel, 1e-10)
    return lambda graph, samples: fourier.fourier_covariances(graph, space, samples=samples)


def feature_shards(x, y, kernel):
    maps = features.fit_maps(x, y, kernel, 1e-10)
    return lambda graph, samples: features.feature_covariances(x[samples], y[samples], graph, maps)


def dense_shards(x, y, kernel):
    return lambda graph, samples: DenseCovariances(x[samples], y[samples], graph, kernel)


def exponential_shards(x, y, kernel):
    return lambda graph, samples: exponential.ExponentialCovariances(
        x[samples], y[samples], graph, kernel
    )


def literal_gram(x, y, graph, kernel):
    """H_bb' = tr(Lap_b K Lap_b' Q), as it is written."""
    lap, k, q = graph.laplacian().toarray(), kernel.matrix(x, x), kernel.matrix(y, y)
    of_block = [lap * (graph.blocks == b)[:, None] for b in range(graph.n_blocks)]
    return np.array([[np.trace(a @ k @ b @ q) for b in of_block] for a in of_block])


@pytest.mark.parametrize("kind", ["complete", "some pairs"])
@pytest.mark.parametrize(
    ("engine", "kernel"),
    [(dense_shards, "gaussian"), (fourier_shards, "gaussian"), (feature_shards, "gaussian"),
     (exponential_shards, "laplace"), (exponential_shards, "matern32")],
)  # fmt: skip
@pytest.mark.parametrize("tile", [2**21, 8 * 200 * 20], ids=["one tile", "many tiles"])
def test_blocks_are_the_literal_ones_whole_and_in_shards(monkeypatch, engine, kernel, kind, tile):
    monkeypatch.setattr(dense, "CACHED_TILE_BYTES", tile)
    monkeypatch.setattr(dense, "LARGEST_TILE_BYTES", tile)
    rng = np.random.default_rng(4)
    x, y, z = chsic.datasets.m_minus(200, 10.0, rng)
    graph = blocks_of(kind, z, rng)
    kernel = KERNELS[kernel]
    scaled = in_bandwidths(x[:, None], y[:, None], "paper")
    exact = literal_gram(*scaled, graph, kernel)
    scale = np.abs(exact).max()
    shard = engine(*scaled, kernel)
    parts = []
    for chosen in ([0, 1], [2], [3, 4]):
        samples = np.flatnonzero(np.isin(graph.blocks, chosen))
        pairs = np.isin(graph.blocks[graph.i], chosen)
        part = chsic.PairGraph(
            np.searchsorted(samples, graph.i[pairs]),
            np.searchsorted(samples, graph.j[pairs]),
            len(samples),
            blocks=graph.blocks[samples] - chosen[0],
        )
        parts.append(shard(part, samples))
    n_pairs = np.bincount(graph.blocks[graph.i])
    for terms in (merge([shard(graph, slice(None))]), merge(parts)):
        np.testing.assert_allclose(terms.gram, exact, rtol=0, atol=1e-8 * scale)
        np.testing.assert_array_equal(terms.n_pairs, n_pairs)
        assert terms.gram.sum() == pytest.approx(exact.sum(), rel=max(terms.error, 1e-12))


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
    np.testing.assert_array_equal(graph.degrees, found.diagonal())


def test_an_error_above_the_tolerance_is_told():
    rng = np.random.default_rng(10)
    x, z = rng.normal(size=(3000, 5)), rng.normal(size=3000)
    with pytest.warns(chsic.AccuracyWarning, match="estimated relative error of 0.0"):
        value = chsic.chsic(x, x[:, 0], z, engine="features")
    assert value == pytest.approx(chsic.chsic(x, x[:, 0], z), rel=0.1)
    with pytest.raises(ValueError, match="the error would be as large as the value"):
        chsic.hsic(np.arange(3000), x, kernel="categorical", engine="features")
    # Left to itself it takes the dense engine then.
    levels = np.arange(3000)
    assert chsic.hsic(levels, levels, kernel="categorical") == pytest.approx(1 / 2999, rel=1e-9)


def test_choice_is_explained():
    gaussian = KERNELS["gaussian"]
    few = choose(n_samples=100, d_x=1, d_y=1, kernel=gaussian, tol=1e-6)
    assert few.engine == "dense"
    assert "100 samples" in few.reason
    wide = choose(n_samples=10**4, d_x=1, d_y=3, kernel=gaussian, tol=1e-6)
    assert wide.engine == "dense"
    assert "y 3 columns" in wide.reason
    assert choose(n_samples=10**5, d_x=1, d_y=3, kernel=gaussian, tol=1e-6).engine == "features"
    assert choose(n_samples=10**5, d_x=1, d_y=1, kernel=gaussian, tol=1e-12).engine == "fourier"
    slow = [
        choose(n_samples=n, d_x=1, d_y=1, kernel=KERNELS["cauchy"], tol=1e-6).engine
        for n in (500, 2_000, 10**4)
    ]
    assert slow == ["dense", "features", "fourier"]
    for kernel in ("laplace", "matern32"):
        slow = choose(n_samples=18_000, d_x=1, d_y=1, kernel=KERNELS[kernel], tol=1e-9)
        assert slow.engine == "exponential"
        assert kernel in slow.reason
    engines = [
        choose(n_samples=350, d_x=1, d_y=1, kernel=gaussian, tol=t).engine for t in (1e-6, 1e-9)
    ]
    assert engines == ["fourier", "dense"]


def test_a_million_samples_measured():
    """The dense engine is out of reach here; a coarser and a finer tolerance must agree."""
    x, y, z = chsic.datasets.m_minus(10**6, 10.0, 0)
    coarse, fine = (chsic.chsic(x, y, z, tol=tol, workers=2) for tol in (1e-4, 1e-9))
    assert coarse == pytest.approx(fine, rel=1e-4)
    assert chsic.hsic(x, y, tol=1e-4) == pytest.approx(chsic.hsic(x, y, tol=1e-9), rel=1e-4)
