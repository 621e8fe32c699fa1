"""From data to the facts of a report: the one place of a report where tests are computed."""

from __future__ import annotations

import copy
import dataclasses
import importlib.metadata
import platform
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy

from chsic._util.parallel import blas_on_one_thread
from chsic._util.progress import Report
from chsic._util.validate import RNGLike, as_count, as_generator
from chsic.data.arguments import Data, named_columns
from chsic.data.samples import (
    Samples,
    arguments,
    clean_samples,
    complete_samples,
    read_arguments,
    require_nan_policy,
)
from chsic.data.sampling import ARGUMENTS, ROWS, is_order_of_rows
from chsic.inference.compare import Question, run_test
from chsic.inference.settings import Settings
from chsic.inference.stretches import in_stretches
from chsic.many.sensitivity import Answered, Sensitivity, along_settings
from chsic.show.column_summary import summarise
from chsic.show.pictures.differences import (
    DifferencesPicture,
    differences_picture,
    has_differences_picture,
)
from chsic.show.report.facts import Facts

MOST_FOR_SENSITIVITY = 20_000  # samples: a dozen tests of more would take minutes
NEIGHBOURS_DRAWN = 4  # of a sample, in the picture of differences


@blas_on_one_thread()
def gather(
    x: Data,
    y: Data,
    z: Data = None,
    *,
    data: Data = None,
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
    progress: Report | None = None,
) -> Facts:
    """Test, and look at the answer from all sides.

    Parameters
    ----------
    x, y, z : array_like, series or data frame, or names of columns of `data`
        As for `chsic.chsic_test`.
    data, kinds, nan_policy, groups, time, stretch, within, weights, n_resamples, workers
        As for `chsic.chsic_test`.
    rng : None, int or numpy.random.Generator
        Of all random signs. The seed in the settings of the facts repeats the test.
    progress : callable, optional
        Called with the number of steps that are done, and of all.

    Returns
    -------
    Facts

    Examples
    --------
    >>> import chsic
    >>> from chsic.show.report.gather import gather
    >>> x, y, z = chsic.datasets.draw_scenario("add", 100, rng=0)
    >>> facts = gather(x, y, z, n_resamples=99, rng=0)
    >>> [column.name for column in facts.columns], facts.settings["n_resamples"]
    (['x', 'y', 'z'], 99)
    """
    step = progress or (lambda done, total: None)
    settings = Settings.of(n_resamples=n_resamples)
    workers = as_count("workers", workers, minimum=1)
    is_seed = isinstance(rng, int | np.integer) and not isinstance(rng, bool)
    seed = int(rng) if is_seed else int(as_generator(rng).integers(2**32))  # type: ignore[arg-type]
    require_nan_policy(nan_policy)
    given = arguments(x, y, z, data, groups=groups, time=time, weights=weights)
    read = read_arguments(given, kinds)
    own = clean_samples(read, nan_policy, stretch=stretch, within=within)
    samples = in_stretches(own, settings)
    step(0, 3)
    rng_of_test = np.random.default_rng(seed)
    question = Question.of(samples, settings)
    answered = _plan_all(question, rng_of_test, workers)
    result = (question if answered is None else answered).answer(rng_of_test, workers)
    step(1, 3)
    ignoring_z = None
    if samples.z:
        # Stretches of its own, and rows of one group may be equal now.
        without_z = complete_samples(Samples(own.x, own.y, [], sampling=own.sampling))
        ignoring_z = run_test(without_z, settings, np.random.default_rng(seed), workers)
    step(2, 3)
    along, n_used = _sensitivity(samples, settings, seed, workers, answered)
    step(3, 3)
    about_rows: dict[str, Any] = {of: (read[of][0].name,) for of in ARGUMENTS if of in read}
    names = () if data is None else named_columns("data", data)
    if is_order_of_rows(time, names):
        about_rows["time"] = ROWS
    about_rows |= {"stretch": stretch, "within": within}
    repeat: dict[str, Any] = {"n_resamples": n_resamples, "workers": workers, "rng": seed}
    return Facts(
        result=result,
        ignoring_z=ignoring_z,
        sensitivity=along,
        n_for_sensitivity=n_used,
        differences=_differences(samples, seed),
        columns=tuple(
            summarise(role, column)
            for role, columns in read.items()
            for column in columns
            if about_rows.get(role) != ROWS
        ),
        settings={
            "kinds": dict(kinds or {}),
            "nan_policy": nan_policy,
            **about_rows,
            **repeat,
        },
        versions=_versions(),
    )


def _plan_all(question: Question, rng: np.random.Generator, workers: int) -> Answered | None:
    """Plan the test with the kernels that sensitivity asks for as well, if it is computed."""
    if question.given.kind != "nearest" or len(question.samples) > MOST_FOR_SENSITIVITY:
        return None
    before = copy.deepcopy(rng)
    try:
        return Answered.of(question, rng, workers)
    except ValueError:  # some bandwidths are too narrow for these data
        rng.bit_generator.state = before.bit_generator.state
        return None


def _sensitivity(
    samples: Samples, settings: Settings, seed: int, workers: int, like: Answered | None
) -> tuple[Sensitivity | None, int]:
    if not any(column.kind == "number" for column in samples.z):
        return None, 0
    n = len(samples)
    nearest = dataclasses.replace(settings, pairs="nearest")
    try:
        if n > MOST_FOR_SENSITIVITY:
            rows = np.random.default_rng(seed).choice(n, MOST_FOR_SENSITIVITY, replace=False)
            samples = complete_samples(samples.rows(rows))
        along = along_settings(samples, nearest, seed, workers=workers, like=like)
    except ValueError:  # rare categories may be constant in some of the rows
        return None, 0
    return along, len(samples)


def _differences(samples: Samples, seed: int) -> DifferencesPicture | None:
    if not has_differences_picture(samples):
        return None
    return differences_picture(samples, alpha=min(NEIGHBOURS_DRAWN, len(samples) - 1), rng=seed)


def _versions() -> dict[str, str]:
    return {
        "chsic": importlib.metadata.version("chsic"),
        "Python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
    }
