"""Locks that a forked process can use, whatever the threads of its parent were doing.

A fork copies the memory of a process, but of its threads only the one that forks. A lock that
another one held stays locked in the child for ever, and what it guards may be half changed.
Children therefore mend both before they do anything else.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
import weakref
from collections.abc import Callable


class Lock:
    """A lock that a forked process finds open, unless the thread that forked holds it.

    Parameters
    ----------
    mend : method, optional
        Called in a forked process if another thread was inside: what the lock guards may be half
        changed.

    Examples
    --------
    >>> from chsic._util.forks import Lock
    >>> lock = Lock()
    >>> with lock:
    ...     print("one thread at a time")
    one thread at a time
    """

    def __init__(self, mend: Callable[[], None] | None = None) -> None:
        # Weakly, as the method's owner has this lock: a cycle would keep large arrays alive.
        self._mend = None if mend is None else weakref.WeakMethod(mend)
        self._lock, self._holder = threading.Lock(), 0
        _locks.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()
        self._holder = threading.get_ident()

    def __exit__(self, *_: object) -> None:
        self._holder = 0
        self._lock.release()

    def open_in_child(self) -> None:
        """Forget a thread that is not there."""
        if not self._lock.locked() or self._holder == threading.get_ident():
            return
        self._lock, self._holder = threading.Lock(), 0
        mend = None if self._mend is None else self._mend()
        if mend is not None:
            mend()


_locks: weakref.WeakSet[Lock] = weakref.WeakSet()


def at_fork(
    *,
    before: Callable[[], object] | None = None,
    in_parent: Callable[[], object] | None = None,
    in_child: Callable[[], object],
) -> None:
    """Call functions around every fork of this process, where there are forks."""
    if hasattr(os, "register_at_fork"):  # not on Windows
        hooks = {"before": before, "after_in_parent": in_parent, "after_in_child": in_child}
        os.register_at_fork(**{name: hook for name, hook in hooks.items() if hook is not None})


def _open_locks() -> None:
    for lock in list(_locks):
        lock.open_in_child()
    if sys.version_info < (3, 12):
        _open_cached_properties()


def _open_cached_properties() -> None:
    """Python 3.11 has a lock in each cached property, one for all objects of the class."""
    modules = [m for name, m in sys.modules.items() if name.partition(".")[0] == "chsic"]
    for kind in [kind for module in modules for kind in vars(module).values()]:
        for member in vars(kind).values() if isinstance(kind, type) else ():
            if isinstance(member, functools.cached_property):
                member.lock = threading.RLock()  # type: ignore[attr-defined]


at_fork(in_child=_open_locks)
