"""Samples, and their differences over pairs of neighbours in z."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from chsic._util.names import readable
from chsic._util.validate import Array, Index, RNGLike, as_generator
from chsic.data.column import Column
from chsic.data.samples import Samples
from chsic.inference.groups import pairs_between_groups
from chsic.pairs import nearest_pairs
from chsic.pairs.nearest_neighbours import nearest_in_categories
from chsic.show.pictures.style import axis_label, tick_label

MOST = 2_000  # points in each panel


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class ScatterPanel:
    """Points, coloured by z.

    Attributes
    ----------
    title, x_label, y_label : str
        Plain text.
    x, y, z : array, shape (n_points,)
        Where the points are, and their z.
    """

    title: str
    x_label: str
    y_label: str
    x: Array
    y: Array
    z: Array


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class DifferencesPicture:
    """Samples before, and differences over close pairs after.

    Attributes
    ----------
    title, caption : str
        Plain text.
    z_label : str
        What the colours are.
    samples, differences : ScatterPanel
        Left and right; the z of a difference is the mean over its pair.
    """

    title: str = "Before and after"
    caption: str
    z_label: str
    samples: ScatterPanel
    differences: ScatterPanel

    @property
    def panels(self) -> tuple[ScatterPanel, ScatterPanel]:
        """Both, from left to right."""
        return self.samples, self.differences


def has_differences_picture(samples: Samples) -> bool:
    """Whether x, y and z are one column of numbers each, as the picture needs."""
    return all(map(_is_one_number, (samples.x, samples.y, samples.z)))


def differences_picture(
    samples: Samples, *, alpha: float, rng: RNGLike | None
) -> DifferencesPicture:
    """Choose the points that are drawn.

    Parameters
    ----------
    samples : Samples
        One column of numbers for each of x, y and z.
    alpha : float
        Number of neighbours of a sample.
    rng : None, int or numpy.random.Generator
        Draws `MOST` samples and pairs if there are more.

    Returns
    -------
    DifferencesPicture

    Examples
    --------
    >>> from chsic.data.samples import read_samples
    >>> from chsic.show.pictures.differences import differences_picture
    >>> samples = read_samples([1.0, 2, 3, 4], [3.0, 1, 4, 1], [1.0, 2, 3, 4])
    >>> len(differences_picture(samples, alpha=2, rng=0).samples.x)
    4
    """
    for argument, columns in (("x", samples.x), ("y", samples.y), ("z", samples.z)):
        if not _is_one_number(columns):
            raise ValueError(f"{argument}: one column of numbers is needed for this picture.")
    [of_x], [of_y], [of_z] = samples.x, samples.y, samples.z
    x, y, z = of_x.values, of_y.values, of_z.values
    x_label, y_label, z_label = (axis_label(c.name, is_date=c.is_date) for c in (of_x, of_y, of_z))
    generator = as_generator(rng)
    groups = samples.sampling.groups
    if groups is None:
        graph = nearest_pairs(z, alpha, rng=generator)
    elif samples.sampling.within:
        graph = nearest_in_categories(z[:, np.newaxis], groups, alpha, generator)
    else:
        graph = pairs_between_groups(groups, alpha, lambda a: nearest_pairs(z, a, rng=generator))
    rows = _some(len(samples), generator)
    pairs = _some(graph.n_pairs, generator)
    # Which sample of a pair is subtracted from which must not depend on z.
    signs = generator.choice([-1.0, 1.0], len(pairs))
    i, j = graph.i[pairs], graph.j[pairs]
    known = readable(of_z.name)
    return DifferencesPicture(
        caption=f"Left: {readable(of_x.name)} against {readable(of_y.name)}, coloured by {known}. "
        f"Right: differences between samples that are close in {known}. What {known} explains "
        "cancels in differences; a pattern that is left on the right is not due to it.",
        z_label=z_label,
        samples=ScatterPanel(
            title="Samples", x_label=x_label, y_label=y_label, x=x[rows], y=y[rows], z=z[rows]
        ),
        differences=ScatterPanel(
            title=f"Differences over pairs close in {tick_label(of_z.name)}",
            x_label=f"difference of {x_label}",
            y_label=f"difference of {y_label}",
            x=signs * (x[i] - x[j]),
            y=signs * (y[i] - y[j]),
            z=(z[i] + z[j]) / 2,
        ),
    )


def _is_one_number(columns: Sequence[Column]) -> bool:
    return len(columns) == 1 and columns[0].kind == "number"


def _some(n: int, rng: np.random.Generator) -> Index:
    return np.arange(n) if n <= MOST else rng.choice(n, MOST, replace=False)
