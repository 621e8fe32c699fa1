"""What z decides before x and y are compared: metric, adjustment, pairs and units."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from chsic._util.malloc import keep_freed_memory
from chsic._util.validate import Array, Index
from chsic.data.arguments import called
from chsic.inference.adjust import (
    ADJUSTMENTS,
    Adjuster,
    CrossFitted,
    RidgeAdjuster,
    StratumMeans,
    Unadjusted,
)
from chsic.inference.comparable import Pairs, resolve_pairs
from chsic.inference.confounder import Confounder
from chsic.inference.metric import Learned, Learner, join_metrics
from chsic.inference.strata import Strata
from chsic.inference.units import (
    Units,
    number_of_units,
    units_along,
    units_in_space,
    units_in_strata,
)
from chsic.kernels import KERNELS
from chsic.kernels.bandwidth import typical_distance
from chsic.pairs import PairGraph, closest_pairs
from chsic.pairs.blocks import blocks_in_space, blocks_on_line, complete_in_blocks
from chsic.pairs.graph import count_pairs, max_pairs, some_pairs
from chsic.pairs.in_space import closest_in_space
from chsic.pairs.nearest import nearest_in_categories, nearest_in_space, nearest_on_line
from chsic.pairs.strata import SMALLEST_STRATUM

ALPHA_ON_LINE = (12.0, 48.0)  # at least and at most, an eighth of the samples between
ALPHA_IN_SPACE = 24.0
BLOCK_SIZE = 8  # of pairs="blocks"
AUGMENT_WIDTH = 0.5  # of the kernel on z between units, in median distances
MANY_COLUMNS = 5
FEW_SAMPLES_A_COLUMN = 10
FEW_SAMPLES = 30  # of which one may well be far from the others
FEW_UNITS = 20
FAR_APART = 0.7  # of the median distance of any two samples
NO_COMPANY = 1e-6  # kernel on z between units below which they are unrelated


@dataclasses.dataclass(frozen=True, eq=False)
class Design:
    """How x and y, or any number of variables, are compared given z."""

    graph: PairGraph
    units: Units
    adjusters: tuple[Adjuster, ...]  # one for each variable
    kernel_on_z: Array | None  # between units
    centre_on_z: float  # what weighting by it leaves of the statistic under independence
    z_of_units: Array
    pairs: str
    adjust: str
    warnings: tuple[str, ...]
    strata: Strata | None = None  # if all pairs of equal z are compared


def make_design(
    variables: Sequence[Array],
    z: Confounder | None,
    *,
    pairs: Pairs,
    alpha: float | None,
    block_size: int | None,
    adjust: Any,
    rng: np.random.Generator,
    learned: Sequence[Learned] | None = None,
) -> Design:
    """Choose pairs, adjustment and units for variables, which are clean columns of numbers.

    Every sample has a partner, see `chsic.inference.comparable`.
    What a `Learner` of ``z.scaled`` has `learned` for each of them need not be learned again.
    """
    keep_freed_memory()  # from here on, large arrays come and go
    n = len(variables[0])
    if z is None:
        everything = np.zeros(n, np.intp)
        graph = complete_in_blocks(everything)
        units = units_in_strata(everything, number_of_units(n, block_size), rng)
        strata = Strata(everything, units.order)
        return Design(
            graph, units, (StratumMeans(strata),) * len(variables), None, 1.0,
            np.empty((len(units), 0)), "complete", "none", _few_units(units), strata,
        )  # fmt: skip
    resolved = resolve_pairs(pairs, z, may_be_strata(alpha, adjust))
    chosen = "given" if isinstance(resolved, PairGraph) else resolved
    if chosen == "strata":
        return _in_strata(len(variables), z, block_size, adjust, rng)
    adjusters, scaled, adjusted = _adjusters(variables, z.scaled, adjust, learned, rng)
    line = _line(z, rng) if z.on_line else None
    graph = _choose_pairs(z, scaled, line, pairs, chosen, alpha, block_size, rng)
    # The size of the blocks of pairs="blocks" is not that of units, which hold whole blocks.
    number = number_of_units(n, None if chosen == "blocks" else block_size)
    units = _choose_units(scaled, line, graph, number, chosen == "blocks")
    centres = units.means(scaled)
    centres /= AUGMENT_WIDTH * (typical_distance(scaled) or 1.0)  # z may be constant in these rows
    between = KERNELS["gaussian"].matrix(centres, centres)
    # Where no two units are near, as beside one that is far off, there is nothing to see.
    kernel = None if np.allclose(between, np.eye(len(units)), atol=NO_COMPANY) else between
    some = some_pairs(graph)
    found = (*_few_units(units), *_about_z(z), *_about_pairs(some, scaled))
    return Design(
        graph, units, adjusters, kernel, _centre_left(graph, units, between, some),
        _z_of_units(units, z), chosen, adjusted, found,
    )  # fmt: skip


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


def may_be_strata(alpha: float | None, adjust: Any) -> bool:
    """Whether nothing was asked for that samples of equal z alone do not have."""
    return alpha is None and isinstance(adjust, str) and adjust in ("auto", "none")


def decided_by_z(z: Confounder | None, pairs: Pairs) -> bool:
    """Whether the default design is the same for all variables: no metric is learned for them."""
    return z is None or pairs == "strata" or z.scaled.shape[1] == 1


def _centre_left(graph: PairGraph, units: Units, kernel: Array, some: tuple[Index, Index]) -> float:
    """Return what a kernel between units leaves of sum_ij Lap_ij^2.

    A pair's term is half that of its one sample's unit and half that of the other's, so that it is
    weighted by (1 + kernel) / 2 in all. Its mean over pairs is seen on some of them.
    """
    i, j = some
    if not len(i):
        return 1.0
    of_unit = np.empty(graph.n_samples, np.intp)
    of_unit[units.order] = np.repeat(np.arange(len(units)), units.sizes)
    lost = float(np.mean(1 - kernel[of_unit[i], of_unit[j]]))
    partners = graph.degrees.astype(np.float64)
    return 1 - lost * graph.n_pairs / float((partners**2 + partners).sum())


def _line(z: Confounder, rng: np.random.Generator) -> Index:
    return np.arange(len(z.values)) if z.is_along_line else z.along_line(rng)


def _in_strata(
    n_variables: int, z: Confounder, block_size: int | None, adjust: Any, rng: np.random.Generator
) -> Design:
    """Pairs inside strata are equal in z: there is nothing to adjust."""
    if not (isinstance(adjust, str) and adjust in ("auto", "none")):
        raise ValueError(
            "adjust: pairs inside strata are exactly equal in z, so there is nothing to adjust; "
            "use adjust='none', or pairs='nearest'."
        )
    strata = z.strata
    units = units_in_strata(strata, number_of_units(len(strata), block_size), rng)
    of_units = strata[units.order[units.bounds[:-1]]]
    kernel: Array | None = (of_units[:, np.newaxis] == of_units).astype(np.float64)
    if strata.max() == 0 or strata.max() + 1 >= len(units):  # no two units to compare inside one
        kernel = None
    of_rows = Strata(strata, units.order)
    return Design(
        complete_in_blocks(strata), units, (StratumMeans(of_rows),) * n_variables,
        kernel, 1.0, _z_of_units(units, z), "strata", "none", _few_units(units), of_rows,
    )  # fmt: skip


def _adjusters(
    variables: Sequence[Array],
    z: Array,
    adjust: Any,
    learned: Sequence[Learned] | None,
    rng: np.random.Generator,
) -> tuple[tuple[Adjuster, ...], Array, str]:
    """Return what takes off z's influence, and z in the metric in which pairs are chosen."""
    if isinstance(adjust, str):
        if adjust not in ADJUSTMENTS:
            known = ", ".join(map(repr, ADJUSTMENTS))
            raise ValueError(
                f"adjust: unknown choice {adjust!r}; known are {known}, or a scikit-learn "
                "regressor."
            )
        if adjust == "none":
            return (Unadjusted(len(z)),) * len(variables), z, "none"
        if learned is None:
            learner = Learner(z)
            learned = [learner.of(values) for values in variables]
        turns, smoothers = zip(*learned, strict=True)
        return tuple(map(RidgeAdjuster, smoothers)), z @ join_metrics(turns), "ridge"
    if not (hasattr(adjust, "fit") and hasattr(adjust, "predict")):
        raise TypeError(
            "adjust: expected 'auto', 'none', 'ridge' or a scikit-learn regressor with fit and "
            f"predict, got {adjust!r}."
        )
    fitted = CrossFitted(adjust, z, rng)
    return (fitted,) * len(variables), z, type(adjust).__name__


def default_alpha(n: int, d: int) -> float:
    """Return how many neighbours a sample is paired with if nobody says."""
    least, most = ALPHA_ON_LINE
    return min(float(np.clip(n // 8, least, most)) if d == 1 else ALPHA_IN_SPACE, n - 1)


def _choose_pairs(
    z: Confounder,
    scaled: Array,
    line: Index | None,
    pairs: Pairs,
    chosen: str,
    alpha: float | None,
    block_size: int | None,
    rng: np.random.Generator,
) -> PairGraph:
    if isinstance(pairs, PairGraph):
        return pairs
    n = len(scaled)
    if chosen == "blocks":
        size = BLOCK_SIZE if block_size is None else block_size
        if not 2 <= size <= n // 2:
            raise ValueError(
                f"block_size: pairs='blocks' needs between 2 and n / 2 = {n // 2} samples in a "
                f"block, got {size}."
            )
        on_line = scaled.shape[1] == 1
        cut = (
            blocks_on_line(scaled[:, 0], size, rng)
            if on_line
            else blocks_in_space(scaled, size, rng)
        )
        return complete_in_blocks(cut)
    if alpha is None:
        alpha = default_alpha(n, z.numbers.shape[1])
    count = count_pairs(n, alpha)
    if chosen == "closest":
        if scaled.shape[1] == 1 or count == max_pairs(n):
            return closest_pairs(scaled, alpha, rng=rng)
        i, j = closest_in_space(scaled, np.ones(scaled.shape[1]), count, rng)
        return PairGraph.from_listed(np.minimum(i, j), np.maximum(i, j), n)
    if line is not None:
        return nearest_on_line(line, alpha, z.categories)
    if z.categories is not None:
        return nearest_in_categories(scaled, z.categories, alpha, rng)
    return nearest_in_space(scaled, alpha, rng)


def _choose_units(
    scaled: Array, line: Index | None, graph: PairGraph, number: int, whole_blocks: bool
) -> Units:
    if whole_blocks:  # never cut a block
        sizes = np.bincount(graph.blocks)
        centres = np.stack([np.bincount(graph.blocks, c) / sizes for c in scaled.T], axis=1)
        groups = _partition(centres, min(number, len(sizes)))
        of_block = np.empty(len(sizes), np.intp)
        of_block[groups.order] = np.repeat(np.arange(len(groups)), groups.sizes)
        labels = of_block[graph.blocks]
        bounds = np.concatenate([[0], np.cumsum(np.bincount(labels))])
        return Units(np.argsort(labels, kind="stable"), bounds)
    return units_in_space(scaled, number) if line is None else units_along(line, number)


def _partition(z: Array, number: int) -> Units:
    if z.shape[1] == 1:
        return units_along(np.argsort(z[:, 0], kind="stable"), number)
    return units_in_space(z, number)


def _few_units(units: Units) -> tuple[str, ...]:
    if len(units) >= FEW_UNITS:
        return ()
    remedy = "more samples are needed" if units.sizes.max() == 1 else "use a smaller block_size"
    return (f"Only {len(units)} units have a random sign, so that p-values are coarse; {remedy}.",)


def _about_z(z: Confounder) -> tuple[str, ...]:
    found = []
    n, d = z.values.shape
    if n < FEW_SAMPLES_A_COLUMN * d:
        found.append(
            f"z has {d} columns for {n} samples: too few to tell what z explains; do not trust the "
            "p-value."
        )
    elif d >= MANY_COLUMNS:
        found.append(
            f"z has {d} columns: samples are far apart in z, and the p-value leans on the "
            "regression; if x and y follow many of them, it may be far too small."
        )
    if n >= FEW_SAMPLES:
        found += [f"{called('z', column)}: {text}" for column, text in z.far_values]
    tied = float((np.bincount(z.strata)[z.strata] >= SMALLEST_STRATUM).mean())
    if tied > 0.5:
        found.append(
            f"{tied:.0%} of the samples share their z with two others or more, but z was treated "
            "as continuous; if its values are names, say that it is a category."
        )
    return tuple(found)


def _about_pairs(some: tuple[Index, Index], z: Array) -> tuple[str, ...]:
    """Say if partners are hardly closer in z than any two samples."""
    i, j = some
    if not len(i):
        return ()
    near = float(np.median(np.linalg.norm(z[i] - z[j], axis=1)))
    ratio = near / (typical_distance(z) or 1.0)
    if ratio <= FAR_APART:
        return ()
    return (
        f"Pairs are far apart in z: their median distance is {ratio:.0%} of that of any two "
        "samples, so pruning takes off little of z's influence.",
    )
