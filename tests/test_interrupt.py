"""Ctrl-C is not lost in finalizers, nor disguised by ctypes."""

from __future__ import annotations

import ctypes
import sys
import time

import pytest

from chsic.interrupt import interruptible


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
