"""The law of the statistics under permutations within strata (theory.md, section 12).

Where all pairs of equal z are compared, the samples of one stratum are exchangeable: under
conditional independence, values of y may be permuted among them. Mean and variance of a statistic
over all these permutations are known exactly from sums over x alone and over y alone, and its
skewness nearly. So no permutation is drawn, and neither a seed nor the order of rows decides.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from scipy.special import gammaln

from chsic._util.validate import Array, Index
from chsic.inference.null import Law
from chsic.inference.sums import StratumMoments

MOST_STRATA = 128  # whose moments are held
SMALLEST = 1e-300  # p-value that is told
COMPONENTS = 12  # principal ones of x and of y, whose products decide the skewness


@dataclasses.dataclass(frozen=True, eq=False)
class PermutationLaw:
    """Moments of the members of a family over permutations within strata.

    Attributes
    ----------
    means : array, shape (n_members,)
        Of the statistics.
    laws : list of Law
        Of the statistics less their means.
    correlations : array, shape (n_members, n_members)
        Of the statistics, if features were normal.
    lumpiness : float
        The largest variance of a statistic, as a multiple of what it is if features were normal.
        It is near 1 unless a few samples decide, such as events that are rare in x and in y.
    least : float
        Probability of one permutation: no p-value is smaller.
    """

    means: Array
    laws: list[Law]
    correlations: Array
    lumpiness: float
    least: float

    @classmethod
    def of(
        cls,
        x: StratumMoments,
        y: StratumMoments,
        sizes: Index,
        members: Sequence[tuple[int, bool]],
    ) -> PermutationLaw:
        """Compute moments from those of strata of these sizes.

        Each member has the number of its bandwidth, and says whether only contributions of the same
        stratum are multiplied with each other.
        """
        n = sizes.astype(np.float64)
        factors = n**2 / np.maximum(n - 1, 1)  # theory.md, eq. 46
        covariances = np.array(
            [[_covariance(x, y, factors, one, other) for other in members] for one in members]
        )
        normal = np.diag(covariances)
        excess = {k: _excess_variance(x, y, k, n) for k in range(len(x.ranks))}
        variances = normal + [excess[k] for k, _ in members]
        thirds = [_third_cumulant(x, y, factors, *member) for member in members]
        scale = np.where(normal > 0, normal, 1.0) ** 0.5
        return cls(
            means=np.array([factors @ (x.traces(k) * y.traces(k)) for k, _ in members]),
            laws=[
                Law(max(float(variance), 0.0) ** 0.5, third / float(s) ** 3)
                for variance, third, s in zip(variances, thirds, scale, strict=True)
            ],
            correlations=covariances / np.outer(scale, scale),
            lumpiness=float((variances / scale**2).max()),
            least=max(float(np.exp(-gammaln(n + 1).sum())), SMALLEST),
        )


def _covariance(
    x: StratumMoments,
    y: StratumMoments,
    factors: Array,
    one: tuple[int, bool],
    other: tuple[int, bool],
) -> float:
    """Return that of two statistics, if features were normal (theory.md, eq. 47)."""
    (k, one_inside), (l, other_inside) = one, other
    of_x, of_y = x.block(k, l), y.block(k, l)
    if one_inside or other_inside:
        inside = np.einsum("sa,sa->s", of_x, of_x) * np.einsum("sa,sa->s", of_y, of_y)
        return 2 * float(factors**2 @ inside)
    return 2 * float(factors @ ((of_x @ of_x.T) * (of_y @ of_y.T)) @ factors)


def _excess_variance(x: StratumMoments, y: StratumMoments, k: int, n: Array) -> float:
    """Return by how much permutations vary more than normal features (theory.md, eq. 48)."""
    first, second = np.zeros_like(n), np.zeros_like(n)
    three, four = n >= 3, n >= 4
    spread = [(n - 1) * m.squares(k) - m.traces(k) ** 2 for m in (x, y)]
    first[three] = (2 * spread[0] * spread[1])[three] / ((n - 1) ** 2 * (n + 1) * (n - 2))[three]
    diagonal = [
        n * (n + 1) * m.fourth[:, k] - (n - 1) * (m.traces(k) ** 2 + 2 * m.squares(k))
        for m in (x, y)
    ]
    divisor = (n + 1) * n * (n - 1) * (n - 2) * (n - 3)
    second[four] = (diagonal[0] * diagonal[1])[four] / divisor[four]
    normal = 2 * x.squares(k) * y.squares(k) / np.maximum(n - 1, 1) ** 2
    return float(n**4 @ (first + second - normal))


def _third_cumulant(
    x: StratumMoments, y: StratumMoments, factors: Array, k: int, inside: bool
) -> float:
    """Return that of a statistic, if features were normal (theory.md, eq. 49)."""
    if inside or len(factors) == 1:
        cubes = [np.einsum("sab,sbc,sca->s", *(m.gram(k),) * 3, optimize=True) for m in (x, y)]
        return 8 * float(factors**3 @ (cubes[0] * cubes[1]))
    of_x, of_y = (_principal(m.gram(k), factors) for m in (x, y))
    joint = np.einsum("s,sab,scd->acbd", factors, of_x, of_y, optimize=True)
    joint = joint.reshape(of_x.shape[1] * of_y.shape[1], -1)
    return 8 * float(np.einsum("ij,ij->", joint @ joint, joint))


def _principal(grams: Array, factors: Array) -> Array:
    """Return Gram matrices of all strata in the directions in which samples vary most."""
    _, directions = np.linalg.eigh(np.tensordot(factors, grams, 1))
    directions = directions[:, -COMPONENTS:]
    principal: Array = directions.T @ grams @ directions
    return principal
