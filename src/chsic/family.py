"""The family of statistics that are tested together: several bandwidths, with and without z."""

from __future__ import annotations

import dataclasses
from typing import TypeAlias

import numpy as np

from chsic._validate import Array
from chsic.bandwidth import Bandwidth, bandwidths_of, typical_distance
from chsic.design import Design
from chsic.engines.parallel import in_order
from chsic.features import fit_landmarks
from chsic.grams import Residuals, UnitGrams, residuals_alone, unit_grams
from chsic.kernels import KERNELS

MULTIPLES = (0.6, 1.2, 5.0)  # of the median distance: fine structure, the bulk, a trend
LARGEST_RANK = 64  # features of x, and of y
SEEN = 200  # samples that landmarks are chosen from
SMALLEST_TOLD_APART = 1e-8


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
    x: Array,
    y: Array,
    units_of_data: tuple[float, float],
    design: Design,
    bandwidth: Bandwidths,
    tol: float,
    workers: int,
) -> Family:
    """Compute the scales for residuals `x` and `y`, columns from which z's influence was taken.

    `units_of_data` are what 1 stands for in each of them.
    """
    (x, x_unit), (y, y_unit) = _standardised(x), _standardised(y)
    x_unit, y_unit = x_unit * units_of_data[0], y_unit * units_of_data[1]
    widths = _widths(x, y, bandwidth, x_unit, y_unit)
    middle = (len(widths) - 1) // 2

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
    # What a kernel tells apart, 1 - kappa, is all there is: wide ones need more exact features.
    told_apart = float(1 - np.exp(-(typical_distance(values) ** 2)))
    accuracy = tol * max(told_apart, SMALLEST_TOLD_APART)
    landmarks, missed = fit_landmarks(values, KERNELS["gaussian"], accuracy, LARGEST_RANK, SEEN)
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
        of_x, of_y = typical_distance(x), typical_distance(y)
        return [(multiple * of_x, multiple * of_y) for multiple in bandwidth.values]
    several: list[Bandwidth] = bandwidth if isinstance(bandwidth, list) else [bandwidth]
    if not several:
        raise ValueError("bandwidth: the list is empty; give at least one, or 'auto'.")
    widths = []
    for one in several:
        h_x, h_y = bandwidths_of(x * x_unit, y * y_unit, one)
        widths.append((float(h_x[0]) / x_unit, float(h_y[0]) / y_unit))
    return widths
