"""Pairs chosen without all distances must be the pairs that sorting all distances gives."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chsic
from chsic import paper
from chsic.kernels import line_distances
from chsic.pairs import closest, closest_kdtree
from tests.conftest import brute_force_distances


def as_set(i, j):
    return set(zip(i.tolist(), j.tolist(), strict=True))


def chosen(graph):
    return as_set(graph.i, graph.j)


def assert_closest(graph, z, alpha):
    """All pairs below some distance, none above it, and the right number of those tied at it."""
    i, j, distance = brute_force_distances(z)
    K = int(len(z) * alpha / 2)
    assert graph.n_pairs == len(chosen(graph)) == K
    assert np.all(graph.i < graph.j)
    threshold = np.sort(distance)[K - 1]
    below, up_to = distance < threshold, distance <= threshold
    assert as_set(i[below], j[below]) <= chosen(graph) <= as_set(i[up_to], j[up_to])


def kinds_of_z(rng, n):
    return {
        "normal": rng.normal(size=n),
        "heavy tails": rng.standard_cauchy(n),
        "clusters": np.concatenate([rng.normal(size=n // 2) * 1e-9, rng.normal(size=n - n // 2)]),
        "two values": np.resize([0.0, 1.0], n),
        "integers": rng.integers(0, 6, n).astype(float),
        "one outlier": np.concatenate([np.zeros(n - 1), [1e6]]) + rng.integers(0, 2, n),
        "grid in tenths": rng.permutation(n) * 0.1,
        "offset": 1e9 + rng.normal(size=n),
        "straddles zero": np.concatenate([rng.normal(size=n // 2) * 1e-20, np.ones(n - n // 2)]),
    }


@pytest.mark.parametrize("kind", kinds_of_z(np.random.default_rng(0), 10))
@pytest.mark.parametrize("alpha", [1, 1.7, 4, 25, 58])
@pytest.mark.parametrize("probes", [1, 5, closest.PROBES])
def test_closest_on_a_line_are_those_of_all_distances(monkeypatch, kind, alpha, probes):
    """Few probes make bad guesses, and a small sample a selection of many steps."""
    monkeypatch.setattr(closest, "PROBES", probes)
    monkeypatch.setattr(line_distances, "SAMPLE_SIZE", 16)
    for seed in range(5):
        z = kinds_of_z(np.random.default_rng(seed), 60)[kind]
        assert_closest(chsic.closest_pairs(z, alpha), z, alpha)


@given(
    z=st.lists(
        st.one_of(
            st.integers(-3, 3).map(float),
            st.floats(-1e6, 1e6),
            st.sampled_from([0.1, 0.2, 0.3, 1e-20, 1e15]),
        ),
        min_size=4,
        max_size=25,
    ).filter(lambda z: max(z) - min(z) > 1e-300),  # else z is refused, as its spread underflows
    part=st.floats(0, 1),
)
@settings(max_examples=200, deadline=None)
def test_closest_on_a_line_are_those_of_all_distances_for_any_values(z, part):
    alpha = 1 + part * (len(z) - 2)
    assert_closest(chsic.closest_pairs(z, alpha), np.array(z), alpha)


@pytest.mark.parametrize("d", [2, 3, 5])
@pytest.mark.parametrize("kind", ["normal", "heavy tails", "lattice", "repeats", "far", "clusters"])
@pytest.mark.parametrize("alpha", [1, 4, 30, 78])
def test_closest_in_space_are_those_of_all_distances(d, kind, alpha):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        z = {
            "normal": rng.normal(size=(80, d)) * 10.0 ** np.arange(d),
            "heavy tails": rng.standard_cauchy((80, d)),
            "lattice": rng.integers(0, 4, (80, d)).astype(float),
            "repeats": np.repeat(rng.normal(size=(20, d)), 4, axis=0),
            "far": 1.7e9 + rng.integers(0, 9, (80, d)) + 1e-6 * rng.normal(size=(80, d)),
            "clusters": np.where(np.arange(80)[:, None] < 40, 1e-7, 1) * rng.normal(size=(80, d)),
        }[kind]
        assert_closest(chsic.closest_pairs(z, alpha), z, alpha)


def test_radius_shrinks_where_one_cluster_holds_all_close_pairs(monkeypatch):
    """The first guess comes from few points and misses a dense cluster: it must be corrected."""
    monkeypatch.setattr(closest_kdtree, "PROBES", 3)
    rng = np.random.default_rng(0)
    z = np.concatenate([rng.normal(size=(200, 2)), 5 + 1e-6 * rng.normal(size=(100, 2))])
    assert_closest(chsic.closest_pairs(z, 2), z, 2)
    assert_closest(chsic.closest_pairs(z[::-1], 150), z[::-1], 150)


def test_closest_pairs_without_ties_are_the_papers():
    z = np.random.default_rng(1).normal(size=100)
    f1, f2 = paper.sorted_pairs(z, 4)
    assert chosen(chsic.closest_pairs(z, 4)) == as_set(f1, f2)


@pytest.mark.parametrize("z", [np.resize([0.0, 1.0, 2.0], 30), np.resize(np.eye(3), (30, 3))])
def test_ties_are_drawn_evenly_and_follow_the_seed(z):
    """135 pairs at distance zero, 60 of them kept: each with probability 4/9."""
    assert chosen(chsic.closest_pairs(z, 4)) == chosen(chsic.closest_pairs(z, 4))
    assert chosen(chsic.closest_pairs(z, 4, rng=1)) == chosen(chsic.closest_pairs(z, 4, rng=1))
    assert chosen(chsic.closest_pairs(z, 4, rng=1)) != chosen(chsic.closest_pairs(z, 4, rng=2))
    counts: dict[tuple[int, int], int] = {}
    repeats = 2000
    for seed in range(repeats):
        for pair in chosen(chsic.closest_pairs(z, 4, rng=seed)):
            counts[pair] = counts.get(pair, 0) + 1
    assert len(counts) == 135
    p = 60 / 135
    spread = np.sqrt(p * (1 - p) / repeats)
    z_scores = (np.array(list(counts.values())) / repeats - p) / spread
    assert np.abs(z_scores).max() < 4.5  # 135 normal scores exceed this once in a thousand times
    assert 0.6 < z_scores.var() < 1.4


def test_binary_z_of_many_samples_needs_no_list_of_ties():
    """Two million pairs out of 2.5e11 tied ones; listing them would take terabytes."""
    z = np.resize([0.0, 1.0], 10**6)
    for values in (z, np.column_stack([z, -z])):
        graph = chsic.closest_pairs(values, 4)
        assert graph.n_pairs == 2 * 10**6
        np.testing.assert_array_equal(z[graph.i], z[graph.j])


def test_closest_pairs_of_a_million_samples_are_the_closest():
    z = np.random.default_rng(0).normal(size=10**6)
    graph = chsic.closest_pairs(z, 4)
    assert graph.n_pairs == 2 * 10**6
    # In sorted order every pair closer than the widest kept one must be kept as well.
    widest = np.abs(z[graph.i] - z[graph.j]).max()
    ordered = np.sort(z)
    within = np.searchsorted(ordered, ordered + widest, side="right") - np.arange(10**6) - 1
    assert abs(int(within.sum()) - graph.n_pairs) <= 1  # one rounding of ordered + widest


@pytest.mark.parametrize("k", [1, 2, 100, 1225, 4949, 4950])
def test_kth_smallest_distance_is_that_of_all_distances(monkeypatch, k):
    monkeypatch.setattr(line_distances, "SAMPLE_SIZE", 32)
    for kind, z in kinds_of_z(np.random.default_rng(k), 100).items():
        _, _, distance = brute_force_distances(z)
        assert line_distances.kth_smallest_distance(np.sort(z), k) == np.sort(distance)[k - 1], kind


def test_random_pairs_are_distinct_and_even():
    counts = np.zeros((8, 8))
    repeats = 3000
    for seed in range(repeats):
        graph = chsic.random_pairs(8, 2, seed)
        assert len(chosen(graph)) == graph.n_pairs == 8
        counts[graph.i, graph.j] += 1
    assert np.all(counts[np.tril_indices(8)] == 0)
    p = 8 / 28
    z_scores = (counts[np.triu_indices(8, 1)] / repeats - p) / np.sqrt(p * (1 - p) / repeats)
    assert np.abs(z_scores).max() < 4.2  # 28 normal scores exceed this once in a thousand times


@pytest.mark.parametrize("n", [10**6, 3 * 10**6])
def test_random_pairs_of_many_samples_are_pairs(n):
    """Decoding the rank of a pair must survive the rounding of a square root."""
    graph = chsic.random_pairs(n, 1, 0)
    assert graph.n_pairs == n // 2
    assert np.all(graph.i >= 0)
    assert np.all(graph.i < graph.j)
    assert graph.j.max() < n


@pytest.mark.parametrize("n", [4, 5, 17])
def test_every_rank_decodes_to_its_pair(n):
    assert chosen(chsic.random_pairs(n, n - 1, 0)) == chosen(chsic.complete_pairs(n))


def test_laplacian_is_incidence_times_its_transpose():
    graph = chsic.closest_pairs(np.random.default_rng(0).normal(size=30), 4)
    D = np.zeros((30, graph.n_pairs))
    D[graph.i, np.arange(graph.n_pairs)] = 1
    D[graph.j, np.arange(graph.n_pairs)] = -1
    np.testing.assert_array_equal(graph.laplacian().toarray(), D @ D.T)


def test_pair_graph_is_frozen():
    graph = chsic.complete_pairs(5)
    with pytest.raises(AttributeError):
        graph.n_samples = 7
    with pytest.raises(ValueError, match="read-only"):
        graph.i[0] = 3
    assert repr(graph) == "PairGraph(n_samples=5, n_pairs=10)"
    assert graph.is_complete
    assert not chsic.random_pairs(10, 2, 0).is_complete


@pytest.mark.parametrize("graph", [chsic.complete_pairs(5), chsic.random_pairs(9, 2, 0)])
def test_copies_are_frozen_too(graph):
    for other in (copy.deepcopy(graph), pickle.loads(pickle.dumps(graph))):
        assert chosen(other) == chosen(graph)
        assert other.n_samples == graph.n_samples
        with pytest.raises(ValueError, match="read-only"):
            other.i[0] = 3


def test_pairs_in_runs_are_counted_without_a_list():
    graph = chsic.complete_pairs(10**6)
    assert graph.n_pairs == 10**6 * (10**6 - 1) // 2
    assert graph.is_complete


def test_callers_indices_stay_writable():
    i, j = np.array([0, 1]), np.array([2, 3])
    chsic.PairGraph(i, j, 4)
    i[0] = 1
    assert i[0] == 1


@pytest.mark.parametrize("d", [2, 3])
def test_nearest_pairs_in_space_are_those_of_all_distances(d):
    n, k = 150, 5
    z = np.random.default_rng(d).normal(size=(n, d)) * [1, *[30] * (d - 1)]
    i, j, apart = brute_force_distances(z)
    distances = np.full((n, n), np.inf)
    distances[i, j] = distances[j, i] = apart
    nearest = np.argsort(distances, axis=1)[:, :k]
    expected = {tuple(sorted((a, int(b)))) for a in range(n) for b in nearest[a]}
    graph = chsic.nearest_pairs(z, k)
    assert chosen(graph) == expected
    assert graph.n_pairs == len(expected)
