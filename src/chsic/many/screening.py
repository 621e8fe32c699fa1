"""Test many pairs of columns given the same confounders."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from chsic._util.parallel import blas_on_one_thread
from chsic._util.progress import progress_bar
from chsic._util.validate import RNGLike, as_count, as_generator
from chsic.data.arguments import Data, Names, column_names, named_columns
from chsic.data.samples import Samples, complete_samples, require_nan_policy
from chsic.data.sampling import Sampling, is_name, sampling_arguments
from chsic.data.screen_data import ScreenData
from chsic.inference.compare import run_test
from chsic.inference.result import IndependenceResult
from chsic.inference.settings import Settings, as_resamples
from chsic.inference.stretches import in_given_stretches
from chsic.many.checkpoint import Checkpoint
from chsic.many.column_tests import ColumnTests, or_failure
from chsic.many.screen_checkpoint import N_SEEDS, PairLines, line_of, pairs_of
from chsic.many.screen_result import Screen

MOST_PAIRS = 1_000_000


@blas_on_one_thread()
def screen(
    frame: Data,
    /,
    given: Names | None = None,
    *,
    columns: Names | None = None,
    target: str | int | None = None,
    kinds: Mapping[str, str] | None = None,
    nan_policy: str = "raise",
    groups: Data = None,
    time: Data = None,
    stretch: float | str = "auto",
    within: bool = False,
    weights: Data = None,
    n_resamples: int = 9999,
    workers: int = 1,
    rng: RNGLike | None = None,
    resume: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> Screen:
    """Test every pair of columns, or every column against a target, given confounders.

    Parameters
    ----------
    frame : data frame, mapping or array_like, shape (n, d)
        Rows are samples. Columns of an array are called "0", "1", ...
    given : str or sequence of str, optional
        Names of the confounders; none if not given.
    columns : str or sequence of str, optional
        Names of the columns to be tested; all that are not confounders, `groups`, `time` or
        `weights` if not given.
    target : str, optional
        Test all of them against this one, instead of every pair.
    kinds : mapping, optional
        ``"number"`` or ``"category"`` for names of columns, as for `chsic_test`.
    nan_policy : {"raise", "omit", "level"}
        As for `chsic_test`. Rows are left out of the pairs in whose columns a value is missing, and
        only of those; such pairs share nothing with others, and take longer.
    groups : array_like, series, or name of a column of `frame`, optional
        Which group each row belongs to, as for `chsic_test`. A column that is named is not tested.
        A checkpoint belongs to the groups as well, and to all that is said of rows.
    time : array_like, series, or name of a column of `frame`; or "rows", optional
        When each row was observed, as for `chsic_test`. A column that is named is not tested,
        either, but may be a confounder.
    stretch : float or "auto"
        For how long rows depend on each other, as for `chsic_test`. ``"auto"`` finds a length of
        its own for every pair, which shares nothing with others then.
    within : bool
        Compare rows with those of their own group alone, as for `chsic_test`.
    weights : array_like, series, or name of a column of `frame`, optional
        How many rows of the population each row stands for, as for `chsic_test`. A column that is
        named is not tested.
    n_resamples : int
        Number of draws of signs for a pair, 19 to 10^7, where they are drawn; see `chsic_test`.
    workers : int
        Threads. The result does not depend on it.
    rng : None, int or numpy.random.Generator
        Not needed: answers do not depend on it. Kept for checkpoints, which name it.
    resume : path-like, optional
        A checkpoint: a file to which each pair is written once it is tested. If it is there
        already, from a run on the same data that was stopped or killed, those pairs are not tested
        again. A file with a line that no such run writes is refused, and stays as it is.
    progress : bool
        Show a progress bar, if standard error is a terminal.

    Returns
    -------
    Screen
        Print it for a table. Columns that cannot be tested are in its ``skipped``, with the reason.

    Notes
    -----
    With one confounder, the statistics are those of `chsic_test`. With several, samples are paired
    once for all columns: those that are close in the directions of z along which any column
    changes.

    Examples
    --------
    Sales of ice cream and lemonade stay related once the temperature is known; rescues of swimmers
    are related to neither.

    >>> import chsic
    >>> result = chsic.screen(chsic.datasets.summer(), "temperature", rng=0)
    >>> [(pair.x, pair.y) for pair in result.significant(0.01)]
    [('ice_cream', 'lemonade')]
    """
    require_nan_policy(nan_policy)
    n_resamples = as_resamples(n_resamples)
    workers = as_count("workers", workers, minimum=1)
    raw = named_columns("frame", frame)
    of_z = [] if given is None else column_names("given", given, raw)
    about_rows = sampling_arguments("frame", raw, groups=groups, time=time, weights=weights)
    named = {"groups": groups, "time": time, "weights": weights}
    tested = _tested(raw, of_z, columns, target, named)
    pairs = _pairs(tested, target)
    data = ScreenData.read(raw, of_z, tested, kinds, nan_policy, about_rows, stretch, within)
    shared = in_given_stretches(data.known_sampling)  # what can fail should fail before the tests
    seed = int(as_generator(rng).integers(N_SEEDS))
    lines: dict[tuple[str, str], dict[str, Any]] = {}
    with contextlib.ExitStack() as stack:
        file = None
        if resume is not None:
            run = {
                "version": importlib.metadata.version("chsic"),
                "data": data.fingerprint(),
                "n_resamples": n_resamples,
            }
            known, new = (run, {"seed": seed}) if rng is None else ({**run, "seed": seed}, {})
            valid = PairLines(data.columns, data.n_rows)
            file = stack.enter_context(Checkpoint("resume", resume, known, valid, new))
            seed, lines = file.header["seed"], file.lines
        wanted = [pair for pair in pairs if not data.skipped.keys() & pair]
        untested = [pair for pair in wanted if pair not in lines]
        report = stack.enter_context(progress_bar("pairs", shown=progress))
        for line in _tests(data, shared, untested, n_resamples, seed, workers):
            if file is not None:
                file.add(line)
            lines[line["x"], line["y"]] = line
            report(len(lines), len(wanted))
    ordered = [lines[pair] for pair in wanted]
    failed = {(line["x"], line["y"]): line["failed"] for line in ordered if "failed" in line}
    return Screen(
        pairs=pairs_of([line for line in ordered if "failed" not in line]),
        given=tuple(of_z),
        target=None if target is None else str(target),
        skipped=data.skipped,
        failed=failed,
        kinds=data.kinds,
        seed=seed,
        **shared.facts,
    )


def _tested(
    raw: Mapping[str, Any],
    of_z: list[str],
    columns: Names | None,
    target: str | int | None,
    about_rows: Mapping[str, Data],
) -> list[str]:
    """Return the columns to be tested, the target last if it is not among `columns`.

    Columns that tell about rows, such as their groups, are not tested.
    """
    others = {str(name): argument for argument, name in about_rows.items() if is_name(name)}
    if columns is None:
        tested = [name for name in raw if name not in {*of_z, *others}]
    else:
        tested = column_names("columns", columns, raw)
    named = {"given": of_z, "columns": tested}
    if target is not None:
        [name] = named["target"] = column_names("target", target, raw)
        tested = tested if name in tested else [*tested, name]
    for argument, names in named.items():
        for name in names:
            is_trend = argument == "given" and others.get(name) == "time"
            if name in others and not is_trend:
                raise ValueError(
                    f"{argument}: column {name!r} is named for {others[name]} as well; it can be "
                    "one of them only, so leave it out of the other."
                )
    among = set(tested)
    for name in of_z:
        if name in among:
            raise ValueError(
                f"given: column {name!r} is to be tested as well; a column is either a confounder "
                "or tested."
            )
    return tested


def _pairs(tested: list[str], target: str | int | None) -> list[tuple[str, str]]:
    if len(tested) < 2:
        raise ValueError(
            f"columns: two columns at least are needed for a pair, got {len(tested)} that are not "
            "confounders."
        )
    if target is not None:
        return [(name, str(target)) for name in tested if name != str(target)]
    n_pairs = len(tested) * (len(tested) - 1) // 2
    if n_pairs > MOST_PAIRS:
        raise ValueError(
            f"columns: {len(tested)} columns make {n_pairs} pairs, more than {MOST_PAIRS}; name a "
            "target, or fewer columns."
        )
    return list(itertools.combinations(tested, 2))


def _tests(
    frame: ScreenData,
    sampling: Sampling,
    pairs: Sequence[tuple[str, str]],
    n_resamples: int,
    seed: int,
    workers: int,
) -> Iterator[dict[str, Any]]:
    """Test pairs: those of complete columns together, those with gaps one by one.

    Where stretches of time are those of x and y, all pairs are tested one by one. `sampling` is
    that of rows in which no confounder is missing.
    """

    def signs(x: str, y: str) -> np.random.Generator:
        # By name: the same ones whatever else is tested, and in whatever order.
        named = hashlib.sha256(repr(sorted((x, y))).encode()).digest()
        return np.random.default_rng([seed, *named])

    complete = frame.complete() if sampling.time is None else {}
    place = {name: position for position, name in enumerate(complete)}
    together = {(place[x], place[y]): (x, y) for x, y in pairs if x in place and y in place}
    if together:
        shared = ColumnTests(
            list(complete.values()),
            [column.rows(frame.known) for column in frame.z],
            sampling=sampling,
            n_omitted=frame.n_omitted,
            n_resamples=n_resamples,
        )
        tests = shared.results(list(together), lambda pair: signs(*together[pair]), workers)
        for pair, outcome in tests:
            yield line_of(*together[pair], outcome)

    settings = Settings(n_resamples=n_resamples)

    def alone(pair: tuple[str, str]) -> IndependenceResult:
        x, y = ([frame.columns[name]] for name in pair)
        samples = complete_samples(Samples(x, y, frame.z, sampling=frame.sampling))
        return run_test(samples, settings, signs(*pair), workers)

    for x, y in pairs:
        if not (x in place and y in place):
            yield line_of(x, y, or_failure(alone)((x, y)))
