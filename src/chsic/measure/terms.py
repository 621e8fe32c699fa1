"""What every engine returns and all inference starts from: the Gram matrix of the blocks.

Split the samples into blocks that share no pair. Then U Lap V^H = sum_b C_b with
C_b = U Lap_b V^H, and the inner products H_bb' = <C_b, C_b'> are all that is needed: their sum is
tr(Lap K Lap Q), their rows say which block contributes what, and random signs of the blocks give a
null distribution. One block is the plain measure.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Protocol, Self

import numpy as np

from chsic._util.validate import Array, Index
from chsic.pairs import PairGraph

CANCELLED = 1e-8


class AccuracyWarning(UserWarning):
    """A value is less exact than was asked for."""


class Covariances(Protocol):
    """The C_b of some blocks, kept in whatever form an engine likes.

    Blocks of one data set may be spread over several shards, each with its own object.
    """

    @property
    def n_pairs(self) -> Index:
        """Number of pairs in each block."""
        ...

    @property
    def squares(self) -> float:
        """Sum of the squared entries of the Laplacian: the sum of <C_b, C_b'> for K = Q = I."""
        ...

    def inner_products(self, other: Self) -> tuple[Array, float]:
        """Return <C_b, C_b'> for each b of this and b' of the other shard, and an error.

        The error estimates by how much the sum of the inner products is off, absolutely.
        """
        ...


@dataclasses.dataclass(frozen=True, kw_only=True)
class Terms:
    """Gram matrix of the blocks and the totals that belong to it.

    Attributes
    ----------
    gram : array, shape (n_blocks, n_blocks)
        H_bb' = <C_b, C_b'>.
    n_pairs : array of int, shape (n_blocks,)
        Number of pairs in each block.
    error : float
        Estimated relative error of the sum of `gram`. Where nearly everything cancels in the sum,
        it is relative to `CANCELLED` times what the sum would be if nothing did.
    """

    gram: Array
    n_pairs: Index
    error: float


def merge(shards: Sequence[Covariances]) -> Terms:
    """Bring the blocks of all shards together, in their order."""
    size = range(len(shards))
    products = {(a, b): shards[a].inner_products(shards[b]) for a in size for b in size if a <= b}
    gram = np.block(
        [[products[a, b][0] if a <= b else products[b, a][0].T for b in size] for a in size]
    )
    error = sum((1 if a == b else 2) * products[a, b][1] for a, b in products)
    n_pairs = np.concatenate([shard.n_pairs for shard in shards])
    scale = max(float(gram.sum()), CANCELLED * sum(shard.squares for shard in shards))
    return Terms(gram=gram, n_pairs=n_pairs, error=error / scale)


def pairs_in_blocks(graph: PairGraph) -> Index:
    """Count the pairs of each block without listing those in runs."""
    if graph.n_blocks == 1:
        return np.array([graph.n_pairs])
    counts = np.bincount(graph.blocks[graph.listed[0]], minlength=graph.n_blocks)
    if graph.intervals is not None:
        order, stops = graph.intervals.order, graph.intervals.stops
        followers = stops - np.arange(1, len(stops) + 1)
        counts = counts + np.bincount(
            graph.blocks[order], weights=followers, minlength=graph.n_blocks
        ).astype(np.intp)
    return counts


def squared_entries(graph: PairGraph) -> float:
    """Return the sum of the squared entries of the Laplacian."""
    return float((graph.degrees.astype(np.float64) ** 2).sum()) + 2.0 * graph.n_pairs
