"""From adjusted features and pairs to what the null needs: Gram matrices of the units.

The statistic is the squared length of sum_ij Lap_ij u_i v_j'. Under conditional independence its
terms vary like products of one sample's own residuals, weighted so that every sample contributes as
much variance: sum_i sqrt(w_i) u_i v_i', w_i = (sum_j Lap_ij^2) / a_i, with a_i what the fit left of
the variance of sample i. Random signs on those give the null.

Where x and y are rarely far from what z lets expect, the products of the few samples in which both
are would decide the variance by chance. Under conditional independence, u_i of one sample and v_j
of another near it in z have as large products; if theirs are larger, they set the scale of the
null.

A fit whose penalty was chosen leaves less than it says, as it was chosen for leaving little. What
differences over close pairs show of the variance is next to free of that, so the weights are scaled
by it: by sum_ij Lap_ij u_i'u_j over sum_i deg_i |u_i|^2 / a_i, each over what it is on average.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from chsic._util.cache import Cache
from chsic._util.validate import Array, Index
from chsic.inference.strata import StratumRows
from chsic.inference.units import Units
from chsic.measure.engines.features import laplacian_times
from chsic.pairs import PairGraph
from chsic.pairs.neighbours import Neighbours

MOST_DIRECTIONS, MOST_BETWEEN = 6, 64  # that are kept: n x m and m x m numbers each
ROUNDING = 64 * float(np.finfo(np.float64).eps)  # of sums over units, relative
SMALLEST_LEFT = 0.1  # of a sample's variance after its own fit

Taken: TypeAlias = tuple[Array, Array]  # D and c, see `chsic.inference.smooth.Fit`


@dataclasses.dataclass(frozen=True, eq=False)
class Residuals:
    """Features of one variable, less what z explains of them.

    Attributes
    ----------
    features : array, shape (n, r)
        The residuals themselves.
    lap : array, shape (n, r)
        Lap times the residuals.
    alone : array, shape (n, r)
        Residuals that stand for a sample alone: they vary around zero given z.
    partners : array of int, shape (n,)
        Number of partners of each sample.
    left : array, shape (n,)
        Variance of `alone`, as a share of what it was before the fit.
    lengths : array, shape (n,)
        |u|^2 / a of each sample: its squared length as it was before the fit.
    lap_lengths : array, shape (n,)
        Lap times those.
    """

    features: Array
    lap: Array
    alone: Array
    partners: Index
    left: Array
    lengths: Array
    lap_lengths: Array

    def __getitem__(self, rows: slice) -> Residuals:
        """Return some rows."""
        fields = (getattr(self, field.name) for field in dataclasses.fields(self))
        return Residuals(*(values[rows] for values in fields))

    @functools.cached_property
    def weighted(self) -> Array:
        """sqrt(s_i / a_i) u_i with s_i^2 = sum_j Lap_ij^2: products of x and y have sqrt(w_i)."""
        return self.alone * np.sqrt(self._lap_length / self.left)[:, np.newaxis]

    @functools.cached_property
    def squares(self) -> Array:
        """|u|^2 of each sample as it is in `weighted`."""
        return self.lengths * self._lap_length

    @functools.cached_property
    def spreads(self) -> Array:
        """Variance as differences over pairs show it, and as samples alone do."""
        over_pairs = np.einsum("ij,ij->", self.features, self.lap)
        # The length of a row of Lap is zero only without partners.
        share = np.divide(self.partners, self._lap_length, where=self.partners > 0,
                          out=np.zeros(len(self.partners)))  # fmt: skip
        return np.array([over_pairs, (share * self.squares).sum()])

    @property
    def _lap_length(self) -> Array:
        partners = self.partners.astype(np.float64)
        length: Array = np.sqrt(partners**2 + partners)
        return length


def residuals_alone(
    features: Array,
    left: Array | None,
    pairs: PairGraph | Neighbours | StratumRows,
    rounding: Array | None = None,
) -> Residuals:
    """Prepare residuals for the null, of all rows or of the first, whose partners are known.

    Without a fit, a sample is compared with the mean of its partners, which adds to its variance.
    Where x is the same in a sample and all its partners, nothing but rounding is left. `rounding`
    tells how much that may be in each feature: it becomes zero.
    """
    if isinstance(pairs, StratumRows):
        assert left is not None
        return _residuals_in_strata(features, left, pairs, rounding)
    partners, times = pairs.degrees, _laplacian(pairs)
    rows, known = len(features), slice(len(partners))
    if left is None:
        lap = times(features)
        divisor = np.maximum(partners, 1)
        _round_off(lap, rounding, divisor[:, np.newaxis])
        alone, left = lap / divisor[:, np.newaxis], 1 + 1 / divisor
        lengths = _lengths(alone) / left
        lap_lengths = times(np.resize(lengths, (rows, 1)))[:, 0]  # wrong only behind the known ones
        return Residuals(features[known], lap, alone, partners, left, lengths, lap_lengths)
    left = np.maximum(left, SMALLEST_LEFT)
    lengths = _lengths(features) / left
    beside = times(np.column_stack([features, lengths]))
    lap, lap_lengths, alone = beside[:, :-1], beside[:, -1], features[known]
    return Residuals(alone, lap, alone, partners, left[known], lengths[known], lap_lengths)


def _laplacian(pairs: PairGraph | Neighbours) -> Callable[[Array], Array]:
    if isinstance(pairs, PairGraph):
        return functools.partial(laplacian_times, pairs)
    return pairs.laplacian_times


def _residuals_in_strata(
    features: Array, left: Array, strata: StratumRows, rounding: Array | None
) -> Residuals:
    """Lap_b = n_b I - 11' inside strata, whose means were taken off."""
    _round_off(features, rounding)
    sizes = strata.sizes[strata.labels]
    lengths = _lengths(features) / left
    # In a part of a stratum, pairs inside the part; `unit_grams` adds those with other parts.
    sums = np.add.reduceat(lengths, strata.starts)[strata.labels]
    return Residuals(
        features, sizes[:, np.newaxis] * features, features, sizes - 1, left, lengths,
        sizes * lengths - sums,
    )  # fmt: skip


def _round_off(values: Array, rounding: Array | None, times: Array | float = 1.0) -> None:
    """Make rows zero that are nothing but rounding."""
    if rounding is not None:
        values[(np.abs(values) <= times * rounding).all(axis=1)] = 0.0


def _lengths(vectors: Array) -> Array:
    squares: Array = np.einsum("ij,ij->i", vectors, vectors)
    return squares


@dataclasses.dataclass(frozen=True, eq=False)
class Share:
    """What some units contribute: to the statistic, under signs, on average, and to the scale."""

    contributions: Array  # (n_units, r_x r_y)
    products: Array | None  # the same shape
    centre: Array  # (n_units,)
    spreads: Array  # (2, 2): of x and of y
    together: Array  # (2,): sums of products of lengths, of one sample and over pairs
    first_unit: int  # the place of the first of them among all units
    part: tuple[int, Array] | None  # of a stratum: its number, and sums of lengths of x and of y


def share_of(
    x: Residuals,
    y: Residuals,
    units: Units,
    *,
    null: bool = True,
    first_unit: int = 0,
    part_of: int | None = None,
) -> Share:
    """Add up what the samples of each unit contribute; under signs only if that is wanted."""
    contributions = units.products(x.features, y.lap) + units.products(x.lap, y.features)
    contributions /= 2  # the same number, but x and y have the same part in it
    centre = units.sums(x.squares * y.squares)
    products = units.products(x.weighted, y.weighted) if null else None
    of_sample = x.partners * x.lengths * y.lengths
    together = np.array([of_sample.sum(), (of_sample - x.lengths * y.lap_lengths).sum()])
    part = None if part_of is None else (part_of, np.array([x.lengths.sum(), y.lengths.sum()]))
    spreads = np.array([x.spreads, y.spreads])
    return Share(contributions, products, centre, spreads, together, first_unit, part)


@dataclasses.dataclass(frozen=True, eq=False)
class UnitGrams:
    """Everything a statistic and its null need.

    Attributes
    ----------
    observed : array, shape (n_units, n_units)
        Inner products of what the units contribute to the statistic, which is their sum.
    null : array, shape (n_units, n_units)
        Inner products of the units' own products, for random signs.
    centre : array, shape (n_units,)
        What each unit adds to the statistic under conditional independence, on average.
    """

    observed: Array
    null: Array
    centre: Array

    def weighted(self, kernel: Array | None, sizes: Index, centre_left: float = 1.0) -> UnitGrams:
        """Weight pairs of units by a kernel on z, which is 1 for a unit with itself.

        `centre_left` is what that leaves of the centre. The statistic varies by products of two
        samples of one unit as well, which a sign for the unit does not see: the null is scaled to
        have their variance, too.
        """
        weights = np.ones_like(self.null) if kernel is None else kernel
        m = sizes.astype(np.float64)
        between = weights**2 * np.outer(m, m)
        all_pairs = between.sum() - m.sum()
        scale = np.sqrt(all_pairs / (between.sum() - np.diag(between).sum()))
        null, centre = self.null * weights * scale, self.centre * centre_left
        return UnitGrams(self.observed * weights, null, centre)

    @property
    def statistic(self) -> float:
        """Sum of the observed inner products."""
        return float(self.observed.sum())

    @functools.cached_property
    def centred(self) -> float:
        """The statistic less its expectation under conditional independence.

        Where one unit alone has anything to contribute, the two are equal up to rounding.
        """
        statistic, centre = float(self.observed.sum()), float(self.centre.sum())
        rounding = ROUNDING * (float(np.abs(self.observed).sum()) + centre)
        return statistic - centre if abs(statistic - centre) > rounding else 0.0


@dataclasses.dataclass(frozen=True)
class FitEffect:
    """What fits do to sums over pairs on average, as shares of what they are without.

    Attributes
    ----------
    of_x, of_y : float
        To sum_ij Lap_ij u_i'u_j and sum_ij Lap_ij v_i'v_j.
    of_both : float
        To the squared length of sum_ij Lap_ij u_i v_j' under conditional independence.
    """

    of_x: float = 1.0
    of_y: float = 1.0
    of_both: float = 1.0


class FitEffects:
    """Works out tr(Lap A_x), tr(Lap A_y) and tr(Lap A_x Lap A_y) for A = I + D diag(c) D'.

    Many fits have the same directions D, so that what depends on those alone is kept.
    """

    def __init__(self, graph: PairGraph) -> None:
        self._graph = graph
        partners = graph.degrees.astype(np.float64)
        self._total, self._squares = float(partners.sum()), float((partners**2 + partners).sum())
        # By identity, and with the directions themselves, so that no other ones get it.
        self._alone: Cache[_Sums] = Cache(MOST_DIRECTIONS)
        self._between: Cache[tuple[Array, Array, Array]] = Cache(MOST_BETWEEN)

    def of(self, x: Taken | None, y: Taken | None) -> FitEffect:
        """Return the effect of two fits; none where nothing was fitted."""
        if x is None or y is None:
            return FitEffect()
        (of_x, c_x), (of_y, c_y) = x, y
        alone_x = self._alone.get(id(of_x), lambda: self._sums(of_x))
        alone_y = self._alone.get(id(of_y), lambda: self._sums(of_y))
        key = id(of_x), id(of_y)
        between = self._between.get(key, lambda: (alone_x.lap.T @ of_y, of_x, of_y))[0]
        both = c_x @ alone_x.squares + c_y @ alone_y.squares + c_x @ between**2 @ c_y
        return FitEffect(
            1 + float(c_x @ alone_x.products) / self._total,
            1 + float(c_y @ alone_y.products) / self._total,
            1 + float(both) / self._squares,
        )

    def _sums(self, directions: Array) -> _Sums:
        lap = laplacian_times(self._graph, directions)
        products = np.einsum("ij,ij->j", directions, lap)
        return _Sums(directions, lap, products, np.einsum("ij,ij->j", lap, lap))


@dataclasses.dataclass(frozen=True, eq=False)
class _Sums:
    """D, Lap D, and the diagonals of D'Lap D and of D'Lap^2 D."""

    directions: Array
    lap: Array
    products: Array
    squares: Array


def unit_grams(shares: Sequence[Share], effect: FitEffect) -> UnitGrams:
    """Put the shares of all units together."""
    contributions = _by_unit(shares, [share.contributions for share in shares])
    observed = contributions @ contributions.T
    spreads = np.sum([share.spreads for share in shares], axis=0)
    by_pairs, alone = (spreads / [[effect.of_x, 1], [effect.of_y, 1]]).prod(axis=0)
    scale = effect.of_both * (by_pairs / alone if alone > 0 else 1.0)
    centre = scale * _by_unit(shares, [share.centre for share in shares])
    under_signs = [share.products for share in shares if share.products is not None]
    if not under_signs:
        return UnitGrams(observed, np.zeros_like(observed), centre)
    products = _by_unit(shares, under_signs)
    of_sample, over_pairs = np.sum([share.together for share in shares], axis=0)
    over_pairs += _between_parts(shares)
    wider = max(1.0, over_pairs / of_sample) if of_sample > 0 else 1.0
    return UnitGrams(observed, wider * scale * (products @ products.T), centre)


def _by_unit(shares: Sequence[Share], values: Sequence[Array]) -> Array:
    """Add up values of units, of which a share may have a part."""
    if len(shares) == 1:
        return values[0]
    n_units = max(share.first_unit + len(share.centre) for share in shares)
    total = np.zeros((n_units, *values[0].shape[1:]))
    for share, own in zip(shares, values, strict=True):
        total[share.first_unit : share.first_unit + len(own)] += own
    return total


def _between_parts(shares: Sequence[Share]) -> float:
    """Sum of products of lengths over pairs in different parts of a stratum."""
    parts: dict[int, list[Array]] = {}
    for share in shares:
        if share.part is not None:
            parts.setdefault(share.part[0], []).append(share.part[1])
    return sum(
        float(np.prod(np.sum(sums, axis=0)) - np.prod(sums, axis=1).sum())
        for sums in parts.values()
    )
