"""Scenarios of which it is known whether x and y are independent given z.

Tests are calibrated on these. In the equations e, h, r and the columns z1, ..., zd of z are
independent and standard normal unless said, and s = (z1 + ... + zd) / sqrt(d).
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.special import expit, ndtr

from chsic._util.validate import MIN_SAMPLES, Array, RNGLike, as_count, as_generator
from chsic.datasets import rough
from chsic.datasets.models import Sample, m_minus, m_plus, standardise

Draw: TypeAlias = Callable[[int, int, np.random.Generator], Sample]


@dataclass(frozen=True)
class Scenario:
    """A way to draw x, y and z of which the truth is known.

    Attributes
    ----------
    name : str
        Its key in `SCENARIOS`.
    independent : bool
        Whether x and y are independent given z.
    dimensions : tuple of int
        The numbers of columns that z can have.
    draw : callable
        ``draw(n, d, generator)`` gives a `Sample`; `draw_scenario` checks what it passes on.
    null : str or None
        Of a dependent scenario, the independent one that is most like it: of its construction
        where there is one. None for independent scenarios.
    """

    name: str
    independent: bool
    dimensions: tuple[int, ...]
    draw: Draw
    null: str | None = None


def draw_scenario(name: str, n: int, d: int | None = None, rng: RNGLike | None = None) -> Sample:
    """Draw samples from one of `SCENARIOS`.

    Columns are standardised to mean 0 and variance 1, with these exceptions: M+ and M- are as the
    paper gives them, and counts, classes, signs and the codes of categories stay whole numbers.

    Parameters
    ----------
    name : str
        A key of `SCENARIOS`.
    n : int
        Number of samples.
    d : int, optional
        Number of columns of z, one of the scenario's ``dimensions``; None is the smallest.
    rng : None, int or numpy.random.Generator
        Source of randomness; an integer makes the draw repeatable, None draws afresh.

    Returns
    -------
    Sample
        With fields x and y of shape (n,), and z of shape (n,) where d = 1 and (n, d) otherwise.

    Examples
    --------
    >>> import chsic
    >>> x, y, z = chsic.datasets.draw_scenario("oscillating", 100, d=3, rng=0)
    >>> x.shape, z.shape
    ((100,), (100, 3))
    >>> chsic.datasets.SCENARIOS["oscillating"].independent
    True
    """
    scenario = _find(name)
    d = scenario.dimensions[0] if d is None else as_count("d", d, minimum=1)
    if d not in scenario.dimensions:
        allowed = " or ".join(f"d={possible}" for possible in scenario.dimensions)
        columns = f"{d} column{'s' * (d > 1)}"
        raise ValueError(f"d: scenario {name!r} has no z with {columns}; write {allowed}.")
    return scenario.draw(as_count("n", n, minimum=MIN_SAMPLES), d, as_generator(rng))


def _find(name: str) -> Scenario:
    if isinstance(name, str) and name in SCENARIOS:
        return SCENARIOS[name]
    near = difflib.get_close_matches(str(name), SCENARIOS, n=1, cutoff=0)[0]
    raise ValueError(
        f"name: no scenario is called {name!r}; the nearest name is {near!r}, "
        "and chsic.datasets.SCENARIOS has them all."
    )


# --- Equations in standard normal z, e, h and r ---------------------------------------------------


class Parts(NamedTuple):
    """What the equations are written in; z is (n, d), the others (n,)."""

    z: Array
    s: Array
    e: Array
    h: Array
    r: Array


Equations: TypeAlias = Callable[[Parts], tuple[Array, Array]]


def _gaussian(equations: Equations) -> Draw:
    """Draw the parts, apply the equations for x and y, and standardise."""

    def draw(n: int, d: int, rng: np.random.Generator) -> Sample:
        z = rng.standard_normal((n, d))
        e, h, r = rng.standard_normal((3, n))
        x, y = equations(Parts(z, z.sum(axis=1) / d**0.5, e, h, r))
        return Sample(standardise(x), standardise(y), standardise(z[:, 0] if d == 1 else z))

    return draw


def _linear(noise: float) -> Equations:
    return lambda p: (p.s + noise * p.e, p.s + noise * p.h)


def _oscillating(p: Parts) -> tuple[Array, Array]:
    return np.sin(2 * p.s) + 0.5 * p.e, np.cos(2 * p.s) + 0.5 * p.h


def _oscillating_with(extra: Callable[[Parts], Array]) -> Draw:
    """Add to y a function of e, the noise of x: dependence that is left once z is known."""

    def equations(p: Parts) -> tuple[Array, Array]:
        x, y = _oscillating(p)
        return x, y + extra(p)

    return _gaussian(equations)


def _scale(p: Parts) -> tuple[Array, Array]:
    return p.s + abs(p.s) * p.e, p.s**2 + abs(p.s) * p.h


def _sharp(p: Parts) -> tuple[Array, Array]:
    """Shah and Peters (2020): f is too sharp to be regressed out at usual sample sizes."""
    f = np.exp(-(p.s**2) / 2) * np.sin(4 * p.s)
    return f + 0.3 * p.e, f + 0.3 * p.h


def _product(p: Parts) -> tuple[Array, Array]:
    return p.s + p.e, p.s + 0.6 * p.e * p.r


# --- Post-nonlinear models of Zhang et al. (2011) -------------------------------------------------


def _pnl_signals(z1: Array) -> tuple[Array, Array]:
    return 0.7 * (z1**3 / 5 + z1 / 2), (z1**3 / 4 + z1) / 3


def _pnl_observe(a: Array, b: Array, p: Parts) -> tuple[Array, Array]:
    t = a + np.tanh(p.e)
    x = t + t**3 / 3 + np.tanh(t / 3) / 2
    t = p.h + b
    y = t + np.tanh(t / 3)
    return x, y


def _pnl_one(p: Parts) -> tuple[Array, Array]:
    """Case I: only the first column of z matters."""
    return _pnl_observe(*_pnl_signals(p.z[:, 0]), p)


def _pnl_two(p: Parts) -> tuple[Array, Array]:
    """Case II: every column of z matters, to x and to y."""
    a, b = _pnl_signals(p.z[:, 0])
    for k in range(1, p.z.shape[1]):
        a, b = _pnl_grow(a, p.z[:, k], k), _pnl_grow(b, p.z[:, k], k)
    return _pnl_observe(a, b, p)


def _pnl_grow(signal: Array, column: Array, k: int) -> Array:
    mixed: Array = signal / 2 + column if k == 1 else 2 * signal / 3 + 5 * column / 6
    return mixed / 2 + 0.7 * np.tanh(mixed)


def _pnl_shared(p: Parts) -> tuple[Array, Array]:
    x, y = _pnl_two(p)
    return x + 0.5 * p.r, y + 0.5 * p.r


# --- Other distributions --------------------------------------------------------------------------


def _heavy(n: int, d: int, rng: np.random.Generator) -> Sample:
    z = rng.standard_normal(n)
    e, h = rng.standard_t(2, (2, n))
    x, y = z + 0.5 * e, z + 0.5 * h
    return Sample(standardise(x), standardise(y), standardise(z))


def _circle(n: int, d: int, rng: np.random.Generator) -> Sample:
    z = rng.standard_normal(n)
    e, h = rng.standard_normal((2, n))
    t = rng.uniform(0, 2 * np.pi, n)
    x = np.sin(2 * z) + np.cos(t) + 0.3 * e
    y = np.cos(2 * z) + np.sin(t) + 0.3 * h
    return Sample(standardise(x), standardise(y), standardise(z))


def _cancel(n: int, d: int, rng: np.random.Generator) -> Sample:
    """Covariance given z of opposite sign on both sides of z = 0, so that its average is zero."""
    z = rng.uniform(-1, 1, n)
    x = rng.choice([-1.0, 1.0], n)
    f = rng.choice([1.0, -1.0], n, p=[0.7, 0.3])
    return Sample(x, x * f * np.sign(z), standardise(z))


def _binary(n: int, d: int, rng: np.random.Generator) -> Sample:
    z = rng.standard_normal(n)
    x, y = (rng.uniform(size=(2, n)) < expit(2 * z)).astype(float)
    return Sample(x, y, standardise(z))


def _counts(shared: float) -> Draw:
    """Poisson counts driven by z, and a count of mean `shared` that is added to both."""

    def draw(n: int, d: int, rng: np.random.Generator) -> Sample:
        z = rng.standard_normal(n)
        both = rng.poisson(shared, n)
        x, y = rng.poisson(np.exp(0.5 * z)) + both, rng.poisson(np.exp(0.3 * z + 0.2)) + both
        return Sample(x.astype(float), y.astype(float), standardise(z))

    return draw


# --- Categories -----------------------------------------------------------------------------------


def _effects(levels: int) -> tuple[Array, Array]:
    """Return mu and nu, what a category adds to x and to y: draws of N(0, 4), always the same."""
    mu, nu = np.random.default_rng(0).normal(0, 2, (2, levels))
    return mu, nu


def _levels(count: int) -> Draw:
    mu, nu = _effects(count)

    def draw(n: int, d: int, rng: np.random.Generator) -> Sample:
        z = rng.integers(count, size=n)
        e, h = rng.standard_normal((2, n))
        return Sample(standardise(mu[z] + e), standardise(nu[z] + h), z.astype(float))

    return draw


def _mixed(n: int, d: int, rng: np.random.Generator) -> Sample:
    mu, nu = _effects(4)
    z1, e, h = rng.standard_normal((3, n))
    z2 = rng.integers(4, size=n)
    x = np.sin(2 * z1) + mu[z2] + 0.5 * e
    y = np.cos(2 * z1) + nu[z2] + 0.5 * h
    return Sample(standardise(x), standardise(y), np.column_stack([standardise(z1), z2]))


def _levels_copied(n: int, d: int, rng: np.random.Generator) -> Sample:
    x, y, z = _levels(3)(n, d, rng)
    x, y = _thirds(x), _thirds(y)
    return Sample(x, np.where(rng.uniform(size=n) < 0.15, x, y), z)


def _thirds(values: Array) -> Array:
    """Classes 0, 1 and 2: the smallest third of the sample, the middle one and the largest."""
    return np.searchsorted(np.quantile(values, [1 / 3, 2 / 3]), values).astype(float)


# --- The table ------------------------------------------------------------------------------------


def _model(model: Callable[[int, float, np.random.Generator], Sample], decibels: float) -> Draw:
    return lambda n, d, rng: model(n, 10 ** (decibels / 10), rng)


_INDEPENDENT: dict[str, tuple[tuple[int, ...], Draw]] = {
    "m_plus-0dB": ((1,), _model(m_plus, 0)),
    "m_plus-10dB": ((1,), _model(m_plus, 10)),
    "m_plus-20dB": ((1,), _model(m_plus, 20)),
    "linear": ((1, 2, 3, 5), _gaussian(_linear(0.5))),
    "oscillating": ((1, 2, 3, 5), _gaussian(_oscillating)),
    "strong": ((1, 2), _gaussian(_linear(0.1))),
    "pnl-I": ((1, 2, 3, 4, 5), _gaussian(_pnl_one)),
    "pnl-II": ((1, 2, 3, 4, 5), _gaussian(_pnl_two)),
    "scale": ((1,), _gaussian(_scale)),
    "heavy": ((1,), _heavy),
    "levels-3": ((1,), _levels(3)),
    "levels-30": ((1,), _levels(30)),
    "mixed": ((2,), _mixed),
    "sharp": ((1,), _gaussian(_sharp)),
    "binary": ((1,), _binary),
    "counts": ((1,), _counts(0.0)),
    **rough.INDEPENDENT,
}

_DEPENDENT: dict[str, tuple[str, tuple[int, ...], Draw]] = {
    "m_minus-0dB": ("m_plus-0dB", (1,), _model(m_minus, 0)),
    "m_minus-5dB": ("m_plus-10dB", (1,), _model(m_minus, 5)),
    "m_minus-10dB": ("m_plus-10dB", (1,), _model(m_minus, 10)),
    "add": ("oscillating", (1, 2, 3, 5), _oscillating_with(lambda p: 0.2 * p.e)),
    "square": ("oscillating", (1, 2, 3), _oscillating_with(lambda p: 0.25 * (p.e**2 - 1))),
    "wave": ("oscillating", (1, 2), _oscillating_with(lambda p: 0.5 * np.sin(4 * p.e))),
    "sign": ("oscillating", (1, 2), _oscillating_with(lambda p: 0.3 * np.sign(p.z[:, 0]) * p.e)),
    "pnl-shared": ("pnl-II", (1, 2, 3, 4, 5), _gaussian(_pnl_shared)),
    "tails": ("oscillating", (1,), _oscillating_with(lambda p: 0.4 * p.e * (abs(p.e) > 1.5))),
    "local": ("oscillating", (1,), _oscillating_with(lambda p: p.e * _in_a_tenth(p.z[:, 0]))),
    "circle": ("oscillating", (1,), _circle),
    "product": ("linear", (1,), _gaussian(_product)),
    "cancel": ("binary", (1,), _cancel),
    "levels": ("levels-3", (1,), _levels_copied),
    "counts-shared": ("counts", (1,), _counts(0.3)),
    **rough.DEPENDENT,
}


def _in_a_tenth(z1: Array) -> Array:
    """1 where z1 lies in a tenth of its distribution, just above the median, and 0 elsewhere."""
    above = ndtr(z1) - 0.5
    return np.where((above > 0) & (above < 0.1), 1.0, 0.0)


SCENARIOS: dict[str, Scenario] = {
    **{name: Scenario(name, True, *row) for name, row in _INDEPENDENT.items()},
    **{
        name: Scenario(name, False, dimensions, draw, null)
        for name, (null, dimensions, draw) in _DEPENDENT.items()
    },
}
