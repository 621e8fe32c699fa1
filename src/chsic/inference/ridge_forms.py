"""Regressions on many columns of z that few samples are enough for: a sum, and a polynomial.

A function of all columns of z is hard to learn if there are many of them, and its landmarks are too
few to hold all that it may be. Two simple forms are tried beside it: a sum of functions of one
column each, and squares and products of the columns.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from chsic._util.namespaces import namespace
from chsic.inference.ridge import Ridge, Widths, choose_landmarks
from chsic.inference.ridge_fit import Features
from chsic.kernels.features import Landmarks

LARGEST_RANK = 168  # features of all columns of z
LARGEST_COLUMN_RANK = 84  # features of each column of z
WIDTHS = Widths((2.0, 1.0, 0.5, 0.125), (0.25, 0.06))  # of sums: a column may wave fast
LARGEST_SUM = 80  # columns of which a sum of functions is tried
FEWEST_FOR_PRODUCTS = 4  # columns; kernels of fewer have landmarks enough for their products


@dataclasses.dataclass(frozen=True, eq=False)
class EachColumn:
    """Features of every column of z by itself, side by side (theory.md, eq. 11)."""

    of_columns: tuple[Landmarks, ...]

    def __call__(self, z: Any) -> Any:
        """Return the features at rows of z."""
        xp = namespace(z)
        each = [of(z[:, k : k + 1]) for k, of in enumerate(self.of_columns)]
        return xp.concat(each, axis=1) / len(each) ** 0.5


class AdditiveRidge(Ridge):
    """Ridge regressions on a sum of functions of the columns of z, one of each.

    That is far less than a function of all columns, and can be learned from few samples when there
    are many columns. It knows no slopes.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.inference.ridge import Ridge
    >>> from chsic.inference.ridge_forms import AdditiveRidge
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(400, 8))
    >>> target = np.sin(2 * z).sum(axis=1, keepdims=True) + rng.normal(size=(400, 1))
    >>> errors = [kind(z).fit(target).fit.error for kind in (AdditiveRidge, Ridge)]
    >>> bool(errors[0] < errors[1] / 2)
    True
    """

    @staticmethod
    def takes(d: int) -> bool:
        """Whether d columns are neither one nor too many."""
        return 1 < d <= LARGEST_SUM

    def _all_widths(self) -> Widths:
        return WIDTHS

    def _features(self, width: float) -> tuple[Features, float]:
        d = self._z.shape[1]
        # Distances in one column are that much smaller: theory.md, eq. 11.
        unit = width * self._scale / d**0.5
        rank = min(LARGEST_COLUMN_RANK, max(1, LARGEST_RANK // d))
        columns = self._z[self._width_rows].T / unit
        each = tuple(choose_landmarks(column[:, np.newaxis], rank) for column in columns)
        return EachColumn(each), unit


@dataclasses.dataclass(frozen=True, eq=False)
class Products:
    """Products of every two columns of z, and their squares (theory.md, eq. 11a)."""

    n_columns: int

    def __call__(self, z: Any) -> Any:
        """Return the products at rows of z."""
        # Column j times those from j on: slices are what arrays of every library have.
        of_each = [z[:, j : j + 1] * z[:, j:] for j in range(self.n_columns)]
        n_products = self.n_columns * (self.n_columns + 1) // 2
        return namespace(z).concat(of_each, axis=1) / n_products**0.5


class QuadraticRidge(Ridge):
    """Ridge regressions on polynomials of second degree in the columns of z.

    Kernels of many columns need more landmarks than there are to follow products of all of them.
    Polynomials have no width.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.inference.ridge import Ridge
    >>> from chsic.inference.ridge_forms import QuadraticRidge
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(1000, 10))
    >>> target = (z[:, 1:] * z[:, :-1]).sum(axis=1, keepdims=True) + rng.normal(size=(1000, 1))
    >>> errors = [kind(z).fit(target).fit.error for kind in (QuadraticRidge, Ridge)]
    >>> bool(errors[0] < 0.95 * errors[1])
    True
    """

    _step_widths: ClassVar[tuple[float, ...]] = (1.0,)

    @staticmethod
    def takes(d: int) -> bool:
        """Whether d columns have too many products for a kernel, but not for this."""
        return d >= FEWEST_FOR_PRODUCTS and d * (d + 1) // 2 <= LARGEST_RANK

    def only_wide(self) -> Ridge:
        """Return these regressions, which have one width."""
        return self

    def _all_widths(self) -> Widths:
        return Widths(self._step_widths, ())

    def _features(self, width: float) -> tuple[Features, float]:
        return Products(self._z.shape[1]), width
