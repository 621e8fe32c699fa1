"""What engines that work on the samples themselves keep of a shard."""

from __future__ import annotations

import dataclasses

from chsic._util.validate import Array, Index
from chsic.kernels import Kernel
from chsic.measure.terms import pairs_in_blocks, squared_entries
from chsic.pairs import PairGraph


@dataclasses.dataclass(frozen=True, eq=False)
class SampleCovariances:
    """The C_b of a shard by the samples and pairs that make them; x and y are in bandwidths."""

    x: Array
    y: Array
    graph: PairGraph
    kernel: Kernel
    workers: int = 1

    @property
    def n_pairs(self) -> Index:
        """Number of pairs in each block."""
        return pairs_in_blocks(self.graph)

    @property
    def squares(self) -> float:
        """Sum of the squared entries of the Laplacian."""
        return squared_entries(self.graph)
