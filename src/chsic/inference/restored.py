"""Residuals of whole groups, with the noise that they had before a fit.

A fit follows a part of the noise: I - S of it is the residual. Of one sample it leaves the share
that theory.md, eq. 20, divides by. Rows of one group whose noise is alike lose a larger share of
what they have in common, so that the residuals of a group are multiplied by the inverse root of
what is left of the covariance of white noise in it (Bell and McCaffrey 2002; theory.md, eq. 50a).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import array_namespace

from chsic._util.namespaces import as_numpy, beside
from chsic._util.validate import Array
from chsic.inference.batches import StratumRows
from chsic.inference.units import Units, means_at_samples

SMALLEST_NOISE = 0.1  # share of variance that a fit is taken to leave at least


def restored(
    residuals: Any, directions: Any, spent: Array, groups: Units, *, within: bool = False
) -> Any:
    """Multiply the residuals of each group g by (I + D_g c D_g')^(-1/2).

    Parameters
    ----------
    residuals : array, shape (n, q)
        (I - S) times the columns.
    directions : array, shape (n, r)
        Directions D.
    spent : array, shape (r, r)
        The matrix c with (I - S)(I - S)' = I + D c D'.
    groups : Units
        The groups.
    within : bool
        Whether the mean of each group was subtracted as well.

    Examples
    --------
    One direction, of which a group has half the square, loses half of it:

    >>> import numpy as np
    >>> from chsic.inference.restored import restored
    >>> from chsic.inference.units import Units
    >>> mean = np.full((4, 1), 0.5)
    >>> restored(mean, mean, np.array([[-1.0]]), Units.of(np.array([0, 0, 1, 1])))[0]
    array([0.70710678])
    """
    known, own = as_numpy(directions), as_numpy(residuals)
    result = np.array(own)
    for size in np.unique(groups.sizes).tolist():
        alike = np.flatnonzero(groups.sizes == size)
        rows = groups.order[groups.bounds[alike, np.newaxis] + np.arange(size)]
        if size <= known.shape[1]:
            matrix = np.eye(size) + (known[rows] @ spent) @ known[rows].transpose(0, 2, 1)
            if within:
                matrix -= 1 / size
            result[rows] = _inverse_root(matrix) @ own[rows]
            continue
        # Of more samples than directions; residuals whose mean is zero have nothing along it.
        for of_group in rows:
            basis, triangle = np.linalg.qr(known[of_group])
            matrix = np.eye(len(triangle)) + (triangle @ spent) @ triangle.T
            inside = basis.T @ own[of_group]
            result[of_group] += basis @ (_inverse_root(matrix) @ inside - inside)
    return beside(residuals, result)


def _inverse_root(matrices: Array) -> Array:
    shares, vectors = np.linalg.eigh(matrices)
    roots = np.maximum(shares, SMALLEST_NOISE) ** -0.5
    inverse: Array = (vectors * roots[..., np.newaxis, :]) @ np.swapaxes(vectors, -1, -2)
    return inverse


def restored_in_strata(residuals: Any, strata: StratumRows, groups: Units) -> Any:
    """Do the same where the mean of each stratum was subtracted.

    A group with m of the n samples of a stratum has lost the share m / n of its own mean there.
    With weights (theory.md, eq. 57), sums of them take the place of numbers of samples.
    """
    xp = array_namespace(residuals)
    _, labels = np.unique(strata.labels * len(groups) + groups.labels, return_inverse=True)
    own = Units.of(labels)
    weights, totals, squares = strata.of_rows
    of_group = np.bincount(labels, weights)[labels]
    lost = of_group / totals
    if strata.weights is not None:
        lost = 2 * lost - squares * lost**2 / np.bincount(labels, weights**2)[labels]
    root = xp.clip(beside(residuals, 1 - lost), min=SMALLEST_NOISE) ** -0.5
    return residuals + (root - 1)[:, None] * means_at_samples(own, residuals, strata.weights)
