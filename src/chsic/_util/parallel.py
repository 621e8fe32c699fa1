"""Work on several threads, and what all threads of a process share: BLAS, hooks, libraries."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, as_completed, wait
from typing import TypeVar

from threadpoolctl import ThreadpoolController

from chsic._util.forks import at_fork

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_order(
    function: Callable[[Item], Result], items: Iterable[Item], workers: int
) -> Iterator[Result]:
    """Yield ``function(item)`` for each item, in order, whatever the number of workers.

    What is added up in this order is the same to the last bit for any of them. Items are made no
    faster than results are used, so that few are alive at once.
    """
    if workers == 1:
        yield from map(function, items)
        return
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > 2 * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def as_finished(
    function: Callable[[Item], Result], items: Iterable[Item], workers: int
) -> Iterator[tuple[Item, Result]]:
    """Yield items with ``function(item)`` as soon as they are finished, in any order."""
    if workers == 1:
        for item in items:
            yield item, function(item)
        return
    with ThreadPoolExecutor(workers) as pool:
        waiting: dict[Future[Result], Item] = {}
        try:
            for item in items:
                waiting[pool.submit(function, item)] = item
                if len(waiting) > workers:
                    done, _ = wait(waiting, return_when=FIRST_COMPLETED)
                    for future in done:
                        yield waiting.pop(future), future.result()
            for future in as_completed(list(waiting)):
                yield waiting.pop(future), future.result()
        finally:
            for future in waiting:
                future.cancel()


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
    >>> from chsic._util.parallel import ProcessWide
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
        self._change = change
        self._undo: Callable[[], None] = lambda: None
        self._users: dict[object, int] = {}  # threads they are on
        # A fork waits until no thread is making or undoing the change.
        self._lock = threading.RLock()
        at_fork(
            before=self._lock.acquire, in_parent=self._lock.release, in_child=self._leave_others
        )

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


@contextlib.contextmanager
def blas_on_one_thread() -> Iterator[None]:
    """Keep matrix products on the thread that asks for them.

    They are many and small here. Threads of BLAS then cost more than they save, much more where
    other programs or our own workers use the cores, and may change the last bits.
    """
    with _one_thread.use():
        yield


@functools.cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


def _limit() -> Callable[[], None]:
    _let_any_thread_set()
    limiter = _controller().limit(limits=1)
    _let_any_thread_set()

    def undo() -> None:
        _let_any_thread_set()
        limiter.restore_original_limits()
        _let_any_thread_set()

    return undo


def _let_any_thread_set() -> None:
    """Let any thread set the number of threads of BLAS.

    From version 3.8 on, threadpoolctl does nothing if another thread set it before. Ours may end in
    another order than they began, so that not the one that set a limit takes it back.
    """
    for library in _controller().lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


_one_thread = ProcessWide(_limit)


class Unforked:
    """Work of libraries that forks wait for, as no child can open the locks inside of them.

    Examples
    --------
    >>> from chsic._util.parallel import Unforked
    >>> unforked = Unforked()
    >>> with unforked.work():
    ...     print("no fork now")
    no fork now
    """

    def __init__(self) -> None:
        self._inside: Counter[int] = Counter()  # by thread
        self._forking: set[int] = set()  # threads
        self._changed = threading.Condition()
        at_fork(before=self._wait, in_parent=self._go_on, in_child=self._go_on_in_child)

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
