"""Ctrl-C is not lost in finalizers, nor disguised by ctypes."""

from __future__ import annotations

import _thread
import ctypes
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from chsic._util.interrupt import interruptible


class _Finalized:
    def __init__(self, error: type[BaseException]):
        self.error = error

    def __del__(self) -> None:
        raise self.error


@pytest.mark.usefixtures("interrupts_heeded")
def test_an_interrupt_in_a_finalizer_is_delivered_again():
    def work() -> None:
        _Finalized(KeyboardInterrupt)
        for _ in range(200):
            time.sleep(0.02)

    with pytest.raises(KeyboardInterrupt), interruptible():
        work()


def test_other_errors_in_a_finalizer_go_where_they_always_went(monkeypatch):
    seen: list[type[BaseException]] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda lost: seen.append(lost.exc_type))
    with interruptible():
        _Finalized(RuntimeError)
    assert seen == [RuntimeError]


@pytest.fixture
def hook(monkeypatch):
    """A hook of somebody else, which notes what reaches it."""
    seen: list[type[BaseException]] = []

    def note(lost) -> None:
        seen.append(lost.exc_type)

    note.seen = seen
    monkeypatch.setattr(sys, "unraisablehook", note)
    return note


@pytest.fixture
def delivered(monkeypatch):
    """Interrupts that come again, noted instead."""
    times: list[float] = []

    class Timer:
        def __init__(self, seconds, function):
            assert function is _thread.interrupt_main
            self.start = lambda: times.append(seconds)

    monkeypatch.setattr("threading.Timer", Timer)
    return times


@pytest.mark.parametrize("first_ends", ["first", "last"])
def test_the_hook_is_the_one_before_the_first_use_whatever_ends_first(hook, delivered, first_ends):
    uses = [interruptible(), interruptible()]
    for use in uses:
        use.__enter__()
    one, other = uses if first_ends == "first" else reversed(uses)
    one.__exit__(None, None, None)
    _Finalized(KeyboardInterrupt)  # the other one is still in use
    assert len(delivered) == 1
    _Finalized(RuntimeError)
    assert hook.seen == [RuntimeError]
    other.__exit__(None, None, None)
    assert sys.unraisablehook is hook
    _Finalized(KeyboardInterrupt)
    assert hook.seen == [RuntimeError, KeyboardInterrupt]
    assert len(delivered) == 1


def test_a_hook_that_somebody_put_in_between_goes_with_the_last_use(hook, delivered):
    others: list[type[BaseException]] = []
    with interruptible():
        ours = sys.unraisablehook
        sys.unraisablehook = lambda lost: others.append(lost.exc_type)
        with interruptible():
            _Finalized(KeyboardInterrupt)
            _Finalized(RuntimeError)
    assert (len(delivered), others, hook.seen) == (1, [RuntimeError], [])
    assert sys.unraisablehook is hook
    # Who put it there may put back, now, what was there before.
    sys.unraisablehook = ours
    _Finalized(KeyboardInterrupt)
    assert (len(delivered), hook.seen) == (1, [KeyboardInterrupt])
    with interruptible():
        _Finalized(KeyboardInterrupt)
        _Finalized(RuntimeError)
    assert (len(delivered), hook.seen) == (2, [KeyboardInterrupt, RuntimeError])
    assert sys.unraisablehook is ours


def test_the_hook_is_the_one_before_the_first_use_of_many_threads(hook):
    together = threading.Barrier(8)

    def work(number: int) -> None:
        for turn in range(20):
            together.wait(60)
            with interruptible():
                time.sleep(0.0005 * ((number + turn) % 3))
                assert sys.unraisablehook is not hook

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert sys.unraisablehook is hook


class _Argument:
    error: type[BaseException] = KeyboardInterrupt

    @classmethod
    def from_param(cls, value: object) -> object:
        raise cls.error


class _Wrong(_Argument):
    error = RuntimeError


@pytest.mark.parametrize(
    ("kind", "seen"), [(_Argument, KeyboardInterrupt), (_Wrong, ctypes.ArgumentError)]
)
def test_an_interrupt_between_two_arguments_is_an_interrupt(kind, seen):
    function = ctypes.CFUNCTYPE(None, ctypes.c_int)(lambda _: None)
    function.argtypes = [kind]
    with pytest.raises(seen), interruptible():
        function(1)
