"""One variable at several bandwidths: features of its kernel, less what z explains of them."""

from __future__ import annotations

import dataclasses
import functools
import zlib
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from chsic._util.arrays import Rows
from chsic._util.parallel import in_order
from chsic._util.validate import Array, Index
from chsic.data.arguments import Columns
from chsic.inference.adjust import Adjusted, Adjuster
from chsic.inference.grams import Residuals, Share, residuals_alone, share_of
from chsic.inference.pieces import Piece
from chsic.inference.strata import StratumRows
from chsic.inference.variable import Variable, left_given_z
from chsic.kernels import KERNELS
from chsic.kernels.bandwidth import (
    TYPICAL_PAIRS,
    Bandwidth,
    bandwidth_of,
    some_distances,
    typical_distance,
)
from chsic.kernels.features import candidate_rows, fit_landmarks
from chsic.pairs import PairGraph
from chsic.pairs.graph import some_pairs
from chsic.pairs.strata import strata_of

MULTIPLES = (0.6, 1.2, 5.0)  # of the median distance: fine structure, the bulk, a trend
LARGEST_RANK = 64  # features
SEEN = 200  # samples that landmarks are chosen from
SMALLEST_TOLD_APART = 1e-8
FEWEST_ALIKE = 1.5  # other samples within a bandwidth
WIDEST = 1e4  # bandwidth, in units of the largest distance
MOSTLY_DIFFERENT = 0.9  # share of pairs of different values from which on a variable is continuous
FIT_DECIDES = 0.5  # distance of residuals below which the fit makes it, in that of values
TOL = 1e-4  # share of a kernel's trace that features may miss, if nobody says
# Distances behind a bandwidth, for each sample and at most: so many that their median varies less
# than the data make it vary, as what varies in a bandwidth varies in the coefficient.
PAIRS_A_SAMPLE, MOST_PAIRS = 20, 100_000


@dataclasses.dataclass(frozen=True)
class Multiples:
    """Bandwidths as multiples of the median distance between samples of x, and of y."""

    values: tuple[float, ...]


Bandwidths: TypeAlias = Bandwidth | Multiples | list[Bandwidth]


@dataclasses.dataclass(frozen=True, eq=False)
class Kept:
    """What a variable brings to every comparison, held in memory."""

    residuals: dict[tuple[int, int], Residuals]  # by numbers of the bandwidth and of the piece
    with_itself: dict[int, Share]  # by number of the piece


@dataclasses.dataclass(frozen=True, eq=False)
class Prepared:
    """One variable, less what z explains of it, to be compared with others.

    Attributes
    ----------
    bandwidths : tuple of float
        In the user's unit.
    fits : tuple of Adjusted
        Features of the kernel at each bandwidth, less what z explains of them.
    rounding : tuple of array
        What rounding may add to each of those features.
    missed : float
        How much of the kernel the features miss, at the worst bandwidth.
    kept : Kept, optional
        If it was computed for many comparisons.
    """

    bandwidths: tuple[float, ...]
    fits: tuple[Adjusted, ...]
    rounding: tuple[Array, ...]
    missed: float
    kept: Kept | None = None

    @property
    def middle(self) -> int:
        """Number of the bandwidth at which the coefficient is taken."""
        return (len(self.bandwidths) - 1) // 2

    def residuals(self, position: int, piece: Piece) -> Residuals:
        """Return what is left of the features of a piece's units at one bandwidth."""
        if self.kept is not None:
            return self.kept.residuals[position, piece.number]
        rows, rounding = self.fits[position].rows(piece.rows), self.rounding[position]
        return residuals_alone(*rows, piece.pairs, rounding)[piece.inside]

    def with_itself(self, middle: Residuals, piece: Piece) -> Share:
        """Return what a piece contributes to the comparison of the variable with itself."""
        if self.kept is not None:
            return self.kept.with_itself[piece.number]
        return share_of_piece(middle, middle, piece, null=False)

    def keep(self, pieces: Sequence[Piece]) -> Prepared:
        """Compute what comparisons share, for more than one of them."""
        residuals = {
            (position, piece.number): self.residuals(position, piece)
            for position in range(len(self.bandwidths))
            for piece in pieces
        }
        with_itself = {
            piece.number: self.with_itself(residuals[self.middle, piece.number], piece)
            for piece in pieces
        }
        return dataclasses.replace(self, kept=Kept(residuals, with_itself))


def share_of_piece(x: Residuals, y: Residuals, piece: Piece, *, null: bool = True) -> Share:
    """Return what the units of a piece contribute to the comparison of x and y."""
    part_of = piece.pairs.part_of if isinstance(piece.pairs, StratumRows) else None
    return share_of(x, y, piece.units, null=null, first_unit=piece.first_unit, part_of=part_of)


@dataclasses.dataclass(frozen=True, eq=False)
class Left:
    """What z leaves of a variable.

    Attributes
    ----------
    columns : array, shape (n, d)
        The variable itself.
    prepared : Prepared or None
        None if nothing is left.
    found : list of str
        Sentences on that.
    """

    columns: Array
    prepared: Prepared | None
    found: list[str]

    @functools.cached_property
    def codes(self) -> Index:
        """Which of its values each sample has."""
        return strata_of(self.columns)

    def keep(self, pieces: Sequence[Piece]) -> Left:
        """Compute what comparisons share, for more than one of them."""
        kept = None if self.prepared is None else self.prepared.keep(pieces)
        return dataclasses.replace(self, prepared=kept)


def less_z(
    argument: str,
    variable: Variable,
    named: Columns,
    adjuster: Adjuster,
    graph: PairGraph | None,
    *,
    bandwidth: Bandwidths = "auto",
    tol: float = TOL,
    workers: int = 1,
) -> Left:
    """Take z off a variable, and prepare what is left."""
    left, found = left_given_z(argument, variable, named, adjuster, graph, workers)
    columns = variable.columns
    if not left.columns.shape[1]:
        return Left(columns, None, found)
    prepared = prepare(argument, left, adjuster, graph, bandwidth, tol, workers)
    return Left(columns, prepared, found)


def prepare(
    argument: str,
    variable: Variable,
    adjuster: Adjuster,
    graph: PairGraph | None,
    bandwidth: Bandwidths,
    tol: float,
    workers: int = 1,
) -> Prepared:
    r"""Fit what z explains of the features of `variable`, of which z was taken off, too.

    A pair of bandwidths is for the `argument`\ s "x" and "y".
    """
    n_pairs = max(TYPICAL_PAIRS, min(PAIRS_A_SAMPLE * len(variable.columns), MOST_PAIRS))
    of_values = _distance_between_values(variable, graph, n_pairs) if adjuster.of_columns else 0.0
    variable = variable.standardised()
    values = variable.columns
    apart = typical_distance(values, n_pairs, variable.before)
    if apart < FIT_DECIDES * of_values:
        apart = of_values
    widths = _widths(argument, variable, apart, bandwidth)
    if not (isinstance(bandwidth, str) and bandwidth == "auto"):
        _require_neither_narrow_nor_wide(argument, widths, variable, n_pairs)
    candidates = _shuffled(values[candidate_rows(values, SEEN)])

    def fit(width: float) -> tuple[Adjusted, Array, float]:
        # What a kernel tells apart, 1 - kappa, is all there is: wide ones need exact features.
        told_apart = float(1 - np.exp(-((apart / width) ** 2)))
        accuracy = tol * max(told_apart, SMALLEST_TOLD_APART)
        landmarks, missed = fit_landmarks(
            candidates / width, KERNELS["gaussian"], accuracy, LARGEST_RANK, len(candidates)
        )

        def features(rows: Rows) -> Array:
            return landmarks(values[rows] / width).astype(np.float64, copy=False)

        return adjuster.fit(features), landmarks.rounding, missed

    fits, rounding, missed = zip(*in_order(fit, widths, workers), strict=True)
    bandwidths = tuple(width * variable.unit for width in widths)
    return Prepared(bandwidths, fits, rounding, max(missed))


def _distance_between_values(variable: Variable, graph: PairGraph | None, n_pairs: int) -> float:
    """Return the median distance between different values of a discrete variable, else 0.

    Values of samples that are near in z differ as much as their residuals would after a perfect
    fit. Where events that are rare nearly follow z, residuals may be much closer to each other than
    that, and than the fit is to the truth: a bandwidth made of them would see how the fit follows
    z. In units of the standardised residuals.
    """
    if graph is None:
        return 0.0
    i, j = some_pairs(graph, n_pairs)
    apart = variable.before[i] - variable.before[j]
    apart = apart[apart.any(axis=1)]
    if not 0 < len(apart) < MOSTLY_DIFFERENT * len(i):
        return 0.0
    return float(np.median(np.linalg.norm(apart / variable.spread, axis=1)))


def _require_neither_narrow_nor_wide(
    argument: str, widths: list[float], variable: Variable, n_pairs: int
) -> None:
    """Refuse kernels that are the same for all pairs of different samples, 0 or 1 up to rounding.

    What is left of 0 is chance: with fewer than one other sample within the bandwidth, independent
    data were rejected in half of the cases.
    """
    distances = some_distances(variable.columns, n_pairs)
    for width in widths:
        with np.errstate(over="ignore", under="ignore"):
            alike = len(variable.columns) * float(np.exp(-((distances / width) ** 2)).mean())
        told = f"bandwidth: {width * variable.unit:g} is too {{}} for {argument}, "
        if alike < FEWEST_ALIKE:
            raise ValueError(
                told.format("narrow") + f"with {alike:.2g} other samples within it on average, "
                "so that there is nothing to compare; use a wider one, or 'auto'."
            )
        if width > WIDEST * float(np.max(distances)):
            raise ValueError(
                told.format("wide") + "of which it sees no differences; use a narrower one, or "
                "'auto'."
            )


def _shuffled(candidates: Array) -> Array:
    """Bring candidates into an order that is a variable's own.

    Of those that features miss alike, the first becomes a landmark. Were these the same samples for
    x and for y, the features of both would be large in them. The order comes from the ranks, which
    do not depend on the last bits of the numbers, and so on the machine.
    """
    ranks = np.argsort(candidates, axis=0, kind="stable").astype(np.int32)
    own = np.random.default_rng(zlib.crc32(ranks.tobytes()))
    shuffled: Array = own.permutation(candidates)
    return shuffled


def _widths(argument: str, variable: Variable, apart: float, bandwidth: Bandwidths) -> list[float]:
    """Return bandwidths in the unit of the standardised variable."""
    if isinstance(bandwidth, str) and bandwidth == "auto":
        bandwidth = Multiples(MULTIPLES)
    if isinstance(bandwidth, Multiples):
        return [multiple * apart for multiple in bandwidth.values]
    several: list[Bandwidth] = bandwidth if isinstance(bandwidth, list) else [bandwidth]
    if not several:
        raise ValueError("bandwidth: the list is empty; give at least one, or 'auto'.")
    values = variable.columns * variable.unit
    return [float(bandwidth_of(argument, values, one)[0]) / variable.unit for one in several]
