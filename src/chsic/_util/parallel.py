"""Work on several threads whose results come in the order of the work."""

from __future__ import annotations

import contextlib
import functools
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, as_completed, wait
from typing import TypeVar

from threadpoolctl import ThreadpoolController

from chsic._util.forks import ProcessWide

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
