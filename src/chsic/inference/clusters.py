"""Groups of samples as a regression sees them: left out together, and maybe of one level each."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np

from chsic._util.arrays import Rows
from chsic._util.validate import Array, Index
from chsic.inference.units import Units, means_at_samples


@dataclasses.dataclass(frozen=True, eq=False)
class Clusters:
    """Groups of samples.

    Attributes
    ----------
    labels : array of int, shape (n,)
        Group of each sample.
    within : bool
        Whether every group has a level of its own, which is subtracted (theory.md, eq. 52).
    weights : array or None
        Of each sample in the mean of its group; None if all weigh the same.
    """

    labels: Index
    within: bool = False
    weights: Array | None = None

    def rows(self, rows: Rows) -> Clusters:
        """Return the groups of some samples."""
        weights = None if self.weights is None else self.weights[rows]
        return Clusters(self.labels[rows], self.within, weights)

    @functools.cached_property
    def units(self) -> Units:
        """The samples of each group."""
        return Units.of(np.unique(self.labels, return_inverse=True)[1])

    @property
    def shares(self) -> Array:
        """Share of a sample in the mean of its group."""
        labels = self.units.labels
        if self.weights is not None:
            weighted: Array = self.weights / np.bincount(labels, self.weights)[labels]
            return weighted
        shares: Array = (1 / self.units.sizes)[labels]
        return shares

    def means(self, values: Any) -> Any:
        """Return for each sample the mean of its group."""
        return means_at_samples(self.units, values, self.weights)

    def less_means(self, values: Any) -> Any:
        """Subtract the mean of each group, if groups have levels of their own.

        Examples
        --------
        >>> import numpy as np
        >>> from chsic.inference.clusters import Clusters
        >>> Clusters(np.array([0, 1, 0]), within=True).less_means(np.array([[1.0], [5.0], [3.0]]))
        array([[-1.],
               [ 0.],
               [ 1.]])
        """
        if not self.within:
            return values
        return values - self.means(values)

    def some_rows(self, number: int) -> Index:
        """Return the rows of whole groups, about as many as are wanted, drawn with a fixed seed.

        Rows drawn one by one would be alone in their groups, and nothing is left of such a row.
        """
        drawn = np.random.default_rng(0).permutation(len(self.units))
        fits = int(np.searchsorted(np.cumsum(self.units.sizes[drawn]), number, side="right"))
        rows, _ = self.units.some(drawn[: max(fits, 1)])
        return np.sort(rows)
