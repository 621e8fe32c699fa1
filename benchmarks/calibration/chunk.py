"""Repetitions of one cell, computed in a worker process."""

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import time
import warnings
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

import numpy as np
from benchmarks.calibration.methods import Method

from chsic.datasets import draw_scenario

LIMIT = 60.0  # seconds for one test, of the processor: a machine that pauses makes no test slow
BUDGET = 20.0  # seconds after which a chunk returns what it has, so that little is lost by a kill
SLOW = f"more than {LIMIT:g} s"


@dataclass(frozen=True)
class Chunk:
    """Repetitions first, ..., first + count - 1 of a cell."""

    method: str
    scenario: str
    d: int
    n: int
    first: int
    count: int


class TooSlowError(BaseException):
    """The time of one test is over. Not an Exception: some peers catch all of those."""


def seeds(scenario: str, d: int, n: int, repetition: int) -> list[np.random.SeedSequence]:
    """Return a seed for the data and one for the method; no method has a say in them."""
    return np.random.SeedSequence([zlib.crc32(scenario.encode()), d, n, repetition]).spawn(2)


def compute(function: Method, chunk: Chunk) -> dict:
    """Return the journal's line for a chunk, or for its beginning where it takes long.

    An error is noted under its repetition, and the p-value is null there.
    """
    start = time.perf_counter()
    pvalues: list[float | None] = []
    seconds: list[float] = []
    errors: dict[str, str] = {}
    for repetition in range(chunk.first, chunk.first + chunk.count):
        outcome, took = _one(function, chunk, repetition)
        seconds.append(took)
        pvalues.append(None if isinstance(outcome, str) else outcome)
        if isinstance(outcome, str):
            errors[str(repetition)] = outcome
        if time.perf_counter() - start > BUDGET:
            break
    return line(chunk, pvalues, _digits(median(seconds), 3), errors)


def failure(chunk: Chunk, text: str) -> dict:
    """Return the journal's line for a chunk of which nothing came back."""
    repetitions = range(chunk.first, chunk.first + chunk.count)
    return line(chunk, [None] * chunk.count, None, {str(r): text for r in repetitions})


def line(
    chunk: Chunk, pvalues: list[float | None], seconds: float | None, errors: dict[str, str]
) -> dict:
    """Return what the journal keeps: `seconds` is the median over the tests of the line."""
    key = {"method": chunk.method, "scenario": chunk.scenario, "d": chunk.d, "n": chunk.n}
    row = {**key, "first": chunk.first, "seconds": seconds, "pvalues": pvalues}
    return {**row, "errors": errors} if errors else row


def prepare_worker() -> None:
    """Leave the interrupt to the parent, keep peers quiet, and end when the parent is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("ignore")
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for the process's life
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=lambda: (parent.join(), os._exit(1)), daemon=True).start()


def _one(function: Method, chunk: Chunk, repetition: int) -> tuple[float | str, float]:
    """Return the p-value or what went wrong, and the seconds it took."""
    for_data, for_method = seeds(chunk.scenario, chunk.d, chunk.n, repetition)
    sample = draw_scenario(chunk.scenario, chunk.n, chunk.d, np.random.default_rng(for_data))
    outcome: float | str
    start, processor = time.perf_counter(), time.process_time()
    try:
        with _time_limit(LIMIT):
            outcome = _as_pvalue(function(*sample, np.random.default_rng(for_method)))
    except TooSlowError:
        outcome = SLOW
    except ImportError:
        raise  # what is not installed is no property of the method: stop, and note nothing
    except Exception as error:
        outcome = f"{type(error).__name__}: {error}"[:200]
    took = time.perf_counter() - start
    return (SLOW if time.process_time() - processor > LIMIT else outcome), took


def _as_pvalue(value: object) -> float:
    pvalue = float(value)  # type: ignore[arg-type]
    if not 0 <= pvalue <= 1:  # NaN too
        raise ValueError(f"{pvalue} is no p-value")
    return _digits(pvalue, 6)


def _digits(value: float, count: int) -> float:
    return float(f"{value:.{count}g}")


@contextlib.contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
