"""What one z decides for all variables that are tested given it.

Samples without a partner are left out before anything is computed: were they read all the same, a
fill value in one of them would set the scale of a column, and decide about samples it has nothing
to do with.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence

import numpy as np

from chsic._util.malloc import keep_freed_memory
from chsic._util.validate import MIN_SAMPLES, Array, Index
from chsic.data.arguments import Columns
from chsic.data.sampling import INDEPENDENT, Sampling
from chsic.inference import cautions
from chsic.inference.clusters import Clusters
from chsic.inference.confounder import Confounder
from chsic.inference.groups import in_order_of
from chsic.inference.learner import Learned, Learner
from chsic.inference.pair_weights import in_regressions
from chsic.inference.settings import Settings
from chsic.inference.variable import Description, Variable
from chsic.kernels import GAUSSIAN
from chsic.kernels.bandwidth import typical_distance
from chsic.kernels.of_samples import AnyKernel, SampleKernel
from chsic.pairs import PairGraph
from chsic.pairs.graph import require_pairs
from chsic.pairs.strata import is_discrete

PAIRS = ("auto", "nearest", "closest", "blocks", "strata")


@dataclasses.dataclass(frozen=True, eq=False)
class Given:
    """z, the samples that have a partner, and their order.

    Attributes
    ----------
    settings : Settings
        With the kind of pairs that ``"auto"`` means for this z.
    confounder : Confounder or None
        z of the samples that are compared, in `order`; None without z.
    rows : array of int or None
        Samples that have a partner; None if all of them do.
    order : array of int or None
        Order of those along a one-dimensional z, in which neighbours are neighbours in memory.
    cautions : tuple of str
        A sentence on samples without a partner.
    like : Given or None
        Another one, whose regressions are used if z is the same.
    groups : array of int or None
        Group of each sample that is compared, in `order`; None if samples are independent.
    within : bool
        Whether samples are compared with those of their group alone.
    weights : array or None
        Of each sample that is compared, in `order`; None if all weigh the same.
    """

    settings: Settings
    confounder: Confounder | None = None
    rows: Index | None = None
    order: Index | None = None
    cautions: tuple[str, ...] = ()
    like: Given | None = None
    groups: Index | None = None
    within: bool = False
    weights: Array | None = None

    @classmethod
    def of(
        cls,
        z: Columns,
        settings: Settings,
        *,
        ordered: bool = True,
        like: Given | None = None,
        sampling: Sampling = INDEPENDENT,
    ) -> Given:
        """Choose the kind of pairs, and the samples that have any; ties of z in a shuffled order.

        Unless they are to be `ordered`, samples stay in the order of the user. `sampling` is that
        of all samples.
        """
        keep_freed_memory()  # from here on, large arrays come and go
        within = sampling.within
        if not z:
            settings.require_no_z()
            return cls._without_z(settings, sampling)
        confounder = Confounder(z, sampling.groups if within else None)
        pairs = resolve_pairs(settings, confounder, sampling.groups)
        rows: Index | None = None
        warnings: tuple[str, ...] = ()
        partners, by_value = _partners(confounder, pairs, None if within else sampling.groups)
        if partners is not None and not partners.all():
            rows = np.flatnonzero(partners)
            warnings = (_leave_out(len(partners), len(rows), confounder.names, by_value),)
            sampling = sampling.rows(rows).complete("with a partner in z ")
            of_z = [column.rows(rows) for column in z]
            confounder = Confounder(of_z, sampling.groups if within else None)
            pairs = pairs.among(rows) if isinstance(pairs, PairGraph) else pairs
        groups, weights, order = sampling.groups, sampling.weights, None
        if ordered and confounder.on_line and isinstance(pairs, str):
            order = confounder.along_line()
            confounder = confounder.in_order(order)
            groups = None if groups is None else groups[order]
            weights = None if weights is None else weights[order]
        groups = None if groups is None else in_order_of(confounder.scaled, groups)
        settings = dataclasses.replace(settings, pairs=pairs)
        return cls(settings, confounder, rows, order, warnings, like, groups, within, weights)

    @classmethod
    def _without_z(cls, settings: Settings, sampling: Sampling) -> Given:
        """Compare all samples, or those of each group; one that is alone in its group has none."""
        groups, weights = sampling.groups, sampling.weights
        if groups is None or not sampling.within:
            return cls(settings, groups=groups, weights=weights)
        partners = np.bincount(groups)[groups] - 1
        if partners.all():
            return cls(settings, groups=groups, within=True, weights=weights)
        rows = np.flatnonzero(partners)
        sentence = _leave_out(len(groups), len(rows), ["group"], by_value=False)
        used = sampling.rows(rows).complete("that are not alone ")
        return cls(
            settings, rows=rows, cautions=(sentence,), groups=used.groups, within=True,
            weights=used.weights,
        )  # fmt: skip

    def samples(self, columns: Columns) -> Columns:
        """Return the rows that are compared, in the order of the user."""
        return columns if self.rows is None else [column.rows(self.rows) for column in columns]

    def variable(self, argument: str, columns: Columns, kernel: AnyKernel = GAUSSIAN) -> Variable:
        """Scale columns of the rows that are compared, and bring them into order.

        A kernel of samples describes them by its features instead.
        """
        if isinstance(kernel, SampleKernel):
            variable = Description.of(argument, columns, kernel, self.settings.tol)
        else:
            variable = Variable.of(argument, columns)
        return variable if self.order is None else variable.rows(self.order)

    @property
    def z_names(self) -> list[str]:
        """Names of the confounders."""
        return [] if self.confounder is None else self.confounder.names

    @property
    def kind(self) -> str:
        """Kind of pairs."""
        if self.confounder is None:
            return "strata" if self.within else "complete"
        return "given" if isinstance(self.settings.pairs, PairGraph) else self.settings.pairs

    @property
    def in_strata(self) -> bool:
        """Whether all pairs of equal z are compared."""
        return self.kind in ("complete", "strata")

    @property
    def uses_ridge(self) -> bool:
        """Whether ridge regressions on z are fitted."""
        adjust = self.settings.adjust
        return not self.in_strata and isinstance(adjust, str) and adjust in ("auto", "ridge")

    @property
    def has_interactions(self) -> bool:
        """Whether dependence that changes along several columns of z is looked for."""
        if self.in_strata or self.confounder is None or self.settings.augment is False:
            return False
        if self.within:
            # Values as they are have the level of their group: what z changes of their features
            # differs from group to group, and a quarter of true nulls was rejected.
            return False
        # Units of whole groups are not near in z, and show nothing that changes along it.
        several: bool = self.confounder.scaled.shape[1] > 1 or self.groups is not None
        return several

    @functools.cached_property
    def fit_weights(self) -> Array | None:
        """Weights in regressions on z; None if all samples weigh the same."""
        return None if self.weights is None else in_regressions(self.weights)

    @functools.cached_property
    def learner(self) -> Learner | None:
        """What learns how variables depend on z; None if no regression is fitted."""
        if not self.uses_ridge or self.confounder is None:
            return None
        same = self._same_z()
        if same is not None:
            return same.learner
        groups = None if self.groups is None else Clusters(self.groups, self.within)
        return Learner(self.confounder.scaled, groups, self.fit_weights)

    @property
    def has_metric(self) -> bool:
        """Whether pairs depend on what is learned of the variables."""
        return self.learner is not None and self.learner.several

    @functools.cached_property
    def z_distance(self) -> float:
        """Median distance between samples of z in standard deviations, 1 if it is constant."""
        assert self.confounder is not None
        if self.like is not None and self.like.confounder is self.confounder:
            return self.like.z_distance
        return typical_distance(self.confounder.scaled) or 1.0

    def learn(self, variables: Sequence[Array]) -> list[Learned]:
        """Learn how each variable depends on z, if a regression is fitted."""
        learner = self.learner
        return [] if learner is None else [learner.learn(values) for values in variables]

    def learn_of(self, variables: Sequence[Variable]) -> list[Learned]:
        """Learn how each variable depends on z, if a regression is fitted."""
        learner = self.learner
        if learner is None:
            return []
        return [learner.learn(one.clipped, one.is_described) for one in variables]

    def _same_z(self) -> Given | None:
        """Return the other one, if it makes the same regressions."""
        other = self.like
        if other is None or other.confounder is None or not other.uses_ridge:
            return None
        assert self.confounder is not None
        same = np.array_equal(other.confounder.scaled, self.confounder.scaled)
        if self.within != other.within or not _equal(self.weights, other.weights):
            return None
        return other if same and _equal(self.groups, other.groups) else None


def _equal(one: Array | Index | None, other: Array | Index | None) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other)


def resolve_pairs(
    settings: Settings, z: Confounder, groups: Index | None = None
) -> str | PairGraph:
    """Return what ``"auto"`` means, or say why a choice is not possible for this z."""
    pairs, n = settings.pairs, len(z.values)
    require_pairs(pairs, PAIRS, n)
    if isinstance(pairs, PairGraph):
        if z.within is not None:
            raise ValueError("pairs: a PairGraph does not go with within=True; use pairs='auto'.")
        return pairs
    if z.within is not None and pairs in ("closest", "blocks"):
        raise ValueError(f"pairs: {pairs!r} does not go with within=True; use pairs='auto'.")
    if z.categories is not None and pairs in ("closest", "blocks"):
        raise ValueError(
            f"pairs: {pairs!r} needs numbers, but z has categories, which are equal or not; use "
            "pairs='auto'."
        )
    only_categories = z.numbers.shape[1] == 0
    if only_categories and pairs == "nearest":
        raise ValueError(
            "pairs: 'nearest' needs numbers, but z has categories only; use pairs='auto'."
        )
    if pairs == "strata" and z.strata.max() + 1 == n:
        raise ValueError(
            "pairs: 'strata' needs samples with equal z, but all differ; use pairs='auto', or "
            "round z."
        )
    if pairs != "auto":
        return pairs
    strata = only_categories or (settings.allow_strata and is_discrete(_apart(z, groups)))
    return "strata" if strata else "nearest"


def _apart(z: Confounder, groups: Index | None) -> Index:
    """Return the stratum of every sample, or once for all of one group that are in it."""
    if groups is None or z.within is not None:
        return z.strata
    apart: Index = np.unique(np.stack([z.strata, groups]), axis=1)[0]
    return apart


def _partners(
    z: Confounder, pairs: str | PairGraph, groups: Index | None
) -> tuple[Index | None, bool | None]:
    """Return the number of partners of each sample if it may be zero.

    Also whether values or categories of z make a pair; None if pairs were given.
    """
    if isinstance(pairs, PairGraph):
        return pairs.degrees, None
    if pairs == "strata":
        return np.bincount(z.strata)[z.strata] - 1, z.categories is None
    if z.categories is None:
        return None, None
    number = np.bincount(z.categories)[z.categories]
    if groups is None:
        return number - 1, False
    both = z.categories * (int(groups.max()) + 1) + groups
    _, labels = np.unique(both, return_inverse=True)
    return number - np.bincount(labels)[labels], False


def _leave_out(n: int, n_used: int, names: list[str], by_value: bool | None) -> str:
    """Return the caution about samples without a partner, if enough others remain."""
    if n_used < MIN_SAMPLES:
        alone = cautions.samples_alone(n - n_used, n, names, by_value=by_value)
        raise ValueError(
            f"z: {alone}, so that {n_used} can be compared; at least {MIN_SAMPLES} are needed: use "
            "coarser categories, or round z."
        )
    return cautions.without_partner(n - n_used, n, names, by_value=by_value)
