"""What ridge regressions do to sums over pairs on average (theory.md, eq. 22)."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence

import numpy as np

from chsic._util.cache import Cache
from chsic._util.validate import Array
from chsic.inference.adjustment import Fit, Fitted
from chsic.inference.pair_weights import PairWeights
from chsic.inference.plan import FitEffect
from chsic.inference.ridge_fit import Directions, RidgeFit
from chsic.pairs import PairGraph
from chsic.pairs.laplacian import laplacian_times

MOST_DIRECTIONS, MOST_BETWEEN = 6, 64  # that are kept: n x m and m x m numbers each


class FitEffects:
    """Works out tr(Lap A_x), tr(Lap A_y) and tr(Lap A_x Lap A_y) for A = I + D diag(c) D'.

    A = (I - S)^2 is what a ridge regression makes of the covariance of noise (theory.md, eq. 22).
    Many fits have the same directions D, so that what depends on those alone is kept in LRU caches.
    Where rows have weights w in fits, D is orthonormal once its rows are multiplied by their roots;
    noise is taken to have the variance 1 / w, and A = diag(1 / w) + D diag(c) D'.
    """

    def __init__(
        self,
        graph: PairGraph,
        weights: PairWeights | None = None,
        fit_weights: Array | None = None,
    ) -> None:
        self._graph, self._weights = graph, weights
        self._in_fits = np.ones(graph.n_samples) if fit_weights is None else fit_weights
        partners = graph.degrees.astype(np.float64)
        self._total, self._squares = float(partners.sum()), float((partners**2 + partners).sum())
        if weights is not None:
            self._total = float((weights.degrees / self._in_fits).sum())
            self._squares = weights.squares_over(graph, self._in_fits)
        self._alone: Cache[_DirectionSums] = Cache(MOST_DIRECTIONS)
        self._between: Cache[_PairSums] = Cache(MOST_BETWEEN)

    def of(self, fits: Sequence[tuple[Fitted, Fitted]]) -> list[FitEffect]:
        """Return the effects of fits of two variables; none unless all samples were fitted."""
        pairs = [(x.directions, y.directions) for x, y in fits]
        between = {
            (d_x, d_y): self._between.get((d_x, d_y), functools.partial(self._sums_of, d_x, d_y))
            for d_x, d_y in dict.fromkeys(pairs)
            if d_x is not None and d_y is not None
        }
        return [
            self._effect(x.fit, y.fit, between[pair]) if pair in between else FitEffect()
            for (x, y), pair in zip(fits, pairs, strict=True)
        ]

    def _effect(self, x: Fit, y: Fit, sums: _PairSums) -> FitEffect:
        assert isinstance(x, RidgeFit)
        assert isinstance(y, RidgeFit)
        c_x, c_y = x.spent, y.spent
        both = c_x @ sums.squares_x + c_y @ sums.squares_y + c_x @ sums.between**2 @ c_y
        return FitEffect(
            1 + float(c_x @ sums.products_x) / self._total,
            1 + float(c_y @ sums.products_y) / self._total,
            1 + float(both) / self._squares,
        )

    def _sums_of(self, x: Directions, y: Directions) -> _PairSums:
        of_x = self._alone.get(x, lambda: self._sums(x))
        of_y = self._alone.get(y, lambda: self._sums(y))
        between = of_x.lap.T @ self._unscaled(y)
        return _PairSums(of_x.products, of_x.squares, of_y.products, of_y.squares, between)

    def _sums(self, directions: Directions) -> _DirectionSums:
        values, weights = self._unscaled(directions), self._weights
        if weights is None:
            lap = laplacian_times(self._graph, values)
            squares = np.einsum("ij,ij->j", lap, lap)
        else:
            lap = weights.laplacian_times(self._graph, values)
            squares = np.einsum("ij,ij,i->j", lap, lap, 1 / self._in_fits)
        return _DirectionSums(lap, np.einsum("ij,ij->j", values, lap), squares)

    def _unscaled(self, directions: Directions) -> Array:
        if self._weights is None:
            return directions.values
        unscaled: Array = directions.values / np.sqrt(self._in_fits)[:, np.newaxis]
        return unscaled


@dataclasses.dataclass(frozen=True, eq=False)
class _DirectionSums:
    """Lap D, and the diagonals of D'Lap D and of D'Lap^2 D."""

    lap: Array
    products: Array
    squares: Array


@dataclasses.dataclass(frozen=True, eq=False)
class _PairSums:
    """The same diagonals for x and for y, and D_x'Lap D_y: nothing of size n."""

    products_x: Array
    squares_x: Array
    products_y: Array
    squares_y: Array
    between: Array
