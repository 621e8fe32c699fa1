"""Nulls that differ from an alternative in nothing but the dependence of x and y given z.

The laws of (x, z) and of (y, z) are those of the alternative; x and y are drawn independently of
each other given z. M+ is no such null of M-, nor is one scenario of another: z has another law
there, or y more noise, and a measure can tell such data apart without seeing any dependence.
"""

import copy
import itertools

import numpy as np

from chsic.datasets import SCENARIOS, Sample

SQRT3 = 3**0.5


def m_minus(n: int, gamma: float, rng: np.random.Generator) -> Sample:
    """M- with a c of its own for y: given z = b - c, b is uniform where b and b - z can lie."""
    b, c = rng.uniform(0, SQRT3, (2, n))
    z = b - c
    another_c = rng.uniform(np.maximum(0, z), np.minimum(SQRT3, SQRT3 + z)) - z
    signs, noise = rng.choice([-1.0, 1.0], (2, n)), rng.standard_normal((2, n))
    x, y = gamma**0.5 * np.stack([b, another_c]) * signs + noise
    return Sample(x, y, z)


def draw_scenario(name: str, n: int, d: int, rng: np.random.Generator) -> Sample:
    """Take x from one draw and y from another with the same z, which is what is drawn first."""
    of_z, *others = rng.spawn(3)
    one, other = (
        SCENARIOS[name].draw(n, d, _FirstFrom(copy.deepcopy(of_z), own)) for own in others
    )
    if not np.array_equal(one.z, other.z):
        raise ValueError(f"{name}: z is not the first that is drawn, so it cannot be repeated.")
    return Sample(one.x, other.y, one.z)


class _FirstFrom:
    """A generator whose first draw is another's."""

    def __init__(self, first: np.random.Generator, others: np.random.Generator) -> None:
        self._turns = itertools.chain([first], itertools.repeat(others))

    def __getattr__(self, distribution: str):
        return getattr(next(self._turns), distribution)
