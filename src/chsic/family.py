"""The family of statistics that are tested together: several bandwidths, with and without z."""

from __future__ import annotations

import dataclasses
from typing import TypeAlias

import numpy as np
from scipy.spatial.distance import pdist

from chsic._validate import Array
from chsic.bandwidth import Bandwidth, bandwidths_of
from chsic.design import Design
from chsic.engines.parallel import in_order
from chsic.features import fit_landmarks
from chsic.grams import Residuals, UnitGrams, residuals_alone, unit_grams
from chsic.kernels import KERNELS

MULTIPLES = (0.6, 1.2, 5.0)  # of the median distance: fine structure, the bulk, a trend
MIDDLE = 1  # the one whose coefficient is reported
LARGEST_RANK = 64  # features of x, and of y
SEEN = 200  # samples that landmarks are chosen from, and distances taken between


@dataclasses.dataclass(frozen=True)
class Multiples:
    """Bandwidths as multiples of the median distance between samples of x, and of y."""

    values: tuple[float, ...]


Bandwidths: TypeAlias = Bandwidth | Multiples | list[Bandwidth]


@dataclasses.dataclass(frozen=True, eq=False)
class Scale:
    """Gram matrices of the units at one bandwidth."""

    bandwidth: tuple[float, float]
    grams: UnitGrams
    missed: float  # of the kernels by their features


@dataclasses.dataclass(frozen=True, eq=False)
class Family:
    """All scales, and x and y with themselves at the middle one, for the coefficient."""

    scales: tuple[Scale, ...]
    middle: int
    of_x: UnitGrams
    of_y: UnitGrams


def compute_family(
    x: Array, y: Array, design: Design, bandwidth: Bandwidths, tol: float, workers: int
) -> Family:
    """Compute the scales for residuals `x` and `y`, columns from which z's influence was taken."""
    x, x_unit = _standardised(x)
    y, y_unit = _standardised(y)
    widths = _widths(x, y, bandwidth, x_unit, y_unit)
    middle = (
        MIDDLE if isinstance(bandwidth, str) and bandwidth == "auto" else (len(widths) - 1) // 2
    )

    def at(position: int) -> tuple[Scale, list[UnitGrams]]:
        h_x, h_y = widths[position]
        of_x, missed_x = _residuals(x / h_x, design, tol, of_x=True)
        of_y, missed_y = _residuals(y / h_y, design, tol, of_x=False)
        graph, units = design.graph, design.units
        grams = unit_grams(of_x, of_y, graph, units)
        scale = Scale((h_x * x_unit, h_y * y_unit), grams, max(missed_x, missed_y))
        if position != middle:
            return scale, []
        return scale, [unit_grams(r, r, graph, units, null=False) for r in (of_x, of_y)]

    found = list(in_order(at, range(len(widths)), workers))
    of_x, of_y = found[middle][1]
    return Family(tuple(scale for scale, _ in found), middle, of_x, of_y)


def _residuals(values: Array, design: Design, tol: float, *, of_x: bool) -> tuple[Residuals, float]:
    landmarks, missed = fit_landmarks(values, KERNELS["gaussian"], tol, LARGEST_RANK, SEEN)
    adjuster = design.of_x if of_x else design.of_y
    residuals, left = adjuster.residuals(landmarks(values).astype(np.float64))
    return residuals_alone(residuals, left, design.graph), missed


def _standardised(values: Array) -> tuple[Array, float]:
    """Several columns are compared in units of their standard deviations; one keeps its unit."""
    centred = values - np.median(values, axis=0)
    spread = values.std(axis=0)
    if values.shape[1] == 1:
        return centred / spread, float(spread[0])
    return centred / spread, 1.0


def _widths(
    x: Array, y: Array, bandwidth: Bandwidths, x_unit: float, y_unit: float
) -> list[tuple[float, float]]:
    if isinstance(bandwidth, str) and bandwidth == "auto":
        bandwidth = Multiples(MULTIPLES)
    if isinstance(bandwidth, Multiples):
        of_x, of_y = _typical_distance(x), _typical_distance(y)
        return [(multiple * of_x, multiple * of_y) for multiple in bandwidth.values]
    several: list[Bandwidth] = bandwidth if isinstance(bandwidth, list) else [bandwidth]
    if not several:
        raise ValueError("bandwidth: the list is empty; give at least one, or 'auto'.")
    widths = []
    for one in several:
        h_x, h_y = bandwidths_of(x * x_unit, y * y_unit, one)
        widths.append((float(h_x[0]) / x_unit, float(h_y[0]) / y_unit))
    return widths


def _typical_distance(values: Array) -> float:
    distances = pdist(_some(values))
    middle = float(np.median(distances))
    # If most samples are equal, as for events that are rare, their median distance is zero.
    return middle if middle > 0 else float(np.sqrt(np.mean(distances**2)))


def _some(values: Array) -> Array:
    if len(values) <= SEEN:
        return values
    return np.random.default_rng(0).choice(values, SEEN, replace=False, axis=0)
