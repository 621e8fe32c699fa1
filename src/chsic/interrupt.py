"""Ctrl-C that arrives, wherever it falls."""

from __future__ import annotations

import _thread
import ctypes
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C end the work inside, also when it falls where Python loses it.

    A finalizer swallows every exception, and ctypes makes an ``ArgumentError`` of one raised
    between two arguments; the plans of finufft are freed and called in these two ways.

    Examples
    --------
    >>> from chsic.interrupt import interruptible
    >>> with interruptible():
    ...     print("at work")
    at work
    """
    before = sys.unraisablehook

    def deliver_again(lost: Any) -> None:
        if issubclass(lost.exc_type, KeyboardInterrupt):
            threading.Timer(0.05, _thread.interrupt_main).start()
        else:
            before(lost)

    sys.unraisablehook = deliver_again
    try:
        yield
    except ctypes.ArgumentError as error:
        if "KeyboardInterrupt" in str(error):
            raise KeyboardInterrupt from None
        raise
    finally:
        sys.unraisablehook = before
