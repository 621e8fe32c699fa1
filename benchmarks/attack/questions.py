"""x, y and z together, in the containers that people use."""

import dataclasses
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from benchmarks.attack.columns import PLAIN, REFUSED, function_of_z
from benchmarks.attack.confounders import CONFOUNDERS

SIZES = (20, 30, 50, 80, 120, 200)
HARDLY_ANY = (0, 1, 3, 4, 5, 8)
NEIGHBOURS = 10  # samples near in z that permutations mix, where no two are equal in it


@dataclasses.dataclass(frozen=True, eq=False)
class Question:
    """Data of one question.

    Attributes
    ----------
    x, y, z : object
        What is passed to the library.
    strata : array of int
        Samples of equal z, or of nearly the same number that x and y depend on.
    is_null : bool
        Whether x and y are independent given z.
    keywords : dict
        ``kinds`` and ``nan_policy``.
    drawn : str
        The kinds of z, x and y, for a person who looks at a defect.
    plain : tuple
        x and y before they were put into containers.
    """

    x: Any
    y: Any
    z: Any
    strata: np.ndarray
    is_null: bool
    keywords: dict[str, Any]
    drawn: str
    plain: tuple[Any, Any]


def draw_question(rng: np.random.Generator, *, null: bool) -> Question:
    """Draw a question: a true null of usable data, or anything at all."""
    n = int(rng.choice(SIZES if null or rng.random() < 0.9 else HARDLY_ANY))
    confounder = CONFOUNDERS[rng.integers(len(CONFOUNDERS))] if n > 1 else CONFOUNDERS[0]
    z, t, strata = confounder(rng, n)
    kinds = PLAIN if null else PLAIN + REFUSED
    of_x, of_y = (kinds[k] for k in rng.integers(0, len(kinds), 2))
    if null and strata is None and function_of_z in (of_x, of_y):
        of_x = of_y = PLAIN[0]  # without noise, what a regression misses is all there is
    x, y = of_x(rng, t), of_y(rng, t)
    is_null = null
    if not null and rng.random() < 0.2:
        y, is_null = x, False  # the same
    plain, keywords = (x, y), {}
    if not null and n and rng.random() < 0.3:
        x = _with_gaps(rng, x)
        keywords["nan_policy"] = str(rng.choice(["raise", "omit", "level"]))
    if not null and rng.random() < 0.1:
        keywords["kinds"] = {"x": str(rng.choice(["number", "category"]))}
    else:
        x, y, z = (_contained(rng, values) for values in (x, y, z))
    if strata is None:
        strata = np.argsort(np.argsort(t)) // NEIGHBOURS
    drawn = f"n = {n}, z {confounder.__name__}, x {of_x.__name__}, y {of_y.__name__}"
    return Question(x, y, z, strata, is_null, keywords, drawn, plain)


def _with_gaps(rng: np.random.Generator, values: Any) -> Any:
    series = pd.Series(values).astype(object)
    series[rng.random(len(series)) < 0.1] = rng.choice([None, np.nan])
    return series


def _contained(rng: np.random.Generator, values: Any) -> Any:
    """Put values into a container that takes them, or leave them as they are."""
    if values is None or isinstance(values, dict):
        return pd.DataFrame(values) if values and rng.random() < 0.5 else values
    ways = (
        lambda: values,
        lambda: pd.Series(values),
        lambda: pl.Series("x", values),
        lambda: pd.DataFrame({"only": values}),
        lambda: list(values),
        lambda: np.ma.masked_array(values),
    )
    try:
        return ways[rng.integers(len(ways))]()
    except Exception:  # of the other library, which does not take such values
        return values
