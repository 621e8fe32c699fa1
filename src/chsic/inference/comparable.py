"""Which samples can be compared with any other: the rest is left out before anything is computed.

A sample whose category nobody shares has no partner. Were it read all the same, a fill value in it
would set the scale of a column, and decide about samples it has nothing to do with.
"""

from __future__ import annotations

import dataclasses
from typing import TypeAlias

import numpy as np

from chsic._util.validate import MIN_SAMPLES, Index
from chsic.inference.confounder import Confounder
from chsic.pairs import PairGraph
from chsic.pairs.graph import require_pairs
from chsic.pairs.strata import is_discrete

PAIRS = ("auto", "nearest", "closest", "blocks", "strata")

Pairs: TypeAlias = str | PairGraph


@dataclasses.dataclass(frozen=True, eq=False)
class Comparable:
    """How samples are paired, and which of them have a partner.

    Attributes
    ----------
    pairs : str or PairGraph
        What ``"auto"`` means for this z, or what was given, among those samples.
    rows : array of int or None
        Samples that have a partner; None if all of them do.
    warnings : tuple of str
        A sentence on the others.
    """

    pairs: Pairs
    rows: Index | None = None
    warnings: tuple[str, ...] = ()


def comparable(z: Confounder, pairs: Pairs = "auto", *, for_strata: bool = True) -> Comparable:
    """Choose the kind of pairs, and the samples that have any.

    Parameters
    ----------
    z : Confounder
        Of all samples.
    pairs : str or PairGraph
        As in `chsic.chsic_test`.
    for_strata : bool
        Whether samples of equal z may be compared without a regression.
    """
    chosen = resolve_pairs(pairs, z, for_strata)
    if isinstance(chosen, PairGraph):
        partners, shared = chosen.degrees, "are in no pair"
    elif chosen == "strata" or z.categories is not None:
        groups = z.strata if chosen == "strata" else z.categories
        assert groups is not None
        partners = np.bincount(groups)[groups] - 1
        is_value = chosen == "strata" and z.categories is None
        shared = (
            "have a value of z that no other has"
            if is_value
            else "share their categories with no other"
        )
    else:
        return Comparable(chosen)
    rows = np.flatnonzero(partners)
    alone = len(partners) - len(rows)
    if not alone:
        return Comparable(chosen)
    if len(rows) < MIN_SAMPLES:
        raise ValueError(
            f"z: {alone} of {len(partners)} samples {shared}, so that {len(rows)} can be compared; "
            f"at least {MIN_SAMPLES} are needed: use coarser categories, or round z."
        )
    among = chosen.among(rows) if isinstance(chosen, PairGraph) else chosen
    return Comparable(among, rows, (f"{alone} samples {shared}, and are not used.",))


def resolve_pairs(pairs: Pairs, z: Confounder, for_strata: bool) -> Pairs:
    """Return what ``"auto"`` means, or say why a choice is not possible for this z."""
    n = len(z.values)
    require_pairs(pairs, PAIRS, n)
    if isinstance(pairs, PairGraph):
        return pairs
    if z.categories is not None and pairs in ("closest", "blocks"):
        raise ValueError(
            f"pairs: {pairs!r} needs numbers, but z has categories, which are equal or not; use "
            "pairs='auto'."
        )
    only_categories = z.numbers.shape[1] == 0
    if only_categories and pairs == "nearest":
        raise ValueError(
            "pairs: 'nearest' needs numbers, but z has categories only; use pairs='auto'."
        )
    if pairs == "strata" and z.strata.max() + 1 == n:
        raise ValueError(
            "pairs: 'strata' needs samples with equal z, but all differ; use pairs='auto', or "
            "round z."
        )
    if pairs != "auto":
        return pairs
    return "strata" if only_categories or (for_strata and is_discrete(z.strata)) else "nearest"
