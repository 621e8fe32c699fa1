"""Work on several threads whose results come in the order of the work."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from threadpoolctl import ThreadpoolController

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


@contextlib.contextmanager
def blas_on_one_thread() -> Iterator[None]:
    """Keep matrix products on the thread that asks for them.

    They are many and small here. Threads of BLAS then cost more than they save, much more where
    other programs or our own workers use the cores, and may change the last bits.
    """
    _limit.enter()
    try:
        yield
    finally:
        _limit.leave()


class _Limit:
    """The limit is one of the process: the first caller sets it, and the last one takes it back."""

    def __init__(self) -> None:
        self._lock, self._inside, self._limiter = threading.Lock(), 0, contextlib.ExitStack()

    def enter(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._limiter.enter_context(_controller().limit(limits=1, user_api="blas"))
            self._inside += 1

    def leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limiter.close()


@functools.cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


_limit = _Limit()
