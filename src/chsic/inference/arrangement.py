"""Samples arranged for a test: pairs by z, units that share a random sign, and batches of rows.

theory.md, section 5, has the rules.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from chsic._util.validate import Array, Index
from chsic.data.weights import effective_number
from chsic.inference.adjustment import (
    ADJUSTMENTS,
    Adjustment,
    NoAdjustment,
    StratumAdjustment,
)
from chsic.inference.batches import Batch, Strata, cut_into_batches
from chsic.inference.conditions import about_pairs, about_units, about_z
from chsic.inference.confounder import Confounder
from chsic.inference.echo import Nearby
from chsic.inference.fit_effects import FitEffects
from chsic.inference.given import Given
from chsic.inference.groups import groups_as_units
from chsic.inference.interactions import Interactions
from chsic.inference.learner import Learned
from chsic.inference.metric import join_metrics
from chsic.inference.pair_weights import PairWeights
from chsic.inference.pairing import choose_pairs
from chsic.inference.permutation_law import MOST_STRATA
from chsic.inference.plan import Conditioning, Masses, UnitKernel
from chsic.inference.regressions import CrossFittedAdjustment, RidgeAdjustment
from chsic.inference.succession import Succession
from chsic.inference.unit_kernels import unit_kernels
from chsic.inference.units import (
    LARGEST_NUMBER,
    WEIGHTED_NUMBER,
    Units,
    interleave,
    number_of_folds,
    number_of_units,
    unit_sums,
    units_along,
    units_in_space,
    units_in_strata,
)
from chsic.kernels.bandwidth import typical_distance
from chsic.pairs import PairGraph
from chsic.pairs.blocks import complete_in_blocks
from chsic.pairs.graph import some_pairs
from chsic.pairs.joint_variation import differ_in_both, vary_together

SOME_PAIRS = 100  # that show at once whether x and y vary together, if they often do


@dataclasses.dataclass(frozen=True, eq=False)
class Arrangement:
    """All samples of one z, as many variables as there are.

    Attributes
    ----------
    plan : Conditioning
        What is small of it.
    graph : PairGraph
        The pairs.
    strata : Strata or None
        If all pairs of equal z are compared.
    batches : sequence of Batch
        Rows that are worked on together.
    adjustments : tuple of Adjustment
        What makes residuals of each variable that was learned of; one for all of them if they share
        it.
    z_names : sequence of str
        Names of the confounders.
    effects : FitEffects
        What fits do to sums over pairs.
    some_pairs : pair of arrays of int
        A few of the pairs.
    weights : array or None
        Of samples, if they do not all weigh the same.
    nearby : Nearby or None
        Neighbours in z, whose values show what regressions miss; None if nothing is fitted.
    succession : Succession or None
        Rows as they follow each other; None if it is known how they depend on each other.
    """

    plan: Conditioning
    graph: PairGraph
    strata: Strata | None
    batches: Sequence[Batch]
    adjustments: tuple[Adjustment, ...]
    z_names: Sequence[str]
    effects: FitEffects
    some_pairs: tuple[Index, Index]
    weights: Array | None = None
    nearby: Nearby | None = None
    succession: Succession | None = None

    def vary_together(self, x: Array, y: Array) -> bool:
        """Tell whether any pair of samples differs in both x and y."""
        return differ_in_both(x, y, *self.some_pairs) or vary_together(self.graph, x, y)

    def adjustments_of(self, number: int) -> tuple[Adjustment, ...]:
        """Return an adjustment for each of some variables, which may share one."""
        shared = len(self.adjustments) == 1
        return self.adjustments * number if shared else self.adjustments


def arrange(
    given: Given,
    n: int,
    learned: Sequence[Learned],
    rng: np.random.Generator | None = None,
    *,
    closely: bool = False,
) -> Arrangement:
    """Choose pairs and units for n samples; with several columns of z, in learned metrics.

    Parameters
    ----------
    given : Given
        z, and the settings.
    n : int
        Samples that are compared.
    learned : sequence of Learned
        Metrics and regressions of the variables; with one column of z they may come later.
    rng : numpy.random.Generator, optional
        Draws the folds of a regressor of the user; nothing else depends on it.
    closely : bool
        Whether few neighbours are compared by default, as the regression of a variable misses
        something. `compares_closely` tells, of x or y alone: that does not touch the level.
    """
    if given.in_strata:
        return _in_strata(given, n)
    z, settings = given.confounder, given.settings
    assert z is not None
    rng = np.random.default_rng(0) if rng is None else rng
    adjustments, adjust = _adjustments(given, learned, rng)
    scaled, distance = z.scaled, given.z_distance
    if given.uses_ridge and scaled.shape[1] > 1:
        scaled = scaled @ join_metrics([one.turn for one in learned])  # theory.md, eq. 12
        distance = typical_distance(scaled) or 1.0
    line = _line(z) if z.on_line else None
    graph = choose_pairs(given, scaled, line, np.random.default_rng(0), closely)  # orders ties
    number = number_of_units(n, settings.unit_size)  # which hold whole blocks of pairs="blocks"
    grouped = given.groups is not None
    if given.groups is None:
        units = _choose_units(scaled, line, graph, number, given.kind == "blocks")
    else:  # units of whole groups are not near in z, so that there are no kernels between them
        units = groups_as_units(given.groups, number)
    weights = _pair_weights(given, graph)
    centres, some = units.means(scaled) / distance, some_pairs(graph)
    folds = _folds(given, units, n)
    narrow = wide = None
    if not grouped:
        narrow, wide = unit_kernels(centres, graph, units, some, weights)
    warnings = (
        *given.cautions,
        *about_units(units, given),
        *about_z(z),
        *about_pairs(some, scaled, distance, z.names),
    )
    plan = Conditioning(
        pairs=given.kind,
        adjust=adjust,
        in_strata=False,
        stratum_sizes=None,
        n_samples=n,
        n_pairs=graph.n_pairs,
        unit_sizes=units.sizes,
        fold_sizes=folds.sizes,
        unit_z=_z_of_units(units, z),
        narrow=narrow,
        wide=wide,
        interactions=(
            Interactions.of(z.scaled, given.z_distance, graph, weights)
            if given.has_interactions
            else None
        ),
        cautions=warnings,
        masses=_masses(given, units, folds, graph, weights),
        group_sizes=_group_sizes(given),
        within=given.within,
        n_effective=_n_effective(given),
    )
    rim = 2 if adjust == "none" else 1
    batches = cut_into_batches(
        graph, units, z.scaled, rim=rim, folds=folds, groups=_every_group(given),
        within=given.within, weights=weights, fit_weights=given.fit_weights,
    )  # fmt: skip
    along = line if z.categories is None else None
    # Neighbours of one group are related without any regression.
    nearby = None if adjust == "none" or grouped else Nearby(z.scaled, scaled, along, given.weights)
    return _arranged(given, plan, graph, None, batches, adjustments, nearby, weights)


def _in_strata(given: Given, n: int) -> Arrangement:
    """Compare all pairs, or all of equal z: there is nothing to adjust."""
    z, settings = given.confounder, given.settings
    adjust = settings.adjust
    if not (isinstance(adjust, str) and adjust in ("auto", "none")):
        raise ValueError(
            "adjust: pairs inside strata are exactly equal in z, so there is nothing to adjust; "
            "use adjust='none', or pairs='nearest'."
        )
    labels = np.zeros(n, np.intp) if z is None else z.strata
    if z is None and given.within:
        assert given.groups is not None
        labels = given.groups
    weights, grouped = given.weights, given.groups is not None
    most = LARGEST_NUMBER if weights is None or grouped else WEIGHTED_NUMBER
    number = number_of_units(n, settings.unit_size, most)
    in_strata = units_in_strata(labels, number, weights)
    units = in_strata if given.groups is None else groups_as_units(given.groups, number)
    same_stratum: UnitKernel | None = None
    n_strata = int(labels.max()) + 1
    if (
        1 < n_strata < len(units) and not grouped
    ):  # else no two units can be compared inside a stratum
        of_units = labels[units.order[units.bounds[:-1]]]
        same = (of_units[:, np.newaxis] == of_units).astype(np.float64)
        same_stratum = UnitKernel(same, 1.0)
    strata, graph = Strata(labels, in_strata.order, weights), complete_in_blocks(labels)
    folds, of_pairs = _folds(given, units, n), _pair_weights(given, graph)
    few = n_strata <= MOST_STRATA and not grouped and weights is None
    plan = Conditioning(
        pairs=given.kind,
        adjust="none",
        in_strata=True,
        stratum_sizes=strata.sizes if few else None,
        n_samples=n,
        n_pairs=graph.n_pairs,
        unit_sizes=units.sizes,
        fold_sizes=folds.sizes,
        unit_z=np.empty((len(units), 0)) if z is None else _z_of_units(units, z),
        narrow=same_stratum,
        wide=None,
        interactions=None,
        cautions=(*given.cautions, *about_units(units, given)),
        masses=_masses(given, units, folds, graph, of_pairs),
        group_sizes=_group_sizes(given),
        within=given.within,
        n_effective=_n_effective(given),
    )
    batches = cut_into_batches(
        graph, units, strata=strata, folds=folds, groups=_every_group(given),
        within=given.within, weights=of_pairs,
    )  # fmt: skip
    adjustment = StratumAdjustment(strata, of_columns=given.within)
    return _arranged(given, plan, graph, strata, batches, (adjustment,))


def _arranged(
    given: Given,
    plan: Conditioning,
    graph: PairGraph,
    strata: Strata | None,
    batches: Sequence[Batch],
    adjustments: tuple[Adjustment, ...],
    nearby: Nearby | None = None,
    weights: PairWeights | None = None,
) -> Arrangement:
    settings = given.settings
    settings.require_used(plan.pairs)
    if settings.augment is True and plan.narrow is None:
        why = (
            "a z that varies between units" if given.groups is None
            else "units that are near in z, which whole groups are not"
        )  # fmt: skip
        raise ValueError(f"augment: True needs {why}; use False or 'auto'.")
    few = some_pairs(graph, SOME_PAIRS)
    names = given.z_names
    effects = FitEffects(graph, weights, given.fit_weights)
    succession = None
    if given.groups is None:
        z = None if given.confounder is None or strata is not None else given.confounder.scaled
        labels = None if strata is None else strata.labels
        succession = Succession.of(plan.n_samples, given.order, z, labels, given.weights)
    return Arrangement(
        plan, graph, strata, batches, adjustments, names, effects, few, given.weights, nearby,
        succession,
    )  # fmt: skip


def _pair_weights(given: Given, graph: PairGraph) -> PairWeights | None:
    """Weigh pairs, if rows have weights (theory.md, eq. 55)."""
    if given.weights is None:
        return None
    return PairWeights.of(given.weights, graph, shared=given.kind in ("nearest", "blocks"))


def _masses(
    given: Given, units: Units, folds: Units, graph: PairGraph, weights: PairWeights | None
) -> Masses:
    """Return how much units, folds and pairs weigh (theory.md, eq. 58)."""
    n, groups = graph.n_samples, given.groups
    if given.weights is None or weights is None:
        own = float(n) if groups is None else float((np.bincount(groups).astype(float) ** 2).sum())
        sizes = units.sizes.astype(np.float64), folds.sizes.astype(np.float64)
        return Masses(*sizes, own, float(graph.n_pairs))
    squares = given.weights**2
    own_groups = np.arange(n) if groups is None else groups
    own = float((np.bincount(own_groups, squares) ** 2).sum())
    return Masses(unit_sums(units, squares), unit_sums(folds, squares), own, weights.total)


def _n_effective(given: Given) -> float | None:
    return None if given.weights is None else effective_number(given.weights)


def _folds(given: Given, units: Units, n: int) -> Units:
    """Return the folds of the jackknife, which hold whole groups."""
    number = number_of_folds(n)
    if given.groups is None:
        return interleave(units.order, number)
    return groups_as_units(given.groups, number)


def _group_sizes(given: Given) -> Index | None:
    return None if given.groups is None else np.bincount(given.groups)


def _every_group(given: Given) -> Units | None:
    return None if given.groups is None else groups_as_units(given.groups, len(given.groups))


def _z_of_units(units: Units, z: Confounder) -> Array:
    """Return the mean of numbers, and the one code of categories or NaN if a unit has several."""
    means = units.means(z.values)
    starts, last = units.bounds[:-1], len(units.order) - 1
    for position in np.flatnonzero(~z.is_number):
        codes = z.values[units.order, position]
        low, high = (
            ufunc.reduceat(codes, np.minimum(starts, last)) for ufunc in (np.minimum, np.maximum)
        )
        means[:, position] = np.where(low == high, low, np.nan)
    return means


def _line(z: Confounder) -> Index:
    return np.arange(len(z.values)) if z.is_along_line else z.along_line()


def _adjustments(
    given: Given, learned: Sequence[Learned], rng: np.random.Generator
) -> tuple[tuple[Adjustment, ...], str]:
    """Return what makes residuals given z, and what it is called."""
    adjust = given.settings.adjust
    assert given.confounder is not None
    z = given.confounder.scaled
    if isinstance(adjust, str):
        if adjust not in ADJUSTMENTS:
            known = ", ".join(map(repr, ADJUSTMENTS))
            raise ValueError(
                f"adjust: unknown choice {adjust!r}; known are {known}, or a scikit-learn "
                "regressor."
            )
        if adjust == "none":
            return (NoAdjustment(len(z)),), "none"
        return tuple(ridge_adjustment(given, one) for one in learned), "ridge"
    if not (hasattr(adjust, "fit") and hasattr(adjust, "predict")):
        raise TypeError(
            "adjust: expected 'auto', 'none', 'ridge' or a scikit-learn regressor with fit and "
            f"predict, got {adjust!r}."
        )
    if given.within:
        raise ValueError(
            "adjust: a regressor does not know that groups have levels of their own; use "
            "adjust='ridge' with within=True."
        )
    regressor = CrossFittedAdjustment(adjust, z, rng, given.groups, given.fit_weights)
    return (regressor,), type(adjust).__name__


def ridge_adjustment(given: Given, learned: Learned) -> RidgeAdjustment:
    """Return what makes residuals of a variable by its own regression."""
    assert given.confounder is not None
    groups = _every_group(given) if given.within else None
    return RidgeAdjustment(learned.ridge, given.confounder.scaled, groups, given.fit_weights)


def _choose_units(
    scaled: Array, line: Index | None, graph: PairGraph, number: int, whole_blocks: bool
) -> Units:
    if not whole_blocks:
        return units_in_space(scaled, number) if line is None else units_along(line, number)
    sizes = np.bincount(graph.blocks)
    centres = np.stack([np.bincount(graph.blocks, c) / sizes for c in scaled.T], axis=1)
    groups = _partition(centres, min(number, len(sizes)))
    of_block = np.empty(len(sizes), np.intp)
    of_block[groups.order] = np.repeat(np.arange(len(groups)), groups.sizes)
    return Units.of(of_block[graph.blocks])


def _partition(z: Array, number: int) -> Units:
    if z.shape[1] == 1:
        return units_along(np.argsort(z[:, 0], kind="stable"), number)
    return units_in_space(z, number)
