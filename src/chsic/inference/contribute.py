"""What some rows contribute: sums over units, from residual features and pairs.

theory.md, sections 6 to 8, has the formulas; `chsic.inference.decide` makes the rest of them.

The statistic is the squared length of sum_ij Lap_ij u_i v_j'. Under conditional independence its
terms vary like products of one sample's own residuals, weighted so that every sample contributes as
much variance: sum_i sqrt(w_i) u_i v_i', w_i = (sum_j Lap_ij^2) / a_i, with a_i what the fit left of
the variance of sample i. Random signs on those give the null.

Where x and y are rarely far from their conditional means, the products of the few samples in which
both are would decide the variance by chance. Under conditional independence, u_i of one sample and
v_j of another near it in z have as large products; if theirs are larger, they set the scale of the
null.

A fit whose penalty was chosen leaves less than it says, as it was chosen for leaving little. What
differences over close pairs show of the variance is next to free of that, so the weights are scaled
by it: by sum_ij Lap_ij u_i'u_j over sum_i deg_i |u_i|^2 / a_i, each over what it is on average.

All of it is written against the array namespace of the rows.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from chsic._util.namespaces import beside
from chsic._util.validate import Array
from chsic.inference.batches import Batch, StratumRows
from chsic.inference.interactions import times
from chsic.inference.plan import Plan, VariablePlan
from chsic.inference.restored import SMALLEST_NOISE, restored_in_strata
from chsic.inference.ridge_fit import RidgeFit
from chsic.inference.sums import ProductSums, StratumMoments, Sums
from chsic.inference.units import Units, unit_products, unit_sums
from chsic.pairs import PairGraph
from chsic.pairs.laplacian import laplacian_times


@dataclasses.dataclass(frozen=True, eq=False)
class VariableRows:
    """One variable at the rows of a batch.

    Attributes
    ----------
    standardised : array, shape (n_rows, d)
        What is compared, of any array namespace; see `VariablePlan.standardised`.
    values : array, shape (n_rows, d'), optional
        Values as they are, for kernels of those.
    features : sequence of pairs of arrays, optional
        Residual features of each kernel and shares of the noise, if planning has computed them.
    residuals : sequence of Residuals, optional
        What follows from those, if an earlier comparison has computed it.
    with_itself : ProductSums, optional
        What the rows contribute to the comparison of the variable with itself, likewise.
    moments : StratumMoments, optional
        Sums over the samples of strata, likewise.
    """

    standardised: Any
    values: Any = None
    features: Sequence[tuple[Any, Any]] | None = None
    residuals: Sequence[Residuals] | None = None
    with_itself: ProductSums | None = None
    moments: StratumMoments | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of residuals and moments, which are held for several comparisons."""
        moments = 0 if self.moments is None else self.moments.grams.nbytes
        return moments + sum(residuals.nbytes for residuals in self.residuals or ())


@dataclasses.dataclass(frozen=True, eq=False)
class Rows:
    """Some samples, their pairs, and the units that they belong to."""

    batch: Batch
    x: VariableRows
    y: VariableRows


def contribute(plan: Plan, rows: Rows) -> Sums:
    """Return what some rows add to the sums that `chsic.inference.decide` starts from.

    Parameters
    ----------
    plan : Plan
        Made from these rows or from others.
    rows : Rows
        A batch, with what is known of x and y there.

    Returns
    -------
    Sums
    """
    batch, between = rows.batch, []
    if plan.given.stratum_sizes is not None:
        rows = Rows(batch, with_moments(plan.x, rows.x, batch), with_moments(plan.y, rows.y, batch))
    for k in range(len(plan.x.kernels)):
        x, y = residuals(plan.x, k, rows.x, batch), residuals(plan.y, k, rows.y, batch)
        of_z = _functions_of_z(plan, batch) if plan.x.kernels[k].of_values else None
        between.append(product_sums(x, y, batch, batch.units, of_z))
        if k == plan.x.middle:
            in_folds = product_sums(x, y, batch, batch.folds)
            of_x = rows.x.with_itself or product_sums(x, x, batch, batch.folds, null=False)
            of_y = rows.y.with_itself or product_sums(y, y, batch, batch.folds, null=False)
    moments = rows.x.moments, rows.y.moments
    sums = Sums(batch.first_unit, tuple(between), in_folds, of_x, of_y, *moments)
    return sums if isinstance(of_x.centre, np.ndarray) else sums.to_numpy()


@dataclasses.dataclass(frozen=True, eq=False)
class Residuals:
    """Residual features of one variable given z.

    Attributes
    ----------
    features : array, shape (n, r)
        The residuals themselves.
    lap : array, shape (n, r)
        Lap times the residuals.
    alone : array, shape (n, r)
        Residuals that stand for a sample alone: they vary around zero given z.
    partners : array, shape (n,)
        Number of partners of each sample, or the weight of its pairs: d_i.
    lap_row_lengths : array, shape (n,)
        Length of each row of Lap: s_i of theory.md, eq. 19.
    noise : array, shape (n,)
        Variance of `alone`, as a share of what it was before the fit.
    lengths : array, shape (n,)
        |u|^2 / a of each sample: its squared length as it was before the fit.
    lap_lengths : array, shape (n,)
        Lap times those.
    """

    features: Any
    lap: Any
    alone: Any
    partners: Any
    lap_row_lengths: Any
    noise: Any
    lengths: Any
    lap_lengths: Any

    def __getitem__(self, rows: slice) -> Residuals:
        """Return some rows."""
        return Residuals(*(getattr(self, field.name)[rows, ...] for field in _FIELDS))

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays, once those are computed that are made when asked for."""
        fields = {id(array): array for array in (getattr(self, f.name) for f in _FIELDS)}
        return int(sum(array.nbytes for array in fields.values()) + self.lap.nbytes)

    @functools.cached_property
    def weighted(self) -> Any:
        """sqrt(s_i / a_i) u_i: products of x and y get the weight sqrt(w_i) (theory.md, eq. 25)."""
        xp = array_namespace(self.alone)
        return self.alone * xp.sqrt(self.lap_row_lengths / self.noise)[:, None]

    @functools.cached_property
    def squares(self) -> Any:
        """|u|^2 of each sample as in `weighted`: x times y is a term of theory.md, eq. 24."""
        return self.lengths * self.lap_row_lengths

    @functools.cached_property
    def spreads(self) -> Array:
        """Variance by differences over pairs, and by samples alone (theory.md, eq. 23)."""
        xp = array_namespace(self.features)
        over_pairs = xp.sum(xp.vecdot(self.features, self.lap))
        # The length of a row of Lap is zero only without partners.
        paired = self.partners > 0
        share = xp.where(paired, self.partners / xp.where(paired, self.lap_row_lengths, 1.0), 0.0)
        return np.array([float(over_pairs), float(xp.sum(share * self.squares))])


_FIELDS = dataclasses.fields(Residuals)


def residuals(variable: VariablePlan, k: int, rows: VariableRows, batch: Batch) -> Residuals:
    """Return the residual features of a variable at the samples of a batch's units."""
    if rows.residuals is not None:
        return rows.residuals[k]
    kernel = variable.kernels[k]
    if rows.features is not None:
        features, noise = rows.features[k]
    else:
        values = rows.values if kernel.of_values else rows.standardised
        features = kernel.landmarks(values / kernel.width)  # theory.md, eq. 15
        features, noise = kernel.fit.residuals(features, batch)  # theory.md, eq. 16
    if isinstance(batch.pairs, StratumRows):
        return _in_strata(features, noise, batch, kernel.landmarks.rounding)
    if noise is None:
        return _unadjusted(features, batch, kernel.landmarks.rounding)[batch.inside]
    alone = None
    if batch.groups is not None and isinstance(kernel.fit, RidgeFit):
        alone = kernel.fit.restored(features, batch)
    return _adjusted(features, noise, batch, alone)[batch.inside]


def with_moments(variable: VariablePlan, rows: VariableRows, batch: Batch) -> VariableRows:
    """Return rows with residuals at all bandwidths and with moments of strata."""
    if rows.moments is not None:
        return rows
    own = [residuals(variable, k, rows, batch) for k in range(len(variable.kernels))]
    moments = stratum_moments(own, batch.stratum_rows)
    return dataclasses.replace(rows, residuals=own, moments=moments)


def stratum_moments(own: Sequence[Residuals], strata: StratumRows) -> StratumMoments:
    """Add up squares and fourth powers of residual features in each stratum (eqs. 46 to 49)."""
    xp = array_namespace(own[0].features)
    features = xp.concat([one.features for one in own], axis=1)
    cuts = itertools.pairwise([*strata.starts.tolist(), features.shape[0]])
    grams = [xp.matrix_transpose(features[a:b, :]) @ features[a:b, :] for a, b in cuts]
    lengths = xp.stack([xp.vecdot(one.features, one.features) for one in own], axis=1)
    return StratumMoments(
        first=strata.first,
        ranks=tuple(int(one.features.shape[1]) for one in own),
        grams=xp.stack(grams),
        fourth=strata.sums(lengths**2),
    )


def _adjusted(features: Any, noise: Any, batch: Batch, restored: Any = None) -> Residuals:
    """Take residuals as they are, or `restored` ones, whose noise is what it was before the fit."""
    xp = array_namespace(features)
    partners, row_lengths = _partners(batch, features)
    known = slice(partners.shape[0])
    if restored is None:
        alone, noise = features, xp.clip(noise, min=SMALLEST_NOISE)  # theory.md, eq. 20, first case
    else:
        alone, noise = restored, xp.ones_like(noise)
    lengths = xp.vecdot(alone, alone) / noise  # theory.md, eq. 21
    beside = _laplacian_times(batch, xp.concat([features, lengths[:, None]], axis=1))
    lap, lap_lengths, of_pairs = beside[:, :-1], beside[:, -1], features[known, :]
    alone = alone[known, :]
    return Residuals(
        of_pairs, lap, alone, partners, row_lengths, noise[known], lengths[known], lap_lengths
    )


def _unadjusted(features: Any, batch: Batch, rounding: Array) -> Residuals:
    """Compare a sample with the mean of its partners, which adds to its variance."""
    xp = array_namespace(features)
    partners, row_lengths = _partners(batch, features)
    lap = _laplacian_times(batch, features)
    divisor = xp.where(partners > 0, partners, 1.0)
    lap = _without_rounding(lap, rounding, divisor[:, None])
    alone = lap / divisor[:, None]
    noise = 1 + 1 / divisor  # theory.md, eq. 20, last case
    if batch.pair_weights is not None:
        noise = xp.where(partners > 0, (row_lengths / divisor) ** 2, 2.0)
    lengths = xp.vecdot(alone, alone) / noise  # theory.md, eq. 21
    # Wrong only behind the known ones, which are not asked for.
    missing = features.shape[0] - lengths.shape[0]
    filled = xp.concat([lengths, xp.zeros_like(features[:missing, 0])])
    lap_lengths = _laplacian_times(batch, filled[:, None])[:, 0]
    known = features[: partners.shape[0], :]
    return Residuals(known, lap, alone, partners, row_lengths, noise, lengths, lap_lengths)


def _in_strata(features: Any, noise: Any, batch: Batch, rounding: Array) -> Residuals:
    """Lap_b = n_b I - 11' inside strata, whose means were subtracted (theory.md, eq. 20).

    With weights w it is W_b diag(w) - ww', W_b the sum of those of the stratum.
    """
    xp, strata = array_namespace(features), batch.stratum_rows
    features = _without_rounding(features, rounding, 1.0)
    alone = features
    if batch.groups is not None:
        alone = restored_in_strata(features, strata, batch.groups)
        noise = xp.ones_like(noise)
    weights, sizes, squares = (beside(features, of) for of in strata.of_rows)
    lengths = xp.vecdot(alone, alone) / noise  # theory.md, eq. 21
    # In a part of a stratum, pairs inside the part; `merge` adds those with other parts.
    sums = xp.take(strata.sums(weights * lengths), beside(lengths, strata.labels), axis=0)
    partners = weights * (sizes - weights)
    row_lengths = xp.sqrt(partners**2 + weights**2 * (squares - weights**2))
    return Residuals(
        features, (weights * sizes)[:, None] * features, alone, partners, row_lengths, noise,
        lengths, weights * (sizes * lengths - sums),
    )  # fmt: skip


def _without_rounding(values: Any, rounding: Array, times: Any) -> Any:
    """Make rows zero that are nothing but rounding: x is the same in a sample and its partners."""
    xp = array_namespace(values)
    most = times * beside(values, rounding)
    only_rounding = xp.all(xp.abs(values) <= most, axis=1)
    if not bool(xp.any(only_rounding)):
        return values
    return xp.where(only_rounding[:, None], xp.zeros_like(values), values)


def _partners(batch: Batch, like: Any) -> tuple[Any, Any]:
    """Return d_i and s_i of the rows whose partners are known (theory.md, eq. 19)."""
    assert batch.pairs is not None
    assert not isinstance(batch.pairs, StratumRows)
    degrees, weights = batch.pairs.degrees, batch.pair_weights
    if weights is not None:
        known = slice(len(degrees))
        return beside(like, weights.degrees[known]), beside(like, weights.lap_lengths[known])
    partners = beside(like, degrees.astype(np.float64))
    return partners, array_namespace(partners).sqrt(partners**2 + partners)


def _laplacian_times(batch: Batch, values: Any) -> Any:
    pairs = batch.pairs
    if batch.pair_weights is not None:
        assert pairs is not None
        assert not isinstance(pairs, StratumRows)
        return batch.pair_weights.laplacian_times(pairs, values)
    if isinstance(pairs, PairGraph):
        return laplacian_times(pairs, values)
    assert pairs is not None
    assert not isinstance(pairs, StratumRows)
    return pairs.laplacian_times(values)


def product_sums(
    x: Residuals,
    y: Residuals,
    batch: Batch,
    units: Units,
    of_z: Any = None,
    *,
    null: bool = True,
) -> ProductSums:
    """Add up what samples of each unit or fold contribute; products only if the null is wanted.

    They are multiplied by functions of z if those are given.
    """
    # theory.md, eq. 17: either term adds up to C, but with both, x and y have the same part in it.
    contributions = unit_products(units, times(x.features, of_z), y.lap)
    contributions = contributions + unit_products(units, times(x.lap, of_z), y.features)
    contributions = contributions / 2
    if batch.within:
        return _inside_groups(contributions, x, y, batch, units)
    # theory.md, eq. 26: terms of the denominator and of the numerator
    of_sample = x.partners * x.lengths * y.lengths
    over_pairs = of_sample - x.lengths * y.lap_lengths
    xp = array_namespace(of_sample)
    parts = {}
    if isinstance(batch.pairs, StratumRows) and batch.pairs.part_of is not None:
        weights = beside(x.lengths, batch.pairs.of_rows[0])
        of_x, of_y = float(xp.sum(weights * x.lengths)), float(xp.sum(weights * y.lengths))
        parts[batch.pairs.part_of] = np.array([of_x, of_y, of_x * of_y])
    spreads = np.array([x.spreads, y.spreads])
    over_pairs = np.array([float(xp.sum(of_sample)), float(xp.sum(over_pairs))])
    if batch.groups is None:
        # theory.md, eqs. 24 and 23, from which `decide` makes the centre
        centre = unit_sums(units, _weighted_by(of_z, x.squares * y.squares))
        wider = 1.0
    else:
        centre, wider = _centre_of_groups(x, y, batch, units, of_z)
    products = None
    if null:  # theory.md, eq. 25
        products = unit_products(units, times(x.weighted, of_z), y.weighted) * wider
    return ProductSums(
        contributions=contributions,
        products=products,
        centre=centre,
        spreads=spreads,
        over_pairs=over_pairs,
        parts=parts,
    )


def _inside_groups(
    contributions: Any, x: Residuals, y: Residuals, batch: Batch, units: Units
) -> ProductSums:
    """Let contributions of groups stand for themselves: no pair joins two of them (eq. 52)."""
    xp = array_namespace(contributions)
    assert batch.groups is not None
    halves = xp.concat([x.features, x.lap]), xp.concat([y.lap, y.features])
    centre = batch.halves.in_units(units, batch.groups, batch.halves.squares(*halves) / 4)
    return ProductSums(contributions, contributions, centre, np.ones((2, 2)), np.ones(2), {})


def _centre_of_groups(
    x: Residuals, y: Residuals, batch: Batch, units: Units, of_z: Any
) -> tuple[Any, float]:
    """Return the part of each unit in the centre, and the scale that gives products its size."""
    assert batch.groups is not None
    xp = array_namespace(x.alone)
    own = batch.own.squares(times(x.weighted, of_z), y.weighted)
    if isinstance(batch.pairs, StratumRows):
        return batch.own.in_units(units, batch.groups, own), 1.0
    squares = batch.cells.squares(times(x.alone, of_z), y.alone)  # theory.md, eq. 50
    of_samples, of_all = float(xp.sum(own)), float(xp.sum(squares))
    wider = (of_all / of_samples) ** 0.5 if of_samples > 0 else 1.0
    return batch.cells.in_units(units, batch.groups, squares), wider


def _functions_of_z(plan: Plan, batch: Batch) -> Any:
    assert plan.given.interactions is not None
    return plan.given.interactions(batch.z[batch.inside, ...])


def _weighted_by(of_z: Any, terms: Any) -> Any:
    return terms if of_z is None else terms * array_namespace(of_z).vecdot(of_z, of_z)
