"""When a result says to be careful about units, z or pairs; `cautions` has the words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chsic._util.validate import Array, Index
from chsic.data.weights import effective_number
from chsic.inference import cautions
from chsic.inference.confounder import Confounder
from chsic.inference.given import Given
from chsic.inference.units import Units
from chsic.pairs.strata import SMALLEST_STRATUM

MANY_COLUMNS = 5
FEW_SAMPLES_A_COLUMN = 10
FEW_SAMPLES = 30  # of which one may well be far from the others
FEW_UNITS = 20
# As how many rows of equal weight those of unequal weights count, if it is said: fewer than that,
# or than a tenth of all. Rows that would weigh most may not have been drawn then.
FEW_EFFECTIVE, SMALL_SHARE = 50, 0.1
LARGE_GROUP = 0.3  # of all rows: with half of them in one, .12 of true nulls were rejected
FAR_APART = 0.7  # of the median distance of any two samples


def about_units(units: Units, given: Given) -> tuple[str, ...]:
    """Tell if few signs, groups or rows decide."""
    return (*_about_number(units, given), *_about_weights(given))


def _about_weights(given: Given) -> tuple[str, ...]:
    if given.weights is None:
        return ()
    n, n_effective = len(given.weights), effective_number(given.weights)
    few = n_effective < min(max(FEW_EFFECTIVE, SMALL_SHARE * n), n / 2)
    return (cautions.unequal_weights(n, n_effective),) if few else ()


def _about_number(units: Units, given: Given) -> tuple[str, ...]:
    if given.groups is not None:
        sizes = np.bincount(given.groups)
        if len(units) < FEW_UNITS:
            return (cautions.few_groups(len(units)),)
        share = float(sizes.max() / sizes.sum())
        return (cautions.large_group(share),) if share > LARGE_GROUP else ()
    if len(units) >= FEW_UNITS:
        return ()
    of_blocks = given.kind == "blocks" and given.settings.unit_size is None
    remedy = "block_size" if of_blocks else "unit_size"
    return (cautions.few_signs(len(units), None if units.sizes.max() == 1 else remedy),)


def about_z(z: Confounder) -> tuple[str, ...]:
    """Tell if z has many columns for its samples, values far off, or many ties."""
    sentences = []
    n, d = z.values.shape
    if n < FEW_SAMPLES_A_COLUMN * d:
        sentences.append(cautions.too_few_samples(n, z.names))
    elif d >= MANY_COLUMNS:
        sentences.append(cautions.many_confounders(d))
    if n >= FEW_SAMPLES:
        sentences += z.cautions
    tied = float((np.bincount(z.strata)[z.strata] >= SMALLEST_STRATUM).mean())
    if tied > 0.5:
        sentences.append(cautions.ties_in_z(tied, z.names))
    return tuple(sentences)


def about_pairs(
    some: tuple[Index, Index], z: Array, distance: float, names: Sequence[str]
) -> tuple[str, ...]:
    """Tell if some of the pairs are hardly nearer in z than any two samples are."""
    i, j = some
    if not len(i):
        return ()
    ratio = float(np.median(np.linalg.norm(z[i] - z[j], axis=1))) / distance
    return () if ratio <= FAR_APART else (cautions.pairs_far_apart(ratio, names),)
