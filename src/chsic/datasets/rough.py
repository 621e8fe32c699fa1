"""Scenarios in which x and y follow a rough function of z, and those of another paper with many z.

A regression has to follow jumps, thresholds and fast waves, or true nulls are rejected. The designs
with seven columns of z are those of Bergen, Sejdinovic and Didelez (arXiv 2604.03721).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from chsic._util.validate import Array
from chsic.datasets.models import Sample, standardise

Draw: TypeAlias = Callable[[int, int, np.random.Generator], Sample]
# x and y from z and their own noise, e and h.
Design: TypeAlias = Callable[[Array, Array, Array], tuple[Array, Array]]

NOISE = 0.5  # standard deviation of e and h beside that of the function of z


def _following(function: Callable[[Array], Array], *, normal: bool = False) -> Draw:
    """Let x and y follow the same function of z, uniform on (0, 1) or normal, and noise."""

    def draw(n: int, d: int, rng: np.random.Generator) -> Sample:
        z = rng.standard_normal((n, d)) if normal else rng.random((n, d))
        e, h = rng.standard_normal((2, n))
        f = function(z)
        f = (f - f.mean()) / (f.std() or 1.0)
        x, y = f + NOISE * e, f + NOISE * h
        return Sample(standardise(x), standardise(y), standardise(z[:, 0] if d == 1 else z))

    return draw


def _seven(design: Design) -> Draw:
    """Draw seven normal columns of z."""

    def draw(n: int, d: int, rng: np.random.Generator) -> Sample:
        z = rng.standard_normal((n, 7))
        e, h = rng.standard_normal((2, n))
        x, y = design(z.T, e, h)
        return Sample(standardise(x), standardise(y), standardise(z))

    return draw


def _threshold(z: Array) -> Array:
    """Set a limit of one column, or limits of two that both have to be met: eligibility."""
    if z.shape[1] == 1:
        return np.where(z[:, 0] > 0.3, 1.0, 0.0)
    return np.where((z[:, 0] > 0) & (z[:, 1] > 0.3), 1.0, 0.0)


def _sawtooth(z: Array) -> Array:
    if z.shape[1] == 1:
        return (7 * z[:, 0]) % 1
    return (3 * z[:, 0]) % 1 + (2 * z[:, 1]) % 1


def _opening_hours(z: Array) -> Array:
    """Open and close on ten days."""
    hour = (10 * z[:, 0]) % 1
    return np.where((hour > 1 / 3) & (hour < 3 / 4), 1.0, 0.0)


def _bump(z: Array) -> Array:
    """Differ in a small place alone."""
    bump: Array = np.exp(-(((z[:, 0] - 0.5) / 0.02) ** 2))
    return bump


def _fast_wave(z: Array) -> Array:
    """Let a wave in one column be the faster the fewer columns there are."""
    turns = 20 if z.shape[1] == 1 else 5
    return np.sin(2 * np.pi * turns * z[:, 0])


def _products(z: Array) -> Array:
    products: Array = (z[:, :-1] * z[:, 1:]).sum(axis=1)
    return products


def _null_1(z: Array, e: Array, h: Array) -> tuple[Array, Array]:
    x = 0.4 * z[0] + 0.5 * z[1] + 0.6 * z[2] - 0.7 * z[3] + z[6] + e
    return x, 0.6 * z[0] - 0.2 * z[1] + 0.3 * z[3] + 0.9 * z[4] - 0.5 * z[5] + h


def _null_2(z: Array, e: Array, h: Array) -> tuple[Array, Array]:
    x = np.tanh(0.5 * z[0] - 0.9 * z[1] + z[2] + e)
    return x, np.exp(-0.8 * z[3] * z[4] + 0.6 * z[5] * z[6] + h)


def _null_3(z: Array, e: Array, h: Array) -> tuple[Array, Array]:
    x = 0.5 * z[0] - 0.9 * z[1] + 0.4 * z[2] ** 2 + z[3] * z[4] * e
    return x, -0.8 * z[3] + z[4] ** 2 + np.exp(z[5]) + np.sin(2 * np.pi * z[6]) * h


def _null_4(z: Array, e: Array, h: Array) -> tuple[Array, Array]:
    wave = np.sin(2 * np.pi * z[0])
    return wave + 0.1 * e, wave + h


def _alt_1(z: Array, e: Array, h: Array) -> tuple[Array, Array]:
    x = 0.7 * z[0] + z[1] + e
    return x, 0.4 * z[2] - 0.2 * z[3] - 0.1 * x + h


def _alt_2(z: Array, e: Array, h: Array) -> tuple[Array, Array]:
    x = np.sin(z[0]) + e
    return x, np.tanh(z[1]) + 0.2 * x**2 * z[2] + h


def _alt_3(z: Array, e: Array, h: Array) -> tuple[Array, Array]:
    x = 0.2 * z[1] ** 3 + np.tanh(z[3]) + e
    return x, np.sin(np.pi * z[0]) - 0.4 * z[1] ** 2 + np.cos(0.2 * np.pi * x) * h


INDEPENDENT: dict[str, tuple[tuple[int, ...], Draw]] = {
    "four-jumps": ((1,), _following(lambda z: np.floor(4 * z[:, 0]))),
    "ten-jumps": ((1,), _following(lambda z: np.floor(10 * z[:, 0]))),
    "threshold": ((1, 5), _following(_threshold, normal=True)),
    "opening-hours": ((1,), _following(_opening_hours)),
    "bump": ((1,), _following(_bump)),
    "sawtooth": ((1, 5), _following(_sawtooth)),
    "fast-wave": ((1, 5), _following(_fast_wave)),
    "products": ((5, 10), _following(_products, normal=True)),
    "gkcm-null-1": ((7,), _seven(_null_1)),
    "gkcm-null-2": ((7,), _seven(_null_2)),
    "gkcm-null-3": ((7,), _seven(_null_3)),
    "gkcm-null-4": ((7,), _seven(_null_4)),
}

DEPENDENT: dict[str, tuple[str, tuple[int, ...], Draw]] = {
    "gkcm-alt-1": ("gkcm-null-1", (7,), _seven(_alt_1)),
    "gkcm-alt-2": ("gkcm-null-2", (7,), _seven(_alt_2)),
    "gkcm-alt-3": ("gkcm-null-3", (7,), _seven(_alt_3)),
}
