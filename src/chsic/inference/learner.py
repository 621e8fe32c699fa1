"""What a regression on one z has to be like for a variable: its metric, its form and its jumps.

If x depends on many columns, each in a way of its own, there are no directions of z that matter
more than others. A sum of functions of the columns, or products of them, may then do better than
any metric, and are tried as well. Jumps are looked for beside the best of the three.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from chsic._util.validate import Array
from chsic.inference.clusters import Clusters
from chsic.inference.metric import learn_metric
from chsic.inference.ridge import Ridge, some_rows
from chsic.inference.ridge_forms import AdditiveRidge, QuadraticRidge
from chsic.inference.variable import Variable
from chsic.kernels import KERNELS
from chsic.kernels.bandwidth import typical_distance
from chsic.kernels.features import fit_landmarks

METRIC_SAMPLES = 1_000  # from which a metric is learned
STEP_SAMPLES = 5_000  # in which jumps are looked for
RANK = 10  # features of a variable whose dependence on z decides the metric
PRINCIPAL = 3  # components of these, in which jumps are looked for
FORMS = (AdditiveRidge, QuadraticRidge)  # tried beside all directions of z together
# Standard deviations of chance, above which neighbours in z share residuals (theory.md, eq. 9b):
SHARED = 1.0  # of wide kernels, so that narrow ones and jumps are tried
MISSED = 2.0  # of the regression that was chosen, so that fewer neighbours are compared
TURNED = 2  # directions of the metric that jumps may have, besides those of the columns


class Learned(NamedTuple):
    """What was learned of one variable given z.

    Attributes
    ----------
    turn : array, shape (d, d)
        Its metric of z.
    ridge : Ridge
        Regressions on all rows of z.
    misses : bool
        Whether samples that follow each other along the one column of z share what regressions
        leave of the variable.
    """

    turn: Array
    ridge: Ridge
    misses: bool = False


class Learner:
    """Learns how any number of variables depend on one z.

    Parameters
    ----------
    z : array, shape (n, d)
        In standard deviations.
    groups : Clusters, optional
        Groups of samples that may depend on each other.
    weights : array, shape (n,), optional
        Of the samples, which the regressions that are learned have; learning needs none.
    """

    def __init__(
        self, z: Array, groups: Clusters | None = None, weights: Array | None = None
    ) -> None:
        self._z, self._groups, self._weights = z, groups, weights
        self._plain = Ridge(z, groups=groups).shared()
        self._few, self._many = (
            some_rows(z, METRIC_SAMPLES, groups),
            some_rows(z, STEP_SAMPLES, groups),
        )
        several = z.shape[1] > 1
        self._few_plain = self._plain.at(self._few).shared() if several else None
        self._many_plain = self._plain.at(self._many).shared()
        few_z, few_groups = z[self._few], None if groups is None else groups.rows(self._few)
        self._few_forms = [
            form(few_z, groups=few_groups).shared() for form in FORMS if form.takes(z.shape[1])
        ]

    @property
    def several(self) -> bool:
        """Whether z has several columns, of which a metric is learned."""
        return self._few_plain is not None

    @property
    def nbytes(self) -> int:
        """Bytes of what variables share."""
        every = (self._plain, self._few_plain, self._many_plain, *self._few_forms)
        shared = {id(one): one for one in every if one is not None}
        return sum(one.nbytes for one in shared.values())

    def learn(self, values: Array, are_features: bool = False) -> Learned:
        """Return the metric for one variable, and regressions in it with their jumps.

        If its values are features already, they take the place of those that are made otherwise.
        """
        learned = self._learn(values, are_features)
        return learned._replace(ridge=learned.ridge.weighted(self._weights))

    def _learn(self, values: Array, are_features: bool) -> Learned:
        standard = _standard(values, are_features)
        features = _main_features if are_features else _features
        described = features(standard[self._many])
        turn, ridge = np.eye(1), self._plain
        directions = turn
        if self.several:
            few = standard[self._few]
            smooth = described if len(few) == len(described) else features(few)
            if not are_features:
                smooth = np.column_stack([few, smooth])
            turn, ridge, _ = self._learn_smooth(smooth)
            directions = np.hstack([np.eye(len(turn)), np.linalg.svd(turn)[0][:, :TURNED]])
        targets = _principal(described)
        columns = targets if are_features else standard[self._many]
        some = self._many_plain if ridge is self._plain else ridge.at(self._many)
        # Neighbours in z may be of one group, and share what no regression on z explains.
        by_neighbours = not self.several and self._groups is None
        if by_neighbours:
            wide = some.only_wide()
            if all(wide.shared_by_neighbours(of) <= SHARED for of in (columns, targets)):
                return Learned(turn, ridge.only_wide())
        stepped = some.find_steps(columns, targets, directions)
        if len(stepped.steps):
            ridge = stepped if some is ridge else ridge.with_steps(stepped.steps)
        if not stepped.is_rough(columns, targets):
            ridge, stepped = ridge.only_wide(), stepped.only_wide()
        # In space even the nearest samples are far apart, and fewer of them would not help.
        misses = by_neighbours and stepped.shared_by_neighbours(columns) > MISSED
        return Learned(turn, ridge, misses)

    def _learn_smooth(self, targets: Array) -> Learned:
        """Choose a metric or a form, by the error (theory.md, eq. 9) in a few samples."""
        assert self._few_plain is not None
        groups = None if self._groups is None else self._groups.rows(self._few)
        turn, ridge, least = learn_metric(self._z[self._few], targets, self._few_plain, groups)
        for form in self._few_forms:
            error = form.fit(targets).fit.error
            if error < least:
                ridge, least = form, error
        if isinstance(self._few, slice):
            return Learned(turn, ridge)
        if ridge in self._few_forms:
            return Learned(turn, type(ridge)(self._z, groups=self._groups))
        return Learned(turn, Ridge(self._z, metric=turn, groups=self._groups))


def describe(variable: Variable) -> Array:
    """Return a few features of all rows of a variable."""
    make = _main_features if variable.is_described else _features
    return make(_standard(variable.clipped, variable.is_described))


def _standard(values: Array, are_features: bool) -> Array:
    spreads = values.std(axis=0)
    if are_features:  # in one unit, as what is small in all of them matters little
        spreads = np.full(len(spreads), np.sqrt((spreads**2).sum()))
    standard: Array = (values - values.mean(axis=0)) / np.where(spreads > 0, spreads, 1.0)
    return standard


def _features(values: Array) -> Array:
    """Describe standardised values by a few features: what may depend on z."""
    scaled = values / (typical_distance(values) or 1.0)
    features, _ = fit_landmarks(scaled, KERNELS["gaussian"], 1e-4, RANK, 200)
    made: Array = features(scaled)
    return made


def _main_features(features: Array) -> Array:
    """Return the first principal components of features, of the size that they have."""
    centred = features - features.mean(axis=0)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    made: Array = left[:, :RANK] * sizes[:RANK]
    return made


def _principal(features: Array) -> Array:
    """Return the first principal components, of equal size: bounded, so that none is far off."""
    centred = features - features.mean(axis=0)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    large = sizes[:PRINCIPAL] > 1e-6 * max(sizes[0], 1e-300)
    components: Array = left[:, :PRINCIPAL][:, large]
    return components
