"""Every public argument passes through here: clean arrays out, or an error that says what to do."""

from __future__ import annotations

import numbers
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array: TypeAlias = NDArray[np.float64]
Index: TypeAlias = NDArray[np.intp]
RNGLike: TypeAlias = (
    int | np.integer[Any] | np.random.Generator | np.random.BitGenerator | np.random.SeedSequence
)

MIN_SAMPLES = 4


def as_columns(name: str, values: ArrayLike) -> Array:
    """Return `values` as an (n, d) float array without missing, infinite or constant columns."""
    array = _as_real_array(name, values)
    if array.ndim == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2 or array.shape[1] == 0:
        raise ValueError(
            f"{name}: expected n samples as a 1-D array or an (n, d) array with d >= 1, "
            f"got shape {np.shape(values)}; reshape it so that rows are samples."
        )
    if len(array) < MIN_SAMPLES:
        raise ValueError(
            f"{name}: got {len(array)} samples, at least {MIN_SAMPLES} are needed; "
            "rows are samples, so check that the array is not transposed."
        )
    _require_finite(name, array)
    _require_varying(name, array)
    return array


def require_same_length(**samples: Array) -> None:
    """Raise unless all arrays have the same number of rows."""
    lengths = {name: len(array) for name, array in samples.items()}
    if len(set(lengths.values())) > 1:
        described = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ValueError(
            f"{' and '.join(samples)}: the same number of samples is needed, but {described}; "
            "row l of each must belong to the same observation."
        )


def omit_missing(**samples: ArrayLike) -> tuple[dict[str, ArrayLike], int]:
    """Drop the rows in which any of the arrays is NaN, and return how many they were."""
    arrays: dict[str, NDArray[Any]] = {}
    for name, values in samples.items():
        if isinstance(values, np.ma.MaskedArray):
            arrays[name] = np.where(np.ma.getmaskarray(values), np.nan, values.data)
        else:
            arrays[name] = np.asarray(values)
    lengths = {len(array) for array in arrays.values() if array.ndim}
    if len(lengths) != 1:
        return dict(samples), 0  # the lengths are wrong, which is said elsewhere
    missing = np.zeros(lengths.pop(), dtype=bool)
    for array in arrays.values():
        # NaN alone is unlike itself, whatever the dtype; among objects None is missing, too.
        bad = array != array
        if array.dtype.kind == "O":
            bad = bad | np.array([value is None for value in array.flat]).reshape(array.shape)
        missing |= bad if bad.ndim == 1 else bad.reshape(len(bad), -1).any(axis=1)
    return {name: array[~missing] for name, array in arrays.items()}, int(missing.sum())


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


def as_count(name: str, value: object, minimum: int) -> int:
    """Return a whole number of at least `minimum`."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
        raise TypeError(
            f"{name}: expected a whole number, got {value!r} of type {type(value).__name__}."
        )
    if value < minimum:
        raise ValueError(f"{name}: expected at least {minimum}, got {value}.")
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


def _as_real_array(name: str, values: ArrayLike) -> Array:
    if isinstance(values, np.ma.MaskedArray):
        if np.ma.getmaskarray(values).any():
            raise ValueError(
                f"{name}: {int(np.ma.getmaskarray(values).sum())} values are masked, that is "
                "missing; drop those rows from every argument, or impute them."
            )
        values = values.data
    try:
        array = np.asarray(values)
    except ValueError as error:  # ragged nested lists
        raise ValueError(f"{name}: rows have different lengths; give a rectangular array.") from (
            error
        )
    if np.iscomplexobj(array):
        raise TypeError(
            f"{name}: got complex values; the kernels are defined on real data. "
            "Pass real and imaginary parts as two columns."
        )
    if array.dtype.kind not in "biuf":
        try:
            # Objects that are all numbers (a column read as dtype object) are harmless.
            if array.dtype.kind != "O" or any(isinstance(v, str) for v in array.flat):
                raise ValueError
            return array.astype(np.float64)
        except OverflowError:
            raise ValueError(f"{name}: values overflow a double; rescale them.") from None
        except (TypeError, ValueError):
            raise TypeError(
                f"{name}: expected numbers, got values of dtype {array.dtype}; "
                "convert them first, for example categories to codes or one-hot columns."
            ) from None
    return array.astype(np.float64)


def _require_finite(name: str, array: Array) -> None:
    bad = ~np.isfinite(array)
    if bad.any():
        rows = np.flatnonzero(bad.any(axis=1))
        raise ValueError(
            f"{name}: {len(rows)} of {len(array)} samples are NaN or infinite "
            f"(first at row {rows[0]}); drop those rows from every argument, or impute them."
        )


def _require_varying(name: str, array: Array) -> None:
    constant = np.flatnonzero(np.all(array == array[0], axis=0))
    if len(constant):
        which = name if array.shape[1] == 1 else f"{name}, column {constant[0]}"
        raise ValueError(
            f"{which}: every value is {array[0, constant[0]]:g} in double precision. A constant "
            "column can neither depend on anything nor explain anything, and its standard "
            "deviation would give a bandwidth of zero, that is a division by zero in the kernel; "
            "drop it."
        )
