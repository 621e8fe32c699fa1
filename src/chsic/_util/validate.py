"""Settings pass through here: a clean value comes out, or an error that says what to do."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Index: TypeAlias = NDArray[np.intp]
RNGLike: TypeAlias = (
    int | np.integer[Any] | np.random.Generator | np.random.BitGenerator | np.random.SeedSequence
)

MIN_SAMPLES = 4


def require_same_length(**samples: Array) -> None:
    """Raise unless all arrays have the same number of rows."""
    lengths = {name: len(array) for name, array in samples.items()}
    if len(set(lengths.values())) > 1:
        described = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ValueError(
            f"{' and '.join(samples)}: the same number of samples is needed, but {described}; "
            "row l of each must belong to the same observation."
        )


def as_number(name: str, value: object) -> float:
    """Return a finite real number; booleans and numeric strings are refused, not guessed."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name}: expected a number, got {value!r} of type {type(value).__name__}.")
    try:
        number = float(value)
    except OverflowError:
        number = np.inf
    if not np.isfinite(number):
        raise ValueError(f"{name}: expected a finite number, got {number}.")
    return number


def as_positive(name: str, value: object) -> float:
    """Return a finite number above zero."""
    number = as_number(name, value)
    if not number > 0:
        raise ValueError(f"{name}: a number above 0 is needed, got {number:g}.")
    return number


def as_numbers(name: str, values: object) -> list[float]:
    """Return a list of finite real numbers; one alone is no list."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TypeError(f"{name}: expected a list of numbers, got {values!r}; write [{values!r}].")
    return [as_number(name, value) for value in values]


def as_count(name: str, value: object, minimum: int, maximum: int | None = None) -> int:
    """Return a whole number of at least `minimum`, and at most `maximum`."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
        raise TypeError(
            f"{name}: expected a whole number, got {value!r} of type {type(value).__name__}."
        )
    if value < minimum:
        raise ValueError(f"{name}: expected at least {minimum}, got {value}.")
    if maximum is not None and int(value) > maximum:
        raise ValueError(f"{name}: expected at most {maximum:,}, got {value:,}.")
    return int(value)


def as_generator(rng: RNGLike | None) -> np.random.Generator:
    """Return a random generator from anything SPEC 7 allows; None gives fresh entropy."""
    try:
        if isinstance(rng, bool | np.bool_ | np.random.RandomState):
            raise TypeError  # default_rng would take these, but never do what is meant
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise TypeError(
            "rng: expected None, a non-negative integer seed or a numpy.random.Generator, "
            f"got {rng!r}; write rng=0, or rng=numpy.random.default_rng(0)."
        ) from error


def as_tolerance(tol: float) -> float:
    """Return a relative accuracy that can be reached."""
    number = as_number("tol", tol)
    if not 1e-14 <= number <= 0.1:
        raise ValueError(f"tol: must lie between 1e-14 and 0.1, got {number:g}.")
    return number
