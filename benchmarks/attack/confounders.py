"""z of all kinds, and for each sample a number between 0 and 1 that x and y may depend on."""

from collections.abc import Callable

import numpy as np
from benchmarks.attack.columns import FILL_VALUES

Confounder = tuple[object, np.ndarray, np.ndarray | None]  # z, the number, strata if z is discrete


def none(rng, n) -> Confounder:
    return None, np.full(n, 0.5), np.zeros(n, int)


def few_values(rng, n) -> Confounder:
    codes = rng.integers(0, rng.integers(2, 21), n)
    return codes.astype(float), codes / max(1, codes.max()), codes


def categories(rng, n) -> Confounder:
    codes = rng.integers(0, rng.integers(2, 8), n)
    return np.array([f"ward {k}" for k in codes], object), codes / max(1, codes.max()), codes


def many_categories(rng, n) -> Confounder:
    codes = rng.integers(0, max(2, n // int(rng.choice([2, 4, 8]))), n)
    return np.array([f"zip {k}" for k in codes], object), codes / max(1, codes.max()), codes


def one_large_category(rng, n) -> Confounder:
    codes = np.where(rng.random(n) < 0.4, 0, rng.integers(0, max(2, n // 5), n))
    return np.array([f"code {k}" for k in codes], object), codes / max(1, codes.max()), codes


def line(rng, n) -> Confounder:
    t = rng.random(n)
    return t * 10.0 ** rng.integers(-100, 100), t, None


def far_line(rng, n) -> Confounder:
    t = rng.random(n)
    return t + 10.0 ** rng.integers(3, 12), t, None


def tied_line(rng, n) -> Confounder:
    t = np.round(rng.random(n), 2)
    return t, t, None


def outlier_line(rng, n) -> Confounder:
    t = rng.random(n)
    z = t.copy()
    z[rng.integers(n)] = 9.97e36
    return z, t, None


def plane(rng, n) -> Confounder:
    z = rng.random((n, 2))
    return z, z[:, 0], None


def fill_plane(rng, n) -> Confounder:
    z = rng.random((n, 2))
    t = z[:, 0].copy()
    z[rng.integers(n), 0] = rng.choice(FILL_VALUES)
    return z, t, None


def space(rng, n) -> Confounder:
    z = rng.normal(size=(n, int(rng.integers(3, 6))))
    return z, (np.tanh(z[:, 0]) + 1) / 2, None


def repeated_columns(rng, n) -> Confounder:
    t = rng.random(n)
    return np.column_stack([t, 2 * t + 1, rng.normal(size=n)]), t, None


def number_and_category(rng, n) -> Confounder:
    t, codes = rng.random(n), rng.integers(0, 4, n)
    codes[rng.integers(n)] = 99  # alone
    return {"a": t, "c": np.array([f"c{k}" for k in codes], object)}, (t + codes % 4) / 4, None


def numbers_and_category(rng, n) -> Confounder:
    z, codes = rng.random((n, 2)), rng.integers(0, 3, n)
    columns = {"a": z[:, 0], "b": z[:, 1], "c": np.array([f"c{k}" for k in codes], object)}
    return columns, (z[:, 0] + codes) / 3, None


CONFOUNDERS: tuple[Callable[[np.random.Generator, int], Confounder], ...] = (
    none, few_values, categories, many_categories, one_large_category, line, far_line, tied_line,
    outlier_line, plane, fill_plane, space, repeated_columns, number_and_category,
    numbers_and_category,
)  # fmt: skip
