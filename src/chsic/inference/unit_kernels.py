"""Kernels on z between units: products of units that are far apart in z count less, or not at all.

They see dependence that changes along z, which cancels where products are added up over all of it
(theory.md, section 8).
"""

from __future__ import annotations

import numpy as np

from chsic._util.validate import Array, Index
from chsic.inference.pair_weights import PairWeights
from chsic.inference.plan import UnitKernel
from chsic.inference.units import Units
from chsic.kernels import KERNELS
from chsic.kernels.features import kernel_matrix
from chsic.pairs import PairGraph

NARROW, WIDE = 0.5, 2.0  # widths, in median distances between samples
UNRELATED = 1e-6  # kernel below which units are unrelated


def unit_kernels(
    centres: Array,
    graph: PairGraph,
    units: Units,
    some: tuple[Index, Index],
    weights: PairWeights | None = None,
) -> tuple[UnitKernel | None, UnitKernel | None]:
    """Return the narrow and the wide kernel; None if no two units are near.

    Parameters
    ----------
    centres : array, shape (n_units, d)
        Mean of z in each unit, in median distances between samples.
    graph : PairGraph
        The pairs.
    units : Units
        The units.
    some : pair of arrays of int
        Some of the pairs.
    weights : PairWeights, optional
        If rows have weights.
    """
    narrow, wide = (
        _unit_kernel(centres / width, graph, units, some, weights) for width in (NARROW, WIDE)
    )
    return narrow, wide


def _unit_kernel(
    centres: Array,
    graph: PairGraph,
    units: Units,
    some: tuple[Index, Index],
    weights: PairWeights | None,
) -> UnitKernel | None:
    """Compare means of z of units, in the unit of the kernel (theory.md, eq. 28).

    Where no two units are near, as beside one that is far off, there is nothing to see.
    """
    kernel = kernel_matrix(KERNELS["gaussian"], centres, centres)
    if np.allclose(kernel, np.eye(len(units)), atol=UNRELATED):
        return None
    return UnitKernel(kernel, _centre_share(graph, units, kernel, some, weights))


def _centre_share(
    graph: PairGraph,
    units: Units,
    kernel: Array,
    some: tuple[Index, Index],
    weights: PairWeights | None,
) -> float:
    """Return what a kernel between units leaves of sum_ij Lap_ij^2 (theory.md, eq. 29).

    A pair's term is half that of its one sample's unit and half that of the other's, so that it is
    weighted by (1 + kernel) / 2 in all. Its mean over pairs is estimated on some of them.
    """
    i, j = some
    if not len(i):
        return 1.0
    unrelated = 1 - kernel[units.labels[i], units.labels[j]]
    if weights is not None:
        lost = float(np.mean(weights.between(i, j) ** 2 * unrelated))
        return 1 - lost * graph.n_pairs / float((weights.lap_lengths**2).sum())
    lost = float(np.mean(unrelated))
    partners = graph.degrees.astype(np.float64)
    return 1 - lost * graph.n_pairs / float((partners**2 + partners).sum())
