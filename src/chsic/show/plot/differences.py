"""The picture that makes the method clear: samples, and their differences over close pairs."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from chsic._util.validate import Array, RNGLike, as_generator
from chsic.data.arguments import Data
from chsic.data.samples import Samples, read_samples
from chsic.pairs import nearest_pairs
from chsic.show.plot.canvas import GREY, axis_name, plainly, two_axes_or_new

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
    nan_policy: str = "raise",
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
    nan_policy : {"raise", "omit"}
        ``"omit"`` leaves out rows with a missing value.
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
    samples = read_samples(x, y, z, nan_policy=nan_policy)
    seen = before_and_after(samples, alpha=alpha, rng=rng)
    left, right = two_axes_or_new(axes)
    drawn = left.scatter(*seen.samples[:2], c=seen.samples[2], s=8, cmap="viridis")
    left.figure.colorbar(drawn, ax=left).set_label(seen.z, parse_math=False)
    right.axhline(0, color=GREY, lw=0.5)
    right.axvline(0, color=GREY, lw=0.5)
    right.scatter(*seen.differences[:2], c=seen.differences[2], s=8, cmap="viridis")
    left.set_title("Samples", loc="left", fontsize=11)
    right.set_title(
        f"Differences over pairs close in {seen.z}", loc="left", fontsize=11, parse_math=False
    )
    left.set_xlabel(seen.x, parse_math=False)
    left.set_ylabel(seen.y, parse_math=False)
    right.set_xlabel(f"difference of {seen.x}", parse_math=False)
    right.set_ylabel(f"difference of {seen.y}", parse_math=False)
    plainly(left)
    plainly(right)
    return left, right


@dataclasses.dataclass(frozen=True, eq=False)
class BeforeAndAfter:
    """What the picture shows: x, y and z of samples, and of differences with their mean z."""

    x: str
    y: str
    z: str
    samples: tuple[Array, Array, Array]
    differences: tuple[Array, Array, Array]


def before_and_after(given: Samples, *, alpha: float, rng: RNGLike | None) -> BeforeAndAfter:
    """Choose the points that are drawn."""
    for argument, columns in (("x", given.x), ("y", given.y), ("z", given.z)):
        if len(columns) != 1 or columns[0].kind != "number":
            raise ValueError(f"{argument}: one column of numbers is needed for this picture.")
    name_x, name_y, name_z = (axis_name(*of) for of in (given.x, given.y, given.z))
    u, v, w = (of[0].values for of in (given.x, given.y, given.z))
    generator = as_generator(rng)
    graph = nearest_pairs(w, alpha, rng=generator)
    shown = _some(len(given), generator)
    pairs = _some(graph.n_pairs, generator)
    # Which sample of a pair is taken from which must not depend on z.
    signs = generator.choice([-1.0, 1.0], len(pairs))
    i, j = graph.i[pairs], graph.j[pairs]
    return BeforeAndAfter(
        name_x,
        name_y,
        name_z,
        (u[shown], v[shown], w[shown]),
        (signs * (u[i] - u[j]), signs * (v[i] - v[j]), (w[i] + w[j]) / 2),
    )


def _some(n: int, rng: np.random.Generator) -> np.ndarray:
    return np.arange(n) if n <= MOST else rng.choice(n, MOST, replace=False)
