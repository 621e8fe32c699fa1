"""The family of statistics that are tested together: several bandwidths, with and without z."""

from __future__ import annotations

import dataclasses
import itertools
from typing import TypeAlias

import numpy as np

from chsic._validate import Array, Index
from chsic.adjust import Adjusted, Adjuster
from chsic.bandwidth import (
    TYPICAL_PAIRS,
    Bandwidth,
    bandwidths_of,
    joint_deviations,
    typical_distance,
)
from chsic.columns import Columns, indicators
from chsic.design import Design
from chsic.engines.parallel import in_order
from chsic.features import candidate_rows, fit_landmarks
from chsic.grams import (
    Share,
    Taken,
    UnitGrams,
    fit_effect,
    residuals_alone,
    share_of,
    unit_grams,
)
from chsic.kernels import KERNELS
from chsic.pairs import PairGraph
from chsic.pieces import Piece, cut_into_pieces
from chsic.smooth import Rows

MULTIPLES = (0.6, 1.2, 5.0)  # of the median distance: fine structure, the bulk, a trend
LARGEST_RANK = 64  # features of x, and of y
SEEN = 200  # samples that landmarks are chosen from
SMALLEST_TOLD_APART = 1e-8
# Distances behind a bandwidth, for each sample and at most: so many that their median varies less
# than the data make it vary, as what varies in a bandwidth varies in the coefficient.
PAIRS_A_SAMPLE, MOST_PAIRS = 20, 100_000


@dataclasses.dataclass(frozen=True)
class Multiples:
    """Bandwidths as multiples of the median distance between samples of x, and of y."""

    values: tuple[float, ...]


Bandwidths: TypeAlias = Bandwidth | Multiples | list[Bandwidth]


@dataclasses.dataclass(frozen=True, eq=False)
class Variable:
    """Columns of numbers, or indicators of a category's levels, which belong together.

    Attributes
    ----------
    columns : array, shape (n, d)
        The numbers.
    origin : array of int, shape (d,)
        Which column of the user's each of them comes from.
    unit : float
        What 1 stands for, in the user's unit, if there is one column.
    """

    columns: Array
    origin: Index
    unit: float

    @classmethod
    def of(cls, argument: str, columns: Columns) -> Variable:
        """Take clean columns, in standard deviations."""
        values, origin = indicators(columns)
        spreads = joint_deviations(argument, values, origin)
        return cls(values / spreads, origin, float(spreads[0]) if len(spreads) == 1 else 1.0)

    def rows(self, order: Index) -> Variable:
        """Return the samples in another order."""
        return Variable(self.columns[order], self.origin, self.unit)


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
    x: Variable,
    y: Variable,
    design: Design,
    bandwidth: Bandwidths,
    tol: float,
    workers: int,
) -> Family:
    """Compute the scales for `x` and `y`, from which z's influence was taken."""
    u, v = _standardised(x), _standardised(y)
    n = len(u.columns)
    n_pairs = max(TYPICAL_PAIRS, min(PAIRS_A_SAMPLE * n, MOST_PAIRS))
    apart = typical_distance(u.columns, n_pairs), typical_distance(v.columns, n_pairs)
    widths = _widths(u, v, apart, bandwidth)
    middle = (len(widths) - 1) // 2
    candidates = [of.columns[candidate_rows(of.columns, SEEN)] for of in (u, v)]
    fits = list(
        in_order(
            lambda h: (
                _fit(u.columns, candidates[0], h[0], apart[0], design.of_x, tol),
                _fit(v.columns, candidates[1], h[1], apart[1], design.of_y, tol),
            ),
            widths,
            workers,
        )
    )

    def shares(task: tuple[Piece, int]) -> list[Share]:
        piece, position = task
        of_x, of_y = (
            residuals_alone(*adjusted.rows(piece.rows), piece.graph)[piece.inside]
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
    grams = [
        _put_together(at, of_x.taken, of_y.taken, design.graph)
        for at, ((of_x, _), (of_y, _)) in zip(by_scale, fits, strict=True)
    ]
    scales = tuple(
        Scale((h_x * u.unit, h_y * v.unit), made[0], max(missed for _, missed in fit))
        for (h_x, h_y), made, fit in zip(widths, grams, fits, strict=True)
    )
    return Family(scales, middle, *grams[middle][1:])


def _put_together(
    pieces: list[list[Share]], x: Taken | None, y: Taken | None, graph: PairGraph
) -> list[UnitGrams]:
    """Return the Gram matrices of x with y and, where shares have them, of x and y alone."""
    of_pieces = list(zip(*pieces, strict=True))
    fits = [(x, y), (x, x), (y, y)][: len(of_pieces)]
    return [
        unit_grams(shares, fit_effect(graph, *fit))
        for shares, fit in zip(of_pieces, fits, strict=True)
    ]


def _fit(
    values: Array, candidates: Array, width: float, apart: float, adjuster: Adjuster, tol: float
) -> tuple[Adjusted, float]:
    """Fit what z explains of features of `values`; also how much of the kernel they miss.

    Landmarks are some of the `candidates`; samples are typically `apart`.
    """
    # What a kernel tells apart, 1 - kappa, is all there is: wide ones need more exact features.
    told_apart = float(1 - np.exp(-((apart / width) ** 2)))
    accuracy = tol * max(told_apart, SMALLEST_TOLD_APART)
    landmarks, missed = fit_landmarks(
        candidates / width, KERNELS["gaussian"], accuracy, LARGEST_RANK, len(candidates)
    )

    def features(rows: Rows) -> Array:
        return landmarks(values[rows] / width).astype(np.float64, copy=False)

    return adjuster.fit(features), missed


def _standardised(variable: Variable) -> Variable:
    """Give what is left of every column variance 1; one column alone keeps its unit."""
    columns, origin = variable.columns, variable.origin
    variances = columns.var(axis=0)
    spread = np.sqrt(np.bincount(origin, variances)[origin])
    unit = variable.unit * float(spread[0]) if len(spread) == 1 else 1.0
    return Variable((columns - np.median(columns, axis=0)) / spread, origin, unit)


def _widths(
    x: Variable, y: Variable, apart: tuple[float, float], bandwidth: Bandwidths
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
        h_x, h_y = bandwidths_of(x.columns * x.unit, y.columns * y.unit, one)
        widths.append((float(h_x[0]) / x.unit, float(h_y[0]) / y.unit))
    return widths
