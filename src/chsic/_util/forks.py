"""What a forked process inherits from threads that it does not have.

A fork copies the memory of a process, but of its threads only the one that forks. A lock that
another one held stays locked in the child for ever, what it guards may be half changed, and what
the other one was going to undo is never undone. Children therefore mend all three before they do
anything else; what they cannot mend, locks inside other libraries, forks wait for.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterator


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


class ProcessWide:
    """A change of the whole process that lasts as long as anybody uses it.

    The first user makes it, and the last one undoes it, whatever the order in which they end and
    the threads they are on. A forked process has the users of the thread that forked, and no other.

    Parameters
    ----------
    change : callable
        Makes the change, and returns what undoes it.

    Examples
    --------
    >>> from chsic._util.forks import ProcessWide
    >>> def change():
    ...     print("made")
    ...     return lambda: print("undone")
    >>> wide = ProcessWide(change)
    >>> with wide.use(), wide.use():
    ...     print("used twice")
    made
    used twice
    undone
    """

    def __init__(self, change: Callable[[], Callable[[], None]]) -> None:
        self._change, self._undo = change, _nothing
        self._users: dict[object, int] = {}  # threads they are on
        # A fork waits until no thread is making or undoing the change.
        self._lock = threading.RLock()
        _at_fork(self._lock.acquire, self._lock.release, self._leave_others)

    @property
    def in_use(self) -> bool:
        """Whether the change is made."""
        return bool(self._users)

    @contextlib.contextmanager
    def use(self) -> Iterator[None]:
        """Have the change made inside."""
        user = object()
        with self._lock:
            if not self._users:
                self._undo = self._change()
            self._users[user] = threading.get_ident()
        try:
            yield
        finally:
            self._leave([user])

    def _leave(self, users: list[object]) -> None:
        with self._lock:
            for user in users:
                del self._users[user]
            if users and not self._users:
                self._undo()

    def _leave_others(self) -> None:
        try:
            here = threading.get_ident()
            self._leave([user for user, thread in self._users.items() if thread != here])
        finally:
            self._lock.release()


class Unforked:
    """Work of libraries that have locks of their own, and that forks wait for.

    Examples
    --------
    >>> from chsic._util.forks import Unforked
    >>> unforked = Unforked()
    >>> with unforked.work():
    ...     print("no fork now")
    no fork now
    """

    def __init__(self) -> None:
        self._inside: Counter[int] = Counter()  # by thread
        self._forking: set[int] = set()  # threads
        self._changed = threading.Condition()
        _at_fork(self._wait, self._go_on, self._go_on_in_child)

    @contextlib.contextmanager
    def work(self) -> Iterator[None]:
        """Do a short piece of work, not inside another one."""
        here = threading.get_ident()
        with self._changed:
            self._changed.wait_for(lambda: not self._forking)  # or a fork might wait for ever
            self._inside[here] += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside[here] -= 1
                self._inside += Counter()  # without threads that are not inside
                self._changed.notify_all()

    def _wait(self) -> None:
        """Wait until no other thread is inside, and keep them out."""
        here = threading.get_ident()
        self._changed.acquire()
        self._forking.add(here)
        self._changed.wait_for(lambda: self._inside.keys() <= {here})

    def _go_on(self) -> None:
        self._forking.discard(threading.get_ident())
        self._changed.notify_all()
        self._changed.release()

    def _go_on_in_child(self) -> None:
        self._forking.clear()  # of others that wait to fork
        self._go_on()


def _nothing() -> None:
    pass


def _at_fork(
    before: Callable[[], object], in_parent: Callable[[], None], in_child: Callable[[], None]
) -> None:
    if hasattr(os, "register_at_fork"):  # not on Windows
        os.register_at_fork(before=before, after_in_parent=in_parent, after_in_child=in_child)


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


_at_fork(_nothing, _nothing, _open_locks)
