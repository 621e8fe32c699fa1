"""Every engine gives the same value, within the accuracy asked for."""

import functools
import itertools
import operator
import pickle

import numpy as np
import pytest

import chsic
from chsic import paper
from chsic.kernels import KERNELS
from chsic.kernels.bandwidth import in_bandwidths
from chsic.measure.engines import dense, exponential, features, fourier
from chsic.measure.engines.choose import ENGINES, c_hsic, choose
from chsic.pairs import laplacian
from tests.conftest import literal_kappa, paper_bandwidth
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
    monkeypatch.setattr(laplacian, "CHUNK", 50)
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


def split(graph, n_shards, rng):
    """The pairs of a graph as several graphs on the same samples, in any order."""
    shard = rng.permutation(np.arange(graph.n_pairs) % n_shards)
    own = [shard == k for k in range(n_shards)]
    return [chsic.PairGraph(graph.i[one], graph.j[one], graph.n_samples) for one in own]


def fourier_shards(x, y, graph, kernel, parts):
    grid = fourier.fit_grid(x, y, kernel, 1e-10)
    return [fourier.sums_on_grid(part, grid, degrees=graph.degrees) for part in parts]


def feature_shards(x, y, graph, kernel, parts):
    maps = features.fit_maps(x, y, kernel, 1e-10)
    return [features.products_of(x, y, part, maps, degrees=graph.degrees) for part in parts]


def exponential_shards(x, y, graph, kernel, parts):
    return [
        exponential.exponential_sums(x, y, part, kernel, degrees=graph.degrees) for part in parts
    ]


def dense_shards(x, y, graph, kernel, parts):
    """Shards of rows instead: tr(Lap K Lap Q) itself is no sum over pairs."""
    ends = np.linspace(0, graph.n_samples, len(parts) + 1).astype(int).tolist()
    return [dense.dense_sum(x, y, graph, kernel, rows=rows) for rows in itertools.pairwise(ends)]


def added(shards, rng):
    return functools.reduce(operator.add, (shards[k] for k in rng.permutation(len(shards))))


SHARDS = {
    "dense": dense_shards,
    "fourier": fourier_shards,
    "exponential": exponential_shards,
    "features": feature_shards,
}


def test_every_engine_adds_up():
    assert ("auto", *SHARDS) == ENGINES


@pytest.mark.parametrize("n_shards", [1, 2, 3, 7])
@pytest.mark.parametrize("graph", [*GRAPHS, "blocks", "lists"])
@pytest.mark.parametrize(
    ("engine", "kernel"),
    [("dense", "gaussian"), ("dense", "laplace"), ("fourier", "gaussian"), ("fourier", "cauchy"),
     ("features", "gaussian"), ("exponential", "laplace"), ("exponential", "matern32")],
)  # fmt: skip
def test_shards_add_up_in_any_order(monkeypatch, engine, kernel, graph, n_shards):
    """Shards of the pairs against the whole, and against eq. 18 as it is written."""
    monkeypatch.setattr(dense, "CACHED_TILE_BYTES", 8 * 60 * 7)
    monkeypatch.setattr(fourier, "PIECE", 50)
    monkeypatch.setattr(laplacian, "CHUNK", 20)
    rng = np.random.default_rng(n_shards)
    x, y, z = chsic.datasets.m_minus(60, 10.0, rng)
    pairs = {
        "blocks": lambda: chsic.block_pairs(z, 10),
        "lists": lambda: chsic.nearest_pairs(np.column_stack([z, x]), 4),
    }.get(graph, lambda: graph_of(graph, z, rng))()
    scaled = in_bandwidths(x[:, None], y[:, None], "paper")
    parts = split(pairs, n_shards, rng) if n_shards > 1 else [pairs]
    shards = SHARDS[engine](*scaled, pairs, KERNELS[kernel], parts)
    total = added(pickle.loads(pickle.dumps(shards)), rng)  # as if from other processes
    value, error = c_hsic(total)
    [whole] = SHARDS[engine](*scaled, pairs, KERNELS[kernel], [pairs])
    value_of_whole, error_of_whole = c_hsic(whole)
    assert value == pytest.approx(value_of_whole, rel=1e-9)
    # It is an estimate: a little less or more of it cancels in shards.
    assert error_of_whole / 10 <= error <= 10 * error_of_whole or error <= 1e-9
    assert total.lap_trace == 2 * pairs.n_pairs
    squares = float((pairs.laplacian().toarray() ** 2).sum())
    assert total.lap_squares == pytest.approx(squares, rel=1e-14)
    assert whole.lap_squares == pytest.approx(squares, rel=1e-14)
    kappas = (literal_kappa(kernel, paper_bandwidth(a)) for a in (x, y))
    assert value == pytest.approx(paper.c_hsic(x, y, pairs.i, pairs.j, *kappas), rel=1e-8)


def test_shards_of_different_grids_or_features_do_not_add_up():
    x, y, z = chsic.datasets.m_minus(60, 10.0, 0)
    scaled, graph = in_bandwidths(x[:, None], y[:, None], "paper"), chsic.closest_pairs(z, 4)
    for sums, message in (
        (fourier.fourier_sums, "on one grid only"),
        (features.feature_products, "the same features only"),
    ):
        one, same, other = (
            sums(*scaled, graph, KERNELS["gaussian"], accuracy) for accuracy in (1e-6, 1e-6, 1e-9)
        )
        assert (one + same).lap_trace == 4 * graph.n_pairs
        with pytest.raises(ValueError, match=message):
            one + other


@pytest.mark.parametrize("size", [10, 40])
def test_complete_blocks_by_pairs_and_by_means(monkeypatch, size):
    x, y, z = chsic.datasets.m_minus(400, 10.0, 0)
    graph = chsic.block_pairs(z, size)
    exact = chsic.chsic(x, y, z, pairs=graph, engine="dense")
    for least in (0, 10**6):
        monkeypatch.setattr(fourier, "MEANS_FROM", least)
        value = chsic.chsic(x, y, z, pairs=graph, engine="fourier", tol=1e-9)
        assert value == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("size", [2, 7, 10**6])
@pytest.mark.parametrize("kind", [*GRAPHS, "blocks"])
def test_entries_are_those_of_the_laplacian(size, kind):
    rng = np.random.default_rng(5)
    z = np.round(rng.normal(size=40), 1)
    graph = chsic.block_pairs(z, 5) if kind == "blocks" else graph_of(kind, z, rng)
    total = np.zeros((40, 40))
    for rows, columns, values in graph.laplacian_entries(size):
        np.add.at(total, (rows, columns), values)
        assert 0 < len(rows) <= size
    np.testing.assert_array_equal(total, graph.laplacian().toarray())
    np.testing.assert_array_equal(graph.degrees, total.diagonal())


def test_an_error_above_the_tolerance_is_told():
    rng = np.random.default_rng(10)
    x, z = rng.normal(size=(3000, 5)), rng.normal(size=3000)
    with pytest.warns(chsic.AccuracyWarning, match="estimated relative error of 0.0") as record:
        value = chsic.chsic(x, x[:, 0], z, engine="features")
    assert record[0].filename == __file__  # where it can be done something about
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
