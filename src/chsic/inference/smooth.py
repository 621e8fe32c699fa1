"""Ridge regression on z: what z explains of some columns, and what it leaves.

A straight line in z, which is not penalised, plus kernel features of z, which are: of all columns
together, or of each column by itself. The width of the kernel and the penalty are those of the
least generalised cross-validation error, so that a rough dependence on z is followed and a smooth
one is not over-fitted. Everything is linear in n, and very many samples are fitted on some of them:
what that misses is smooth in z, and differences over close pairs do not see it.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from chsic._util.arrays import Rows, row_blocks, sorted_unique
from chsic._util.forks import Lock
from chsic._util.validate import Array
from chsic.kernels import KERNELS
from chsic.kernels.bandwidth import typical_distance
from chsic.kernels.features import Landmarks, fit_landmarks

# Widths of the kernel, in median distances between samples of z. In several dimensions a narrow one
# would see single samples.
WIDTHS_ON_LINE = (0.25, 0.5, 1.0, 2.0)
WIDTHS_IN_SPACE = (0.5, 1.0, 2.0)
PENALTIES = 10.0 ** np.arange(-5, 3.1, 0.5)
LARGEST_RANK = 64  # features of z
LANDMARK_ACCURACY = 1e-6
LARGEST_COLUMN_RANK, LARGEST_SUM_RANK = 10, 160  # features of each column of z, and of all of them
CANDIDATES = 200  # samples of z that landmarks are chosen from
SEEN = 1_000  # samples on which the width is chosen
FITTED = 50_000  # samples on which the regression is fitted
MOST_HELD = 2**16  # rows whose features of z are held until the next regression asks for them
LARGEST_SHARE = 0.5  # of n that the regression may spend on its fit
LARGEST_LINE = 0.3  # of n that the line, which is not penalised, may spend

Columns: TypeAlias = Callable[[Rows], Array]  # what makes some rows of a matrix


@dataclasses.dataclass(frozen=True, eq=False)
class _Line:
    """Orthonormal basis of straight lines in z: that of the constant, and those of `slopes`.

    Directions in which columns repeat each other are left out, and all of them if they would take
    too large a share of the samples; the penalised features then have to do.
    """

    constant: float
    slopes: Array  # (d, k), the first column zero

    @classmethod
    def of(cls, z: Array) -> _Line:
        """Orthonormalise over the rows of centred `z`."""
        n, d = z.shape
        if d + 1 > LARGEST_LINE * n:
            return cls(n**-0.5, np.zeros((d, 1)))
        _, sizes, right = np.linalg.svd(z, full_matrices=False)
        kept = sizes > 1e-10 * max(sizes[0], 1e-300)
        return cls(n**-0.5, np.column_stack([np.zeros(d), right[kept].T / sizes[kept]]))

    def __call__(self, z: Array) -> Array:
        values: Array = z @ self.slopes
        values[:, 0] = self.constant
        return values


@dataclasses.dataclass(frozen=True, eq=False)
class _EachColumn:
    """Features of every column by itself, side by side."""

    of_columns: list[Landmarks]

    def __call__(self, z: Array) -> Array:
        """Return the features at rows of z."""
        each = [of(z[:, [k]]) for k, of in enumerate(self.of_columns)]
        features: Array = np.hstack(each) / len(each) ** 0.5
        return features


@dataclasses.dataclass(frozen=True, eq=False)
class _Basis:
    """Orthonormal directions: the line, and the features of z beside it."""

    line: _Line
    landmarks: Landmarks | _EachColumn
    unit: float  # of z, in which the kernel has width 1
    turn: Array  # (line and features) @ turn = directions
    kept: Array  # (penalties, directions): what a regression keeps of each, all of the line

    def before_turn(self, z: Array) -> Array:
        """Return line and features at rows of z, side by side."""
        return np.hstack([self.line(z), self.landmarks(z / self.unit)])


@dataclasses.dataclass(frozen=True, eq=False)
class Fit:
    """A regression of some columns on z.

    Attributes
    ----------
    rows : callable
        Given rows, what z does not explain of them, and for each of them the share of its noise's
        variance that is left in this residual: with residuals = (I - S) targets, the sum of
        squares of its row of I - S.
    error : float
        Generalised cross-validation error.
    taken : pair of arrays, shapes (n, m) and (m,), or None
        Orthonormal directions D and numbers c with (I - S)^2 = I + D diag(c) D'; None if not all
        samples were fitted, which are then so many that it is next to I.
    slopes : array, shape (n, d, q), or None
        Gradients of the fitted columns at the samples, if asked for.
    """

    rows: Callable[[Rows], tuple[Array, Array]]
    error: float
    taken: tuple[Array, Array] | None = None
    slopes: Array | None = None


class Smoother:
    """All ridge regressions on one z; what they share is computed once.

    Parameters
    ----------
    z : array, shape (n, d)
        In units in which the distance of samples means something.
    scale : float, optional
        The unit of the kernel's width; the median distance between samples if not given.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.inference.smooth import Smoother
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(500, 1))
    >>> noise = rng.normal(size=(500, 1))
    >>> target = np.sin(2 * z) + 0.5 * noise
    >>> residuals, left = Smoother(z).fit(target.__getitem__).rows(slice(None))
    >>> bool(np.corrcoef(residuals[:, 0], noise[:, 0])[0, 1] > 0.98)
    True
    """

    def __init__(self, z: Array, scale: float | None = None) -> None:
        self._fitted = some_rows(z, FITTED)
        self._z = z - z[self._fitted].mean(axis=0)
        self._z_fitted = self._z[self._fitted]
        self._line = _Line.of(self._z_fitted)
        self._seen = some_rows(self._z_fitted, SEEN)
        self._scale = typical_distance(self._z) if scale is None else scale
        self._bases: dict[float, tuple[_Basis, Array]] = {}
        self._trial: Smoother | None = None
        self._lock = Lock()
        self._last = threading.local()  # directions at the rows that a thread asked for last

    def fit(self, targets: Columns, *, slopes: bool = False) -> Fit:
        """Regress the columns of `targets` together: one width and one penalty for all of them."""
        values = targets(self._fitted)
        width = self._choose_width(values)
        basis, directions = self._basis(width)
        explained = directions.T @ values
        error, kept = self._least_error(basis.kept, values, explained)
        weights = kept[:, np.newaxis] * explained
        if not isinstance(self._fitted, slice):
            if slopes:
                raise ValueError(f"slopes: are for at most {FITTED} samples.")

            turned = basis.turn @ weights

            def predicted(rows: Rows) -> tuple[Array, Array]:
                if isinstance(rows, slice) or len(rows) <= MOST_HELD:
                    residuals = self._before_turn(width, rows) @ turned
                else:
                    parts = (rows[part] for part in row_blocks(len(rows)))
                    fits = [basis.before_turn(self._z[part]) @ turned for part in parts]
                    residuals = np.concatenate(fits)
                np.subtract(targets(rows), residuals, out=residuals)
                # So many samples were fitted that each of them kept nearly all of its noise.
                return residuals, np.ones(len(residuals))

            return Fit(predicted, error)
        residuals = directions @ weights
        np.subtract(values, residuals, out=residuals)
        taken = kept**2 - 2 * kept
        left = 1 + directions**2 @ taken  # the diagonal of (I - S)^2
        gradients = self._slopes(basis, weights) if slopes else None
        return Fit(
            lambda rows: (residuals[rows], left[rows]), error, (directions, taken), gradients
        )

    def _choose_width(self, values: Array) -> float:
        """Choose on some samples, so that features of all of them are made for one width only."""
        if not isinstance(self._seen, slice):
            with self._lock:
                if self._trial is None:
                    self._trial = type(self)(self._z_fitted[self._seen], self._scale)
            return self._trial._choose_width(values[self._seen])
        errors = {}
        for width in WIDTHS_ON_LINE if self._z.shape[1] == 1 else WIDTHS_IN_SPACE:
            basis, directions = self._basis(width)
            errors[width] = self._least_error(basis.kept, values, directions.T @ values)[0]
        return min(errors, key=errors.__getitem__)

    def _least_error(self, kept: Array, values: Array, explained: Array) -> tuple[float, Array]:
        """Return the least error (1/n) RSS / (1 - tr S / n)^2 and what is kept of directions."""
        n = len(values)
        squares = (explained**2).sum(axis=1)
        spent = kept.sum(axis=1) / n
        beside = np.einsum("ij,ij->", values, values) - squares.sum()
        left = max(beside, 0.0) + (1 - kept) ** 2 @ squares
        errors = np.where(spent < LARGEST_SHARE, left / (n * (1 - spent) ** 2), np.inf)
        best = int(np.argmin(errors))
        if not np.isfinite(errors[best]):  # too few samples: the stiffest fit there is
            best = len(PENALTIES) - 1
        return float(errors[best]), kept[best]

    def _before_turn(self, width: float, rows: Rows) -> Array:
        """Return line and features at some rows; regressions ask for the same ones in turn."""
        last = getattr(self._last, "rows", None)
        both_slices = isinstance(rows, slice) and isinstance(last, slice)
        if last is not rows and not (both_slices and last == rows):
            self._last.rows, self._last.found = rows, {}
        found: dict[float, Array] = self._last.found
        if width not in found:
            found[width] = self._basis(width)[0].before_turn(self._z[rows])
        return found[width]

    def _basis(self, width: float) -> tuple[_Basis, Array]:
        """Return the basis for a width of the kernel, and its directions at the fitted rows."""
        with self._lock:  # threads that need the same one wait for it
            if width not in self._bases:
                self._bases[width] = self._make_basis(width)
            return self._bases[width]

    def _make_basis(self, width: float) -> tuple[_Basis, Array]:
        landmarks, unit = self._landmarks(width)
        line, features = self._line(self._z_fitted), landmarks(self._z_fitted / unit)
        on_line = line.T @ features
        values, vectors = np.linalg.eigh(features.T @ features - on_line.T @ on_line)
        large = values > 1e-10 * max(values[-1], 1e-300)
        beside = vectors[:, large] / np.sqrt(values[large])
        k = line.shape[1]
        turn = np.block([[np.eye(k), -on_line @ beside], [np.zeros((len(beside), k)), beside]])
        strengths = np.concatenate([np.full(k, np.inf), values[large]])  # of the kernel matrix
        kept = 1 / (1 + PENALTIES[:, np.newaxis] / strengths)
        basis = _Basis(self._line, landmarks, unit, turn, kept)
        return basis, np.hstack([line, features]) @ turn

    def _landmarks(self, width: float) -> tuple[Landmarks | _EachColumn, float]:
        """Choose features for a width of the kernel, and return its width in the unit of z."""
        unit = width * self._scale
        return _landmarks(self._z_fitted[self._seen] / unit, LARGEST_RANK), unit

    def _slopes(self, basis: _Basis, weights: Array) -> Array:
        """Differentiate the fit: kernels at landmarks, and the line."""
        assert isinstance(basis.landmarks, Landmarks)
        z = self._z / basis.unit
        of_line, of_features = np.split(basis.turn @ weights, [self._line.slopes.shape[1]])
        at_landmarks = basis.landmarks.inverse @ of_features
        line = self._line.slopes @ of_line
        kappa = KERNELS["gaussian"].matrix(z, basis.landmarks.points)
        gradients = []
        for k in range(z.shape[1]):
            apart = z[:, k, np.newaxis] - basis.landmarks.points[:, k]
            gradients.append((-2 / basis.unit) * ((apart * kappa) @ at_landmarks) + line[k])
        return np.stack(gradients, axis=1)


class AdditiveSmoother(Smoother):
    """Ridge regressions on a sum of functions of the columns of z, one of each.

    That is far less than a function of all columns, and can be learned from few samples when there
    are many columns. It knows no slopes.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.inference.smooth import AdditiveSmoother, Smoother
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(400, 8))
    >>> target = np.sin(2 * z).sum(axis=1, keepdims=True) + rng.normal(size=(400, 1))
    >>> errors = [kind(z).fit(target.__getitem__).error for kind in (AdditiveSmoother, Smoother)]
    >>> bool(errors[0] < errors[1] / 2)
    True
    """

    def _landmarks(self, width: float) -> tuple[Landmarks | _EachColumn, float]:
        d = self._z.shape[1]
        unit = width * self._scale / d**0.5  # distances in one column are that much smaller
        rank = min(LARGEST_COLUMN_RANK, max(1, LARGEST_SUM_RANK // d))
        columns = self._z_fitted[self._seen].T / unit
        return _EachColumn([_landmarks(column[:, None], rank) for column in columns]), unit


def _landmarks(z: Array, rank: int) -> Landmarks:
    return fit_landmarks(z, KERNELS["gaussian"], LANDMARK_ACCURACY, rank, CANDIDATES)[0]


def some_rows(z: Array, number: int) -> Rows:
    """Return all rows, or as many as are wanted: drawn with a fixed seed, and the extremes."""
    n = len(z)
    if n <= number:
        return slice(None)
    ends = np.concatenate([z.argmin(axis=0), z.argmax(axis=0)])[: number // 2]
    drawn = np.random.default_rng(0).choice(n, number - len(ends), replace=False, shuffle=False)
    return sorted_unique(np.concatenate([drawn, ends]))
