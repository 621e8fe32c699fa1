"""A process that is forked while threads compute can compute, too."""

import faulthandler
import functools
import multiprocessing
import os
import re
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import chsic
from chsic._util.cache import Cache
from chsic._util.forks import Lock
from chsic._util.interrupt import interruptible
from chsic._util.parallel import ProcessWide, Unforked, blas_on_one_thread
from chsic.inference.ridge import Ridge
from chsic.measure.engines import fourier

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork"),
    # Python 3.12 says what these tests are about.
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning"),
]

LONGEST = 20  # seconds of a child that does not hang, on a busy machine


def in_child(work):
    """Fork, do some work there, and return what went wrong: nothing, an error, or where it hung."""
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        work_and_tell(work, tell)
        os._exit(0)
    os.close(tell)
    with open(told, encoding="utf-8") as file:
        text = file.read()
    os.waitpid(child, 0)
    return text


def in_process(work):
    """As `in_child`, in a process that multiprocessing forks."""
    told, tell = os.pipe()
    child = multiprocessing.get_context("fork").Process(target=work_and_tell, args=(work, tell))
    child.start()
    os.close(tell)
    with open(told, encoding="utf-8") as file:
        text = file.read()
    child.join()
    return text


def work_and_tell(work, tell):
    faulthandler.dump_traceback_later(LONGEST, exit=True, file=tell)
    try:
        work()
    except BaseException as error:
        os.write(tell, repr(error).encode())
    faulthandler.cancel_dump_traceback_later()


class Elsewhere:
    """Work on another thread, which goes on until the end of a ``with``."""

    def __init__(self, work):
        self.begun, self.end = threading.Event(), threading.Event()
        self.thread = threading.Thread(target=work, args=[self.wait], daemon=True)

    def wait(self):
        self.begun.set()
        self.end.wait(60)

    def __enter__(self):
        self.thread.start()
        assert self.begun.wait(60)

    def __exit__(self, *_):
        self.end.set()
        self.thread.join()


def test_a_lock_of_another_thread_is_open_in_a_child():
    lock = Lock()

    def hold(wait):
        with lock:
            wait()

    def use():
        with lock:
            pass

    with Elsewhere(hold):
        assert in_child(use) == ""
    use()  # here it was never opened by force, and is free again


def test_a_lock_of_the_thread_that_forks_stays_locked_in_the_child():
    lock = Lock()

    def use():
        assert lock._lock.locked()

    with lock:
        assert in_child(use) == ""
        assert in_child(lambda: lock.__exit__()) == ""


def test_what_was_half_changed_is_empty_in_a_child_and_all_else_is_there():
    waiting = []  # what the next weighing waits for, while the cache is locked

    def weigh(value):
        if waiting:
            waiting.pop()()
        return value.nbytes

    store = Cache(10**6, weigh)
    store.get("a", lambda: np.zeros(10))

    def use():
        for key in "abc":
            assert len(store.get(key, lambda: np.zeros(10))) == 10
        assert (len(store), store._values.currsize) == (3, 240)

    def add(wait):
        waiting.append(wait)
        store.get("b", lambda: np.zeros(10))

    assert in_child(lambda: store.get("a", lambda: 1 / 0)) == ""
    with Elsewhere(add):
        assert in_child(use) == ""
        assert in_child(lambda: store.get("a", lambda: 1 / 0)).startswith("ZeroDivisionError")
    use()


def test_a_regression_that_another_thread_prepares_is_prepared_in_a_child(monkeypatch):
    z = np.random.default_rng(0).normal(size=(50, 1))
    ridge = Ridge(z)
    make = Ridge._make_basis

    def prepare(wait):
        monkeypatch.setattr(Ridge, "_make_basis", lambda self, *of: [wait(), make(self, *of)][1])
        ridge.fit(z)

    with Elsewhere(prepare):
        monkeypatch.setattr(Ridge, "_make_basis", make)
        assert in_child(lambda: ridge.fit(z)) == ""


def test_a_property_that_another_thread_computes_is_computed_in_a_child():
    """Python 3.11 has one lock for that property of all graphs."""
    graphs = [chsic.random_pairs(20, 4, rng=k) for k in range(2)]
    degrees = vars(chsic.PairGraph)["degrees"]
    assert isinstance(degrees, functools.cached_property)
    make = degrees.func

    def compute(wait):
        degrees.func = lambda graph: [wait(), make(graph)][1]
        assert len(graphs[0].degrees) == 20

    try:
        with Elsewhere(compute):
            degrees.func = make
            assert in_child(lambda: graphs[1].degrees) == ""
    finally:
        degrees.func = make


def blas_threads():
    return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}


def test_blas_is_as_it_was_in_a_child_of_a_thread_that_computes_nothing():
    def compute(wait):
        with blas_on_one_thread():
            wait()

    def use():
        assert blas_threads() == {2}
        with blas_on_one_thread():
            assert blas_threads() == {1}
        assert blas_threads() == {2}

    with threadpool_limits(2, user_api="blas"):
        with Elsewhere(compute):
            assert in_child(use) == ""
            assert blas_threads() == {1}
        assert blas_threads() == {2}


def test_blas_is_as_it_was_whichever_thread_ends_last():
    """The first one sets the limit; here it neither takes it back nor ends."""
    last, first = threading.Event(), threading.Event()

    def compute(wait):
        with blas_on_one_thread():
            wait()
        first.set()
        last.wait(60)

    with threadpool_limits(2, user_api="blas"):
        elsewhere = Elsewhere(compute)
        with elsewhere:
            with blas_on_one_thread():
                elsewhere.end.set()
                assert first.wait(60)
                assert blas_threads() == {1}
            assert blas_threads() == {2}
            last.set()


def test_blas_stays_limited_in_a_child_of_a_thread_that_computes():
    def use():
        assert blas_threads() == {1}

    with threadpool_limits(2, user_api="blas"), blas_on_one_thread():
        assert in_child(use) == ""


def test_a_fork_waits_until_a_change_of_the_process_is_whole():
    state = []

    def change():
        state.append("half")
        time.sleep(0.2)
        state.append("whole")
        return state.clear

    wide = ProcessWide(change)

    def use_it(wait):
        with wide.use():
            wait()

    with Elsewhere(lambda wait: [threading.Thread(target=use_it, args=[wait]).start(), wait()]):
        while not state:
            time.sleep(0.001)
        assert in_child(lambda: state == [] or 1 / 0) == ""  # undone, as nobody there uses it
        assert state == ["half", "whole"]


def test_a_fork_waits_for_other_threads_at_work_and_not_for_its_own():
    unforked = Unforked()
    done = []

    def work(wait):
        with unforked.work():
            wait_a_little.set()
            time.sleep(0.2)
            done.append(1)
        wait()

    def use():
        with unforked.work():
            assert done == [1]

    wait_a_little = threading.Event()
    thread = threading.Thread(target=work, args=[lambda: None])
    thread.start()
    wait_a_little.wait(60)
    assert in_child(use) == ""
    thread.join()
    with unforked.work():
        assert in_child(lambda: None) == ""
    assert not unforked._inside


def test_two_threads_may_fork_at_once():
    unforked = Unforked()

    def work(wait):
        with unforked.work():
            wait()

    def use():
        with unforked.work():
            pass

    with ThreadPoolExecutor(2) as pool:
        with Elsewhere(work):
            told = [pool.submit(in_child, use) for _ in range(2)]
            while len(unforked._forking) < 2:  # both wait for the work
                time.sleep(0.001)
        assert [one.result() for one in told] == ["", ""]


@pytest.mark.parametrize("call", ["Plan", "nufft1d1"])
def test_a_fork_waits_for_transforms(monkeypatch, call):
    """FFTW and OpenMP have locks that nobody can open."""
    finufft = pytest.importorskip("finufft")
    x, y = np.random.default_rng(0).normal(size=(2, 50))
    original, state = getattr(finufft, call), []

    def slow(*arguments, **settings):
        state.append("begun")
        time.sleep(0.2)
        made = original(*arguments, **settings)
        state.append("done")
        return made

    monkeypatch.setattr(finufft, call, slow)
    thread = threading.Thread(target=chsic.hsic, args=[x, y], kwargs={"engine": "fourier"})
    thread.start()
    while not state:
        time.sleep(0.001)
    child = os.fork()
    if child == 0:
        os._exit(len(state) % 2)
    assert os.waitpid(child, 0)[1] == 0
    thread.join()
    assert not fourier._transforming._inside


def test_a_hook_of_another_thread_is_gone_in_a_child():
    before = sys.unraisablehook

    def work(wait):
        with interruptible():
            wait()

    def use():
        assert sys.unraisablehook is before

    with Elsewhere(work):
        assert sys.unraisablehook is not before
        assert in_child(use) == ""


DATA = np.random.default_rng(0).normal(size=(40, 3)).cumsum(axis=1)


def compute(tests):
    tests.answer(0, 1, 2)
    chsic.chsic_test(DATA[:, 1], DATA[:, 2], DATA[:, 0], n_resamples=19, rng=0)


def test_children_compute_whenever_they_are_forked():
    """Many forks, at any moment of the work of two threads on the same objects."""
    shared, new, stop = (
        [chsic.Discovery(DATA, n_resamples=19)],
        threading.Event(),
        threading.Event(),
    )

    def work():
        while not stop.is_set():
            compute(shared[0])
            shared[0] = chsic.Discovery(DATA, n_resamples=19)
            new.set()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        told = [in_process(lambda: compute(shared[0]))]
        for seconds in np.random.default_rng(0).uniform(0, 0.02, 10):
            new.clear()
            assert new.wait(60)  # what both threads need is made from here on
            time.sleep(seconds)
            told.append(in_child(lambda: compute(shared[0])))
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert [text for text in told if text and not hung_in_blas(text)] == []


def hung_in_blas(text):
    """OpenBLAS has a lock, too, for some hundred nanoseconds of each product: nobody can open it.

    The file that called it is one of those that compute.
    """
    [file] = re.findall(r'most recent call first\):\n  File "(.*)"', text)[:1] or [""]
    waiting = {"cache.py", "forks.py", "functools.py", "parallel.py", "threading.py"}
    return bool(file) and Path(file).name not in waiting
