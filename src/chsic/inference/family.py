"""The family of statistics that are tested together: several bandwidths, with and without z."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from chsic._util.parallel import in_order
from chsic.inference.grams import FitEffects, Share, Taken, UnitGrams, unit_grams
from chsic.inference.pieces import Piece
from chsic.inference.prepare import Prepared, share_of_piece


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

    def shares(piece: Piece) -> list[list[Share]]:
        # All bandwidths on one thread, as regressions on z share much within a piece.
        made = []
        for position in range(len(x.bandwidths)):
            of_x, of_y = (variable.residuals(position, piece) for variable in (x, y))
            made.append([share_of_piece(of_x, of_y, piece)])
            if position == middle:
                made[-1] += [x.with_itself(of_x, piece), y.with_itself(of_y, piece)]
        return made

    bandwidths = list(zip(x.bandwidths, y.bandwidths, strict=True))
    by_scale = zip(*in_order(shares, pieces, workers), strict=True)
    grams = [
        _put_together(at, fit_x.taken, fit_y.taken, effects)
        for at, fit_x, fit_y in zip(by_scale, x.fits, y.fits, strict=True)
    ]
    scales = (Scale(pair, made[0]) for pair, made in zip(bandwidths, grams, strict=True))
    _, of_x, of_y = grams[middle]
    return Family(tuple(scales), middle, of_x, of_y, max(x.missed, y.missed))


def _put_together(
    pieces: Sequence[list[Share]], x: Taken | None, y: Taken | None, effects: FitEffects
) -> list[UnitGrams]:
    """Return the Gram matrices of x with y and, where shares have them, of x and y alone."""
    of_pieces = list(zip(*pieces, strict=True))
    fits = [(x, y), (x, x), (y, y)][: len(of_pieces)]
    return [
        unit_grams(shares, effects.of(*fit)) for shares, fit in zip(of_pieces, fits, strict=True)
    ]
