"""Which samples are paired by default, and as the settings ask for (theory.md, section 5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chsic._util.validate import Array, Index
from chsic.inference.given import Given
from chsic.inference.groups import apart, pairs_between_groups
from chsic.inference.learner import Learned
from chsic.pairs import PairGraph, closest_pairs
from chsic.pairs.blocks import blocks_in_space, blocks_on_line, complete_in_blocks
from chsic.pairs.closest_kdtree import closest_in_space
from chsic.pairs.graph import count_pairs, max_pairs
from chsic.pairs.nearest_neighbours import nearest_in_categories, nearest_in_space, nearest_on_line

ALPHA_ON_LINE = (12.0, 48.0)  # at least and at most, a quarter of the samples between
ALPHA_IN_SPACE = 24.0
FEW_NEIGHBOURS = 4.0  # where a regression misses something
BLOCK_SIZE = 8  # of pairs="blocks"


def compares_closely(learned: Sequence[Learned]) -> bool:
    """Tell whether what the regression of any variable misses asks for few neighbours."""
    return any(one.misses for one in learned)


def default_alpha(n: int, d: int, closely: bool) -> float:
    """Return how many neighbours a sample is paired with by default."""
    if closely:
        return FEW_NEIGHBOURS
    least, most = ALPHA_ON_LINE
    return min(float(np.clip(n // 4, least, most)) if d == 1 else ALPHA_IN_SPACE, n - 1)


def choose_pairs(
    given: Given, scaled: Array, line: Index | None, rng: np.random.Generator, closely: bool
) -> PairGraph:
    """Pair samples near in z; with groups, those of different ones.

    Parameters
    ----------
    given : Given
        z, and the settings.
    scaled : array, shape (n, d)
        z in the metric in which neighbours are near.
    line : array of int or None
        Order of the samples along a z of one number.
    rng : numpy.random.Generator
        Orders ties.
    closely : bool
        Whether few neighbours are compared by default.
    """
    settings, z = given.settings, given.confounder
    assert z is not None
    if isinstance(settings.pairs, PairGraph):
        return settings.pairs
    if settings.pairs == "blocks":
        return apart(_in_blocks(scaled, settings.block_size, rng), given.groups)
    default = default_alpha(len(scaled), z.numbers.shape[1], closely)
    alpha = default if settings.alpha is None else settings.alpha
    count = count_pairs(len(scaled), alpha)
    if settings.pairs == "closest":
        return apart(_closest(scaled, alpha, count, rng), given.groups)

    def nearest(reach: float) -> PairGraph:
        if line is not None:
            return nearest_on_line(line, reach, z.categories)
        if z.categories is not None:
            return nearest_in_categories(scaled, z.categories, reach, rng)
        return nearest_in_space(scaled, reach, rng)

    if given.groups is None or given.within:
        return nearest(alpha)
    return pairs_between_groups(given.groups, alpha, nearest)


def _in_blocks(scaled: Array, block_size: int | None, rng: np.random.Generator) -> PairGraph:
    n, size = len(scaled), BLOCK_SIZE if block_size is None else block_size
    if not 2 <= size <= n // 2:
        raise ValueError(
            f"block_size: pairs='blocks' needs between 2 and n / 2 = {n // 2} samples in a "
            f"block, got {size}."
        )
    on_line = scaled.shape[1] == 1
    cut = blocks_on_line(scaled[:, 0], size, rng) if on_line else blocks_in_space(scaled, size, rng)
    return complete_in_blocks(cut)


def _closest(scaled: Array, alpha: float, count: int, rng: np.random.Generator) -> PairGraph:
    n = len(scaled)
    if scaled.shape[1] == 1 or count == max_pairs(n):
        return closest_pairs(scaled, alpha, rng=rng)
    i, j = closest_in_space(scaled, np.ones(scaled.shape[1]), count, rng)
    return PairGraph.from_listed(np.minimum(i, j), np.maximum(i, j), n)
