"""Strata: samples whose z is equal, for a z of few values."""

from __future__ import annotations

import numpy as np

from chsic._util.arrays import numbers_of_rows
from chsic._util.validate import Array, Index

SMALLEST_STRATUM = 3  # samples that make a stratum worth the name
LARGE_SHARE = 0.75  # of the samples in such strata make z discrete


def strata_of(z: Array) -> Index:
    """Return for each sample the number of its value among the distinct rows of `z`."""
    return numbers_of_rows(z)


def is_discrete(strata: Index) -> bool:
    """Whether most samples have company at exactly their value of z."""
    sizes = np.bincount(strata)[strata]
    return bool((sizes >= SMALLEST_STRATUM).mean() >= LARGE_SHARE)
