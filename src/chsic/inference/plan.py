"""What a plan is: all that is decided before the bulk of the rows is touched.

A plan is small, immutable and picklable: scales, bandwidths, landmarks, regressions, the rule for
pairs, units. What some rows contribute follows from it and from those rows alone.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from chsic._util.validate import Array, Index
from chsic.data.sampling import Stretches
from chsic.inference.adjustment import Fit, Fitted
from chsic.inference.batches import Batch
from chsic.inference.interactions import Interactions
from chsic.inference.variable import Description, Scaling, Variable
from chsic.kernels.features import Landmarks

if TYPE_CHECKING:
    from chsic.inference.contribute import VariableRows


@dataclasses.dataclass(frozen=True, eq=False)
class AsTheyAre:
    """Features that a variable has already: those of a kernel of samples.

    Attributes
    ----------
    rounding : array, shape (r,)
        What rounding may have added to each of them.
    """

    rounding: Array

    @property
    def n_features(self) -> int:
        """How many there are."""
        return len(self.rounding)

    def __call__(self, features: Any) -> Any:
        """Return them; they are in the order in which they matter."""
        return features[:, : self.n_features]


@dataclasses.dataclass(frozen=True, eq=False)
class KernelPlan:
    """One kernel of a variable.

    Attributes
    ----------
    bandwidth : float
        In the user's unit; 1 for a kernel of samples, which has none.
    width : float
        The same, in the unit of the standardised columns.
    landmarks : Landmarks or AsTheyAre
        Nyström features of the kernel.
    missed : float
        How much of the kernel the features miss.
    fit : Fit
        What z explains of the features.
    of_values : bool
        Whether it compares values as they are, and not what z leaves of them.
    """

    bandwidth: float
    width: float
    landmarks: Landmarks | AsTheyAre
    missed: float
    fit: Fit
    of_values: bool = False


@dataclasses.dataclass(frozen=True, eq=False)
class VariablePlan:
    """How one variable is compared with others given z.

    Attributes
    ----------
    scaling : Scaling or Description
        From columns to numbers.
    fit : Fit or None
        What z explains of the columns; None if they are compared as they are.
    compared : array of int
        Columns that still vary given z.
    centre, spread : array
        Median and standard deviation of the residuals of each of them.
    kernels : tuple of KernelPlan
        One for each bandwidth, and behind them one of values as they are if interactions with z are
        tested; none if no column varies given z.
    cautions : tuple of str
        What to be careful about.
    explained : float
        Share of the variance of the columns that z explains.
    jumps : int
        Number of regions of z where a jump was found.
    """

    scaling: Scaling | Description
    fit: Fit | None
    compared: Index
    centre: Array
    spread: Array
    kernels: tuple[KernelPlan, ...]
    cautions: tuple[str, ...]
    explained: float
    jumps: int

    @property
    def n_bandwidths(self) -> int:
        """Number of kernels of what z leaves."""
        return sum(not kernel.of_values for kernel in self.kernels)

    @property
    def middle(self) -> int:
        """Number of the kernel at which the coefficient is taken."""
        return (self.n_bandwidths - 1) // 2

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


class UnitKernel(NamedTuple):
    """A kernel on z between units.

    Attributes
    ----------
    values : array, shape (n_units, n_units)
        1 for a unit with itself.
    centre_share : float
        What weighting by it leaves of the statistic's expectation under independence.
    """

    values: Array
    centre_share: float


class Masses(NamedTuple):
    """What the variance of sums of products is in proportion to, where samples have weights w.

    Attributes
    ----------
    units, folds : array
        Sum of w^2 over the samples of each: their number without weights.
    own_pairs : float
        Sum of the squares of those sums over samples, or over groups, which depend on themselves.
    pairs : float
        Sum of the weights of all pairs.
    """

    units: Array
    folds: Array
    own_pairs: float
    pairs: float


@dataclasses.dataclass(frozen=True, eq=False)
class Conditioning:
    """What z decides: how samples are paired and adjusted, and the units that share a sign.

    Attributes
    ----------
    pairs, adjust : str
        Kind of pairs, and of adjustment.
    in_strata : bool
        Whether all pairs of equal z are compared.
    stratum_sizes : array of int or None
        Samples in each of these strata, if there are few.
    n_samples, n_pairs : int
        How many there are.
    unit_sizes : array of int, shape (n_units,)
        Samples in each unit.
    fold_sizes : array of int, shape (n_folds,)
        Samples in each fold.
    unit_z : array, shape (n_units, d)
        z of each unit in the user's unit.
    narrow, wide : UnitKernel or None
        Kernels on z between units; None if no two of them are near.
    interactions : Interactions or None
        Functions of z that products are multiplied by, if z has several columns.
    cautions : tuple of str
        What to be careful about.
    group_sizes : array of int or None
        Samples in each group that depends on itself alone; None if every sample does.
    within : bool
        Whether pairs are of samples of one group alone.
    masses : Masses
        How much units, folds, groups and pairs weigh; numbers of them if all samples weigh the
        same.
    n_effective : float or None
        As many samples of equal weight say as much about a mean; None if they weigh the same.
    """

    pairs: str
    adjust: str
    in_strata: bool
    stratum_sizes: Index | None
    n_samples: int
    n_pairs: int
    unit_sizes: Index
    fold_sizes: Index
    unit_z: Array
    narrow: UnitKernel | None
    wide: UnitKernel | None
    interactions: Interactions | None
    cautions: tuple[str, ...]
    masses: Masses
    group_sizes: Index | None = None
    within: bool = False
    n_effective: float | None = None

    @property
    def are_exchangeable(self) -> bool:
        """Whether samples of equal z may change places: independent ones of equal weight."""
        return self.in_strata and self.group_sizes is None and self.n_effective is None


class Along(enum.Enum):
    """What products of residuals are multiplied by before they are added up."""

    NOTHING = "nothing"
    NARROW = "narrow kernel on z between units"
    WIDE = "wide kernel on z between units"
    FEATURES = "centred features of z"


class MemberPlan(NamedTuple):
    """A member of the family.

    Attributes
    ----------
    kernel : int
        Which of the kernels.
    along : Along
        What its products are multiplied by.
    weight : float
        Its part in the level of the family, relative to those of others.
    """

    kernel: int
    along: Along
    weight: float = 1.0


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
    kernels : dict
        Names of the kernels of "x" and of "y".
    n_samples : int
        Rows that are compared, copies of a row in its group included.
    n_omitted : int
        Rows with a missing value.
    n_groups : int or None
        Groups of rows that may depend on each other; None if rows are independent.
    n_effective : float or None
        As many rows of equal weight say as much; None if the user gave no weights.
    members : tuple of MemberPlan
        The statistics that are tested jointly.
    null : str
        Where p-values come from.
    n_resamples : int
        Number of draws of signs, where they are drawn.
    stretches : Stretches or None
        Stretches of time that are the groups, if there is a time.
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
    kernels: dict[str, str]
    n_samples: int
    n_omitted: int
    n_groups: int | None
    n_effective: float | None
    members: tuple[MemberPlan, ...]
    null: str
    n_resamples: int
    stretches: Stretches | None = None


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
        remembered = sum(rows.nbytes for rows in (self.known or {}).values())
        return remembered + sum(array.nbytes for array in arrays if array is not None)

    def select(self, kernels: Sequence[int]) -> PlannedVariable:
        """Return the same variable with the kernels of some bandwidths, and that of values."""
        if not self.plan.kernels:
            return self
        of_values = [k for k, kernel in enumerate(self.plan.kernels) if kernel.of_values]
        kernels = [*kernels, *of_values]
        plan = dataclasses.replace(self.plan, kernels=tuple(self.plan.kernels[k] for k in kernels))
        features = tuple(self.features[k] for k in kernels)
        return dataclasses.replace(self, plan=plan, features=features, known=None)
