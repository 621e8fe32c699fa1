"""Chunks to workers, lines to the journal."""

import contextlib
import multiprocessing
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from benchmarks.calibration.cells import Cell
from benchmarks.calibration.chunk import Chunk, compute, failure, prepare_worker
from benchmarks.calibration.journal import Journal, read
from benchmarks.calibration.methods import METHODS, Method, version
from benchmarks.calibration.todo import Todo, part
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def run(
    wanted: Sequence[Cell],
    path: Path,
    *,
    methods: Mapping[str, Method] = METHODS,
    workers: int = 1,
    minutes: float | None = None,
) -> None:
    """Compute the p-values of cells that the journal at `path` does not have yet.

    An interrupt (Ctrl-C) lets the workers finish what they have in hand; a second one does not.

    Parameters
    ----------
    wanted : sequence of Cell
        What to run.
    path : Path
        The journal.
    methods : mapping of str to callable
        The methods that the cells name, functions that another process can import.
    workers : int
        Number of processes, each of one thread. The p-values do not depend on it.
    minutes : float, optional
        After this time nothing new is begun, and what is in hand is finished; 0 runs nothing.
    """
    deadline = time.monotonic() + 60 * minutes if minutes is not None else float("inf")
    with Journal(path) as journal, one_thread_each(), _progress() as progress:
        todo = Todo(wanted, read(path))
        bar = progress.add_task("starting", total=len(todo))
        for row in _lines(todo, methods, workers, deadline):
            journal.append({**row, "version": version(row["method"])})
            name = f"{row['method']}, {row['scenario']}, d = {row['d']}, n = {row['n']}"
            progress.update(bar, description=name, advance=len(row["pvalues"]))


def _lines(
    todo: Todo, methods: Mapping[str, Method], workers: int, deadline: float
) -> Iterator[dict]:
    """Keep every worker busy until there is nothing to do or the time is over."""
    team = _Team(methods, workers)
    try:
        while True:
            while team.has_room() and time.monotonic() < deadline and (chunk := todo.take()):
                team.submit(chunk)
            if not team.in_hand:
                return
            try:
                finished = team.collect()
            except KeyboardInterrupt:
                deadline = 0.0
                continue
            for chunk, row in finished:
                todo.settle(chunk, row)
                yield row
    finally:
        team.pool.shutdown(cancel_futures=True)


class _Team:
    """Worker processes, each with at most one chunk in hand."""

    def __init__(self, methods: Mapping[str, Method], workers: int) -> None:
        self.methods = methods
        self.workers = workers
        self.pool = worker_pool(workers)
        self.in_hand: dict[Future[dict], Chunk] = {}

    def has_room(self) -> bool:
        return len(self.in_hand) < self.workers

    def submit(self, chunk: Chunk) -> None:
        self.in_hand[self.pool.submit(compute, self.methods[chunk.method], chunk)] = chunk

    def collect(self) -> list[tuple[Chunk, dict]]:
        """Wait for a chunk, and return what is finished."""
        finished = wait(self.in_hand, return_when=FIRST_COMPLETED).done
        if any(isinstance(future.exception(), BrokenProcessPool) for future in finished):
            return self._recover()
        return [(self.in_hand.pop(future), future.result()) for future in finished]

    def _recover(self) -> list[tuple[Chunk, dict]]:
        """Run the chunks in hand once more when a process died, one test at a time.

        All of them fail together, so this tells which test it is that ends its process.
        """
        chunks = list(self.in_hand.values())
        self.in_hand.clear()
        self.pool = worker_pool(self.workers)
        singles = [part(chunk, k, k + 1) for chunk in chunks for k in range(chunk.count)]
        return [(single, _alone(self.methods[single.method], single)) for single in singles]


def _alone(function: Method, chunk: Chunk) -> dict:
    with worker_pool(1) as pool:
        try:
            return pool.submit(compute, function, chunk).result()
        except BrokenProcessPool:
            return failure(chunk, "the process died")


def worker_pool(workers: int) -> ProcessPoolExecutor:
    # Spawned, since a process must load its libraries under the limit on threads.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, mp_context=context, initializer=prepare_worker)


@contextlib.contextmanager
def one_thread_each() -> Iterator[None]:
    """Let processes that start in here use one thread each."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _progress() -> Progress:
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    return Progress(*columns, console=Console(stderr=True))
