"""The paper's figure 1 as numbers: a Monte Carlo over both models, five measures, two sweeps."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed

import numpy as np

from chsic._util.validate import Array, as_count
from chsic.datasets import Sample, m_minus, m_plus
from chsic.measure.measures import chsic, hsic

# The text of the paper fixes L = 100 against gamma, 10 dB against L, and speaks of L = 600; the
# ends of the gamma axis are ours, wide enough for the regimes the text describes.
GAMMAS_DB = tuple(np.arange(-10.0, 20.1, 2.5).tolist())
SIZES = (100, 200, 300, 400, 500, 600)
FIXED_SIZE, FIXED_GAMMA_DB = 100, 10.0

MODELS: dict[str, Callable[..., Sample]] = {"M+": m_plus, "M-": m_minus}
CHUNK = 10  # trials in one unit of work


@dataclasses.dataclass(frozen=True, kw_only=True)
class Measure:
    """One curve of the figure."""

    label: str
    alpha: int | None = None  # None: HSIC
    pairs: str = "complete"

    def __call__(self, sample: Sample, rng: np.random.Generator) -> float:
        """Return the value of the measure on one data set."""
        if self.alpha is None:
            return float(hsic(sample.x, sample.y))
        return float(chsic(*sample, alpha=self.alpha, pairs=self.pairs, rng=rng))


MEASURES = (
    Measure(label="HSIC"),
    Measure(label="C-HSIC, α = 4", alpha=4, pairs="closest"),
    Measure(label="C-HSIC, α = 64", alpha=64, pairs="closest"),
    Measure(label="random pruning, α = 4", alpha=4, pairs="random"),
    Measure(label="random pruning, α = 64", alpha=64, pairs="random"),
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Point:
    """One marker of the figure: mean and standard deviation of a measure over the trials."""

    panel: str
    model: str
    gamma_db: float
    n_samples: int
    measure: str
    trials: int
    mean: float
    std: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class Setting:
    """Where on the axes of which panel data are drawn."""

    panel: str
    model: str
    gamma_db: float
    n_samples: int


def settings() -> list[Setting]:
    """Return every abscissa of the four panels."""
    points = []
    for letter, model in zip("ab", MODELS, strict=True):
        points += [
            Setting(panel=f"{letter}.1", model=model, gamma_db=gamma, n_samples=FIXED_SIZE)
            for gamma in GAMMAS_DB
        ]
        points += [
            Setting(panel=f"{letter}.2", model=model, gamma_db=FIXED_GAMMA_DB, n_samples=n)
            for n in SIZES
        ]
    return points


def simulate(
    trials: int = 200,
    seed: int = 0,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Point]:
    """Run the Monte Carlo behind the paper's figure 1.

    Parameters
    ----------
    trials : int
        Data sets at each point, at least 2.
    seed : int
        Every data set has its own random stream, made from the seed, its point and its number,
        so the numbers do not depend on the workers.
    workers : int, optional
        Processes; all cores if not given, 1 stays in this process.
    progress : callable, optional
        Called with the number of finished and of all data sets.

    Returns
    -------
    list of Point

    Examples
    --------
    >>> from chsic.measure.figure1 import simulate
    >>> points = simulate(trials=2, workers=1)
    >>> len(points), points[0].panel, points[0].measure
    (190, 'a.1', 'HSIC')
    """
    trials = as_count("trials", trials, minimum=2)
    seed = as_count("seed", seed, minimum=0)
    workers = as_count("workers", (os.cpu_count() or 1) if workers is None else workers, minimum=1)
    where = settings()
    # Largest data sets first: the last units of work to finish are then short.
    units = [
        (index, start, min(start + CHUNK, trials))
        for index in sorted(range(len(where)), key=lambda index: -where[index].n_samples)
        for start in range(0, trials, CHUNK)
    ]
    values = np.empty((len(where), trials, len(MEASURES)))
    done = 0
    for (index, start, stop), result in _run(units, seed, workers):
        values[index, start:stop] = result
        done += stop - start
        if progress is not None:
            progress(done, trials * len(where))
    return [
        Point(
            **dataclasses.asdict(setting),
            measure=measure.label,
            trials=trials,
            mean=float(values[index, :, column].mean()),
            std=float(values[index, :, column].std(ddof=1)),
        )
        for index, setting in enumerate(where)
        for column, measure in enumerate(MEASURES)
    ]


Unit = tuple[int, int, int]


def _run(units: list[Unit], seed: int, workers: int) -> Iterator[tuple[Unit, Array]]:
    if workers == 1:
        for unit in units:
            yield unit, _measure_trials(unit, seed)
        return
    # Ctrl-C reaches all processes of a terminal; this one ends the others.
    ignore = signal.SIGINT, signal.SIG_IGN
    with ProcessPoolExecutor(workers, initializer=signal.signal, initargs=ignore) as pool:
        with _interrupted_later():  # as a pool that is half started never ends
            futures = {pool.submit(_measure_trials, unit, seed): unit for unit in units}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:  # on Ctrl-C or an error, do not start what is still waiting
            pool.shutdown(cancel_futures=True)


@contextlib.contextmanager
def _interrupted_later() -> Iterator[None]:
    """Put Ctrl-C off until what is inside is done."""
    if threading.current_thread() is not threading.main_thread():  # which alone receives it
        yield
        return
    pressed = threading.Event()
    before = signal.signal(signal.SIGINT, lambda *_: pressed.set())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed.is_set():
        signal.raise_signal(signal.SIGINT)


def _measure_trials(unit: Unit, seed: int) -> Array:
    index, start, stop = unit
    setting = settings()[index]
    values = np.empty((stop - start, len(MEASURES)))
    for trial in range(start, stop):
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(index, trial)))
        sample = MODELS[setting.model](setting.n_samples, 10 ** (setting.gamma_db / 10), rng)
        values[trial - start] = [measure(sample, rng) for measure in MEASURES]
    return values
