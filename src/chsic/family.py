"""The family of statistics that are tested together: several bandwidths, with and without z."""

from __future__ import annotations

import dataclasses
import itertools
from typing import TypeAlias

import numpy as np

from chsic._validate import Array
from chsic.adjust import Adjusted, Adjuster
from chsic.bandwidth import Bandwidth, bandwidths_of, typical_distance
from chsic.design import Design
from chsic.engines.parallel import in_order
from chsic.features import fit_landmarks
from chsic.grams import Share, UnitGrams, residuals_alone, share_of, unit_grams
from chsic.kernels import KERNELS
from chsic.pieces import Piece, cut_into_pieces

MULTIPLES = (0.6, 1.2, 5.0)  # of the median distance: fine structure, the bulk, a trend
LARGEST_RANK = 64  # features of x, and of y
SEEN = 200  # samples that landmarks are chosen from
SMALLEST_TOLD_APART = 1e-8
MEDIAN_PAIRS = 100_000  # distances behind a bandwidth: what varies in it varies in the coefficient


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
    apart = typical_distance(x, MEDIAN_PAIRS), typical_distance(y, MEDIAN_PAIRS)
    widths = _widths(x, y, apart, bandwidth, x_unit, y_unit)
    middle = (len(widths) - 1) // 2
    fits = list(
        in_order(
            lambda h: (
                _fit(x / h[0], apart[0] / h[0], design.of_x, tol),
                _fit(y / h[1], apart[1] / h[1], design.of_y, tol),
            ),
            widths,
            workers,
        )
    )

    def shares(task: tuple[Piece, int]) -> list[Share]:
        piece, position = task
        of_x, of_y = (
            residuals_alone(*adjusted(piece.rows), piece.graph)[piece.inside]
            for adjusted, _ in fits[position]
        )
        found = [share_of(of_x, of_y, piece.units)]
        if position == middle:
            found += [share_of(r, r, piece.units, null=False) for r in (of_x, of_y)]
        return found

    pieces = cut_into_pieces(design.graph, design.units)
    tasks = list(itertools.product(pieces, range(len(widths))))
    by_scale: list[list[list[Share]]] = [[] for _ in widths]
    for (_, position), made in zip(tasks, in_order(shares, tasks, workers), strict=True):
        by_scale[position].append(made)
    grams = [[unit_grams(of_pieces) for of_pieces in zip(*at, strict=True)] for at in by_scale]
    scales = tuple(
        Scale((h_x * x_unit, h_y * y_unit), made[0], max(missed for _, missed in fit))
        for (h_x, h_y), made, fit in zip(widths, grams, fits, strict=True)
    )
    return Family(scales, middle, *grams[middle][1:])


def _fit(values: Array, apart: float, adjuster: Adjuster, tol: float) -> tuple[Adjusted, float]:
    """Fit what z explains of the features of `values`; also how much of the kernel they miss.

    `values` are in bandwidths, and typically `apart`.
    """
    # What a kernel tells apart, 1 - kappa, is all there is: wide ones need more exact features.
    told_apart = float(1 - np.exp(-(apart**2)))
    accuracy = tol * max(told_apart, SMALLEST_TOLD_APART)
    landmarks, missed = fit_landmarks(values, KERNELS["gaussian"], accuracy, LARGEST_RANK, SEEN)
    return adjuster.fit(lambda rows: landmarks(values[rows]).astype(np.float64, copy=False)), missed


def _standardised(values: Array) -> tuple[Array, float]:
    """Several columns are compared in units of their standard deviations; one keeps its unit."""
    centred = values - np.median(values, axis=0)
    spread = values.std(axis=0)
    if values.shape[1] == 1:
        return centred / spread, float(spread[0])
    return centred / spread, 1.0


def _widths(
    x: Array,
    y: Array,
    apart: tuple[float, float],
    bandwidth: Bandwidths,
    x_unit: float,
    y_unit: float,
) -> list[tuple[float, float]]:
    if isinstance(bandwidth, str) and bandwidth == "auto":
        bandwidth = Multiples(MULTIPLES)
    if isinstance(bandwidth, Multiples):
        return [(multiple * apart[0], multiple * apart[1]) for multiple in bandwidth.values]
    several: list[Bandwidth] = bandwidth if isinstance(bandwidth, list) else [bandwidth]
    if not several:
        raise ValueError("bandwidth: the list is empty; give at least one, or 'auto'.")
    widths = []
    for one in several:
        h_x, h_y = bandwidths_of(x * x_unit, y * y_unit, one)
        widths.append((float(h_x[0]) / x_unit, float(h_y[0]) / y_unit))
    return widths
