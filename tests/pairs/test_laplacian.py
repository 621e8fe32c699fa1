"""The Laplacian times a matrix, for pairs given in any way and arrays of any library."""

import array_api_strict
import numpy as np
import pytest

import chsic
from chsic.kernels.features import RandomFourier
from chsic.pairs import PairGraph, laplacian, neighbour_lists
from chsic.pairs.graph import Intervals
from chsic.pairs.laplacian import laplacian_chunks, laplacian_times
from chsic.pairs.neighbour_lists import Neighbours

N = 101


def in_categories(z, rng):
    """Runs that are cut at the borders of categories, in the order of those."""
    categories = np.sort(rng.integers(0, 4, N))
    order = np.lexsort((z, categories))
    stops = np.minimum(np.arange(1, N + 1) + 3, np.cumsum(np.bincount(categories))[categories])
    none = np.empty(0, np.intp)
    return PairGraph.from_intervals(Intervals(order, stops), none, none)


GRAPHS = {
    "closest 1": lambda z, rng: chsic.closest_pairs(z, 1),
    "closest 20": lambda z, rng: chsic.closest_pairs(z, 20),
    "closest, tied": lambda z, rng: chsic.closest_pairs(np.round(z, 1), 6),  # runs and listed pairs
    "nearest": lambda z, rng: chsic.nearest_pairs(z, 6),
    "runs in categories": in_categories,
    "random": lambda z, rng: chsic.random_pairs(N, 4, rng),
    "one pair": lambda z, rng: PairGraph([3], [7], N),
    "neighbour lists": lambda z, rng: chsic.nearest_pairs(rng.normal(size=(N, 2)), 5),
    "complete": lambda z, rng: chsic.complete_pairs(N),
    "blocks": lambda z, rng: chsic.block_pairs(z, 5),
    "blocks in space": lambda z, rng: chsic.block_pairs(rng.normal(size=(N, 2)), 4),
}


def read_only(values):
    values = values.copy()
    values.setflags(write=False)
    return values


LIBRARIES = {
    "numpy": np.copy,
    "read-only numpy": read_only,
    "strict": lambda values: array_api_strict.asarray(values.copy()),
    "strict on another device": lambda values: array_api_strict.asarray(
        values.copy(), device=array_api_strict.Device("device1")
    ),
}


def as_numpy(values):
    if isinstance(values, np.ndarray):
        return values
    return np.asarray(values.to_device(array_api_strict.Device("CPU_DEVICE")))


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("kind", GRAPHS)
@pytest.mark.parametrize("sorted_by_z", [True, False])
@pytest.mark.parametrize("chunk", [N, 7])
def test_laplacian_times_a_matrix(monkeypatch, library, kind, sorted_by_z, chunk):
    monkeypatch.setattr(laplacian, "CHUNK", chunk)
    monkeypatch.setattr(neighbour_lists, "CHUNK", chunk)
    rng = np.random.default_rng(4)
    z = np.sort(rng.normal(size=N)) if sorted_by_z else rng.normal(size=N)
    graph = GRAPHS[kind](z, rng)
    values = 10 + rng.normal(size=(N, 3))
    given = LIBRARIES[library](values)
    product = laplacian_times(graph, given)
    assert type(product) is type(given)
    if library.startswith("strict"):
        assert product.device == given.device
    np.testing.assert_allclose(as_numpy(product), graph.laplacian() @ values, rtol=0, atol=1e-11)
    np.testing.assert_array_equal(as_numpy(given), values)


@pytest.mark.parametrize("library", LIBRARIES)
def test_lists_of_the_first_samples_only(library):
    """Rows of a part of the samples, behind which their partners stand."""
    rng = np.random.default_rng(5)
    lists = chsic.nearest_pairs(rng.normal(size=(N, 2)), 4).lists
    own = np.arange(10, 40)
    samples = np.concatenate([own, lists.beside(own)])
    values = rng.normal(size=(N, 2))
    product = lists.numbered(samples, len(own)).laplacian_times(LIBRARIES[library](values[samples]))
    expected = lists.laplacian_times(values)[own]
    np.testing.assert_allclose(as_numpy(product), expected, atol=1e-13)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("reach", [1, 2, 3, 4, 7, 24, 60, 98])
@pytest.mark.parametrize("chunk", [100, 7])
def test_runs_of_one_length_lose_no_digits(monkeypatch, library, reach, chunk):
    n, none = 100, np.empty(0, np.intp)
    runs = Intervals(np.arange(n), np.minimum(np.arange(1, n + 1) + reach, n))
    assert runs.reach == reach
    graph = PairGraph.from_intervals(runs, none, none)
    # Features that fade along z: beside the sum over all of them, the last ones are rounding.
    values = np.random.default_rng(5).normal(size=(n, 2)) * 0.5 ** np.arange(n)[:, np.newaxis]
    lap = graph.laplacian().toarray()
    monkeypatch.setattr(laplacian, "CHUNK", chunk)
    off = as_numpy(laplacian_times(graph, LIBRARIES[library](values))) - lap @ values
    assert np.all(np.abs(off) <= 1e-14 * (np.abs(lap) @ np.abs(values)))


def test_constants_are_lost_without_rounding():
    """A large constant in V, which the Laplacian does not see, must not cost digits."""
    rng = np.random.default_rng(6)
    lists = Neighbours.of_directed(rng.integers(0, N, (N, 3)))
    graph, values = PairGraph.from_lists(lists), rng.integers(-9, 9, (N, 2)) + 2.0**40
    exact = graph.laplacian() @ (values - 2.0**40)
    for given in (values, array_api_strict.asarray(values)):
        np.testing.assert_array_equal(as_numpy(laplacian_times(graph, given)), exact)


@pytest.mark.parametrize("kind", GRAPHS)
def test_chunks_need_some_rows_at_a_time_and_add_up(monkeypatch, kind):
    monkeypatch.setattr(laplacian, "CHUNK", 7)
    rng = np.random.default_rng(7)
    graph = GRAPHS[kind](rng.normal(size=N), rng)
    x, features = rng.normal(size=(N, 2)), RandomFourier(rng.normal(size=(4, 2)), dtype=np.float64)
    product = np.zeros((N, 8))
    for rows, times in laplacian_chunks(graph, lambda rows: features(x[rows])):
        product[rows] += times(lambda rows: features(x[rows]))
    np.testing.assert_allclose(product, graph.laplacian() @ features(x), atol=1e-12)
