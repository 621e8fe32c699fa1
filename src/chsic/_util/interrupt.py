"""Ctrl-C that arrives, wherever it falls."""

from __future__ import annotations

import _thread
import ctypes
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from chsic._util.parallel import ProcessWide


class _DeliverAgain:
    """A hook for what finalizers lose: interrupts come again, all else goes where it went."""

    def __init__(self, before: Callable[[Any], object]) -> None:
        self._before = before

    def __call__(self, lost: Any) -> None:
        # Somebody may have put this back when nobody uses it any more.
        if _hook.in_use and issubclass(lost.exc_type, KeyboardInterrupt):
            threading.Timer(0.05, _thread.interrupt_main).start()
        else:
            self._before(lost)


def _remember_hook() -> Callable[[], None]:
    before = sys.unraisablehook

    def put_back() -> None:
        sys.unraisablehook = before

    return put_back


_hook = ProcessWide(_remember_hook)


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C end the work inside, also when it falls where Python loses it.

    A finalizer swallows every exception, and ctypes makes an ``ArgumentError`` of one raised
    between two arguments; the plans of finufft are freed and called in these two ways. When the
    last of several uses ends, on whatever thread, ``sys.unraisablehook`` is what it was before the
    first one.

    Examples
    --------
    >>> from chsic._util.interrupt import interruptible
    >>> with interruptible():
    ...     print("at work")
    at work
    """
    with _hook.use():
        if not isinstance(sys.unraisablehook, _DeliverAgain):
            sys.unraisablehook = _DeliverAgain(sys.unraisablehook)
        try:
            yield
        except ctypes.ArgumentError as error:
            if "KeyboardInterrupt" in str(error):
                raise KeyboardInterrupt from None
            raise
