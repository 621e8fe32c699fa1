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
from chsic.data.arguments import Data
from chsic.data.column import Column
from chsic.data.samples import Samples, read_arguments, read_samples
from chsic.inference.independence import chsic_test
from chsic.inference.result import IndependenceResult
from chsic.many.sensitivity import Sensitivity, sensitivity
from chsic.show.plot.differences import BeforeAndAfter, before_and_after

MOST_FOR_SENSITIVITY = 20_000  # samples: a dozen tests of more would take minutes
NEIGHBOURS_DRAWN = 4  # of a sample, in the picture of differences
LAST_MINUTE = 2**62  # before or after 1970 that NumPy counts


@dataclasses.dataclass(frozen=True)
class ColumnFacts:
    """One column of the data as it came.

    Attributes
    ----------
    role : {"x", "y", "z"}
        What it was used as.
    name, kind : str
        As in `chsic.data.column.Column`.
    n_missing : int
        Rows without a value.
    values : str
        Its range, or its levels.
    """

    role: str
    name: str
    kind: str
    n_missing: int
    values: str


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
    seen : BeforeAndAfter or None
        Points of the picture of differences, if x, y and z are one number each.
    columns : tuple of ColumnFacts
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
    seen: BeforeAndAfter | None
    columns: tuple[ColumnFacts, ...]
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
    >>> from chsic.show.report import gather
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
        _seen(samples, seed),
        tuple(_about(role, column) for role, columns in read.items() for column in columns),
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


def _seen(samples: Samples, seed: int) -> BeforeAndAfter | None:
    numbers = all(
        len(of) == 1 and of[0].kind == "number" for of in (samples.x, samples.y, samples.z)
    )
    if not numbers:
        return None
    alpha = min(NEIGHBOURS_DRAWN, len(samples) - 1)
    return before_and_after(samples, alpha=alpha, rng=seed)


def _about(role: str, column: Column) -> ColumnFacts:
    values = column.values[~column.missing]
    if column.kind == "category":
        described = f"{len(column.levels)} levels: {', '.join(column.levels)}"
    else:
        low, middle, high = (_written(value, column) for value in np.quantile(values, [0, 0.5, 1]))
        described = f"{low} to {high}, half of them below {middle}"
    n_missing = int(column.missing.sum())
    return ColumnFacts(role, column.name, column.described, n_missing, described)


def _written(value: float, column: Column) -> str:
    if not column.is_date:
        return f"{value:.4g}"
    minutes = value * 24 * 60
    if abs(minutes) > LAST_MINUTE:
        return f"{value / 365.2425:.4g} years after 1970"
    return str(np.datetime64(round(minutes), "m"))


def _versions() -> dict[str, str]:
    return {
        "chsic": importlib.metadata.version("chsic"),
        "Python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
    }
