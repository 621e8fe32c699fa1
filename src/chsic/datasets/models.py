"""The paper's two models, whose truth is known: M+ and M-."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from chsic._util.validate import MIN_SAMPLES, Array, RNGLike, as_count, as_generator, as_number

SQRT3 = 3**0.5


class Sample(NamedTuple):
    """Named arrays x, y and z, one entry for each observation."""

    x: Array
    y: Array
    z: Array


def m_plus(n: int, gamma: float, rng: RNGLike | None = None) -> Sample:
    """Draw from the paper's model M+: x and y are dependent, but independent once z is known.

    x = sqrt(gamma) a p + v, y = sqrt(gamma) a q + w, z = a, with a ~ U(0, sqrt 3), v and w ~
    N(0, 1) and p and q = +-1 with probability 1/2, all independent. No two of x, y and z are
    correlated.

    Parameters
    ----------
    n : int
        Number of samples.
    gamma : float
        Signal-to-noise ratio, linear: 10 dB is 10.0.
    rng : None, int or numpy.random.Generator
        Source of randomness; an integer makes the draw repeatable, None draws afresh.

    Returns
    -------
    Sample
        With fields x, y and z, which can also be unpacked in that order.

    Examples
    --------
    >>> import chsic
    >>> x, y, z = chsic.datasets.m_plus(100, gamma=10.0, rng=0)
    >>> x.shape, float(z.min()) >= 0, float(z.max()) <= 3**0.5
    ((100,), True, True)
    """
    n, gain, generator = _settings(n, gamma, rng)
    a = generator.uniform(0, SQRT3, n)
    return Sample(x=_observe(a, gain, generator), y=_observe(a, gain, generator), z=a)


def m_minus(n: int, gamma: float, rng: RNGLike | None = None) -> Sample:
    """Draw from the paper's model M-: x and y are independent, but dependent once z is known.

    x = sqrt(gamma) b p + v, y = sqrt(gamma) c q + w, z = b - c, with b and c ~ U(0, sqrt 3),
    v and w ~ N(0, 1) and p and q = +-1 with probability 1/2, all independent. No two of x, y and
    z are correlated.

    Parameters
    ----------
    n : int
        Number of samples.
    gamma : float
        Signal-to-noise ratio, linear: 10 dB is 10.0.
    rng : None, int or numpy.random.Generator
        Source of randomness; an integer makes the draw repeatable, None draws afresh.

    Returns
    -------
    Sample
        With fields x, y and z, which can also be unpacked in that order.

    Examples
    --------
    >>> import chsic
    >>> sample = chsic.datasets.m_minus(100, gamma=10.0, rng=0)
    >>> sample.z.shape
    (100,)
    """
    n, gain, generator = _settings(n, gamma, rng)
    b, c = generator.uniform(0, SQRT3, (2, n))
    return Sample(x=_observe(b, gain, generator), y=_observe(c, gain, generator), z=b - c)


def _settings(n: int, gamma: float, rng: RNGLike | None) -> tuple[int, float, np.random.Generator]:
    gamma = as_number("gamma", gamma)
    if gamma < 0:
        raise ValueError(f"gamma: a linear ratio cannot be negative, got {gamma:g}; 10 dB is 10.0.")
    return as_count("n", n, minimum=MIN_SAMPLES), gamma**0.5, as_generator(rng)


def _observe(amplitude: Array, gain: float, rng: np.random.Generator) -> Array:
    """sqrt(gamma) a p + v: an amplitude with a random sign and unit noise."""
    n = len(amplitude)
    sign = rng.choice([-1.0, 1.0], n)
    observed: Array = gain * amplitude * sign + rng.standard_normal(n)
    return observed


def standardise(values: Array) -> Array:
    """Return columns of mean 0 and variance 1.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.datasets.models import standardise
    >>> standardise(np.array([1.0, 3.0]))
    array([-1.,  1.])
    """
    standard: Array = (values - values.mean(axis=0)) / values.std(axis=0)
    return standard
