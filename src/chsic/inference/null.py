"""The null distribution, written once: random signs on the Gram matrix of the units.

theory.md, sections 9 and 10, has the formulas.

Under conditional independence the products of residuals of a unit have mean zero given z. With
signs s = +-1, s' H s, H the Gram matrix of the units without its diagonal, has the mean and the
variance of the centred statistic and about its shape (a wild bootstrap): many samples make this
exact, few do not. Three moments of s' H s over all signs are known without drawing any, and so are
the correlations of several such statistics (a family of bandwidths, say) under the same signs. A
law with these moments gives the p-value of each, and their joint law that of the smallest: no
correction for their number is needed, and nothing random is left in the answer. Signs themselves
are gone through where there are few of them, or where a few units outweigh all others.

No p-value is smaller than the data can support: one event in x and one in y, in the same of n
samples, happens by chance once in n times. Signs do not know that: beside the product of this one
sample they see many small ones, all of one sign.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc, gammaincc, gammaincinv, gammaln, log_ndtr, ndtr, ndtri

from chsic._util.validate import Array, Index
from chsic.inference.smallest_pvalue import as_shares, pvalue_of_smallest
from chsic.pairs.strata import strata_of

NULLS = ("auto", "signs", "exhaustive", "pearson3")
CHUNK = 1_000  # draws held at once
SYMMETRIC = 1e-3  # skewness below which the law is normal
MOST_FOR_ALL = 20  # units whose signs can all be gone through
# Units of equal weight that a number of unequal ones stands for: their weights vary about as much
# as squares of normal variables do where nothing is special.
EQUAL_UNITS = 2.0
# Equal units below which a law of three moments is not trusted: sums of so few signs are lumpy.
FEW_EQUAL_UNITS = 4.0
LAW_POINTS = 399  # quantiles of a law that stand for it in a picture


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
        The winner's statistic under each draw of signs, or quantiles of its law.
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

    def quantiles(self, number: int) -> Array:
        """Return evenly spaced quantiles, which stand for draws."""
        levels = (np.arange(number) + 0.5) / number
        if self.scale == 0 or abs(self.skewness) < SYMMETRIC:
            normal: Array = self.scale * ndtri(levels)
            return normal
        shape, sign = 4 / self.skewness**2, float(np.sign(self.skewness))
        gamma = gammaincinv(shape, levels if sign > 0 else levels[::-1])
        law: Array = self.scale * sign * (gamma - shape) / shape**0.5
        return law

    def scores(self, values: Array) -> Array:
        """Bring values of all laws onto one scale, nearly that of a standard normal variable.

        Wilson and Hilferty: the cube root of a gamma variable is nearly normal (theory.md, eq. 35).
        Any increasing map would make a valid joint test; this one treats members alike in their
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
    weights: Sequence[float] | None = None,
    method: str = "auto",
    n_resamples: int = 9999,
    rng: np.random.Generator | None = None,
) -> JointNull:
    """Compare centred statistics with what random signs of the units give.

    Parameters
    ----------
    observed : sequence of float
        Statistics less their expectation under the null.
    grams : sequence of array, shape (n_units, n_units)
        Gram matrix of the units for each of them; diagonals are not used.
    weights : sequence of float, optional
        Parts of the members in the level; equal ones if not given.
    method : {"auto", "signs", "exhaustive", "pearson3"}
        ``"signs"`` draws them, and the p-value is (1 + number of draws at least as extreme) /
        (1 + number of draws). ``"exhaustive"`` goes through all of them. ``"pearson3"`` draws
        nothing: each statistic has a law with the right three moments, and the smallest of their
        p-values a law with the right correlations. ``"auto"`` is exhaustive if there are no more
        than n_resamples signs, Pearson III if enough units have a weight in the sum, and draws
        otherwise, with a seed of its own.
    n_resamples : int
        Number of draws.
    rng : numpy.random.Generator, optional
        Draws the signs that ``"signs"`` asks for.

    Returns
    -------
    JointNull

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.inference.null import joint_null
    >>> c = np.random.default_rng(0).normal(size=(50, 3))
    >>> gram = c @ c.T
    >>> null = joint_null([float(gram.sum() - np.trace(gram))], [gram])
    >>> null.method, 0 < null.pvalue <= 1
    ('pearson3', True)
    """
    n_equal_units = min(equal_units(gram) for gram in grams)
    hollow = _active([_hollow(gram) for gram in grams])
    n_units = len(hollow[0])
    if n_units == 0:  # nothing varies
        return JointNull(1.0, (1.0,) * len(grams), 0, "exhaustive", np.zeros(1))
    laws = [Law.of(gram) for gram in hollow]
    values = np.asarray(observed, dtype=float)
    if not (np.isfinite(values).all() and all(np.isfinite(law.scale) for law in laws)):
        raise ValueError("x and y: the statistic overflows; rescale the data.")
    if method == "auto":
        few = n_units <= MOST_FOR_ALL and 2 ** (n_units - 1) <= n_resamples
        lumpy = n_equal_units < FEW_EQUAL_UNITS
        method = "exhaustive" if few else "signs" if lumpy else "pearson3"
        rng = None
    if method == "exhaustive":
        if n_units > MOST_FOR_ALL:
            raise ValueError(
                f"null: 'exhaustive' is for at most {MOST_FOR_ALL} units, here are {n_units}; use "
                "'signs', or a larger unit_size."
            )
        return _compared(values, _under_all_signs(hollow), laws, weights, method)
    if method == "signs":
        rng = np.random.default_rng(0) if rng is None else rng
        return _compared(values, _draw(n_resamples, n_units, hollow, rng), laws, weights, method)
    least = 2.0 ** (1 - n_units)  # no sign can be rarer
    return joint_from_laws(values, laws, sign_correlations(hollow), least, weights)


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


def _under_all_signs(grams: list[Array]) -> Array:
    """Return s' H s for each H and all signs up to their opposite, which gives the same value.

    With the units cut into halves, s' H s is the value of either half plus twice what is between
    them: there are far fewer signs of a half.
    """
    n_units = len(grams[0])
    cut = n_units // 2
    first, second = _all_signs(cut), _all_signs(n_units - cut - 1)
    second = np.column_stack([second, np.ones(len(second))])
    values = []
    for gram in grams:
        own = [
            np.einsum("ij,ij->i", signs @ part, signs)
            for signs, part in ((first, gram[:cut, :cut]), (second, gram[cut:, cut:]))
        ]
        between = first @ gram[:cut, cut:] @ second.T
        values.append((own[0][:, np.newaxis] + own[1] + 2 * between).ravel())
    return np.array(values)


def _all_signs(n_units: int) -> Array:
    bits = (np.arange(2**n_units)[:, np.newaxis] >> np.arange(n_units)) & 1
    return 2.0 * bits.astype(np.float64) - 1.0


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


def _compared(
    values: Array, drawn: Array, laws: list[Law], weights: Sequence[float] | None, method: str
) -> JointNull:
    n_draws = drawn.shape[1]
    slack = 1e-6 * np.abs(drawn).max(axis=1)  # of single precision
    as_extreme = (drawn >= (values - slack)[:, np.newaxis]).sum(axis=1)
    # theory.md, eq. 33: the data are counted in, so that no p-value is zero.
    members = (1 + as_extreme) / (1 + n_draws)
    members[[law.scale == 0 for law in laws]] = 1.0  # nothing varies
    scores, ours = _scores(values, drawn, laws, weights)
    as_extreme = int((scores >= ours.max() - 1e-5).sum())
    joint = (1 + as_extreme) / (1 + n_draws)  # theory.md, eq. 36
    winner = _first_largest(ours)
    return JointNull(joint, tuple(map(float, members)), winner, method, drawn[winner])


def _first_largest(scores: Array) -> int:
    """Return the first of those that are largest up to rounding, which shall not decide."""
    return int(np.argmax(scores >= scores.max() - 1e-9 * (1 + abs(scores.max()))))


def _scores(
    values: Array, drawn: Array, laws: list[Law], weights: Sequence[float] | None
) -> tuple[Array, Array]:
    """Return the largest score of the family for each draw, and the scores of the data."""
    ours = np.array([law.scores(v) for law, v in zip(laws, values, strict=True)])
    scores = np.array([law.scores(row) for law, row in zip(laws, drawn, strict=True)])
    if weights is not None:  # theory.md, eq. 36a
        shares = np.log(as_shares(weights))
        ours = shares - log_ndtr(-ours)
        scores = shares[:, np.newaxis] - log_ndtr(-scores)
    return scores.max(axis=0), ours


def joint_from_laws(
    values: Array,
    laws: Sequence[Law],
    correlations: Array,
    least: float,
    weights: Sequence[float] | None = None,
) -> JointNull:
    """Return the joint p-value of members with known laws and correlations (theory.md, eq. 37).

    No p-value is below `least`.
    """
    members = tuple(max(law.sf(v), least) for law, v in zip(laws, values.tolist(), strict=True))
    shares = as_shares([1.0] * len(members) if weights is None else weights)
    weighted = np.array(members) / shares
    winner = int(np.argmax(weighted <= weighted.min() * (1 + 1e-9)))  # rounding shall not decide
    joint = pvalue_of_smallest(float(weighted[winner]), correlations, shares)
    return JointNull(joint, members, winner, "pearson3", laws[winner].quantiles(LAW_POINTS))


def sign_correlations(hollow: Sequence[Array]) -> Array:
    """Return the correlations of s' H s over all signs, for several H (theory.md, eq. 37).

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.inference.null import sign_correlations
    >>> h = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 2.0], [0.0, 2.0, 0.0]])
    >>> k = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    >>> sign_correlations([h, k])[0, 1].round(4)  # 1 / sqrt(5)
    np.float64(0.4472)
    """
    flat = np.stack([gram.ravel() / (np.linalg.norm(gram) or 1.0) for gram in hollow])
    correlations: Array = flat @ flat.T
    np.fill_diagonal(correlations, 1.0)
    return correlations


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


def equal_units(gram: Array) -> float:
    """Return how many units of equal weight the units stand for (theory.md, eq. 39).

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.inference.null import equal_units
    >>> equal_units(np.eye(3)), equal_units(np.diag([1.0, 0.0]))
    (3.0, 1.0)
    """
    weights = np.diag(gram)
    size = float(weights.max(initial=0.0))
    if not size > 0:
        return 0.0
    weights = weights / size
    return float(weights.sum()) ** 2 / float((weights**2).sum())


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
    return min(1.0, float(2.0 ** (1 - EQUAL_UNITS * equal_units(gram))))
