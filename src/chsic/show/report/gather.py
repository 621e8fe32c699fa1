"""From data to the facts of a report: the one place of a report where tests are computed."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy

from chsic._util.progress import Report
from chsic._util.validate import RNGLike, as_generator
from chsic.data.arguments import Data
from chsic.data.samples import Samples, read_arguments, read_samples
from chsic.inference.independence import chsic_test
from chsic.many.sensitivity import Sensitivity, sensitivity
from chsic.show.column_summary import summarise
from chsic.show.pictures.differences import (
    DifferencesPicture,
    differences_picture,
    has_differences_picture,
)
from chsic.show.report.facts import Facts

MOST_FOR_SENSITIVITY = 20_000  # samples: a dozen tests of more would take minutes
NEIGHBOURS_DRAWN = 4  # of a sample, in the picture of differences


def gather(
    x: Data,
    y: Data,
    z: Data = None,
    *,
    kinds: Mapping[str, str] | None = None,
    nan_policy: str = "raise",
    n_resamples: int = 9999,
    workers: int = 1,
    rng: RNGLike | None = None,
    progress: Report | None = None,
) -> Facts:
    """Test, and look at the answer from all sides.

    Parameters
    ----------
    x, y, z : array_like, series or data frame
        As for `chsic.chsic_test`.
    kinds, nan_policy, n_resamples, workers
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
    is_seed = isinstance(rng, int | np.integer) and not isinstance(rng, bool)
    seed = int(rng) if is_seed else int(as_generator(rng).integers(2**32))  # type: ignore[arg-type]
    given = {"x": x, "y": y} if z is None else {"x": x, "y": y, "z": z}
    read = read_arguments(given, kinds)  # which settles what the columns are
    samples = read_samples(read["x"], read["y"], read.get("z"), nan_policy=nan_policy)
    settings: dict[str, Any] = {"n_resamples": n_resamples, "workers": workers, "rng": seed}
    step(0, 3)
    result = chsic_test(read["x"], read["y"], read.get("z"), nan_policy=nan_policy, **settings)
    step(1, 3)
    ignoring_z = chsic_test(samples.x, samples.y, **settings) if samples.z else None
    step(2, 3)
    along, n_used = _sensitivity(samples, settings)
    step(3, 3)
    return Facts(
        result=result,
        ignoring_z=ignoring_z,
        sensitivity=along,
        n_for_sensitivity=n_used,
        differences=_differences(samples, seed),
        columns=tuple(
            summarise(role, column) for role, columns in read.items() for column in columns
        ),
        settings={"kinds": dict(kinds or {}), "nan_policy": nan_policy, **settings},
        versions=_versions(),
    )


def _sensitivity(samples: Samples, settings: dict[str, Any]) -> tuple[Sensitivity | None, int]:
    if not any(column.kind == "number" for column in samples.z):
        return None, 0
    n = len(samples)
    rows: Any = slice(None)
    if n > MOST_FOR_SENSITIVITY:
        rows = np.random.default_rng(settings["rng"]).choice(n, MOST_FOR_SENSITIVITY, replace=False)
    some = ([column.rows(rows) for column in of] for of in (samples.x, samples.y, samples.z))
    try:
        return sensitivity(*some, **settings), min(n, MOST_FOR_SENSITIVITY)
    except ValueError:  # rare categories may be constant in some of the rows
        return None, 0


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
