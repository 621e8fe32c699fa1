"""Jumps that follow each other closely: the best cut of a line into segments.

Steps that are looked for one at a time are missed where each of them explains little by itself:
opening hours of thirty days, the teeth of a saw. All cuts of the line together are therefore chosen
by dynamic programming, which finds the least sum of squares plus a price for each segment
(Jackson et al. 2005; Killick, Fearnhead and Eckley 2012; theory.md, eq. 9c).
"""

from __future__ import annotations

import numpy as np

from chsic._util.validate import Array, Index
from chsic.inference.steps import SMALLEST_PART

MOST_PLACES = 500  # where a segment may end, before its ends are moved
MOST_CUTS = 80
ENDS_AT_ONCE = 64  # whose segments are looked at together
BESIDE = 2  # places on either side that decide where an end is moved to


def find_cuts(along: Array, targets: Array, straight: bool) -> list[float]:
    """Return the thresholds that cut a line into segments.

    Parameters
    ----------
    along : array, shape (n,)
        Where the samples are on the line.
    targets : array, shape (n, q)
        Constant within a segment, or straight lines, and noise that does not depend on neighbours.
    straight : bool
        Whether they are straight lines.

    Returns
    -------
    list of float
        Thresholds between samples; none if there would be too many.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.inference.segments import find_cuts
    >>> rng = np.random.default_rng(0)
    >>> z = rng.random(300)
    >>> x = (5 * z) % 1 + 0.1 * rng.normal(size=300)
    >>> [round(cut, 1) for cut in find_cuts(z, x[:, np.newaxis], straight=True)]
    [0.2, 0.4, 0.6, 0.8]
    """
    order = np.argsort(along, kind="stable")
    line, values = along[order], targets[order]
    # Neighbours on a line share what does not jump: second differences are noise.
    noise = ((values[2:] - 2 * values[1:-1] + values[:-2]) ** 2).mean(axis=0) / 6
    if len(line) < 2 * SMALLEST_PART or not (noise > 0).any():
        return []
    values = values[:, noise > 0] / np.sqrt(noise[noise > 0])
    places = np.unique(np.linspace(0, len(line), MOST_PLACES + 1).round().astype(np.intp))
    inner = places[1:-1]
    places = np.concatenate([[0], inner[line[inner] > line[inner - 1]], [len(line)]])
    cuts = _best_cuts(places, line - line.mean(), values, straight)
    if len(cuts) > MOST_CUTS:
        return []
    cuts = _moved(cuts, line, values)
    return [float(line[cut - 1 : cut + 1].mean()) for cut in cuts]


def _best_cuts(places: Index, line: Array, values: Array, straight: bool) -> Index:
    """Cut at places such that squares that are left, and the price of segments, are least."""
    n, q = values.shape
    price = (1 + q * (2 if straight else 1)) * np.log(n)
    moments = np.column_stack([line, line**2, values, line[:, np.newaxis] * values])
    sums = np.concatenate([np.zeros((1, 2 + 2 * q)), np.cumsum(moments, axis=0)])[places]
    squares = np.concatenate([[0.0], np.cumsum((values**2).sum(axis=1))])[places]
    cost, start = np.full(len(places), np.inf), np.zeros(len(places), dtype=np.intp)
    cost[0] = 0.0
    for first in range(1, len(places), ENDS_AT_ONCE):
        ends = slice(first, min(first + ENDS_AT_ONCE, len(places)))
        left = _left(places, sums, squares, ends, straight)
        numbers = np.searchsorted(places, places[ends] - SMALLEST_PART, side="right").tolist()
        for end, number, of_end in zip(range(first, ends.stop), numbers, left, strict=True):
            if number == 0:
                continue
            costs = cost[:number] + of_end[:number]
            costs += price
            start[end] = best = int(costs.argmin())
            cost[end] = costs[best]
    cuts, end = [], len(places) - 1
    while (end := int(start[end])) > 0:
        cuts.append(places[end])
    return np.array(cuts[::-1], dtype=np.intp)


def _left(places: Index, sums: Array, squares: Array, ends: slice, straight: bool) -> Array:
    """Return the squares that are left between every place before some ends and each of those.

    Where there is no segment, as the end is not behind the place, it is any number.
    """
    begins = slice(0, ends.stop - 1)
    q = (sums.shape[1] - 2) // 2

    def inside(of: Array) -> Array:
        between: Array = of[ends, np.newaxis] - of[begins]
        return between

    size = np.maximum(inside(places.astype(np.float64)), 1.0)
    z, zz = inside(sums[:, 0]), inside(sums[:, 1])
    spread = zz - z**2 / size
    of_means, of_slopes = np.zeros_like(size), np.zeros_like(size)
    for k in range(q):
        total = inside(sums[:, 2 + k])
        of_means += total**2 / size
        if straight:
            slopes = (inside(sums[:, 2 + q + k]) - z * total / size) ** 2
            of_slopes += np.divide(slopes, spread, where=spread > 0, out=np.zeros_like(slopes))
    left: Array = inside(squares) - of_means
    return left - of_slopes if straight else left


def _moved(cuts: Index, line: Array, values: Array) -> Index:
    """Move every cut to where the samples on either side differ most."""
    n = len(line)
    apart = -(-n // MOST_PLACES)
    if apart == 1:
        return cuts
    sums = np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(values, axis=0)])
    ends = np.concatenate([[0], cuts, [n]])
    moved = []
    for before, cut, after in zip(ends[:-2], cuts, ends[2:], strict=True):
        tried = np.arange(max(cut - apart, before + 1), min(cut + apart, after - 1) + 1)
        tried = tried[line[tried] > line[tried - 1]]
        reach = BESIDE * apart
        low, high = np.maximum(tried - reach, before), np.minimum(tried + reach, after)
        below = (sums[tried] - sums[low]) / (tried - low)[:, np.newaxis]
        above = (sums[high] - sums[tried]) / (high - tried)[:, np.newaxis]
        apart_by = ((above - below) ** 2).sum(axis=1) / (1 / (tried - low) + 1 / (high - tried))
        moved.append(int(tried[np.argmax(apart_by)]))
    return np.unique(np.array(moved, dtype=np.intp))
