"""Every engine gives the same value, within the accuracy asked for."""

import warnings

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import chsic
from chsic.bandwidth import in_bandwidths
from chsic.engines import dense, exponential, features, fourier
from chsic.engines.choose import choose
from chsic.engines.dense import DenseCovariances
from chsic.engines.grid import fit_axis
from chsic.features import RandomFourier
from chsic.kernels import KERNELS
from chsic.pairs.entries import degrees, laplacian_entries
from chsic.pairs.intervals import Intervals
from chsic.terms import CANCELLED, merge, squared_entries

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
    with warnings.catch_warnings():
        if tol < 1e-6:  # the engine may say that rounding keeps it from being sure of that
            warnings.simplefilter("ignore", chsic.AccuracyWarning)
        value = chsic.chsic(x, y, z, pairs=pairs, bandwidth=bandwidth, engine="fourier", tol=tol)
    assert agree(value, exact, pairs, tol)


def agree(value, exact, graph, tol):
    """Equal to `tol`, relative to the value or to 1e-8 of what it is without cancelling."""
    floor = CANCELLED * squared_entries(graph) / (4 * graph.n_pairs**2)
    rounding = 1e-14 * floor / CANCELLED  # of the kernel values of the dense engine itself
    return abs(value - exact) <= tol * max(exact, floor) + rounding


@pytest.mark.parametrize(
    ("kernel", "tol"),
    [(kernel, tol) for kernel in ("gaussian", "cauchy") for tol in (1e-3, 1e-6, 1e-9, 1e-12)]
    + [("matern32", tol) for tol in (1e-3, 1e-5, 1e-6)],  # its kink needs too many frequencies
)
@pytest.mark.parametrize("graph", GRAPHS)
def test_kernels_with_a_known_spectrum(kernel, tol, graph):
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


@pytest.mark.parametrize("kernel", ["laplace", "matern32"])
@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("kinds", [("normal", "heavy tails"), ("clusters", "offset"),
                                   ("repeated", "outlier"), ("counts", "tiny")])  # fmt: skip
def test_exponential_sums_are_exact(kernel, graph, kinds):
    rng = np.random.default_rng(2)
    x, y, z = (columns(kind, rng, 333) for kind in (*kinds, "normal"))
    pairs = graph_of(graph, z, rng)
    settings = {"pairs": pairs, "kernel": kernel}
    exact = chsic.chsic(x, y, z, engine="dense", **settings)
    scaled = in_bandwidths(x[:, None], y[:, None], "paper")
    terms = merge([exponential.ExponentialCovariances(*scaled, pairs, KERNELS[kernel])])
    assert agree(terms.gram.sum() / (4 * pairs.n_pairs**2), exact, pairs, terms.error)
    if "outlier" not in kinds:  # beside which others are equal, and all but rounding cancels
        assert terms.error < 1e-9
        value = chsic.chsic(x, y, z, engine="exponential", **settings)
        assert value == pytest.approx(exact, rel=1e-9)


def test_exponential_sums_by_hand():
    rng = np.random.default_rng(3)
    x, y, w = rng.normal(size=(3, 50)) * [[4.0], [9.0], [1.0]]
    x[:10] = x[10:20]  # ties
    for kernel in (KERNELS["laplace"], KERNELS["matern32"]):
        k, q = (kernel.kappa(np.abs(a[:, None] - a)) for a in (x, y))
        assert exponential.pair_sum(x, y, w, kernel) == pytest.approx(w @ (k * q) @ w, rel=1e-12)
        np.testing.assert_allclose(exponential.row_sums(x, kernel), k.sum(axis=1), rtol=1e-12)


def test_exponential_refuses_what_it_is_not_made_for(monkeypatch):
    x, y, z = chsic.datasets.m_minus(100, 10.0, 0)
    with pytest.raises(ValueError, match="is for 'laplace' and 'matern32', got 'gaussian'"):
        chsic.hsic(x, y, engine="exponential")
    with pytest.raises(ValueError, match="one column, got 2 and 1"):
        chsic.hsic(np.column_stack([x, z]), y, engine="exponential", kernel="laplace")
    spread = np.arange(100) * 10.0  # no gap is long, but the range is
    with pytest.raises(ValueError, match="reach over 990 bandwidths"):
        chsic.hsic(spread, y, engine="exponential", kernel="laplace", bandwidth=1.0)
    monkeypatch.setattr(exponential, "LARGEST_LIST", 100)
    with pytest.raises(ValueError, match="lists 500 entries of the Laplacian"):
        chsic.chsic(x, y, z, engine="exponential", kernel="laplace")


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
        ({"engine": "gpu"}, "known are 'auto', 'dense', 'fourier', 'exponential', 'features'"),
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
    np.testing.assert_array_equal(degrees(graph), found.diagonal())


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
    assert not told or exact < 1e-6 * squared_entries(pairs) / (4 * pairs.n_pairs**2)


def test_a_kernel_of_ones_own_need_not_start_at_one():
    x, y, z = chsic.datasets.m_minus(300, 10.0, 1)

    def kernel(s):
        return 5 * np.exp(-s * s)

    exact = 25 * chsic.chsic(x, y, z, engine="dense")
    for engine in ("dense", "features"):
        assert chsic.chsic(x, y, z, kernel=kernel, engine=engine) == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize("graph", GRAPHS)
def test_chunks_do_not_matter(monkeypatch, graph):
    rng = np.random.default_rng(6)
    x, y, z = chsic.datasets.m_minus(300, 10.0, rng)
    pairs = graph_of(graph, z, rng)
    whole = chsic.chsic(x, y, z, pairs=pairs, engine="features", tol=1e-8)
    monkeypatch.setattr(features, "CHUNK", 7)
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
    exact = merge([DenseCovariances(*scaled, graph, KERNELS["gaussian"])]).gram.sum()
    values, errors = [], []
    for _ in range(60):
        maps = tuple(RandomFourier(KERNELS["gaussian"].frequencies(rng, 200, 4)) for _ in range(2))
        terms = merge([features.feature_covariances(*scaled, graph, maps)])
        values.append(terms.gram.sum() / exact - 1)
        errors.append(terms.error * terms.gram.sum() / exact)
    values, errors = np.array(values), np.array(errors)
    assert abs(values.mean()) < 4 * values.std() / np.sqrt(60)
    assert np.mean(np.abs(values) < errors) > 0.85  # 0.95 expected, less than that once in 2,000
    assert errors.mean() < 3 * values.std()


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


def test_samples_that_landmarks_were_not_chosen_from_are_accounted_for():
    """Above 10,000 samples the features see some of them only; the Fourier engine sees all."""
    x, y, z = chsic.datasets.m_minus(30_000, 10.0, 0)
    x[:3] = [40.0, -55.0, 70.0]
    graph = chsic.closest_pairs(z, 4)
    exact = chsic.chsic(x, y, z, pairs=graph, engine="fourier", tol=1e-9)
    value = chsic.chsic(x, y, z, pairs=graph, engine="features", tol=1e-5)
    assert value == pytest.approx(exact, rel=1e-5)
