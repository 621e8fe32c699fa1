"""From z to the pairs of samples that are compared, and the Laplacian of their graph."""

from chsic.pairs.blocks import block_pairs
from chsic.pairs.closest import closest_pairs
from chsic.pairs.graph import PairGraph
from chsic.pairs.nearest_neighbours import nearest_pairs
from chsic.pairs.unconditional import complete_pairs, random_pairs

__all__ = [
    "PairGraph",
    "block_pairs",
    "closest_pairs",
    "complete_pairs",
    "nearest_pairs",
    "random_pairs",
]
