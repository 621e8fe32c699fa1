"""The error of a ridge regression for whole groups that were left out, at all penalties at once.

Rows of one group share their noise. A generalised cross-validation error, which takes noise for
independent, would follow it: four rows of a patient foretell each other wherever z tells patients
apart.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from chsic._util.validate import Array, Index
from chsic.inference.groups import groups_as_units

FOLDS = 5
UNKNOWN = 1e-8  # a direction inside of one fold is unknown without it


class _Fold(NamedTuple):
    """Rows that are left out, and what solves the equations of the others."""

    rows: Index
    functions: Array  # D_f, at these rows
    of_free: Array  # inverse of the equations of directions without penalty
    between: Array
    turn: Array  # where the equations of the others are diagonal
    strengths: Array
    turned: Array  # what those foretell at these rows
    squares: Array  # turned' turned


class LeftOut:
    """Cross-validation of one basis by folds of whole groups (theory.md, eq. 51).

    Parameters
    ----------
    directions : array, shape (n, r)
        Orthonormal directions D.
    shrinkage : array, shape (penalties, r)
        What each penalty leaves of each direction; 1 where there is none.
    penalties : array, shape (penalties,)
        The penalties.
    groups : array of int, shape (n,)
        Group of each sample.
    """

    def __init__(
        self, directions: Array, shrinkage: Array, penalties: Array, groups: Index
    ) -> None:
        self._penalties, self._free = penalties, shrinkage[0] >= 1
        stiff = shrinkage[0, ~self._free]
        root = np.sqrt(stiff / (1 - stiff) * penalties[0])
        folds = groups_as_units(groups, FOLDS)
        self._folds = [
            self._fold(directions, folds.order[slice(*folds.bounds[k : k + 2])], root)
            for k in range(len(folds))
        ]

    def _fold(self, directions: Array, rows: Index, root: Array) -> _Fold:
        """Without rows f, coefficients solve (I - D_f'D_f + penalty / strengths) c = D'y - D_f'y_f.

        Directions without a penalty are eliminated, the others turned so that all penalties have
        one solution.
        """
        own, free = directions[rows], self._free
        matrix: Array = np.eye(own.shape[1]) - own.T @ own
        known = matrix[np.ix_(free, free)] + UNKNOWN * np.eye(int(free.sum()))
        of_free = np.asarray(np.linalg.inv(known), dtype=np.float64)
        between = of_free @ matrix[np.ix_(free, ~free)]
        others = matrix[np.ix_(~free, ~free)] - matrix[np.ix_(~free, free)] @ between
        strengths, vectors = np.linalg.eigh(root[:, np.newaxis] * others * root)
        turn = root[:, np.newaxis] * vectors
        turned = (own[:, ~free] - own[:, free] @ between) @ turn
        strengths = np.maximum(strengths, 0.0)
        return _Fold(rows, own, of_free, between, turn, strengths, turned, turned.T @ turned)

    def errors(self, values: Array, explained: Array) -> Array:
        """Return the sum of squares of what is not foretold, for each penalty.

        Parameters
        ----------
        values : array, shape (n, q)
            Columns that are fitted.
        explained : array, shape (r, q)
            D' times these.
        """
        free, total = self._free, np.zeros(len(self._penalties))
        for fold in self._folds:
            own, left = fold.functions, values[fold.rows]
            known = explained - own.T @ left
            # With c_free = of_free known_free - between c_others.
            of_free = fold.of_free @ known[free]
            side = fold.turn.T @ (known[~free] - fold.between.T @ known[free])
            rest = left - own[:, free] @ of_free
            # Squares of rest - turned w, w = side / (strengths + penalty), without making them.
            weights = 1 / (fold.strengths + self._penalties[:, np.newaxis])
            products = fold.squares * (side @ side.T)
            cross = ((fold.turned.T @ rest) * side).sum(axis=1)
            total += (rest**2).sum() - 2 * weights @ cross
            total += ((weights @ products) * weights).sum(axis=1)
        return np.maximum(total, 0.0)
