"""The picture that makes the method clear: samples, and their differences over close pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chsic._validate import RNGLike, as_generator
from chsic.columns import Data
from chsic.pairs import nearest_pairs
from chsic.plot.canvas import GREY, plainly, two_axes_or_new
from chsic.samples import read_samples

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 2_000  # points in each panel


def differences(
    x: Data,
    y: Data,
    z: Data,
    /,
    *,
    alpha: float = 4,
    axes: tuple[Axes, Axes] | None = None,
    rng: RNGLike | None = 0,
) -> tuple[Axes, Axes]:
    """Draw x against y coloured by z, and differences of x against differences of y.

    Differences are taken over pairs of neighbours in z: what z explains cancels in them, and what
    is left of a pattern is not due to z.

    Parameters
    ----------
    x, y, z : array_like or series
        One column of numbers each.
    alpha : float
        Number of neighbours of a sample.
    axes : pair of matplotlib.axes.Axes, optional
        Where to draw; on a new figure if not given.
    rng : None, int or numpy.random.Generator
        Draws 2,000 samples and pairs if there are more.

    Returns
    -------
    pair of matplotlib.axes.Axes

    Examples
    --------
    >>> import chsic
    >>> from chsic import plot
    >>> x, y, z = chsic.datasets.draw_scenario("oscillating", 200, rng=0)
    >>> [ax.get_title(loc="left") for ax in plot.differences(x, y, z)]
    ['Samples', 'Differences over pairs close in z']
    """
    samples = read_samples(x, y, z)
    for argument, columns in (("x", samples.x), ("y", samples.y), ("z", samples.z)):
        if len(columns) != 1 or columns[0].kind != "number":
            raise ValueError(f"{argument}: one column of numbers is needed for this picture.")
    [of_x], [of_y], [of_z] = samples.x, samples.y, samples.z
    generator = as_generator(rng)
    graph = nearest_pairs(of_z.values, alpha, rng=generator)
    shown = _some(len(samples), generator)
    pairs = _some(graph.n_pairs, generator)
    # Which sample of a pair is taken from which must not depend on z.
    signs = generator.choice([-1.0, 1.0], len(pairs))
    i, j = graph.i[pairs], graph.j[pairs]
    left, right = two_axes_or_new(axes)
    drawn = left.scatter(
        of_x.values[shown], of_y.values[shown], c=of_z.values[shown], s=8, cmap="viridis"
    )
    left.figure.colorbar(drawn, ax=left, label=of_z.name)
    right.axhline(0, color=GREY, lw=0.5)
    right.axvline(0, color=GREY, lw=0.5)
    right.scatter(
        signs * (of_x.values[i] - of_x.values[j]),
        signs * (of_y.values[i] - of_y.values[j]),
        c=(of_z.values[i] + of_z.values[j]) / 2,
        s=8,
        cmap="viridis",
    )
    left.set_title("Samples", loc="left", fontsize=11)
    right.set_title(f"Differences over pairs close in {of_z.name}", loc="left", fontsize=11)
    left.set_xlabel(of_x.name)
    left.set_ylabel(of_y.name)
    right.set_xlabel(f"difference of {of_x.name}")
    right.set_ylabel(f"difference of {of_y.name}")
    plainly(left)
    plainly(right)
    return left, right


def _some(n: int, rng: np.random.Generator) -> np.ndarray:
    return np.arange(n) if n <= MOST else rng.choice(n, MOST, replace=False)
