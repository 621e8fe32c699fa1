"""From z to the pairs of samples that are kept."""

from chsic.pairs.blind import complete_pairs, random_pairs
from chsic.pairs.closest import closest_pairs
from chsic.pairs.graph import PairGraph

__all__ = ["PairGraph", "closest_pairs", "complete_pairs", "random_pairs"]
