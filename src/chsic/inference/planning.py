"""Plan one variable: residuals given z, bandwidths, features and their fits."""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from chsic._util.arrays import Rows
from chsic._util.parallel import in_order
from chsic._util.validate import Array
from chsic.data.arguments import Columns
from chsic.data.cleaning import has_far_values
from chsic.inference import cautions
from chsic.inference.adjustment import Adjustment, Fit, Fitted, all_residuals
from chsic.inference.plan import AsTheyAre, KernelPlan, PlannedVariable, VariablePlan
from chsic.inference.ridge_fit import RidgeFit
from chsic.inference.variable import (
    LARGEST_RANK,
    Description,
    Scaling,
    Variable,
)
from chsic.kernels import GAUSSIAN, KERNELS, Kernel
from chsic.kernels.bandwidth import (
    TYPICAL_PAIRS,
    Bandwidth,
    bandwidth_of,
    require_several,
    some_distances,
    typical_distance,
    variances,
)
from chsic.kernels.features import candidate_rows, fit_landmarks, kernel_matrix
from chsic.kernels.of_samples import AnyKernel, SampleKernel, require_kernel
from chsic.pairs import PairGraph
from chsic.pairs.graph import some_pairs
from chsic.pairs.laplacian import laplacian_times

# Of the median distance: fine structure, the bulk, a trend (theory.md, eq. 13).
MULTIPLES = (0.6, 1.2, 5.0)
# Of the median distance of values as they are, whose products are multiplied by functions of z.
INTERACTION_MULTIPLE = 2.0
LARGEST_INTERACTION_RANK = 12  # features, of which there is a product for each function of z
LANDMARK_CANDIDATES = 200  # samples that landmarks are chosen from
SMALLEST_RESOLUTION = 1e-8
FEWEST_ALIKE = 1.5  # other samples within a bandwidth
WIDEST = 1e4  # bandwidth, in units of the largest distance
MOSTLY_DIFFERENT = 0.9  # share of pairs of different values from which on a variable is continuous
FIT_DECIDES = 0.5  # distance of residuals below which the fit makes it, in that of values
TOL = 1e-4  # share of a kernel's trace that features may miss, by default
# Distances behind a bandwidth, for each sample and at most: so many that their median varies less
# than the data make it vary, as what varies in a bandwidth varies in the coefficient.
PAIRS_A_SAMPLE, MOST_PAIRS = 20, 100_000
NO_VARIANCE = 1e-20  # of a column's variance: it is a function of z up to rounding
LITTLE_VARIANCE = 1e-4  # so little that a regression may not tell it from its own error
FEW_SAMPLES = 30  # of which one may well be far from the others


@dataclasses.dataclass(frozen=True)
class Multiples:
    """Bandwidths as multiples of the median distance between samples of x, and of y."""

    values: tuple[float, ...]


Bandwidths: TypeAlias = Bandwidth | Multiples | list[Bandwidth]


def plan_variable(
    argument: str,
    variable: Variable,
    named: Columns,
    adjustment: Adjustment,
    graph: PairGraph | None,
    z_names: Sequence[str],
    *,
    kernel: AnyKernel = GAUSSIAN,
    bandwidth: Bandwidths = "auto",
    tol: float = TOL,
    interactions: bool = False,
    weights: Array | None = None,
    workers: int = 1,
) -> PlannedVariable:
    r"""Decide how a variable is compared: residuals given z, bandwidths, features and their fits.

    A pair of bandwidths is for the `argument`\ s "x" and "y". For `interactions` with z values are
    compared as they are, as well. With `weights`, scales are those of the weighted population.
    """
    if isinstance(kernel, SampleKernel):
        return _plan_features(
            argument, variable, named, adjustment, graph, z_names, interactions, weights, workers
        )
    values, share = _residuals(variable, adjustment, graph, workers)
    scaling = variable.scaling
    assert isinstance(scaling, Scaling)
    warnings = _cautions(variable, named, z_names, share)
    (compared,) = np.nonzero(share > NO_VARIANCE)
    fit = values.fitted.fit if adjustment.of_columns else None
    explained = _explained(variable, values, share, weights)
    jumps = _jumps(fit)
    if not len(compared):
        none = np.empty(0)
        plan = VariablePlan(scaling, fit, compared, none, none, (), warnings, explained, jumps)
        nothing = np.empty((len(variable.columns), 0))
        return PlannedVariable(plan, variable.columns, nothing, (), depends_on_pairs=True)
    remainder = values.residuals if adjustment.of_columns else variable.columns
    before, origin = variable.columns, scaling.origin
    if len(compared) < remainder.shape[1]:
        remainder, before, origin = remainder[:, compared], before[:, compared], origin[compared]
    # Standard deviation of every column, that of a category being over all its indicators.
    spread = np.sqrt(np.bincount(origin, variances(remainder, weights))[origin])
    centre = np.median(remainder, axis=0)
    standardised = remainder - centre
    standardised /= spread
    unit = scaling.unit * float(spread[0]) if len(spread) == 1 else 1.0
    depends_on_pairs, of_values = not adjustment.of_columns, 0.0
    n_pairs = max(TYPICAL_PAIRS, min(PAIRS_A_SAMPLE * len(before), MOST_PAIRS))
    if adjustment.of_columns and graph is not None:
        depends_on_pairs, of_values = _distance_between_values(before, spread, graph, n_pairs)
    apart = typical_distance(standardised, n_pairs, before, weights)  # mu of theory.md, eq. 13
    apart = of_values if apart < FIT_DECIDES * of_values else apart
    widths = _widths(argument, standardised, unit, apart, kernel, bandwidth, n_pairs)
    # Levels without a feature of their own would be alike, and which ones these are depends on z:
    # with 75 levels and 64 features, a third of all true nulls was rejected.
    rank = max(LARGEST_RANK, scaling.most_levels + 1)
    kernels, features = _plan_kernels(
        argument, standardised, kernel, widths, unit, apart, adjustment, tol, workers, rank
    )
    if interactions:
        own, fitted = _plan_interaction(argument, variable, kernel, adjustment, tol, weights)
        kernels, features = (*kernels, own), (*features, fitted)
    plan = VariablePlan(scaling, fit, compared, centre, spread, kernels, warnings, explained, jumps)
    return PlannedVariable(plan, variable.columns, standardised, features, depends_on_pairs)


def _plan_features(
    argument: str,
    variable: Variable,
    named: Columns,
    adjustment: Adjustment,
    graph: PairGraph | None,
    z_names: Sequence[str],
    interactions: bool,
    weights: Array | None,
    workers: int,
) -> PlannedVariable:
    """Take off what z explains of features of a kernel of samples: there are no residuals of those.

    A regression of the samples themselves would make no sample of what they are: no text, no
    probabilities.
    """
    features, description = variable.columns, variable.scaling
    assert isinstance(description, Description)
    values, shares = _residuals(variable, adjustment, graph, workers)
    explained = _explained(variable, values, shares, weights)
    sizes = features.var(axis=0)
    share = float(shares @ sizes) / max(float(sizes.sum()), 1e-300)
    name = named[0].name if len(named) == 1 else argument
    warnings, fitted = _about_z(name, z_names, share), values.fitted
    landmarks = AsTheyAre(description.features.rounding)
    kernel = KernelPlan(1.0, 1.0, landmarks, description.features.missed, fitted.fit)
    varies = share > NO_VARIANCE
    d, kernels, known = features.shape[1], [kernel] * varies, [fitted] * varies
    if varies and interactions:
        first = features[:, :LARGEST_INTERACTION_RANK]
        landmarks = AsTheyAre(landmarks.rounding[: first.shape[1]])
        known.append(adjustment.fit(first.__getitem__))
        fit = known[-1].fit
        kernels.append(KernelPlan(1.0, 1.0, landmarks, kernel.missed, fit, of_values=True))
    plan = VariablePlan(
        description, None, np.arange(d), np.zeros(d), np.ones(d), tuple(kernels), warnings,
        explained, _jumps(fitted.fit),
    )  # fmt: skip
    return PlannedVariable(plan, features, features, tuple(known), not adjustment.of_columns)


@dataclasses.dataclass(frozen=True, eq=False)
class _ColumnFit:
    fitted: Fitted
    residuals: Array


def _residuals(
    variable: Variable, adjustment: Adjustment, graph: PairGraph | None, workers: int
) -> tuple[_ColumnFit, Array]:
    """Return the residuals of columns given z, and the share of the variance that is left.

    Without a regression, differences to the mean of the partners tell what remains.
    """
    columns = variable.columns
    targets = variable.clipped.__getitem__
    fitted = adjustment.fit(targets)
    residuals, noise = fitted.residuals, fitted.noise
    if residuals is None:
        residuals, noise = all_residuals(fitted, targets, adjustment, workers)
    if variable.clipped is not columns:
        residuals = residuals + (columns - variable.clipped)
    alone = residuals
    if noise is None and graph is not None:
        alone = laplacian_times(graph, residuals) / np.maximum(graph.degrees, 1)[:, np.newaxis]
    sizes = columns.var(axis=0)
    share = np.divide(alone.var(axis=0), sizes, where=sizes > 0, out=np.zeros(len(sizes)))
    return _ColumnFit(fitted, residuals), share


def _explained(
    variable: Variable, values: _ColumnFit, share: Array, weights: Array | None
) -> float:
    """Return the share of the variance that z explains, in samples that are not fitted if known."""
    sizes = variances(variable.clipped, weights)
    total = float(sizes.sum())
    if not total > 0:
        return 0.0
    fit = values.fitted.fit
    left = fit.error if isinstance(fit, RidgeFit) else float(share @ sizes)
    return float(np.clip(1 - left / total, 0.0, 1.0))


def _jumps(fit: Fit | None) -> int:
    return len(fit.basis.steps) if isinstance(fit, RidgeFit) else 0


def _cautions(
    variable: Variable, named: Columns, z_names: Sequence[str], share: Array
) -> tuple[str, ...]:
    assert isinstance(variable.scaling, Scaling)
    origin = variable.scaling.origin
    sentences: list[str] = []
    if len(variable.columns) >= FEW_SAMPLES:
        for k, position in enumerate(origin):
            values = variable.columns[:, k]
            if named[position].kind == "number" and has_far_values(values):
                sentences.append(cautions.far_values(named[position].name, values))
    for position in np.unique(origin[share <= LITTLE_VARIANCE]):
        most, name = float(share[origin == position].max()), named[position].name
        sentences += _about_z(name, z_names, most)  # none if other levels of the category vary
    return tuple(sentences)


def _about_z(name: str, z_names: Sequence[str], share: float) -> tuple[str, ...]:
    """Say what follows if little of the variance is left."""
    if share > LITTLE_VARIANCE:
        return ()
    if share > NO_VARIANCE:
        return (cautions.nearly_function_of_z(name, z_names, share),)
    return (cautions.function_of_z(name, z_names),)


def _plan_interaction(
    argument: str,
    variable: Variable,
    kernel: Kernel,
    adjustment: Adjustment,
    tol: float,
    weights: Array | None,
) -> tuple[KernelPlan, Fitted]:
    """Plan the kernel of values as they are: z may change more of them than their mean.

    Where y follows x^2 times z, x^2 holds twice the mean of x given z times its residual, too.
    """
    assert isinstance(variable.scaling, Scaling)
    apart = typical_distance(variable.columns, weights=weights)
    unit = variable.scaling.unit
    [of_values], [fitted] = _plan_kernels(
        argument, variable.columns, kernel, [INTERACTION_MULTIPLE * apart], unit, apart, adjustment,
        tol, 1, LARGEST_INTERACTION_RANK,
    )  # fmt: skip
    return dataclasses.replace(of_values, of_values=True), fitted


def _plan_kernels(
    argument: str,
    values: Array,
    kernel: Kernel,
    widths: list[float],
    unit: float,
    apart: float,
    adjustment: Adjustment,
    tol: float,
    workers: int,
    largest_rank: int,
) -> tuple[tuple[KernelPlan, ...], tuple[Fitted, ...]]:
    """Choose landmarks for kernels of standardised columns, and fit what z explains of them."""
    candidates = _shuffled(values[candidate_rows(values, LANDMARK_CANDIDATES)])
    kappa_0 = _kappa(kernel, 0.0)
    if kernel not in KERNELS.values():
        for width in widths:
            matrix = kernel_matrix(kernel, candidates / width, candidates / width)
            require_kernel(argument, f"{kernel.name}(s)", matrix)

    def plan(width: float) -> tuple[KernelPlan, Fitted]:
        # What a kernel tells apart, 1 - kappa, is all there is: wide ones need exact features.
        resolution = kappa_0 - _kappa(kernel, apart / width)
        accuracy = tol * max(resolution, SMALLEST_RESOLUTION * kappa_0)
        # The kernel of theory.md, eq. 14, by the features of eq. 15.
        landmarks, missed = fit_landmarks(
            candidates / width, kernel, accuracy, largest_rank, len(candidates)
        )
        missed /= kappa_0

        def features(rows: Rows) -> Array:
            made: Array = landmarks(values[rows] / width)
            return made

        fitted = adjustment.fit(features)  # theory.md, eq. 16
        return KernelPlan(width * unit, width, landmarks, missed, fitted.fit), fitted

    kernels, fitted = zip(*in_order(plan, widths, workers), strict=True)
    return kernels, fitted


def _kappa(kernel: Kernel, s: float) -> float:
    return float(kernel.kappa(np.array([s]))[0])


def _distance_between_values(
    before: Array, spread: Array, graph: PairGraph, n_pairs: int
) -> tuple[bool, float]:
    """Return whether values repeat, and the median distance of different ones if they often do.

    Values of samples that are near in z differ as much as their residuals would after a perfect
    fit. Where events that are rare nearly follow z, residuals may be much closer to each other than
    that, and than the fit is to the truth: a bandwidth made of them would see how the fit follows
    z. In units of the standardised residuals.
    """
    i, j = some_pairs(graph, n_pairs)
    apart = before[i] - before[j]
    apart = apart[apart.any(axis=1)]
    repeat = len(apart) < len(i)
    if not 0 < len(apart) < MOSTLY_DIFFERENT * len(i):
        return repeat, 0.0
    return repeat, float(np.median(np.linalg.norm(apart / spread, axis=1)))


def _require_neither_narrow_nor_wide(
    argument: str, kernel: Kernel, widths: list[float], values: Array, unit: float, n_pairs: int
) -> None:
    """Refuse kernels that are the same for all pairs of different samples, 0 or 1 up to rounding.

    What is left of 0 is chance: with fewer than one other sample within the bandwidth, independent
    data were rejected in half of the cases.
    """
    distances = some_distances(values, n_pairs)
    for width in widths:
        with np.errstate(over="ignore", under="ignore"):
            kappa = kernel.kappa(distances / width) / _kappa(kernel, 0.0)
        alike = len(values) * float(kappa.mean())
        text = f"bandwidth: {width * unit:g} is too {{}} for {argument}, "
        if alike < FEWEST_ALIKE:
            raise ValueError(
                text.format("narrow") + f"with {alike:.2g} other samples within it on average, "
                "so that there is nothing to compare; use a wider one, or 'auto'."
            )
        if width > WIDEST * float(np.max(distances)):
            raise ValueError(
                text.format("wide") + "of which it sees no differences; use a narrower one, or "
                "'auto'."
            )


def _shuffled(candidates: Array) -> Array:
    """Bring candidates into an order that is a variable's own.

    Of those that features miss alike, the first becomes a landmark. Were these the same samples for
    x and for y, the features of both would be large in them. The order comes from the ranks, which
    do not depend on the last bits of the numbers, and so on the machine.
    """
    ranks = np.argsort(candidates, axis=0, kind="stable").astype(np.int32)
    own = np.random.default_rng(zlib.crc32(ranks.tobytes()))
    shuffled: Array = own.permutation(candidates)
    return shuffled


def _widths(
    argument: str,
    values: Array,
    unit: float,
    apart: float,
    kernel: Kernel,
    bandwidth: Bandwidths,
    n_pairs: int,
) -> list[float]:
    """Return bandwidths in the unit of the standardised variable."""
    if isinstance(bandwidth, str) and bandwidth == "auto":
        return [multiple * apart for multiple in MULTIPLES]  # theory.md, eq. 13
    if isinstance(bandwidth, Multiples):
        widths = [multiple * apart for multiple in bandwidth.values]
    else:
        several: list[Bandwidth] = bandwidth if isinstance(bandwidth, list) else [bandwidth]
        require_several(several)
        widths = [float(bandwidth_of(argument, values * unit, one)[0]) / unit for one in several]
    _require_neither_narrow_nor_wide(argument, kernel, widths, values, unit, n_pairs)
    return widths
