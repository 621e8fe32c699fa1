"""Ridge regression on z: what z explains of some columns, and what it leaves.

A straight line in z, which is not penalised, plus kernel features of z, which are. The width of the
kernel and the penalty are those of the least generalised cross-validation error, so that a rough
dependence on z is followed and a smooth one is not over-fitted. Everything is linear in n.
"""

from __future__ import annotations

import dataclasses
import threading

import numpy as np

from chsic._validate import Array
from chsic.bandwidth import typical_distance
from chsic.features import Landmarks, fit_landmarks
from chsic.kernels import KERNELS

# Widths of the kernel, in median distances between samples of z. In several dimensions a narrow one
# would see single samples.
WIDTHS_ON_LINE = (0.25, 0.5, 1.0, 2.0)
WIDTHS_IN_SPACE = (0.5, 1.0, 2.0)
PENALTIES = 10.0 ** np.arange(-5, 3.1, 0.5)
LARGEST_RANK = 64  # features of z
LANDMARK_ACCURACY = 1e-6
ROWS = 2**12  # that are worked on at once
CANDIDATES = 200  # samples of z that landmarks are chosen from
SEEN = 1_000  # samples on which the width is chosen
LARGEST_SHARE = 0.5  # of n that the regression may spend on its fit
LARGEST_LINE = 0.3  # of n that the line, which is not penalised, may spend


@dataclasses.dataclass(frozen=True, eq=False)
class _Basis:
    """Orthonormal directions of the features of z beside the line, and their strengths."""

    landmarks: Landmarks
    directions: Array  # (n, m)
    strengths: Array  # (m,) eigenvalues of the kernel matrix
    turn: Array  # features @ turn = directions, up to the line


@dataclasses.dataclass(frozen=True, eq=False)
class Fit:
    """A regression of some columns on z.

    Attributes
    ----------
    residuals : array, shape (n, q)
        What z does not explain.
    left : array, shape (n,)
        Share of the variance of a sample's noise that is left in its residual: with
        residuals = (I - S) targets, the sum of squares of its row of I - S.
    error : float
        Generalised cross-validation error.
    slopes : array, shape (n, d, q)
        Gradients of the fitted columns at the samples, only if asked for.
    """

    residuals: Array
    left: Array
    error: float
    slopes: Array | None = None


class Smoother:
    """All ridge regressions on one z; what they share is computed once.

    Parameters
    ----------
    z : array, shape (n, d)
        In units in which the distance of samples means something.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.smooth import Smoother
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(500, 1))
    >>> noise = rng.normal(size=(500, 1))
    >>> fit = Smoother(z).fit(np.sin(2 * z) + 0.5 * noise)
    >>> bool(np.corrcoef(fit.residuals[:, 0], noise[:, 0])[0, 1] > 0.98)
    True
    """

    def __init__(self, z: Array) -> None:
        self._z = z - z.mean(axis=0)
        self._line, self._to_slopes = _line_of(self._z)
        self._line_leverage = np.einsum("ij,ij->i", self._line, self._line)
        some = self._z
        if len(z) > SEEN:
            some = np.random.default_rng(0).choice(some, SEEN, replace=False, axis=0)
        self._seen = some
        self._scale = typical_distance(self._z)
        self._bases: dict[float, _Basis] = {}
        self._trial: Smoother | None = None
        self._lock = threading.Lock()

    def fit(self, targets: Array, *, slopes: bool = False) -> Fit:
        """Regress the columns of `targets` together: one width and one penalty for all of them."""
        on_line = self._line.T @ targets
        rest = targets - self._line @ on_line
        width = self._choose_width(targets, rest)
        basis = self._basis(width)
        explained = basis.directions.T @ rest
        error, kept = self._least_error(basis, rest, explained)
        weights = kept[:, np.newaxis] * explained
        # (I - S)^2 on its diagonal; the line is projected on, the other directions are shrunk.
        left = 1 - self._line_leverage
        for start in range(0, len(rest), ROWS):
            rows = slice(start, start + ROWS)
            directions = basis.directions[rows]
            rest[rows] -= directions @ weights
            left[rows] += directions**2 @ (kept**2 - 2 * kept)
        gradients = self._slopes(width, basis, weights, on_line) if slopes else None
        return Fit(rest, left, error, gradients)

    def _choose_width(self, targets: Array, rest: Array) -> float:
        """Choose on some samples, so that features of all of them are made for one width only."""
        if len(self._z) > SEEN:
            rows = np.random.default_rng(0).choice(len(self._z), SEEN, replace=False)
            if self._trial is None:
                self._trial = Smoother(self._z[rows])
            some = targets[rows]
            line = self._trial._line
            return self._trial._choose_width(some, some - line @ (line.T @ some))
        errors = {}
        for width in WIDTHS_ON_LINE if self._z.shape[1] == 1 else WIDTHS_IN_SPACE:
            basis = self._basis(width)
            errors[width] = self._least_error(basis, rest, basis.directions.T @ rest)[0]
        return min(errors, key=errors.__getitem__)

    def _least_error(self, basis: _Basis, rest: Array, explained: Array) -> tuple[float, Array]:
        """Return the least error (1/n) RSS / (1 - tr S / n)^2 and what is kept of directions."""
        n = len(rest)
        squares = (explained**2).sum(axis=1)
        kept = basis.strengths / (basis.strengths + PENALTIES[:, np.newaxis])
        spent = (kept.sum(axis=1) + self._line.shape[1]) / n
        left = np.einsum("ij,ij->", rest, rest) - squares.sum() + (1 - kept) ** 2 @ squares
        errors = np.where(spent < LARGEST_SHARE, left / (n * (1 - spent) ** 2), np.inf)
        best = int(np.argmin(errors))
        if not np.isfinite(errors[best]):  # too few samples: the stiffest fit there is
            best = len(PENALTIES) - 1
        return float(errors[best]), kept[best]

    def _basis(self, width: float) -> _Basis:
        with self._lock:  # threads that need the same one wait for it
            if width not in self._bases:
                self._bases[width] = self._make_basis(width)
            return self._bases[width]

    def _make_basis(self, width: float) -> _Basis:
        unit = width * self._scale
        landmarks, _ = fit_landmarks(
            self._seen / unit, KERNELS["gaussian"], LANDMARK_ACCURACY, LARGEST_RANK, CANDIDATES
        )
        features = landmarks(self._z / unit)
        on_line = self._line.T @ features
        values, vectors = np.linalg.eigh(features.T @ features - on_line.T @ on_line)
        large = values > 1e-10 * max(values[-1], 1e-300)
        turn = vectors[:, large] / np.sqrt(values[large])
        directions = np.empty((len(features), turn.shape[1]))
        for start in range(0, len(features), ROWS):
            rows = slice(start, start + ROWS)
            directions[rows] = features[rows] @ turn - self._line[rows] @ (on_line @ turn)
        return _Basis(landmarks, directions, values[large], turn)

    def _slopes(self, width: float, basis: _Basis, weights: Array, on_line: Array) -> Array:
        """Differentiate the fit: kernels at landmarks, and the line that the features are off."""
        unit = width * self._scale
        z = self._z / unit
        of_features = basis.turn @ weights
        at_landmarks = basis.landmarks.inverse @ of_features
        features = basis.landmarks(z)
        line = self._to_slopes @ (on_line - self._line.T @ (features @ of_features))
        kappa = KERNELS["gaussian"].matrix(z, basis.landmarks.points)
        gradients = []
        for k in range(z.shape[1]):
            apart = z[:, k, np.newaxis] - basis.landmarks.points[:, k]
            gradients.append((-2 / unit) * ((apart * kappa) @ at_landmarks) + line[k])
        return np.stack(gradients, axis=1)


def _line_of(z: Array) -> tuple[Array, Array]:
    """Return an orthonormal basis of straight lines in centred `z`, and what makes slopes of it.

    Directions in which columns repeat each other are left out, and all of them if they would take
    too large a share of the samples; the penalised features then have to do.
    """
    n, d = z.shape
    constant = np.full((n, 1), n**-0.5)
    if d + 1 > LARGEST_LINE * n:
        return constant, np.zeros((d, 1))
    left, sizes, right = np.linalg.svd(z, full_matrices=False)
    kept = sizes > 1e-10 * max(sizes[0], 1e-300)
    slopes = right[kept].T / sizes[kept]
    return np.column_stack([constant, left[:, kept]]), np.column_stack([np.zeros(d), slopes])
