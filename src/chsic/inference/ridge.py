"""Kernel ridge regression on z: what z explains of some columns (theory.md, section 3).

A straight line in z and indicators of regions where columns jump, which are not penalised, plus
Nyström features of a Gaussian kernel on z, which are. The width of the kernel and the penalty
minimise the generalised cross-validation error, so that a rough dependence on z is followed and a
smooth one is not over-fitted. The cost is linear in n, and at most `LARGEST_FIT` samples are
fitted: what that misses is smooth in z, and differences over close pairs do not see it.
"""

from __future__ import annotations

import copy
import dataclasses
from typing import ClassVar, NamedTuple, Self, TypeAlias

import numpy as np

from chsic._util.arrays import Rows, sorted_unique
from chsic._util.validate import Array
from chsic.inference.clusters import Clusters
from chsic.inference.left_out import LeftOut
from chsic.inference.ridge_fit import Basis, Directions, Features, Fitted, Line, RidgeFit
from chsic.inference.segments import find_cuts
from chsic.inference.steps import Condition, Steps, find_steps, steps_at
from chsic.kernels import KERNELS
from chsic.kernels.bandwidth import typical_distance
from chsic.kernels.features import Landmarks, fit_landmarks

PENALTIES = 10.0 ** np.arange(-5, 3.1, 0.5)
LARGEST_RANK = 128  # features of z
LANDMARK_ACCURACY = 1e-6
STEP_WIDTHS = (2.0, 0.5)  # of smooth regressions beside which steps are looked for
ROUGH = 0.005  # of the error, which narrow kernels have to gain to be used
EXPLAINED = 1e-6  # of the variance of a column, which z leaves at most if it explains all
MUCH_SHARED = 2.0  # from which on all steps are looked for at once
STEP_COST = 3.0  # degrees of freedom of the place of a step
LANDMARK_CANDIDATES = 200  # samples of z that landmarks are chosen from
WIDTH_SAMPLES = 1_000  # on which the width is chosen
LARGEST_FIT = 50_000  # samples on which the regression is fitted
LARGEST_SHARE = 0.5  # of n that the regression may spend as degrees of freedom


class Widths(NamedTuple):
    """Widths of the kernel, in median distances between samples of z.

    Attributes
    ----------
    always : tuple of float
        Those that are tried.
    narrow : tuple of float
        Those that are tried if one of the last two of the others is the best.
    """

    always: tuple[float, ...]
    narrow: tuple[float, ...]


ON_LINE = Widths((2.0, 1.0, 0.5, 0.25, 0.06), (0.125, 0.03))
IN_SPACE = Widths((2.0, 1.0, 0.5, 0.125), (0.25,))


_Choice: TypeAlias = tuple[float, bool]  # a width of the kernel, and whether there are steps
_Made: TypeAlias = tuple[Basis, Directions]  # a basis, and its directions at the fitted rows


class _Penalised(NamedTuple):
    """Features of a width of the kernel, which bases with and without steps share."""

    features: Features
    unit: float
    values: Array  # at the fitted rows
    gram: Array


class Ridge:
    """All ridge regressions on one z; what they share is computed once.

    Parameters
    ----------
    z : array, shape (n, d)
        In units in which the distance of samples means something.
    scale : float, optional
        The unit of the kernel's width; the median distance between samples if not given.
    metric : array, shape (d, d), optional
        Regressions are on ``z @ metric``.
    steps : Steps, optional
        Jumps along z. Every fit has them, or does not, as its error decides.
    groups : Clusters, optional
        Groups of samples that depend on each other: whole groups are left out in cross-validation.
        If they have levels of their own, these are subtracted from all columns and functions of z.

    Attributes
    ----------
    steps : Steps
        As given; none if not.
    rows : slice or array of int
        Samples that are fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.inference.ridge import Ridge
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(500, 1))
    >>> noise = rng.normal(size=(500, 1))
    >>> fitted = Ridge(z).fit(np.sin(2 * z) + 0.5 * noise)
    >>> bool(np.corrcoef(fitted.residuals[:, 0], noise[:, 0])[0, 1] > 0.98)
    True
    """

    _step_widths: ClassVar[tuple[float, ...]] = STEP_WIDTHS

    def __init__(
        self,
        z: Array,
        scale: float | None = None,
        metric: Array | None = None,
        steps: Steps | None = None,
        groups: Clusters | None = None,
    ) -> None:
        self._metric, self._columns, self._groups = metric, z, groups
        self._root: Array | None = None  # of the weights of the fitted rows
        self._all_weights: Array | None = None
        self._none = Steps(np.eye(z.shape[1]))
        self.steps = self._none if steps is None else steps
        z = z if metric is None else z @ metric
        self.rows: Rows = some_rows(z, LARGEST_FIT, groups)
        self._fits_all = isinstance(self.rows, slice)
        self._centre = z[self.rows].mean(axis=0)
        self._scale = typical_distance(z - self._centre) if scale is None else scale
        self._z = z[self.rows] - self._centre
        self._fitted_groups = None if groups is None else groups.rows(self.rows)
        self._line = Line.of(self._z)
        self._widths = self._all_widths()
        self._width_rows = some_rows(self._z, WIDTH_SAMPLES, self._fitted_groups)
        self._bases: dict[float, _Made] = {}  # of widths, without steps
        self._weighted_bases: dict[float, _Made] = {}  # the same with weights
        self._stepped: dict[float, _Made] = {}  # and with them
        self._penalised: dict[float, _Penalised] | None = None  # while steps are tried, by width
        self._free: tuple[Array, Array] | None = None  # line and steps
        self._cross_validations: dict[Directions, LeftOut] = {}
        self._trial: Ridge | None = None
        self._is_shared = False

    def with_steps(self, steps: Steps) -> Ridge:
        """Return regressions on the same z that may have steps."""
        same = copy.copy(self)  # bases without steps are shared
        same.steps, same._stepped, same._free = steps, {}, None
        trial = self._on_few()
        same._trial = None if trial is None else trial.with_steps(steps)
        return same

    def at(self, rows: Rows) -> Ridge:
        """Return the same kind of regressions on some of the samples alone."""
        if isinstance(rows, slice):
            return self
        groups = None if self._groups is None else self._groups.rows(rows)
        return type(self)(self._columns[rows], self._scale, self._metric, self.steps, groups)

    def weighted(self, weights: Array | None) -> Ridge:
        """Return the same regressions, in which rows weigh more or less than others.

        What a regression has to be like is learned without weights: they tell which law is asked
        about, and not how rough x and y are. Always the same ones are used with one z.
        """
        if weights is None:
            return self
        same = copy.copy(self)
        same._all_weights = weights
        same._root = np.sqrt(weights[self.rows])[:, np.newaxis]
        same._bases, same._stepped, same._cross_validations = self._weighted_bases, {}, {}
        same._free = None
        same._trial = None
        if self._groups is not None:  # means of groups are weighted as well
            same._groups = dataclasses.replace(self._groups, weights=weights)
            same._fitted_groups = same._groups.rows(self.rows)
        return same

    def find_steps(self, columns: Array, targets: Array, directions: Array) -> Ridge:
        """Return regressions with the steps that a variable, given at `rows`, is seen to make.

        They are looked for beside smooth regressions of several widths, as a narrow one follows
        jumps itself and a wide one takes for jumps what is only steep; and all at once along
        directions in which samples that follow each other share much of what a wide one leaves.
        The error decides, to which the search for the place of every step adds.

        Parameters
        ----------
        columns : array, shape (n, p)
            The variable.
        targets : array, shape (n, q)
            A few features of it.
        directions : array, shape (d, k)
            Along which steps are looked for.
        """
        z, sets = self._columns[self.rows], []
        columns, targets = self._less_means(columns), self._less_means(targets)
        for width in self._step_widths:
            sets.append(find_steps(z, directions, targets, self._smooth(width, targets)))
        sets += self._steps_all_at_once(z, targets, directions)
        # Several searches may give the same.
        different = {steps.regions: steps for steps in sets if len(steps)}
        if not different:
            return self
        self._remember_features({})
        options = [self, *(self.with_steps(steps) for steps in different.values())]
        alone = [columns, *targets.T[:, :, np.newaxis]]
        best = min(options, key=lambda one: sum(one._log_error(values) for values in alone))
        for one in (self, best):
            one._remember_features(None)  # they are large
        return best

    def _remember_features(self, known: dict[float, _Penalised] | None) -> None:
        """Let regressions with other steps have the same features of few rows, or forget them."""
        trial = self._on_few()
        (self if trial is None else trial)._penalised = known

    def _steps_all_at_once(self, z: Array, targets: Array, directions: Array) -> list[Steps]:
        """Cut directions into segments, constant or straight."""
        smooth = self._smooth(self._step_widths[0], targets)
        beside = targets - smooth @ (smooth.T @ targets)
        along = z @ directions
        jumping = [
            k
            for k, values in enumerate(along.T)
            if _neighbours_share(beside, values, smooth.shape[1]) > MUCH_SHARED
        ]
        sets = []
        for straight in (False, True):
            found = [
                Condition(k, threshold, below=True)
                for k in jumping
                for threshold in find_cuts(along[:, k], beside, straight)
            ]
            if found:
                sets.append(steps_at(z, directions, found, targets, smooth))
        return sets

    def _smooth(self, width: float, targets: Array) -> Array:
        """Return orthonormal functions of z that explain targets, of a width of the kernel."""
        basis, at_samples = self._basis((width, False))
        explained = at_samples.values.T @ targets
        _, shrinkage = self._least_error(basis, at_samples, targets, explained)
        smooth: Array = at_samples.values[:, shrinkage >= 0.5]
        return smooth

    def _log_error(self, values: Array) -> float:
        return float(np.log(max(self._choose(values)[1], 1e-300)))

    def shared(self) -> Self:
        """Return these regressions, marked as those of several variables."""
        self._is_shared = True
        return self

    def forget(self) -> None:
        """Drop what is made again when it is asked for, unless several variables share it."""
        self._stepped, self._free = {}, None
        if not self._is_shared:
            self._bases, self._cross_validations, self._trial = {}, {}, None
            self._weighted_bases = {}

    def shared_by_neighbours(self, targets: Array) -> float:
        """Return how much samples that follow each other along z share of what is not explained.

        In standard deviations of chance (von Neumann 1941; theory.md, eq. 9b).
        """
        fitted = self.fit(targets)
        assert fitted.residuals is not None
        # What z explains altogether leaves rounding, which neighbours may share.
        noisy = fitted.residuals.var(axis=0) > EXPLAINED * targets.var(axis=0)
        spent = float(fitted.fit.shrinkage.sum())
        return _neighbours_share(fitted.residuals[:, noisy], self._z[:, 0], spent)

    def is_rough(self, *targets: Array) -> bool:
        """Whether narrow kernels follow any of these better than wide ones, by more than chance.

        Where nothing depends on z, all widths are alike, and narrow ones take memory and time.
        """
        wide = self.only_wide()
        return any(
            self._choose(values)[1] < (1 - ROUGH) * wide._choose(values)[1] for values in targets
        )

    def only_wide(self) -> Ridge:
        """Return the same regressions, of wide kernels alone: it takes less time."""
        return self._with_widths(Widths(self._widths.always[:-1], ()))

    def _with_widths(self, widths: Widths) -> Ridge:
        trial = self._on_few()
        same = copy.copy(self)  # bases are shared
        same._widths = widths
        same._trial = None if trial is None else trial._with_widths(widths)
        return same

    def _on_few(self) -> Ridge | None:
        """Return the same regressions on few samples, by which widths are chosen; None for all."""
        if self._trial is None and not isinstance(self._width_rows, slice):
            rows = np.arange(len(self._columns))[self.rows][self._width_rows]
            self._trial = self.at(rows)
            if self._all_weights is not None:
                self._trial = self._trial.weighted(self._all_weights[rows])
            self._trial._widths = self._widths
        return self._trial

    @property
    def nbytes(self) -> int:
        """Bytes of what regressions share."""
        every = (self._bases, self._weighted_bases, self._stepped)
        made = [one for bases in every for one in bases.values()]
        shared = sum(directions.values.nbytes for _, directions in made)
        return int(self._z.nbytes + shared + (self._trial.nbytes if self._trial else 0))

    def fit(self, values: Array, *, slopes: bool = False) -> Fitted:
        """Regress columns, given at `rows`, together: one width and one penalty for all of them."""
        values = self._less_means(values)
        basis, at_samples = self._basis(self._choose(values)[0])
        directions, in_units = at_samples.values, self._in_roots(values)
        explained = directions.T @ in_units
        error, shrinkage = self._least_error(basis, at_samples, in_units, explained)
        weights = shrinkage[:, np.newaxis] * explained  # theory.md, eq. 8
        spent = shrinkage**2 - 2 * shrinkage
        within = self._groups is not None and self._groups.within
        coefficients = basis.turn @ weights
        weighed = self._weighed(directions, shrinkage) if self._fits_all else None
        fit = RidgeFit(
            basis, shrinkage, spent, coefficients, error, self._fits_all, within, weighed
        )
        if not self._fits_all:
            if slopes:
                raise ValueError(f"slopes: are for at most {LARGEST_FIT} samples.")
            return Fitted(fit)
        residuals = directions @ weights
        if self._root is not None:
            residuals /= self._root
        np.subtract(values, residuals, out=residuals)
        noise = 1 + directions**2 @ fit.spent  # the diagonal of (I - S)^2: theory.md, eq. 20
        if self._root is not None and weighed is not None:
            noise = 1 - 2 * directions**2 @ shrinkage
            noise += np.einsum("ij,ij->i", directions @ weighed, directions) / self._root[:, 0] ** 2
        if within:
            assert self._fitted_groups is not None
            noise -= self._fitted_groups.shares
        gradients = self._slopes(fit) if slopes else None
        return Fitted(fit, residuals, noise, at_samples, gradients)

    def _in_roots(self, values: Array) -> Array:
        """Multiply rows by the roots of their weights: squares are weighted then."""
        return values if self._root is None else values * self._root

    def _weighed(self, directions: Array, shrinkage: Array) -> Array | None:
        if self._root is None:
            return None
        heavy = directions * self._root
        weighed: Array = shrinkage[:, np.newaxis] * (heavy.T @ heavy) * shrinkage
        return weighed

    def _choose(self, values: Array) -> tuple[_Choice, float]:
        """Choose on some samples, so that features of all of them are made but once."""
        trial = self._on_few()
        if trial is not None:
            return trial._choose(values[self._width_rows])
        values = self._in_roots(self._less_means(values))
        choices: dict[_Choice, float] = {}
        for stepped in (False, True) if len(self.steps) else (False,):
            errors = {width: self._error((width, stepped), values) for width in self._widths.always}
            if min(errors, key=errors.__getitem__) in self._widths.always[-2:]:
                errors |= {
                    width: self._error((width, stepped), values) for width in self._widths.narrow
                }
            choices |= {(width, stepped): error for width, error in errors.items()}
        best = min(choices, key=choices.__getitem__)
        return best, choices[best]

    def _error(self, choice: _Choice, values: Array) -> float:
        basis, directions = self._basis(choice)
        return self._least_error(basis, directions, values, directions.values.T @ values)[0]

    def _least_error(
        self, basis: Basis, directions: Directions, values: Array, explained: Array
    ) -> tuple[float, Array]:
        """Return the least error (1/n) RSS / (1 - tr S / n)^2 over penalties, and its shrinkage.

        With groups, it is the error of predictions for groups that were left out.
        """
        n, shrinkage = len(values), basis.shrinkage
        spent = (shrinkage.sum(axis=1) + STEP_COST * len(basis.steps)) / n
        if self._groups is None and self._root is None:
            squares = (explained**2).sum(axis=1)
            beside = np.einsum("ij,ij->", values, values) - squares.sum()
            rss = max(beside, 0.0) + (1 - shrinkage) ** 2 @ squares
            errors = rss / (n * (1 - spent) ** 2)  # theory.md, eq. 9
        else:
            search = 1 - STEP_COST * len(basis.steps) / n
            errors = self._left_out(basis, directions).errors(values, explained) / (n * search**2)
        errors = np.where(spent < LARGEST_SHARE, errors, np.inf)
        best = int(np.argmin(errors))
        if not np.isfinite(errors[best]):  # too few samples: the stiffest fit there is
            best = len(PENALTIES) - 1
        return float(errors[best]), shrinkage[best]

    def _left_out(self, basis: Basis, directions: Directions) -> LeftOut:
        """Return what cross-validates a basis by whole groups."""
        if directions not in self._cross_validations:
            groups = self._fitted_groups
            # Rows alone go into folds by z, so that their order in the data does not matter.
            labels = np.argsort(np.lexsort(self._z.T)) if groups is None else groups.labels
            made = LeftOut(directions.values, basis.shrinkage, PENALTIES, labels)
            self._cross_validations.setdefault(directions, made)
        return self._cross_validations[directions]

    def _basis(self, choice: _Choice) -> _Made:
        """Return the basis for a choice, and its directions at the fitted rows."""
        width, stepped = choice
        bases = self._stepped if stepped else self._bases
        if width not in bases:
            # Threads may make the same one twice, which takes no longer than to wait for it.
            bases.setdefault(width, self._make_basis(width, self.steps if stepped else self._none))
        return bases[width]

    def _make_basis(self, width: float, steps: Steps) -> _Made:
        features_of, unit, features, gram = self._features_at_rows(width)
        free, of_free = self._free_functions(steps)
        on_free = free.T @ features
        values, vectors = np.linalg.eigh(gram - on_free.T @ on_free)
        large = values > 1e-10 * max(values[-1], 1e-300)
        beside = vectors[:, large] / np.sqrt(values[large])
        k = free.shape[1]
        turn = np.block(
            [[of_free, -of_free @ (on_free @ beside)], [np.zeros((len(beside), k)), beside]]
        )
        strengths = np.concatenate([np.full(k, np.inf), values[large]])  # of the kernel matrix
        # The hat matrix S in these directions: theory.md, eq. 8.
        shrinkage = 1 / (1 + PENALTIES[:, np.newaxis] / strengths)
        basis = Basis(
            self._metric, self._centre, self._line, steps, features_of, unit, turn, shrinkage
        )
        penalised = (features - free @ on_free) @ beside
        return basis, Directions(np.hstack([free, penalised]))

    def _features_at_rows(self, width: float) -> _Penalised:
        known = self._penalised
        if known is not None and width in known:
            return known[width]
        features_of, unit = self._features(width)
        features = self._in_roots(self._less_means(features_of(self._z / unit)))
        made = _Penalised(features_of, unit, features, features.T @ features)
        if known is not None:
            known[width] = made
        return made

    def _free_functions(self, steps: Steps) -> tuple[Array, Array]:
        """Return line and steps made orthonormal, and the matrix that makes them so."""
        if steps is not self.steps:
            return self._orthonormal(steps)
        if self._free is None:  # bases of all widths have the same ones
            self._free = self._orthonormal(steps)
        return self._free

    def _orthonormal(self, steps: Steps) -> tuple[Array, Array]:
        line = self._line(self._z)
        within = self._groups is not None and self._groups.within
        if not len(steps) and not within and self._root is None:
            return line, np.eye(line.shape[1])
        functions = np.hstack([line, steps(self._columns[self.rows])]) if len(steps) else line
        size = np.linalg.norm(functions, 2)
        weighted = self._in_roots(self._less_means(functions))
        left, sizes, right = np.linalg.svd(weighted, full_matrices=False)
        large = sizes > 1e-8 * size
        return left[:, large], right[large].T / sizes[large]

    def _less_means(self, values: Array) -> Array:
        """Subtract means of groups from columns at the fitted rows, if groups have levels."""
        return values if self._fitted_groups is None else self._fitted_groups.less_means(values)

    def _all_widths(self) -> Widths:
        return ON_LINE if self._z.shape[1] == 1 else IN_SPACE

    def _features(self, width: float) -> tuple[Features, float]:
        """Choose features for a width of the kernel, and return its width in the unit of z."""
        unit = width * self._scale
        return choose_landmarks(self._z[self._width_rows] / unit, LARGEST_RANK), unit

    def _slopes(self, fit: RidgeFit) -> Array:
        """Differentiate the fit: kernels at landmarks, and the line; steps have no slope."""
        basis = fit.basis
        landmarks = basis.features
        assert isinstance(landmarks, Landmarks)
        z = self._z / basis.unit
        k = self._line.slopes.shape[1]
        of_line, of_features = fit.coefficients[:k], fit.coefficients[k + len(basis.steps) :]
        at_landmarks = landmarks.inverse @ of_features
        line = self._line.slopes @ of_line
        kappa = KERNELS["gaussian"].matrix(z, landmarks.points)
        gradients = []
        for k in range(z.shape[1]):
            apart = z[:, k, np.newaxis] - landmarks.points[:, k]
            gradients.append((-2 / basis.unit) * ((apart * kappa) @ at_landmarks) + line[k])
        return np.stack(gradients, axis=1)


def _neighbours_share(residuals: Array, along: Array, spent: float) -> float:
    """Return how much samples that follow each other share, in standard deviations of chance.

    `spent` is the trace of the hat matrix: a fit makes its residuals a little unlike (theory.md,
    eq. 9b).
    """
    residuals = residuals[np.argsort(along, kind="stable")]
    squares = np.einsum("ij,ij->j", residuals, residuals)
    products = np.einsum("ij,ij->j", residuals[1:], residuals[:-1])
    n, q = residuals.shape
    if q == 0:
        return 0.0
    ratios = np.divide(products, squares, where=squares > 0, out=np.zeros(q))
    share: float = (ratios.mean() + spent / n) * (q * n) ** 0.5
    return share


def choose_landmarks(z: Array, rank: int) -> Landmarks:
    """Choose Nyström landmarks of z by pivoted Cholesky (theory.md, eq. 7)."""
    gaussian = KERNELS["gaussian"]
    return fit_landmarks(z, gaussian, LANDMARK_ACCURACY, rank, LANDMARK_CANDIDATES)[0]


def some_rows(z: Array, number: int, groups: Clusters | None = None) -> Rows:
    """Return all rows, or as many as are wanted: drawn with a fixed seed, and the extremes.

    If groups have levels of their own, whole groups are drawn.
    """
    n = len(z)
    if n <= number:
        return slice(None)
    if groups is not None and groups.within:
        return groups.some_rows(number)
    ends = np.concatenate([z.argmin(axis=0), z.argmax(axis=0)])[: number // 2]
    drawn = np.random.default_rng(0).choice(n, number - len(ends), replace=False, shuffle=False)
    return sorted_unique(np.concatenate([drawn, ends]))
