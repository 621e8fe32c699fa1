"""Regress first, prune second: residuals of x and y given z, before differences are formed.

theory.md, sections 3 and 4, has the formulas.

Pairs close in z are not equal in z, and what is left of z's influence is the bias of the test; a
regression is never perfect, and what it misses is the bias of a test on residuals. Together the two
errors multiply. Whatever is subtracted is a function of z, so that conditional independence of x
and y given z is not touched.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, TypeAlias

import numpy as np

from chsic._util.arrays import Rows, row_blocks
from chsic._util.namespaces import beside, namespace
from chsic._util.parallel import in_order
from chsic._util.validate import Array
from chsic.inference.batches import Batch, Strata
from chsic.inference.ridge_fit import Directions

ADJUSTMENTS = ("auto", "none", "ridge")

Columns: TypeAlias = Callable[[Rows], Array]  # makes some rows of a matrix


class Fit(Protocol):
    """What z explains of some columns: small, and picklable."""

    def residuals(self, values: Any, batch: Batch) -> tuple[Any, Any]:
        """Return residuals of rows, and the share of each one's noise variance that is left.

        The share is None if nothing was fitted.
        """
        ...


class Fitted(Protocol):
    """A fit, and what is known of all samples if it was computed on the way."""

    @property
    def fit(self) -> Fit:
        """The fit."""

    @property
    def residuals(self) -> Array | None:
        """Residuals of all samples."""

    @property
    def noise(self) -> Array | None:
        """Share of the noise variance that is left of each sample."""

    @property
    def directions(self) -> Directions | None:
        """Directions D of a ridge regression, at all samples."""


class Adjustment(Protocol):
    """Makes residuals given z.

    Attributes
    ----------
    of_columns : bool
        Whether columns are replaced by their residuals before kernels compare them, and not only
        their features. Where all samples that are compared have the same z, there is no need to.
    """

    of_columns: bool

    def fit(self, targets: Columns) -> Fitted:
        """Fit columns."""
        ...

    def parts(self) -> Iterator[Batch]:
        """Cut all samples into rows whose residuals can be computed together."""
        ...


@dataclasses.dataclass(frozen=True, eq=False)
class Plain:
    """A fit alone, or with the residuals of all samples."""

    fit: Fit
    residuals: Array | None = None
    noise: Array | None = None
    directions: Directions | None = None


def all_residuals(
    fitted: Fitted, targets: Columns, adjustment: Adjustment, workers: int = 1
) -> tuple[Array, Array | None]:
    """Compute the residuals of all samples, and shares of their noise, part by part."""

    def of_part(part: Batch) -> tuple[Rows, Array, Array | None]:
        return part.rows, *fitted.fit.residuals(targets(part.rows), part)

    # A part is gone once its residuals are known, with the functions of z that it holds.
    made = list(in_order(of_part, adjustment.parts(), workers))
    n = sum(len(residuals) for _, residuals, _ in made)
    all_rows, shares = np.empty((n, made[0][1].shape[1])), np.empty(n)
    for rows, residuals, noise in made:
        all_rows[rows] = residuals
        if noise is not None:
            shares[rows] = noise
    return all_rows, None if made[0][2] is None else shares


@dataclasses.dataclass(frozen=True, eq=False)
class CentredFit:
    """The mean of all samples, which differences over pairs do not see."""

    mean: Array

    def residuals(self, values: Any, batch: Batch) -> tuple[Any, None]:
        """Subtract the mean."""
        return values - beside(values, self.mean), None


class NoAdjustment:
    """Subtracts the mean of all n samples alone."""

    of_columns = False

    def __init__(self, n: int) -> None:
        self._n = n

    def fit(self, targets: Columns) -> Plain:
        """Compute the mean."""
        return Plain(CentredFit(_mean(targets, row_blocks(self._n))))

    def parts(self) -> Iterator[Batch]:
        """Yield rows that follow each other."""
        return (Batch.at(rows) for rows in row_blocks(self._n))


@dataclasses.dataclass(frozen=True, eq=False)
class StratumFit:
    """Means of strata: those of strata that are cut into several batches, others where they are.

    Attributes
    ----------
    means : mapping
        From the number of a stratum to its mean.
    """

    means: Mapping[int, Array]

    def residuals(self, values: Any, batch: Batch) -> tuple[Any, Any]:
        """Subtract means, which leave 1 - 1 / size of each sample's noise (theory.md, eq. 20).

        A weighted mean leaves 1 - 2 w / W + Q / W^2 of that of a sample of weight w, W and Q the
        sums of weights and of their squares (theory.md, eq. 57).
        """
        xp, part = namespace(values), batch.stratum_rows
        weights, total, squares = part.of_rows
        if part.weights is None:
            noise = beside(values, (1 - 1 / part.sizes)[part.labels])
        else:
            noise = beside(values, 1 - 2 * weights / total + squares / total**2)
        if part.part_of is not None:
            return values - beside(values, self.means[part.part_of]), noise
        # From the first of its stratum on, so that what is constant becomes zero.
        values = values - xp.take(values, beside(values, part.starts[part.labels]), axis=0)
        if part.weights is None:
            means = part.sums(values) / beside(values, part.sizes[:, None].astype(np.float64))
        else:
            shares = beside(values, weights / total)
            means = part.sums(shares[:, None] * values)
        return values - xp.take(means, beside(values, part.labels), axis=0), noise


class StratumAdjustment:
    """Subtracts the mean of each stratum: a regression on which of them a sample is in.

    From columns as well, if asked for: where strata lie far apart, bandwidths would be too wide for
    what differs inside of them.
    """

    def __init__(self, strata: Strata, *, of_columns: bool = False) -> None:
        self._strata, self.of_columns = strata, of_columns

    def fit(self, targets: Columns) -> Plain:
        """Compute the means of strata that are cut."""
        cut: dict[int, list[Rows]] = {}
        for part in self._strata.parts:
            if part.part_of is not None:
                cut.setdefault(part.part_of, []).append(part.rows)
        weights = self._strata.weights
        means = {one: _mean(targets, rows, weights) for one, rows in cut.items()}
        return Plain(StratumFit(means))

    def parts(self) -> Iterator[Batch]:
        """Yield whole strata, or parts of large ones."""
        return (Batch.at(part.rows, pairs=part) for part in self._strata.parts)


def _mean(targets: Columns, parts: list[Rows], weights: Array | None = None) -> Array:
    """Return the mean of columns over all rows of some parts.

    Sums are of differences to the first row: where columns are constant, there is no rounding.
    """
    origin, total, number = None, 0.0, 0.0
    for rows in parts:
        values = targets(rows)
        origin = values[0] if origin is None else origin
        if weights is None:
            total = total + (values - origin).sum(axis=0)
            number += len(values)
        else:
            total = total + weights[rows] @ (values - origin)
            number += float(weights[rows].sum())
    assert origin is not None
    mean: Array = origin + total / number
    return mean
