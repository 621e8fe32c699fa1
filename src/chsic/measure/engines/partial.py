"""What every engine computes: something of a few numbers that adds up over shards.

tr(Lap K Lap Q), the numerator of C-HSIC (eq. 18), is no sum over pairs: it is quadratic in the
Laplacian. But it follows from sums, and what those are is what makes an engine: Fourier
coefficients, products of features, entries of the Laplacian, or tiles of the whole. Shards may be
computed anywhere, one after the other or on several machines, and are added in any order.
"""

from __future__ import annotations

import dataclasses
from typing import Protocol, Self


class Partial(Protocol):
    """A shard of the value, or the total of all shards.

    Every engine has its own sums. All of them also add up the traces of the Laplacian and of its
    square, with d_i the degrees of the whole graph: a pair (i, j) adds 2 to tr(Lap) = sum_i d_i,
    which is 2K, and d_i + d_j + 2 to tr(Lap^2) = sum_i d_i (d_i + 1).

    It has nothing of the size of the data in it, entries of the Laplacian apart, and can be
    pickled.
    """

    @property
    def lap_trace(self) -> int:
        """The part of tr(Lap), which is 2K for all K pairs."""
        ...

    @property
    def lap_squares(self) -> float:
        """The part of tr(Lap^2), the sum of the squared entries of Lap."""
        ...

    @property
    def improvable(self) -> bool:
        """Whether the same engine can be more exact if it is asked to be."""
        ...

    def __add__(self, other: Self, /) -> Self:
        """Put two shards together."""
        ...

    def trace(self) -> tuple[float, float]:
        """Return tr(Lap K Lap Q) and an estimate of its error, if this is the total."""
        ...


@dataclasses.dataclass(frozen=True)
class TileSum:
    """Part of tr(Lap K Lap Q) itself, from some rows of the whole matrix Lap K Lap Q.

    It is additive over rows, not over pairs: every shard has to know all pairs.
    """

    value: float
    error: float  # absolute
    lap_trace: int
    lap_squares: float
    improvable: bool = False

    def __add__(self, other: TileSum) -> TileSum:
        return TileSum(
            self.value + other.value,
            self.error + other.error,
            self.lap_trace + other.lap_trace,
            self.lap_squares + other.lap_squares,
        )

    def trace(self) -> tuple[float, float]:
        """Return the sum, and what may be wrong with it."""
        return self.value, self.error
