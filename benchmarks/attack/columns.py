"""Values of one variable, given a number between 0 and 1 for each sample that it may depend on."""

import datetime
import decimal
from collections.abc import Callable

import numpy as np
import pandas as pd

Make = Callable[[np.random.Generator, np.ndarray], object]

FILL_VALUES = (9.969209968386869e36, -9999.0, 1e20, -1e30, 2.0**31 - 1)
LETTERS = ("alpha", "beta", "", "ünï", "=1+1", "\x1b[31mred", "a\nb", "'", '"', "NaN", "0")


def normal(rng, t):
    return rng.normal(size=len(t)) + 2 * t


def scaled(rng, t):
    return (rng.normal(size=len(t)) + t) * 10.0 ** rng.integers(-300, 300)


def denormal(rng, t):
    return (rng.normal(size=len(t)) + t) * 10.0 ** rng.integers(-322, -306)


def offset(rng, t):
    return (rng.normal(size=len(t)) + t) + 10.0 ** rng.integers(6, 17)


def heavy(rng, t):
    return rng.standard_cauchy(len(t)) + t


def skewed(rng, t):
    return rng.lognormal(t, 2.0)


def counts(rng, t):
    return rng.poisson(0.2 + 3 * t)


def binary(rng, t):
    return (rng.random(len(t)) < 0.2 + 0.6 * t).astype(int)


def rare(rng, t):
    return (rng.random(len(t)) < rng.choice([0.01, 0.02, 0.05, 0.1])).astype(float)


def rare_along(rng, t):
    return (rng.random(len(t)) < 0.2 * t**2).astype(float)


def nearly_follows(rng, t):
    return (rng.random(len(t)) < 1 / (1 + np.exp(-20 * (t - 0.8)))).astype(float)


def two_each(rng, t):
    return np.array([f"c{k}" for k in rng.permutation(np.arange(len(t)) // 2)], object)


def one_event(rng, t):
    return (np.arange(len(t)) == rng.integers(max(1, len(t)))).astype(float)


def one_tiny(rng, t):
    values = np.full(len(t), rng.choice([0.0, 1.0]))
    values[: 1 + rng.integers(2)] += rng.choice([1e-300, 5e-324, 1e-16, 1e-9])
    return values


def mostly_zero(rng, t):
    return np.where(rng.random(len(t)) < 0.95, 0.0, rng.normal(size=len(t)))


def low_only(rng, t):
    return np.where(t < 0.5, rng.normal(size=len(t)), 0.0)


def high_only(rng, t):
    return np.where(t >= 0.5, rng.normal(size=len(t)), 3.0)


def low_binary(rng, t):
    return np.where(t < 0.5, rng.integers(0, 2, len(t)), 0)


def high_binary(rng, t):
    return np.where(t >= 0.5, rng.integers(0, 2, len(t)), 0)


def fill_values(rng, t):
    values = rng.normal(size=len(t)) + t
    values[rng.random(len(t)) < 0.05] = rng.choice(FILL_VALUES)
    return values


def rounding(rng, t):
    """Add up tenths, whose sums differ in their last bits."""
    return sum(0.1 * rng.integers(0, 3, len(t)) for _ in range(3)) + np.round(t) / 10


def function_of_z(rng, t):
    return 3 * t + 1


def letters(rng, t):
    return np.array(LETTERS, object)[rng.integers(0, rng.integers(2, 12), len(t))]


def levels(rng, t):
    number = max(2, len(t) // int(rng.choice([2, 5, 10])))
    return np.array([f"level {k}" for k in rng.integers(0, number, len(t))], object)


def common_level(rng, t):
    return np.array([f"level {min(k, 60)}" for k in rng.zipf(1.5, len(t))], object)


def identifiers(rng, t):
    names = np.arange(len(t))
    again = rng.random(len(t)) < rng.choice([0.0, 0.05])
    return np.array([f"id {k}" for k in np.where(again, 0, rng.permutation(names))], object)


def booleans(rng, t):
    return rng.random(len(t)) < 0.3 + 0.4 * t


def dates(rng, t):
    unit = rng.choice(["s", "ms", "us", "ns", "D", "h"])
    return (rng.integers(0, 10**6, len(t))).astype(f"datetime64[{unit}]")


def far_dates(rng, t):
    return (rng.integers(-(10**17), 10**17, len(t))).astype("datetime64[s]")


def durations(rng, t):
    return rng.integers(0, 10**6, len(t)).astype("timedelta64[s]")


def python_dates(rng, t):
    start = datetime.date(2020, 1, 1)
    return [start + datetime.timedelta(days=int(k)) for k in rng.integers(0, 999, len(t))]


def decimals(rng, t):
    return [decimal.Decimal(int(k)) / 100 for k in rng.integers(0, 999, len(t))]


def nullable(rng, t):
    return pd.array(rng.poisson(3, len(t)), dtype=str(rng.choice(["Int8", "Int64", "Float64"])))


def categorical(rng, t):
    return pd.Categorical.from_codes(rng.integers(0, 3, len(t)), ["u", "v", "never", "w"][:4])


def whole_numbers(rng, t):
    return rng.integers(-(2**62), 2**62, len(t))


def small_types(rng, t):
    return rng.integers(0, 5, len(t)).astype(rng.choice(["int8", "uint8", "float16", "float32"]))


# With which x and y are independent given z, whatever z is, if they are drawn apart.
PLAIN: tuple[Make, ...] = (
    normal, scaled, denormal, offset, heavy, skewed, counts, binary, rare, rare_along,
    nearly_follows, two_each, one_event, mostly_zero, low_only, high_only, low_binary, high_binary,
    fill_values, rounding, letters, levels, common_level, booleans, dates, durations, python_dates,
    decimals, nullable, categorical, whole_numbers, small_types, function_of_z, identifiers,
    far_dates,
)  # fmt: skip


def constant(rng, t):
    return np.full(len(t), 3.0)


def nothing(rng, t):
    return np.full(len(t), np.nan)


def infinite(rng, t):
    values = rng.normal(size=len(t))
    values[: 1 + len(t) // 10] = rng.choice([np.inf, -np.inf])
    return values


def beyond_double(rng, t):
    return [10**400 + int(k) for k in rng.integers(0, 9, len(t))]


def complex_numbers(rng, t):
    return rng.normal(size=len(t)) + 1j


def lists(rng, t):
    return pd.Series([[int(k)] for k in rng.integers(0, 3, len(t))])


def periods(rng, t):
    return pd.Series(pd.PeriodIndex(rng.integers(0, 600, len(t)).astype("datetime64[M]"), freq="M"))


def mixed_types(rng, t):
    return [["a", 1, None, 2.5, b"x", True][k] for k in rng.integers(0, 6, len(t))]


def calendar_durations(rng, t):
    return rng.integers(0, 9, len(t)).astype("timedelta64[Y]")


def empty_categories(rng, t):
    return pd.Categorical([None] * len(t), categories=[])


# Those that have to be refused, or that are not what they seem.
REFUSED: tuple[Make, ...] = (
    constant, nothing, infinite, beyond_double, complex_numbers, lists, periods, mixed_types,
    calendar_durations, empty_categories, one_tiny,
)  # fmt: skip
