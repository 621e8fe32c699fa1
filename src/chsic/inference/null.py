"""The null distribution, written once: random signs on the Gram matrix of the units.

theory.md, sections 9 and 10, has the formulas.

Under conditional independence the products of residuals of a unit have mean zero given z. With
signs s = +-1, s' H s, H the Gram matrix of the units without its diagonal, has the mean and the
variance of the centred statistic and about its shape (a wild bootstrap): many samples make this
exact, few do not. Several statistics (a family of bandwidths, say) get the same
signs, and the smallest of their p-values is held against the smallest under every draw: the joint
p-value needs no correction for their number.

No p-value is smaller than the data can support: one event in x and one in y, in the same of n
samples, happens by chance once in n times. Signs do not know that: beside the product of this one
sample they see many small ones, all of one sign.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc, gammaincc, gammaln, ndtr

from chsic._util.validate import Array, Index
from chsic.pairs.strata import strata_of

NULLS = ("auto", "signs", "exhaustive", "pearson3")
LOOKS = (999,)  # numbers of draws after which large p-values are known well enough
CLEARLY_LARGE = 0.1
CHUNK = 1_000  # draws held at once
SYMMETRIC = 1e-3  # skewness below which the law is normal
TAIL_DRAWS = 5  # extreme ones at least, a fiftieth of all, that show the tail of the joint law
MOST_FOR_ALL = 20  # units whose signs can all be gone through
# Units of equal weight that a number of unequal ones stands for: their weights vary about as much
# as squares of normal variables do where nothing is special.
EQUAL_UNITS = 2.0


@dataclasses.dataclass(frozen=True, eq=False)
class JointNull:
    """What the signs say of a family of statistics.

    Attributes
    ----------
    pvalue : float
        Of the family.
    member_pvalues : tuple of float
        Of each member alone.
    winner : int
        Member with the smallest p-value.
    method : str
        ``"signs"``, ``"exhaustive"`` or ``"pearson3"``.
    draws : array, shape (n_draws,)
        The winner's statistic under each draw of signs.
    """

    pvalue: float
    member_pvalues: tuple[float, ...]
    winner: int
    method: str
    draws: Array

    def at_least(self, smallest: Sequence[float]) -> JointNull:
        """Return the same with no member's p-value smaller than it can be."""
        members = tuple(map(max, self.member_pvalues, smallest))
        return dataclasses.replace(
            self, pvalue=max(self.pvalue, min(members)), member_pvalues=members
        )


@dataclasses.dataclass(frozen=True)
class Law:
    """Pearson III law (a shifted gamma) of s' H s, by its three moments (theory.md, eq. 32)."""

    scale: float
    skewness: float

    @classmethod
    def of(cls, gram: Array) -> Law:
        """Fit to a Gram matrix less its diagonal: variance 2 sum H^2, third cumulant 8 tr H^3."""
        gram = _hollow(gram)
        size = float(np.abs(gram).max())
        if not size > 0:
            return cls(size, 0.0)  # zero, or NaN
        gram /= size  # powers of small numbers would vanish
        variance = 2 * float((gram**2).sum())  # theory.md, eq. 32
        third = 8 * float(np.einsum("ij,ij->", gram @ gram, gram))
        return cls(size * variance**0.5, third / variance**1.5)

    def sf(self, value: float) -> float:
        """Probability of a larger value (theory.md, eq. 34)."""
        if self.scale == 0:
            return 1.0
        standard = value / self.scale
        if abs(self.skewness) < SYMMETRIC:
            return float(ndtr(-standard))
        shape = 4 / self.skewness**2
        position = max(shape + np.sign(self.skewness) * standard * shape**0.5, 0.0)
        tail = gammaincc if self.skewness > 0 else gammainc
        return float(tail(shape, position))

    def scores(self, values: Array) -> Array:
        """Bring values of all laws onto one scale, nearly that of a standard normal variable.

        Wilson and Hilferty: the cube root of a gamma variable is nearly normal (theory.md, eq. 35).
        Any increasing map would make a valid joint test; this one weighs members equally in their
        tails.
        """
        if self.scale == 0:
            return np.zeros_like(values)
        standard = values / self.scale
        if abs(self.skewness) < SYMMETRIC:
            return standard
        shape, sign = 4 / self.skewness**2, np.sign(self.skewness)
        ratio = np.maximum(1 + sign * standard / shape**0.5, 0.0)
        scores: Array = sign * 3 * shape**0.5 * (np.cbrt(ratio) - 1 + 1 / (9 * shape))
        return scores


def joint_null(
    observed: Sequence[float],
    grams: Sequence[Array],
    *,
    method: str = "auto",
    n_resamples: int = 9999,
    looks: Sequence[int] = LOOKS,
    rng: np.random.Generator,
) -> JointNull:
    """Compare centred statistics with what random signs of the units give.

    Parameters
    ----------
    observed : sequence of float
        Statistics less their expectation under the null.
    grams : sequence of array, shape (n_units, n_units)
        Gram matrix of the units for each of them; diagonals are not used.
    method : {"auto", "signs", "exhaustive", "pearson3"}
        ``"signs"`` draws them, and the p-value is (1 + number of draws at least as extreme) /
        (1 + number of draws). ``"exhaustive"`` goes through all of them. ``"pearson3"`` fits a law
        with the right three moments, which reaches p-values below 1 / n_resamples. ``"auto"`` is
        exhaustive if there are no more than n_resamples signs; else it draws, but stops early if
        the p-value is clearly above 0.1, and takes Pearson III if it is below 1 / n_resamples.
    n_resamples : int
        Largest number of draws.
    looks : sequence of int
        Numbers of draws after which ``"auto"`` may stop.
    rng : numpy.random.Generator
        Draws the signs.

    Returns
    -------
    JointNull

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.inference.null import joint_null
    >>> rng = np.random.default_rng(0)
    >>> c = rng.normal(size=(50, 3))
    >>> gram = c @ c.T
    >>> null = joint_null([float(gram.sum() - np.trace(gram))], [gram], rng=rng)
    >>> null.method, 0 < null.pvalue <= 1
    ('signs', True)
    """
    hollow = _active([_hollow(gram) for gram in grams])
    n_units = len(hollow[0])
    if n_units == 0:  # nothing varies
        return JointNull(1.0, (1.0,) * len(grams), 0, "exhaustive", np.zeros(1))
    laws = [Law.of(gram) for gram in hollow]
    values = np.asarray(observed, dtype=float)
    if not (np.isfinite(values).all() and all(np.isfinite(law.scale) for law in laws)):
        raise ValueError("x and y: the statistic overflows; rescale the data.")
    exhaustible = n_units <= MOST_FOR_ALL and 2 ** (n_units - 1) <= n_resamples
    if method == "exhaustive" and n_units > MOST_FOR_ALL:
        raise ValueError(
            f"null: 'exhaustive' is for at most {MOST_FOR_ALL} units, here are {n_units}; use "
            "'signs', or a larger unit_size."
        )
    if method == "exhaustive" or (method == "auto" and exhaustible):
        return _compared(values, _under(_all_signs(n_units), hollow), laws, "exhaustive")
    # Draws may stop early only where that cannot turn a small p-value into a smaller one: what is
    # reported below CLEARLY_LARGE has always seen all of them, or is told to be a fit.
    if method == "signs":
        looks = (n_resamples,)
    drawn = np.empty((len(hollow), 0))
    for n_draws in (min(n_resamples, look) for look in looks):
        new = _draw(n_draws - drawn.shape[1], n_units, hollow, rng)
        drawn = np.concatenate([drawn, new], axis=1)
        by_draws = _compared(values, drawn, laws, "signs")
        if method == "signs" or (method == "auto" and by_draws.pvalue > CLEARLY_LARGE):
            return by_draws
    fitted = _fitted(values, drawn, laws, n_units)
    no_draw_as_extreme = by_draws.pvalue <= 1.5 / (1 + n_draws)
    if method == "pearson3" or (no_draw_as_extreme and fitted.pvalue < 0.1 / n_resamples):
        return fitted
    if n_resamples > n_draws:
        drawn = np.concatenate([drawn, _draw(n_resamples - n_draws, n_units, hollow, rng)], axis=1)
        by_draws = _compared(values, drawn, laws, "signs")
        fitted = _fitted(values, drawn, laws, n_units)
    if by_draws.pvalue <= 1.5 / (1 + drawn.shape[1]):  # no draw was as extreme
        return fitted if fitted.pvalue < by_draws.pvalue else by_draws
    return by_draws


def _hollow(gram: Array) -> Array:
    """Take off the diagonal, which signs do not change."""
    hollow: Array = gram - np.diag(np.diag(gram))
    return hollow


def _active(grams: list[Array]) -> list[Array]:
    """Keep the units that any of the matrices has something of; signs of others change nothing."""
    active = np.any([gram.any(axis=1) for gram in grams], axis=0)
    return grams if active.all() else [gram[np.ix_(active, active)] for gram in grams]


def _draw(number: int, n_units: int, grams: list[Array], rng: np.random.Generator) -> Array:
    parts = [np.empty((len(grams), 0))]
    for start in range(0, number, CHUNK):
        bits = rng.integers(0, 2, (min(CHUNK, number - start), n_units), dtype=np.int8)
        parts.append(_under(_signs(bits), grams))
    return np.concatenate(parts, axis=1)


def _all_signs(n_units: int) -> NDArray[np.float32]:
    """All signs up to their opposite, which gives the same value."""
    codes = np.arange(2 ** (n_units - 1))
    return _signs((codes[:, np.newaxis] >> np.arange(n_units)) & 1)


def _signs(bits: NDArray[np.integer]) -> NDArray[np.float32]:
    """Return -1 for 0 and 1 for 1; single precision is far more exact than chance."""
    signs = bits.astype(np.float32)
    signs *= 2
    signs -= 1
    return signs


def _under(signs: NDArray[np.float32], grams: list[Array]) -> Array:
    """Return s' H s for each H and each row s (theory.md, eq. 31)."""
    products, drawn = np.empty_like(signs), np.empty((len(grams), len(signs)))
    for gram, values in zip(grams, drawn, strict=True):
        size = float(np.abs(gram).max()) or 1.0
        np.matmul(signs, (gram / size).astype(np.float32), out=products)
        np.multiply(np.einsum("ij,ij->i", products, signs), size, out=values)
    return drawn


def _compared(values: Array, drawn: Array, laws: list[Law], method: str) -> JointNull:
    n_draws = drawn.shape[1]
    slack = 1e-6 * np.abs(drawn).max(axis=1)  # of single precision
    as_extreme = (drawn >= (values - slack)[:, np.newaxis]).sum(axis=1)
    # theory.md, eq. 33: the data are counted in, so that no p-value is zero.
    members = (1 + as_extreme) / (1 + n_draws)
    members[[law.scale == 0 for law in laws]] = 1.0  # nothing varies
    scores, ours = _scores(values, drawn, laws)
    as_extreme = int((scores >= ours.max() - 1e-5).sum())
    joint = (1 + as_extreme) / (1 + n_draws)  # theory.md, eq. 36
    winner = _first_largest(ours)
    return JointNull(joint, tuple(map(float, members)), winner, method, drawn[winner])


def _first_largest(scores: Array) -> int:
    """Return the first of those that are largest up to rounding, which shall not decide."""
    return int(np.argmax(scores >= scores.max() - 1e-9 * (1 + abs(scores.max()))))


def _scores(values: Array, drawn: Array, laws: list[Law]) -> tuple[Array, Array]:
    """Return the largest score of the family for each draw, and the scores of the data."""
    largest = np.max([law.scores(row) for law, row in zip(laws, drawn, strict=True)], axis=0)
    ours = np.array([law.scores(v) for law, v in zip(laws, values, strict=True)])
    return largest, ours


def _fitted(values: Array, drawn: Array, laws: list[Law], n_units: int) -> JointNull:
    """Joint p-value from the laws: the smallest one, for the number of members it was chosen from.

    Members are alike, so that they count as fewer than they are; how many is seen in the tail.
    """
    largest, _ = _scores(values, drawn, laws)
    n_draws, factor = len(largest), float(len(laws))
    n_tail = n_draws // 50
    if n_tail >= TAIL_DRAWS:
        extreme = np.argpartition(largest, n_draws - n_tail)[n_draws - n_tail :]
        smallest = max(min(_by_laws(column, laws)) for column in drawn[:, extreme].T) or 1e-300
        # The effective number of members: theory.md, eq. 37.
        effective = np.log1p(-n_tail / (n_draws + 1)) / np.log1p(-min(smallest, 0.5))
        factor = min(max(float(effective), 1.0), factor)
    least = 2.0 ** (1 - n_units)  # no sign can be rarer
    members = tuple(max(p, least) for p in _by_laws(values, laws))
    smallest_first = np.array(members) <= min(members) * (1 + 1e-9)  # rounding shall not decide
    winner = int(np.argmax(smallest_first))
    # As of that many independent members: factor times p if p is small, and never above 1
    # (theory.md, eq. 37).
    joint = float(-np.expm1(factor * np.log1p(-members[winner]))) if members[winner] < 1 else 1.0
    return JointNull(joint, members, winner, "pearson3", drawn[winner])


def _by_laws(values: Array, laws: list[Law]) -> tuple[float, ...]:
    return tuple(law.sf(float(value)) for law, value in zip(laws, values, strict=True))


def table_probability(strata: Index, x: Index, y: Index) -> float:
    """Return how often permutations of y inside strata give the same table of x and y.

    No test by permutation can have a smaller p-value. It is the multivariate hypergeometric
    probability, the product of all factorials of row and column sums over those of the sizes of
    strata and of the entries (theory.md, eq. 38).

    Parameters
    ----------
    strata, x, y : array of int, shape (n,)
        Stratum of each sample, and which value it has.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.inference.null import table_probability
    >>> event = np.arange(200) == 7
    >>> round(table_probability(np.zeros(200, int), event.astype(int), event.astype(int)), 6)
    0.005
    """

    def factorials(*labels: Index) -> float:
        codes = strata_of(np.stack(labels, axis=1)) if len(labels) > 1 else labels[0]
        return float(gammaln(np.bincount(codes) + 1.0).sum())

    sums = factorials(strata, x) + factorials(strata, y)
    entries = factorials(strata) + factorials(strata, x, y)
    return float(np.exp(min(sums - entries, 0.0)))


def pvalue_of_units(gram: Array) -> float:
    """Return the smallest p-value by signs of units, of which a few may outweigh all others.

    Signs of k equal units give the same value for both signs, and so no p-value below 2^(1 - k)
    (theory.md, eq. 39).

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.inference.null import pvalue_of_units
    >>> pvalue_of_units(np.eye(2)), pvalue_of_units(np.diag([1.0, 0.0]))
    (0.125, 0.5)
    """
    weights = np.diag(gram)
    size = float(weights.max(initial=0.0))
    if not size > 0:
        return 1.0
    weights = weights / size
    equal = float(weights.sum()) ** 2 / float((weights**2).sum())
    return min(1.0, float(2.0 ** (1 - EQUAL_UNITS * equal)))
