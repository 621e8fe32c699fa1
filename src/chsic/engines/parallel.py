"""Work on several threads whose results come in the order of the work."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, as_completed, wait
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
