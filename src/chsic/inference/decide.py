"""Decide: from the sums of all rows to p-values, coefficient, profile and cautions.

theory.md, sections 6 to 11, has the formulas; p-values are made in `chsic.inference.null`, and the
interval in `chsic.inference.result`.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from chsic._util.validate import Array
from chsic.inference import cautions
from chsic.inference.null import (
    MOST_FOR_ALL,
    JointNull,
    Law,
    joint_from_laws,
    joint_null,
    pvalue_of_units,
)
from chsic.inference.permutation_law import PermutationLaw
from chsic.inference.plan import Along, FitEffect, Plan
from chsic.inference.result import IndependenceResult, Member, Profile
from chsic.inference.sums import ProductSums, Sums

ROUNDING = 64 * float(np.finfo(np.float64).eps)  # of sums over units, relative
MISSED_MUCH = 0.1  # of a kernel by its features
ALL_SIGNS = 2 ** (MOST_FOR_ALL - 1)  # of few groups
SMALL = 0.1  # p-values that may be smaller than the data can support
# Variance of permutations over that of normal features, above which a few samples decide.
LUMPY = 1.5


def decide(
    plan: Plan,
    sums: Sums | None,
    rng: np.random.Generator,
    table_pvalue: Callable[[], float] | None = None,
) -> IndependenceResult:
    """Decide from the sums of all rows.

    Parameters
    ----------
    plan : Plan
        What the sums were made with.
    sums : Sums or None
        Those of all rows; None if nothing can be compared, see `comparable`.
    rng : numpy.random.Generator
        Draws random signs, if they are asked for.
    table_pvalue : callable, optional
        Where all pairs of equal z are compared, the smallest p-value that permutations inside
        strata can have; it takes a pass over the data, and is asked for if the p-value is small.

    Returns
    -------
    IndependenceResult
    """
    if sums is None:
        return _nothing_compared(plan)
    grams = [
        unit_grams(own, effect) for own, effect in zip(sums.between, plan.effects, strict=True)
    ]
    in_folds = (
        unit_grams(sums.in_folds, plan.effects[plan.x.middle]),
        unit_grams(sums.of_x, plan.effect_x),
        unit_grams(sums.of_y, plan.effect_y),
    )
    of_kernels = [grams[member.kernel] for member in plan.members]
    members = [
        gram.weighted(*_kernel_on_z(plan, member.along))
        for gram, member in zip(of_kernels, plan.members, strict=True)
    ]
    weights = [member.weight for member in plan.members]
    law = _permutation_law(plan, sums)
    if law is None:
        centred = [member.centred for member in members]
        null = joint_null(
            centred,
            [member.null for member in members],
            weights=weights,
            method=plan.null,
            n_resamples=_number_of_signs(plan),
            rng=rng,
        )
    else:
        centred = [
            member.less(mean) for member, mean in zip(members, law.means.tolist(), strict=True)
        ]
        null = joint_from_laws(np.array(centred), law.laws, law.correlations, law.least, weights)
    if not plan.given.are_exchangeable:
        null = null.at_least([pvalue_of_units(gram.null) for gram in of_kernels])
    elif table_pvalue is not None and null.pvalue <= SMALL:
        null = null.at_least([table_pvalue()] * len(members))
    return _result(plan, grams, in_folds, members, centred, null)


def _permutation_law(plan: Plan, sums: Sums) -> PermutationLaw | None:
    """Return the law under permutations within strata, if there are any and it has a simple shape.

    Where a few samples decide, three moments say little of it, and signs take its place.
    """
    sizes = plan.given.stratum_sizes
    if sizes is None or plan.null not in ("auto", "pearson3"):
        return None
    assert sums.strata_x is not None
    assert sums.strata_y is not None
    inside = [(member.kernel, member.along is Along.NARROW) for member in plan.members]
    law = PermutationLaw.of(sums.strata_x, sums.strata_y, sizes, inside)
    return law if law.lumpiness <= LUMPY else None


def _number_of_signs(plan: Plan) -> int:
    """Return how many signs may be gone through: all there are of few groups."""
    given = plan.given
    few = given.group_sizes is not None and len(given.unit_sizes) <= MOST_FOR_ALL
    return max(plan.n_resamples, ALL_SIGNS) if few and plan.null == "auto" else plan.n_resamples


def comparable(plan: Plan) -> bool:
    """Whether anything is left of x and of y given z, and they vary together."""
    return bool(plan.x.kernels and plan.y.kernels) and plan.vary_together


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

    def weighted(self, kernel: Array | None, null_scale: float, centre_share: float) -> UnitGrams:
        """Weight pairs of units by a kernel on z, which is 1 for a unit with itself.

        `null_scale` comes from `unit_scale`; `centre_share` is what weighting leaves of the centre.
        """
        if kernel is None:
            return UnitGrams(self.observed, self.null * null_scale, self.centre * centre_share)
        # theory.md, eqs. 30, 28 and 29
        null = self.null * kernel * null_scale
        return UnitGrams(self.observed * kernel, null, self.centre * centre_share)

    @property
    def statistic(self) -> float:
        """Sum of the observed inner products: T of theory.md, eq. 18."""
        return float(self.observed.sum())

    @functools.cached_property
    def centred(self) -> float:
        """The statistic less its expectation under conditional independence (theory.md, eq. 31).

        Where one unit alone has anything to contribute, the two are equal up to rounding.
        """
        return self.less(float(self.centre.sum()))

    def less(self, centre: float) -> float:
        """Return the statistic less an expectation, and zero if that is nothing but rounding."""
        statistic = float(self.observed.sum())
        rounding = ROUNDING * (float(np.abs(self.observed).sum()) + centre)
        return statistic - centre if abs(statistic - centre) > rounding else 0.0

    def leave_one_out(self) -> Array:
        """Return the centred statistic without each of the units or folds (theory.md, eq. 41)."""
        sums = self.observed.sum(axis=1) + self.observed.sum(axis=0)
        without: Array = self.centred - (sums - np.diag(self.observed) - self.centre)
        return without


def unit_scale(kernel: Array | None, masses: Array, own_pairs: float) -> float:
    """Return by how much the null is too narrow, as the sign of a unit is that of all its samples.

    The statistic varies by products of two samples of one unit as well, which a sign for the unit
    does not see: the null is scaled to have their variance, too (theory.md, eq. 30). Products of
    samples with themselves, or with their own group, are no part of it.
    """
    both = np.outer(masses, masses)
    between = both if kernel is None else kernel**2 * both
    all_pairs = between.sum() - own_pairs
    return float(np.sqrt(all_pairs / (between.sum() - np.diag(between).sum())))


def _kernel_on_z(plan: Plan, along: Along) -> tuple[Array | None, float, float]:
    """Return the kernel on z of a kind of members, and the scales that belong to it."""
    given, masses = plan.given, plan.given.masses
    kernel = {Along.NARROW: given.narrow, Along.WIDE: given.wide}.get(along)
    if kernel is not None:
        scale = unit_scale(kernel.values, masses.units, masses.own_pairs)
        return kernel.values, scale, kernel.centre_share
    interactions = given.interactions if along is Along.FEATURES else None
    share = 1.0 if interactions is None else interactions.centre_share
    return None, unit_scale(None, masses.units, masses.own_pairs), share


def unit_grams(sums: ProductSums, effect: FitEffect) -> UnitGrams:
    """Make Gram matrices of units, on the scale that differences over pairs show."""
    observed = sums.contributions @ sums.contributions.T  # theory.md, eq. 18
    # rho of theory.md, eq. 23
    by_pairs, alone = (sums.spreads / [[effect.of_x, 1], [effect.of_y, 1]]).prod(axis=0)
    scale = effect.of_both * (by_pairs / alone if alone > 0 else 1.0)
    centre = scale * sums.centre  # theory.md, eq. 24
    if sums.products is None:
        return UnitGrams(observed, np.zeros_like(observed), centre)
    of_sample, over_pairs = sums.over_pairs
    # Pairs in different parts of a stratum: the product of sums less the sum of products.
    parts = sums.parts.values()
    over_pairs = over_pairs + sum(of_x * of_y - inside for of_x, of_y, inside in parts)
    wider = max(1.0, over_pairs / of_sample) if of_sample > 0 else 1.0  # theory.md, eq. 26
    # theory.md, eq. 27
    return UnitGrams(observed, wider * scale * (sums.products @ sums.products.T), centre)


def _result(
    plan: Plan,
    grams: Sequence[UnitGrams],
    in_folds: tuple[UnitGrams, UnitGrams, UnitGrams],
    members: Sequence[UnitGrams],
    centred: Sequence[float],
    null: JointNull,
) -> IndependenceResult:
    scale = 4.0 * plan.given.masses.pairs**2
    kernels = list(zip(plan.x.kernels, plan.y.kernels, strict=True))
    family = tuple(
        Member(
            bandwidth=(kernels[k][0].bandwidth, kernels[k][1].bandwidth),
            augmented=along is not Along.NOTHING,
            statistic=member.statistic / scale,
            pvalue=p,
            weight=weight,
        )
        for (k, along, weight), member, p in zip(
            plan.members, members, null.member_pvalues, strict=True
        )
    )
    middle = grams[plan.x.middle]
    given = plan.given
    in_folds_scale = unit_scale(None, given.masses.folds, given.masses.own_pairs)
    coefficient, leave_one_out, spread = _coefficient(*in_folds, in_folds_scale)
    # theory.md, eq. 45, with the centre below
    symmetric = (middle.observed.sum(axis=1) + middle.observed.sum(axis=0)) / 2
    winner = null.winner
    sentences = []
    if any(gram.centred <= 0 for gram in in_folds[1:]):
        sentences.append(cautions.no_coefficient())
    if max(kernel.missed for kernel in (*plan.x.kernels, *plan.y.kernels)) > MISSED_MUCH:
        sentences.append(cautions.fine_structure(plan.names["x"], plan.names["y"]))
    return IndependenceResult(
        statistic=family[winner].statistic,
        pvalue=null.pvalue,
        estimate=centred[winner] / scale,
        coefficient=coefficient,
        null_distribution=null.draws / scale,
        profile=Profile(z=plan.given.unit_z, contribution=(symmetric - middle.centre) / scale),
        bandwidths=tuple((x.bandwidth, y.bandwidth) for x, y in kernels if not x.of_values),
        bandwidth=family[winner].bandwidth,
        members=family,
        winner=winner,
        engine="features",
        null=null.method,
        leave_one_out=leave_one_out,
        null_spread=spread,
        **_circumstances(plan, sentences),
    )


def _coefficient(
    between: UnitGrams, of_x: UnitGrams, of_y: UnitGrams, null_scale: float
) -> tuple[float, Array, float]:
    """Return D(x, y) / sqrt(D(x, x) D(y, y)), also without each of the folds, and its null spread.

    The last is its standard deviation under conditional independence: the square root of phi_0 of
    theory.md, eq. 43.
    """
    d_xx, d_yy = of_x.centred, of_y.centred
    if d_xx <= 0 or d_yy <= 0:
        return 0.0, np.empty(0), 1.0  # too few samples to see x or y vary given z
    without_x = np.maximum(of_x.leave_one_out(), 1e-6 * d_xx)
    without_y = np.maximum(of_y.leave_one_out(), 1e-6 * d_yy)
    scale = (d_xx * d_yy) ** 0.5
    spread = Law.of(between.null * null_scale).scale / scale
    return (
        float(np.clip(between.centred / scale, -1, 1)),  # theory.md, eq. 40
        np.clip(between.leave_one_out() / np.sqrt(without_x * without_y), -1, 1),  # and eq. 41
        min(spread, 1.0),
    )


def _nothing_compared(plan: Plan) -> IndependenceResult:
    """Say that x or y is a function of z, or that they never vary together."""
    both_vary = plan.x.kernels and plan.y.kernels
    return IndependenceResult(
        statistic=0.0,
        pvalue=1.0,
        estimate=0.0,
        coefficient=0.0,
        null_distribution=np.zeros(1),
        profile=Profile(z=plan.given.unit_z, contribution=np.zeros(len(plan.given.unit_sizes))),
        bandwidths=(),
        bandwidth=(0.0, 0.0),
        members=(),
        winner=-1,
        engine="none",
        null="none",
        leave_one_out=np.empty(0),
        null_spread=1.0,
        **_circumstances(plan, [cautions.never_together(**plan.names)] if both_vary else []),
    )


def _circumstances(plan: Plan, sentences: list[str]) -> dict[str, Any]:
    """Return what a result tells of the data and the settings, whatever the answer is."""
    given = plan.given
    omitted = [cautions.rows_omitted(plan.n_omitted)] if plan.n_omitted else []
    stretches = plan.stretches
    cut = stretches is not None and stretches.is_cut
    return {
        "n_samples": plan.n_samples,
        "n_effective": plan.n_effective,
        "n_omitted": plan.n_omitted,
        "n_groups": plan.n_groups,
        "stretch": None if stretches is None else stretches.length,
        "stretch_unit": "" if stretches is None else stretches.unit,
        "within": given.within,
        "names": plan.names,
        "kinds": plan.kinds,
        "levels": plan.levels,
        "kernels": plan.kernels,
        "n_pairs": given.n_pairs,
        "alpha": 2 * given.n_pairs / given.n_samples,
        "unit_size": given.n_samples / len(given.unit_sizes),
        "explained": {"x": plan.x.explained, "y": plan.y.explained},
        "jumps": {"x": plan.x.jumps, "y": plan.y.jumps},
        "pairs": given.pairs,
        "adjust": given.adjust,
        "warnings": (
            *omitted,
            *plan.x.cautions,
            *plan.y.cautions,
            *sentences,
            *([cautions.long_memory()] if cut else []),
            *given.cautions,
        ),
    }
