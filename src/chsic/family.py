"""The family of statistics that are tested together: several bandwidths, with and without z."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence

from chsic.engines.parallel import in_order
from chsic.grams import FitEffects, Share, Taken, UnitGrams, share_of, unit_grams
from chsic.pieces import Piece
from chsic.prepare import Prepared


@dataclasses.dataclass(frozen=True, eq=False)
class Scale:
    """Gram matrices of the units at one bandwidth."""

    bandwidth: tuple[float, float]
    grams: UnitGrams


@dataclasses.dataclass(frozen=True, eq=False)
class Family:
    """All scales, and x and y with themselves at the middle one, for the coefficient."""

    scales: tuple[Scale, ...]
    middle: int
    of_x: UnitGrams
    of_y: UnitGrams
    missed: float  # of the kernels by their features


def compute_family(
    x: Prepared, y: Prepared, pieces: Sequence[Piece], effects: FitEffects, workers: int
) -> Family:
    """Compare `x` and `y` at all their bandwidths."""
    middle = x.middle

    def shares(task: tuple[Piece, int]) -> list[Share]:
        piece, position = task
        of_x, of_y = (variable.residuals(position, piece) for variable in (x, y))
        found = [share_of(of_x, of_y, piece.units)]
        if position == middle:
            found += [x.with_itself(of_x, piece), y.with_itself(of_y, piece)]
        return found

    bandwidths = list(zip(x.bandwidths, y.bandwidths, strict=True))
    tasks = list(itertools.product(pieces, range(len(bandwidths))))
    by_scale: list[list[list[Share]]] = [[] for _ in bandwidths]
    for (_, position), made in zip(tasks, in_order(shares, tasks, workers), strict=True):
        by_scale[position].append(made)
    grams = [
        _put_together(at, fit_x.taken, fit_y.taken, effects)
        for at, fit_x, fit_y in zip(by_scale, x.fits, y.fits, strict=True)
    ]
    scales = (Scale(pair, made[0]) for pair, made in zip(bandwidths, grams, strict=True))
    _, of_x, of_y = grams[middle]
    return Family(tuple(scales), middle, of_x, of_y, max(x.missed, y.missed))


def _put_together(
    pieces: list[list[Share]], x: Taken | None, y: Taken | None, effects: FitEffects
) -> list[UnitGrams]:
    """Return the Gram matrices of x with y and, where shares have them, of x and y alone."""
    of_pieces = list(zip(*pieces, strict=True))
    fits = [(x, y), (x, x), (y, y)][: len(of_pieces)]
    return [
        unit_grams(shares, effects.of(*fit)) for shares, fit in zip(of_pieces, fits, strict=True)
    ]
