"""The least recently used values go first, and never more than the cache may hold stay."""

import dataclasses
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from chsic._util.cache import Cache, nbytes_of


def not_made():
    raise AssertionError("it was there")


def test_the_least_recently_used_value_goes():
    cache = Cache(2)
    cache.get("a", lambda: 1)
    cache.get("b", lambda: 2)
    assert cache.get("a", not_made) == 1
    cache.get("c", lambda: 3)
    assert len(cache) == 2
    assert cache.get("a", not_made) == 1
    assert cache.get("c", not_made) == 3
    assert cache.get("b", lambda: "made again") == "made again"


def test_weights_are_bounded_and_too_large_a_value_is_only_returned():
    cache = Cache(100, weigh=len)
    for k in range(10):
        cache.get(k, lambda: b"x" * 30)
    assert len(cache) == 3
    assert len(cache.get("large", lambda: b"x" * 101)) == 101
    assert len(cache) == 3
    assert cache.get(9, not_made) == b"x" * 30


def test_a_value_that_has_grown_makes_others_go_when_it_is_asked_for():
    cache = Cache(100, weigh=len)
    growing = bytearray(10)
    cache.get("growing", lambda: growing)
    for k in range(9):
        cache.get(k, lambda: b"x" * 10)
    assert len(cache) == 10
    growing.extend(b"x" * 60)
    assert cache.get("growing", not_made) is growing
    assert len(cache) == 4
    growing.extend(b"x" * 100)
    assert cache.get("growing", not_made) is growing
    assert len(cache) == 3
    assert cache.get("growing", lambda: b"new") == b"new"


def test_another_process_gets_an_empty_one():
    cache = Cache(1_000, weigh=nbytes_of)
    cache.get("a", lambda: np.zeros(100))
    other = pickle.loads(pickle.dumps(cache))
    assert (len(cache), len(other)) == (1, 0)
    other.get("a", lambda: np.zeros(126))
    assert len(other) == 0


def test_an_error_while_a_value_is_made_leaves_nothing_behind():
    cache = Cache(2)
    for _ in range(2):
        try:
            cache.get("a", not_made)
        except AssertionError:
            continue
        raise AssertionError("no error")
    assert cache.get("a", lambda: 1) == 1


def test_threads_that_make_the_same_value_at_once_get_one_of_them():
    cache = Cache(2)
    together = threading.Barrier(4)

    def make():
        together.wait(60)  # nobody holds the lock meanwhile
        return object()

    with ThreadPoolExecutor(4) as pool:
        values = list(pool.map(lambda _: cache.get("a", make), range(4)))
    assert len(set(map(id, values))) == 1


@dataclasses.dataclass
class Pair:
    first: object
    second: object


class WithSlots:
    __slots__ = ("array",)


class OfKnownSize:
    nbytes = 7


def test_bytes_of_arrays_are_counted_once_wherever_they_are():
    array = np.zeros(100)
    assert nbytes_of(array) == 800
    assert nbytes_of(array[::10]) == 800  # which the view keeps alive
    assert nbytes_of([array, (array, {"a": array.T})]) == 800
    assert nbytes_of(Pair(array, Pair(np.zeros(5), "text"))) == 840
    cycle = [array]
    cycle.append(cycle)
    assert nbytes_of(cycle) == 800
    assert nbytes_of((OfKnownSize(), OfKnownSize())) == 14
    assert nbytes_of((np, Pair, not_made, None, 5, WithSlots())) == 0
