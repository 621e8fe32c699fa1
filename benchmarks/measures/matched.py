"""Nulls that differ from an alternative in nothing but the dependence of x and y given z.

The laws of (x, z) and of (y, z) are those of the alternative; x and y are drawn independently of
each other given z. M+ is no such null of M-, nor is one scenario of another: z has another law
there, or y more noise, and a measure can tell such data apart without seeing any dependence.
"""

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
    """Take x from one draw and y from another draw with the same z."""
    if name == "levels":
        return _shuffled_within_z(SCENARIOS[name].draw(n, d, rng), rng)
    z = rng.standard_normal((n, d))
    one, other = (SCENARIOS[name].draw(n, d, _FirstGiven(rng, z)) for _ in range(2))
    if not np.array_equal(one.z, other.z):
        raise ValueError(f"{name}: z is not the first that is drawn, so it cannot be repeated.")
    return Sample(one.x, other.y, one.z)


def _shuffled_within_z(sample: Sample, rng: np.random.Generator) -> Sample:
    y = sample.y.copy()
    for level in np.unique(sample.z):
        members = np.flatnonzero(sample.z == level)
        y[members] = rng.permutation(y[members])
    return sample._replace(y=y)


class _FirstGiven:
    """A generator whose first normal numbers are given; all others are fresh."""

    def __init__(self, rng: np.random.Generator, first: np.ndarray) -> None:
        self.rng = rng
        self.first: np.ndarray | None = first

    def standard_normal(self, size):
        """Return the given numbers once, then fresh ones."""
        if self.first is None:
            return self.rng.standard_normal(size)
        first, self.first = self.first, None
        return first.reshape(size)

    def __getattr__(self, name):
        return getattr(self.rng, name)
