"""The way of a test: plan, contribute, merge, decide."""

from __future__ import annotations

import dataclasses

import numpy as np

from chsic._util.names import listed
from chsic._util.parallel import in_order
from chsic._util.validate import Array
from chsic.data.copies import number_of_copies
from chsic.data.samples import Samples
from chsic.inference import cautions
from chsic.inference.arrangement import Arrangement, arrange
from chsic.inference.batches import Batch
from chsic.inference.contribute import (
    Rows,
    VariableRows,
    contribute,
    product_sums,
    with_moments,
)
from chsic.inference.contribute import residuals as residuals_of
from chsic.inference.decide import SMALL, comparable, decide
from chsic.inference.echo import echo_of
from chsic.inference.given import Given
from chsic.inference.learner import Learned
from chsic.inference.null import table_probability
from chsic.inference.pairing import compares_closely
from chsic.inference.plan import (
    Along,
    Conditioning,
    FitEffect,
    MemberPlan,
    Plan,
    PlannedVariable,
    VariablePlan,
)
from chsic.inference.planning import Bandwidths, plan_variable
from chsic.inference.result import IndependenceResult
from chsic.inference.settings import Settings
from chsic.inference.stretches import in_stretches
from chsic.inference.sums import Sums, merge
from chsic.inference.variable import Variable
from chsic.pairs.strata import is_discrete, strata_of

THREADS_FROM = 50_000  # samples below which threads cost more than they save
# Parts in the level of the three default bandwidths given one number (theory.md, eq. 36a): what a
# narrow kernel alone sees is the first to be lost if statistics share the level.
WEIGHTS = (2.5, 1.0, 1.0)
NARROW_WEIGHT = 1.0  # of a narrow kernel on z


def run_test(
    samples: Samples, settings: Settings, rng: np.random.Generator, workers: int = 1
) -> IndependenceResult:
    """Test x and y of clean samples given their z.

    Parameters
    ----------
    samples : Samples
        With nothing missing.
    settings : Settings
        Checked ones.
    rng : numpy.random.Generator
        Draws signs if they are asked for, and folds of a regressor of the user.
    workers : int
        Threads.

    Returns
    -------
    IndependenceResult
    """
    return Question.of(samples, settings).answer(rng, workers)


@dataclasses.dataclass(frozen=True, eq=False)
class Question:
    """x and y given z, ready to be planned with any number of neighbours and any bandwidths.

    Attributes
    ----------
    samples : Samples
        Those that have a partner.
    given : Given
        What z decides.
    x, y : Variable
        In the order of `given`.
    learned : list of Learned
        How x and y depend on z, if a regression is fitted.
    """

    samples: Samples
    given: Given
    x: Variable
    y: Variable
    learned: list[Learned]

    @classmethod
    def of(
        cls,
        samples: Samples,
        settings: Settings,
        like: Given | None = None,
    ) -> Question:
        """Look at z, and scale x and y."""
        samples = in_stretches(samples, settings)
        given = Given.of(samples.z, settings, like=like, sampling=samples.sampling)
        samples = samples if given.rows is None else samples.rows(given.rows)
        of_x, of_y = settings.kernels
        x, y = given.variable("x", samples.x, of_x), given.variable("y", samples.y, of_y)
        return cls(samples, given, x, y, given.learn_of([x, y]))

    def answer(self, rng: np.random.Generator, workers: int = 1) -> IndependenceResult:
        """Plan, contribute, merge and decide."""
        threads = self.threads(workers)
        arrangement = self.arrange(rng)
        x, y = self.plan(arrangement, self.given.settings.bandwidth, threads)
        return compare(arrangement, self.given.settings, x, y, self.samples, rng, threads)

    def threads(self, workers: int) -> int:
        """Return how many threads are worth their cost."""
        return workers if len(self.samples) >= THREADS_FROM else 1

    def arrange(self, rng: np.random.Generator, alpha: float | None = None) -> Arrangement:
        """Choose pairs and units, with another number of neighbours if that is given."""
        given = self.given
        if alpha is not None:
            settings = dataclasses.replace(given.settings, alpha=alpha)
            given = dataclasses.replace(given, settings=settings, like=given)
        return arrange(given, len(self.samples), self.learned, rng, closely=self.closely)

    @property
    def closely(self) -> bool:
        """Whether few neighbours are compared by default."""
        return compares_closely(self.learned)

    def plan(
        self, arrangement: Arrangement, bandwidth: Bandwidths, workers: int = 1
    ) -> tuple[PlannedVariable, PlannedVariable]:
        """Plan x and y; a kernel of samples, which has no bandwidth, goes with all of the other."""
        of_x, of_y = arrangement.adjustments_of(2)
        graph, tol = arrangement.graph, self.given.settings.tol
        k_x, k_y = self.given.settings.kernels
        interactions = self.given.has_interactions
        x = plan_variable(
            "x", self.x, self.samples.x, of_x, graph, arrangement.z_names, kernel=k_x,
            bandwidth=bandwidth, tol=tol, interactions=interactions, weights=arrangement.weights,
            workers=workers,
        )  # fmt: skip
        y = plan_variable(
            "y", self.y, self.samples.y, of_y, graph, arrangement.z_names, kernel=k_y,
            bandwidth=bandwidth, tol=tol, interactions=interactions, weights=arrangement.weights,
            workers=workers,
        )  # fmt: skip
        most = max(x.plan.n_bandwidths, y.plan.n_bandwidths)
        return (
            x.select([0] * most) if self.x.is_described else x,
            y.select([0] * most) if self.y.is_described else y,
        )


def compare(
    arrangement: Arrangement,
    settings: Settings,
    x: PlannedVariable,
    y: PlannedVariable,
    samples: Samples,
    rng: np.random.Generator,
    workers: int = 1,
) -> IndependenceResult:
    """Test two planned variables, made from `samples`."""
    if arrangement.plan.within and not arrangement.plan.in_strata:
        _require_levels(samples, x.columns, y.columns)
    plan = make_plan(arrangement, settings, x, y, samples)
    if not comparable(plan):
        return decide(plan, None, rng)

    def of_batch(batch: Batch) -> Sums:
        return contribute(plan, Rows(batch, rows_of(x, batch), rows_of(y, batch)))

    def table_pvalue() -> float:
        assert arrangement.strata is not None
        labels = arrangement.strata.labels
        return table_probability(labels, strata_of(x.columns), strata_of(y.columns))

    sums = merge(in_order(of_batch, arrangement.batches, workers))
    result = decide(plan, sums, rng, table_pvalue)
    if result.pvalue > SMALL:
        return result  # a large p-value leans on nothing
    result = _with(result, _about_rows(plan, arrangement, x, y, samples))
    nearby = arrangement.nearby
    if nearby is None:
        return result
    kernel, along, _ = plan.members[result.winner]
    relation = sums.between[kernel].contributions.sum(axis=0)
    of_z = plan.given.interactions if along is Along.FEATURES else None
    if not echo_of(nearby, x, y, kernel, relation, of_z).is_heard:
        return result
    return _with(result, [cautions.leans_on_regression(**plan.names)])


def _require_levels(samples: Samples, *values: Array) -> None:
    """Raise if levels of groups are not added to x, nor to y, as both have few values.

    How a share changes with z depends on the level of the group, for x and for y alike. Of true
    nulls of yes and no, 50 groups of 10 whose levels vary much, .98 were rejected.
    """
    if all(is_discrete(strata_of(of)) for of in values):
        both = listed(column.name for column in (*samples.x, *samples.y))
        raise ValueError(
            f"within: {both} have few values, to which a level of the group is not added, so that "
            "it does not cancel; give a z of categories, in classes if need be: rows of equal z "
            "are compared then, and nothing has to be added."
        )


def _with(result: IndependenceResult, sentences: list[str]) -> IndependenceResult:
    return dataclasses.replace(result, warnings=(*result.warnings, *sentences))


def _about_rows(
    plan: Plan,
    arrangement: Arrangement,
    x: PlannedVariable,
    y: PlannedVariable,
    samples: Samples,
) -> list[str]:
    """Say if rows that are taken for independent do not look it."""
    if arrangement.succession is None:  # it is known how they depend on each other
        return []
    sentences = []
    if copies := number_of_copies([*samples.x, *samples.y, *samples.z]):
        sentences.append(cautions.identical_rows(copies, len(samples)))
    if arrangement.succession.likeness(x, y).is_seen:
        sentences.append(cautions.rows_follow(**plan.names))
    return sentences


def make_plan(
    arrangement: Arrangement,
    settings: Settings,
    x: PlannedVariable,
    y: PlannedVariable,
    samples: Samples,
) -> Plan:
    """Put together what is decided before rows contribute."""
    given = arrangement.plan
    columns = {"x": samples.x, "y": samples.y, "z": samples.z}
    between = list(zip(x.features, y.features, strict=True)) if x.features and y.features else []
    middle = x.plan.middle
    alone = [(x.features[middle],) * 2, (y.features[middle],) * 2] if between else []
    # What pairs of one group show needs no correction for the fit: theory.md, eq. 52.
    fits = [*between, *alone]
    effects = [FitEffect()] * len(fits) if given.within else arrangement.effects.of(fits)
    return Plan(
        x=x.plan,
        y=y.plan,
        given=given,
        effects=tuple(effects[: len(between)]),
        effect_x=effects[-2] if between else FitEffect(),
        effect_y=effects[-1] if between else FitEffect(),
        vary_together=bool(between) and arrangement.vary_together(x.columns, y.columns),
        names={argument: tuple(column.name for column in of) for argument, of in columns.items()},
        kinds=samples.kinds,
        levels={
            column.name: column.levels
            for of in columns.values()
            for column in of
            if column.kind == "category"
        },
        kernels={of: kernel.name for of, kernel in zip("xy", settings.kernels, strict=True)},
        n_samples=samples.n_rows,
        n_omitted=samples.n_omitted,
        n_groups=samples.n_groups,
        n_effective=samples.n_effective,
        stretches=samples.sampling.stretches,
        members=_members(x.plan, given, settings),
        null=settings.null,
        n_resamples=settings.n_resamples,
    )


def _members(x: VariablePlan, given: Conditioning, settings: Settings) -> tuple[MemberPlan, ...]:
    """Return the members of the family (theory.md, section 8)."""
    kernels, augment = range(x.n_bandwidths), settings.augment
    if augment == "auto" and given.wide is not None and given.interactions is None:
        return _members_along_line(kernels, given, settings)
    members = []
    for k in kernels:
        if augment is not True or given.narrow is None:
            members.append(MemberPlan(k, Along.NOTHING))
        if augment and given.narrow is not None and (given.interactions is None or k == x.middle):
            members.append(MemberPlan(k, Along.NARROW))
    if len(x.kernels) > len(kernels):
        # Functions of several numbers see what changes along one of them.
        members.append(MemberPlan(len(kernels), Along.FEATURES))
    return tuple(members)


def _members_along_line(
    kernels: range, given: Conditioning, settings: Settings
) -> tuple[MemberPlan, ...]:
    """Return members given one number.

    A wide kernel on z sees what is the same everywhere as well as no kernel does, and what changes
    slowly besides. A narrow one sees what changes fast, and is needed at one bandwidth alone.
    """
    is_default = isinstance(settings.bandwidth, str) and settings.bandwidth == "auto"
    weights = WEIGHTS if is_default and len(kernels) == len(WEIGHTS) else (1.0,) * len(kernels)
    members = [MemberPlan(k, Along.WIDE, weights[k]) for k in kernels]
    if members and given.narrow is not None:
        members.append(MemberPlan(kernels[-1], Along.NARROW, NARROW_WEIGHT))
    return tuple(members)


def rows_of(variable: PlannedVariable, batch: Batch) -> VariableRows:
    """Return a variable at the rows of a batch, with what is known of it there."""
    if variable.known is not None:
        return variable.known[batch.number]
    rows, features = batch.rows, []
    values = variable.columns[rows]
    for fitted in variable.features:
        if fitted.residuals is None:
            return VariableRows(variable.standardised[rows], values)
        noise = None if fitted.noise is None else fitted.noise[rows]
        features.append((fitted.residuals[rows], noise))
    return VariableRows(variable.standardised[rows], values, features)


def remember(variable: PlannedVariable, arrangement: Arrangement) -> PlannedVariable:
    """Compute what a variable brings to every comparison, for more than one of them."""
    plan = variable.plan
    if not plan.kernels:
        return variable
    known = {}
    for batch in arrangement.batches:
        rows = rows_of(variable, batch)
        own = [residuals_of(plan, k, rows, batch) for k in range(len(plan.kernels))]
        middle = own[plan.middle]
        alone = product_sums(middle, middle, batch, batch.folds, null=False)
        rows = VariableRows(rows.standardised, residuals=own, with_itself=alone)
        if arrangement.plan.stratum_sizes is not None:
            rows = with_moments(plan, rows, batch)
        known[batch.number] = rows
    return dataclasses.replace(variable, known=known)
