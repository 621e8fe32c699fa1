"""Everything that stands in a report, computed but not yet written down."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import platform
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy

from chsic._util.progress import Report
from chsic._util.validate import RNGLike, as_generator
from chsic.data.columns import Data
from chsic.data.samples import Samples, read_arguments, read_samples
from chsic.inference.independence import chsic_test
from chsic.inference.result import IndependenceResult
from chsic.many.along_settings import Sensitivity, sensitivity
from chsic.show.column_summary import ColumnSummary, summarise
from chsic.show.pictures.differences import (
    DifferencesPicture,
    differences_picture,
    has_differences_picture,
)

MOST_FOR_SENSITIVITY = 20_000  # samples: a dozen tests of more would take minutes
NEIGHBOURS_DRAWN = 4  # of a sample, in the picture of differences


@dataclasses.dataclass(frozen=True, eq=False)
class Facts:
    """What a report says.

    Attributes
    ----------
    result : IndependenceResult
        Given z.
    ignoring_z : IndependenceResult or None
        Of the same rows without z; None if there is no z.
    sensitivity : Sensitivity or None
        None if there is no z, or its values are categories only.
    n_for_sensitivity : int
        Samples that it was computed from.
    differences : DifferencesPicture or None
        None unless x, y and z are one column of numbers each.
    columns : tuple of ColumnSummary
        The data.
    settings : dict
        What has to be set to get the same numbers again.
    versions : dict
        Of what computed them.
    """

    result: IndependenceResult
    ignoring_z: IndependenceResult | None
    sensitivity: Sensitivity | None
    n_for_sensitivity: int
    differences: DifferencesPicture | None
    columns: tuple[ColumnSummary, ...]
    settings: dict[str, Any]
    versions: dict[str, str]


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
    report: Report | None = None,
) -> Facts:
    """Test, and look at the answer from all sides.

    Parameters
    ----------
    x, y, z : array_like, series or data frame
        As for `chsic.chsic_test`.
    kinds, nan_policy, n_resamples, workers
        As for `chsic.chsic_test`.
    rng : None, int or numpy.random.Generator
        Of all random signs. The seed that is told repeats the test.
    report : callable, optional
        Called with the number of steps that are done, and of all.

    Returns
    -------
    Facts

    Examples
    --------
    >>> import chsic
    >>> from chsic.show.report.facts import gather
    >>> x, y, z = chsic.datasets.draw_scenario("add", 100, rng=0)
    >>> facts = gather(x, y, z, n_resamples=99, rng=0)
    >>> [column.name for column in facts.columns], facts.settings["n_resamples"]
    (['x', 'y', 'z'], 99)
    """
    tell = report or (lambda done, total: None)
    is_seed = isinstance(rng, int | np.integer) and not isinstance(rng, bool)
    seed = int(rng) if is_seed else int(as_generator(rng).integers(2**32))  # type: ignore[arg-type]
    given = {"x": x, "y": y} if z is None else {"x": x, "y": y, "z": z}
    read = read_arguments(given, kinds)  # which settles what the columns are
    samples = read_samples(read["x"], read["y"], read.get("z"), nan_policy=nan_policy)
    how: dict[str, Any] = {"n_resamples": n_resamples, "workers": workers, "rng": seed}
    tell(0, 3)
    result = chsic_test(read["x"], read["y"], read.get("z"), nan_policy=nan_policy, **how)
    tell(1, 3)
    ignoring_z = chsic_test(samples.x, samples.y, **how) if samples.z else None
    tell(2, 3)
    along, n_used = _sensitivity(samples, how)
    tell(3, 3)
    settings = {"kinds": dict(kinds or {}), "nan_policy": nan_policy, **how}
    return Facts(
        result,
        ignoring_z,
        along,
        n_used,
        _differences(samples, seed),
        tuple(summarise(role, column) for role, columns in read.items() for column in columns),
        settings,
        _versions(),
    )


def _sensitivity(samples: Samples, how: dict[str, Any]) -> tuple[Sensitivity | None, int]:
    if not any(column.kind == "number" for column in samples.z):
        return None, 0
    n = len(samples)
    rows: Any = slice(None)
    if n > MOST_FOR_SENSITIVITY:
        rows = np.random.default_rng(how["rng"]).choice(n, MOST_FOR_SENSITIVITY, replace=False)
    some = ([column.rows(rows) for column in of] for of in (samples.x, samples.y, samples.z))
    try:
        return sensitivity(*some, **how), min(n, MOST_FOR_SENSITIVITY)
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
