"""Plan a test: what is decided before the bulk of the rows is touched.

A plan is small, immutable and picklable: scales, bandwidths, landmarks, regressions, the rule for
pairs, units. It is made from clean columns, and what some rows contribute follows from it and from
those rows alone.
"""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from chsic._util.arrays import Rows
from chsic._util.parallel import in_order
from chsic._util.validate import Array, Index
from chsic.data.arguments import Columns
from chsic.inference import cautions
from chsic.inference.adjustment import Adjustment, Fit, Fitted, all_residuals
from chsic.inference.batches import Batch
from chsic.inference.variable import MOST_LEVELS_TOLD_APART, Scaling, Variable
from chsic.kernels import KERNELS
from chsic.kernels.bandwidth import (
    TYPICAL_PAIRS,
    Bandwidth,
    bandwidth_of,
    require_several,
    some_distances,
    typical_distance,
)
from chsic.kernels.features import Landmarks, candidate_rows, fit_landmarks
from chsic.pairs import PairGraph
from chsic.pairs.graph import some_pairs
from chsic.pairs.laplacian import laplacian_times

if TYPE_CHECKING:
    from chsic.inference.contribute import VariableRows

# Of the median distance: fine structure, the bulk, a trend (theory.md, eq. 13).
MULTIPLES = (0.6, 1.2, 5.0)
LARGEST_RANK = 64  # features
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


@dataclasses.dataclass(frozen=True, eq=False)
class KernelPlan:
    """One kernel of a variable.

    Attributes
    ----------
    bandwidth : float
        In the user's unit.
    width : float
        The same, in the unit of the standardised columns.
    landmarks : Landmarks
        Nyström features of the kernel.
    missed : float
        How much of the kernel the features miss.
    fit : Fit
        What z explains of the features.
    """

    bandwidth: float
    width: float
    landmarks: Landmarks
    missed: float
    fit: Fit


@dataclasses.dataclass(frozen=True, eq=False)
class VariablePlan:
    """How one variable is compared with others given z.

    Attributes
    ----------
    scaling : Scaling
        From columns to numbers.
    fit : Fit or None
        What z explains of the columns; None if they are compared as they are.
    compared : array of int
        Columns that still vary given z.
    centre, spread : array
        Median and standard deviation of the residuals of each of them.
    kernels : tuple of KernelPlan
        One for each bandwidth; none if no column varies given z.
    cautions : tuple of str
        What to be careful about.
    """

    scaling: Scaling
    fit: Fit | None
    compared: Index
    centre: Array
    spread: Array
    kernels: tuple[KernelPlan, ...]
    cautions: tuple[str, ...]

    @property
    def middle(self) -> int:
        """Number of the kernel at which the coefficient is taken."""
        return (len(self.kernels) - 1) // 2

    def standardised(self, variable: Variable, batch: Batch) -> Array:
        """Return what is compared at some rows: columns, or their residuals, in their spread."""
        values = variable.columns
        if self.fit is not None:
            residuals, _ = self.fit.residuals(variable.clipped, batch)
            values = residuals + (variable.columns - variable.clipped)
        standardised: Array = (values[:, self.compared] - self.centre) / self.spread
        return standardised


@dataclasses.dataclass(frozen=True)
class FitEffect:
    """What fits do to sums over pairs on average, as shares of what they are without.

    Attributes
    ----------
    of_x, of_y : float
        To sum_ij Lap_ij u_i'u_j and sum_ij Lap_ij v_i'v_j (theory.md, eq. 22).
    of_both : float
        To the squared length of sum_ij Lap_ij u_i v_j' under conditional independence.
    """

    of_x: float = 1.0
    of_y: float = 1.0
    of_both: float = 1.0


@dataclasses.dataclass(frozen=True, eq=False)
class Conditioning:
    """What z decides: how samples are paired and adjusted, and the units that share a sign.

    Attributes
    ----------
    pairs, adjust : str
        Kind of pairs, and of adjustment.
    in_strata : bool
        Whether all pairs of equal z are compared.
    n_samples, n_pairs : int
        How many there are.
    unit_sizes : array of int, shape (n_units,)
        Samples in each unit.
    unit_z : array, shape (n_units, d)
        z of each unit in the user's unit.
    unit_kernel : array, shape (n_units, n_units), or None
        Kernel on z between units; None if no two of them are near.
    centre_share : float
        What weighting by it leaves of the statistic's expectation under independence.
    cautions : tuple of str
        What to be careful about.
    """

    pairs: str
    adjust: str
    in_strata: bool
    n_samples: int
    n_pairs: int
    unit_sizes: Index
    unit_z: Array
    unit_kernel: Array | None
    centre_share: float
    cautions: tuple[str, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class Plan:
    """All that is needed to compute what rows contribute, and to decide from their sums.

    Attributes
    ----------
    x, y : VariablePlan
        How the two variables are compared.
    given : Conditioning
        What z decides.
    effects : tuple of FitEffect
        What the fits of x and of y do, for each bandwidth.
    effect_x, effect_y : FitEffect
        The same for x with itself and for y with itself, at the middle bandwidth.
    vary_together : bool
        Whether any pair of samples differs in both x and y: if none does, C-HSIC is zero.
    names, kinds, levels : dict
        Of the columns, as in `IndependenceResult`.
    n_omitted : int
        Rows with a missing value.
    augment : tuple of bool
        Kinds of members of the family: without the kernel on z, with it, or both.
    null : str
        Where p-values come from.
    n_resamples : int
        Largest number of draws of signs.
    looks : tuple of int
        Numbers of draws after which it may be clear that a p-value is large.
    """

    x: VariablePlan
    y: VariablePlan
    given: Conditioning
    effects: tuple[FitEffect, ...]
    effect_x: FitEffect
    effect_y: FitEffect
    vary_together: bool
    names: dict[str, tuple[str, ...]]
    kinds: dict[str, str]
    levels: dict[str, tuple[str, ...]]
    n_omitted: int
    augment: tuple[bool, ...]
    null: str
    n_resamples: int
    looks: tuple[int, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class PlannedVariable:
    """A plan for one variable, and what planning has computed of all rows on the way.

    Attributes
    ----------
    plan : VariablePlan
        The plan.
    columns : array, shape (n, d)
        The variable as it is.
    standardised : array, shape (n, d')
        What is compared.
    features : tuple of Fitted
        For each kernel the fit of its features, with the residuals of all rows if these are known.
    depends_on_pairs : bool
        Whether other pairs given the same z might change the plan.
    known : mapping, optional
        What rows of each batch bring to every comparison, by the number of the batch, if it was
        computed for several of them.
    """

    plan: VariablePlan
    columns: Array
    standardised: Array
    features: tuple[Fitted, ...]
    depends_on_pairs: bool
    known: Mapping[int, VariableRows] | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of what is held for this variable alone."""
        known = [one for fitted in self.features for one in (fitted.residuals, fitted.noise)]
        arrays = [self.columns, self.standardised, *known]
        return sum(array.nbytes for array in arrays if array is not None)

    def select(self, kernels: Sequence[int]) -> PlannedVariable:
        """Return the same variable with some of its kernels."""
        if not self.plan.kernels:
            return self
        plan = dataclasses.replace(self.plan, kernels=tuple(self.plan.kernels[k] for k in kernels))
        features = tuple(self.features[k] for k in kernels)
        return dataclasses.replace(self, plan=plan, features=features, known=None)


def plan_variable(
    argument: str,
    variable: Variable,
    named: Columns,
    adjustment: Adjustment,
    graph: PairGraph | None,
    z_names: Sequence[str],
    *,
    bandwidth: Bandwidths = "auto",
    tol: float = TOL,
    workers: int = 1,
) -> PlannedVariable:
    r"""Decide how a variable is compared: residuals given z, bandwidths, features and their fits.

    A pair of bandwidths is for the `argument`\ s "x" and "y".
    """
    values, share = _residuals(variable, adjustment, graph, workers)
    scaling = variable.scaling
    warnings = _cautions(variable, named, z_names, share)
    (compared,) = np.nonzero(share > NO_VARIANCE)
    fit = values.fitted.fit if adjustment.of_columns else None
    if not len(compared):
        none = np.empty(0)
        plan = VariablePlan(scaling, fit, compared, none, none, (), warnings)
        nothing = np.empty((len(variable.columns), 0))
        return PlannedVariable(plan, variable.columns, nothing, (), depends_on_pairs=True)
    remainder = values.residuals if adjustment.of_columns else variable.columns
    before, origin = variable.columns, scaling.origin
    if len(compared) < remainder.shape[1]:
        remainder, before, origin = remainder[:, compared], before[:, compared], origin[compared]
    # Standard deviation of every column, that of a category being over all its indicators.
    spread = np.sqrt(np.bincount(origin, remainder.var(axis=0))[origin])
    centre = np.median(remainder, axis=0)
    standardised = remainder - centre
    standardised /= spread
    unit = scaling.unit * float(spread[0]) if len(spread) == 1 else 1.0
    depends_on_pairs, of_values = not adjustment.of_columns, 0.0
    n_pairs = max(TYPICAL_PAIRS, min(PAIRS_A_SAMPLE * len(before), MOST_PAIRS))
    if adjustment.of_columns and graph is not None:
        depends_on_pairs, of_values = _distance_between_values(before, spread, graph, n_pairs)
    apart = typical_distance(standardised, n_pairs, before)  # mu of theory.md, eq. 13
    apart = of_values if apart < FIT_DECIDES * of_values else apart
    widths = _widths(argument, standardised, unit, apart, bandwidth, n_pairs)
    kernels, features = _plan_kernels(standardised, widths, unit, apart, adjustment, tol, workers)
    plan = VariablePlan(scaling, fit, compared, centre, spread, kernels, warnings)
    return PlannedVariable(plan, variable.columns, standardised, features, depends_on_pairs)


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
    variances = columns.var(axis=0)
    share = np.divide(
        alone.var(axis=0), variances, where=variances > 0, out=np.zeros(len(variances))
    )
    return _ColumnFit(fitted, residuals), share


def _cautions(
    variable: Variable, named: Columns, z_names: Sequence[str], share: Array
) -> tuple[str, ...]:
    origin = variable.scaling.origin
    sentences = [
        cautions.levels_pooled(
            column.name, len(column.levels), len(column.levels) - MOST_LEVELS_TOLD_APART + 1
        )
        for column in named
        if column.kind == "category" and len(column.levels) > MOST_LEVELS_TOLD_APART
    ]
    if len(variable.columns) >= FEW_SAMPLES:
        for k, position in enumerate(origin):
            if named[position].kind == "number":
                sentences += cautions.far_values(named[position].name, variable.columns[:, k])
    for position in np.unique(origin[share <= LITTLE_VARIANCE]):
        most, name = float(share[origin == position].max()), named[position].name
        if most > LITTLE_VARIANCE:
            continue  # other levels of the category do vary
        if most > NO_VARIANCE:
            sentences.append(cautions.nearly_function_of_z(name, z_names, most))
        else:
            sentences.append(cautions.function_of_z(name, z_names))
    return tuple(sentences)


def _plan_kernels(
    values: Array,
    widths: list[float],
    unit: float,
    apart: float,
    adjustment: Adjustment,
    tol: float,
    workers: int,
) -> tuple[tuple[KernelPlan, ...], tuple[Fitted, ...]]:
    """Choose landmarks for kernels of standardised columns, and fit what z explains of them."""
    candidates = _shuffled(values[candidate_rows(values, LANDMARK_CANDIDATES)])

    def plan(width: float) -> tuple[KernelPlan, Fitted]:
        # What a kernel tells apart, 1 - kappa, is all there is: wide ones need exact features.
        resolution = float(1 - np.exp(-((apart / width) ** 2)))
        accuracy = tol * max(resolution, SMALLEST_RESOLUTION)
        # The kernel of theory.md, eq. 14, by the features of eq. 15.
        landmarks, missed = fit_landmarks(
            candidates / width, KERNELS["gaussian"], accuracy, LARGEST_RANK, len(candidates)
        )

        def features(rows: Rows) -> Array:
            made: Array = landmarks(values[rows] / width)
            return made

        fitted = adjustment.fit(features)  # theory.md, eq. 16
        return KernelPlan(width * unit, width, landmarks, missed, fitted.fit), fitted

    made = map(plan, widths) if workers == 1 else in_order(plan, widths, workers)
    kernels, fitted = zip(*made, strict=True)
    return kernels, fitted


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
    argument: str, widths: list[float], values: Array, unit: float, n_pairs: int
) -> None:
    """Refuse kernels that are the same for all pairs of different samples, 0 or 1 up to rounding.

    What is left of 0 is chance: with fewer than one other sample within the bandwidth, independent
    data were rejected in half of the cases.
    """
    distances = some_distances(values, n_pairs)
    for width in widths:
        with np.errstate(over="ignore", under="ignore"):
            alike = len(values) * float(np.exp(-((distances / width) ** 2)).mean())
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
    argument: str, values: Array, unit: float, apart: float, bandwidth: Bandwidths, n_pairs: int
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
    _require_neither_narrow_nor_wide(argument, widths, values, unit, n_pairs)
    return widths
