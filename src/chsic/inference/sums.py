"""What rows contribute, as sums over units: plain addition merges those of several batches."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

import numpy as np

from chsic._util.namespaces import as_numpy
from chsic._util.validate import Array


@dataclasses.dataclass(frozen=True, eq=False)
class ProductSums:
    """Sums over the samples of units or folds, for two variables: plain addition merges them.

    Attributes
    ----------
    contributions : array, shape (n_units, r_x r_y)
        To sum_ij Lap_ij u_i v_j'.
    products : array, shape (n_units, r_x r_y), or None
        Products of samples' own residuals, which random signs act on.
    centre : array, shape (n_units,)
        What each unit adds to the statistic under conditional independence, on average.
    spreads : array, shape (2, 2)
        Of x and of y: variance over pairs, and of samples alone.
    over_pairs : array, shape (2,)
        Sums of products of lengths: of one sample, and over pairs.
    parts : dict
        For strata that are cut, by number: sums of lengths of x, of y, and of products of those of
        one part.
    """

    contributions: Array
    products: Array | None
    centre: Array
    spreads: Array
    over_pairs: Array
    parts: dict[int, Array]

    def to_numpy(self) -> ProductSums:
        """Bring the sums to NumPy from wherever they are."""
        return dataclasses.replace(
            self,
            contributions=as_numpy(self.contributions),
            products=None if self.products is None else as_numpy(self.products),
            centre=as_numpy(self.centre),
        )


@dataclasses.dataclass(frozen=True, eq=False)
class StratumMoments:
    """Sums over the samples of strata, for one variable: what permutations within them depend on.

    Attributes
    ----------
    first : int
        Place of the first stratum of these sums among all strata.
    ranks : tuple of int
        Number of features at each bandwidth.
    grams : array, shape (n_strata, r, r)
        Sums of u_i u_i', the residual features u_i of all bandwidths one after the other.
    fourth : array, shape (n_strata, n_bandwidths)
        Sums of |u_i|^4.
    """

    first: int
    ranks: tuple[int, ...]
    grams: Array
    fourth: Array

    def block(self, k: int, l: int) -> Array:
        """Return products of features of two bandwidths, flattened, for each stratum."""
        own: Array = self.grams[:, self._features(k), self._features(l)]
        return own.reshape(len(own), -1)

    def gram(self, k: int) -> Array:
        """Return products of features of a bandwidth, for each stratum."""
        own = self._features(k)
        gram: Array = self.grams[:, own, own]
        return gram

    def traces(self, k: int) -> Array:
        """Return the trace of each of those."""
        traces: Array = np.einsum("saa->s", self.gram(k))
        return traces

    def squares(self, k: int) -> Array:
        """Return the sum of squares of each of those."""
        squares: Array = np.einsum("sab,sab->s", *(self.gram(k),) * 2)
        return squares

    def to_numpy(self) -> StratumMoments:
        """Bring the sums to NumPy from wherever they are."""
        return dataclasses.replace(self, grams=as_numpy(self.grams), fourth=as_numpy(self.fourth))

    def _features(self, k: int) -> slice:
        start = sum(self.ranks[:k])
        return slice(start, start + self.ranks[k])


@dataclasses.dataclass(frozen=True, eq=False)
class Sums:
    """What rows contribute to a test.

    Attributes
    ----------
    first_unit : int
        Place of the first unit of these sums among all units.
    between : tuple of ProductSums
        x with y in units, for each bandwidth.
    in_folds : ProductSums
        x with y in folds, at the middle bandwidth.
    of_x, of_y : ProductSums
        x with itself and y with itself in folds, at the middle bandwidth.
    strata_x, strata_y : StratumMoments or None
        Of x and of y, where all pairs of equal z are compared and z has few values.
    """

    first_unit: int
    between: tuple[ProductSums, ...]
    in_folds: ProductSums
    of_x: ProductSums
    of_y: ProductSums
    strata_x: StratumMoments | None = None
    strata_y: StratumMoments | None = None

    def to_numpy(self) -> Sums:
        """Bring sums, which are small, to where decisions are made."""
        between = tuple(sums.to_numpy() for sums in self.between)
        return Sums(
            self.first_unit,
            between,
            self.in_folds.to_numpy(),
            self.of_x.to_numpy(),
            self.of_y.to_numpy(),
            None if self.strata_x is None else self.strata_x.to_numpy(),
            None if self.strata_y is None else self.strata_y.to_numpy(),
        )


def merge(parts: Iterable[Sums]) -> Sums:
    """Add up sums of several batches; in any order, up to rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.inference.sums import ProductSums, Sums, merge
    >>> one = ProductSums(np.ones((2, 1)), None, np.ones(2), np.ones((2, 2)), np.ones(2), {})
    >>> total = merge([Sums(0, (one,), one, one, one), Sums(1, (one,), one, one, one)])
    >>> total.between[0].centre, total.of_x.centre
    (array([1., 2., 1.]), array([2., 2.]))
    """
    several = list(parts)
    if len(several) == 1:
        return several[0]
    first = min(part.first_unit for part in several)
    places = [part.first_unit - first for part in several]
    everywhere = [0] * len(several)  # every batch has samples of all folds
    n_kernels = range(len(several[0].between))
    return Sums(
        first,
        tuple(_added([part.between[k] for part in several], places) for k in n_kernels),
        _added([part.in_folds for part in several], everywhere),
        _added([part.of_x for part in several], everywhere),
        _added([part.of_y for part in several], everywhere),
        _joined([part.strata_x for part in several]),
        _joined([part.strata_y for part in several]),
    )


def _joined(parts: Sequence[StratumMoments | None]) -> StratumMoments | None:
    several = [part for part in parts if part is not None]
    if not several:
        return None
    first = min(part.first for part in several)
    places = [part.first - first for part in several]
    grams = _by_unit([part.grams for part in several], places)
    fourth = _by_unit([part.fourth for part in several], places)
    return StratumMoments(first, several[0].ranks, grams, fourth)


def _added(several: Sequence[ProductSums], places: Sequence[int]) -> ProductSums:
    products = [one.products for one in several if one.products is not None]
    parts: dict[int, Array] = {}
    for one in several:
        for stratum, sums in one.parts.items():
            parts[stratum] = parts.get(stratum, 0.0) + sums
    return ProductSums(
        contributions=_by_unit([one.contributions for one in several], places),
        products=_by_unit(products, places) if products else None,
        centre=_by_unit([one.centre for one in several], places),
        spreads=np.sum([one.spreads for one in several], axis=0),
        over_pairs=np.sum([one.over_pairs for one in several], axis=0),
        parts=parts,
    )


def _by_unit(values: Sequence[Array], places: Sequence[int]) -> Array:
    """Add up values of units or strata, of which each of several has some."""
    n_units = max(place + len(own) for place, own in zip(places, values, strict=True))
    total = np.zeros((n_units, *values[0].shape[1:]))
    for place, own in zip(places, values, strict=True):
        total[place : place + len(own)] += own
    return total
