"""Where along one column of z the dependence sits."""

from __future__ import annotations

import dataclasses

import numpy as np

from chsic._util.names import readable
from chsic._util.validate import Array
from chsic.inference.result import IndependenceResult
from chsic.show.pictures.style import axis_label
from chsic.show.sentences import names_of

WINDOW = 9  # units that the line averages over


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class ProfilePicture:
    """What each unit of neighbouring samples adds to the estimate, along one column of z.

    Attributes
    ----------
    title, caption : str
        Plain text.
    levels : tuple of str
        Of a category, whose codes are in `z`; empty for numbers.
    z, contribution : array, shape (n_units,)
        A point for each unit; their mean is the estimate.
    mean_z, mean : array
        Running means of the units, or the mean at each level; maybe none.
    units_label, mean_label : str
        What the points and the means are.
    x_label, y_label : str
        Of the axes.
    """

    title: str
    caption: str
    levels: tuple[str, ...]
    z: Array
    contribution: Array
    mean_z: Array
    mean: Array
    units_label: str = "units of neighbours"
    mean_label: str
    x_label: str
    y_label: str = "contribution to the estimate"

    @property
    def is_category(self) -> bool:
        """Whether it is along a category."""
        return bool(self.levels)


def profile_picture(result: IndependenceResult, column: int) -> ProfilePicture:
    """Work out the points, and their means along the column.

    Examples
    --------
    >>> import chsic
    >>> from chsic.show.pictures.profile import profile_picture
    >>> result = chsic.chsic_test(*chsic.datasets.draw_scenario("local", 400, rng=0), rng=0)
    >>> profile_picture(result, 0).title
    'Where along z the relation sits'
    """
    names = result.names["z"]
    if not 0 <= column < len(names):
        raise ValueError(
            f"column: z has {len(names)} columns, got {column}; count from 0."
            if names
            else "result: without z there is nothing to draw along."
        )
    name, z = names[column], result.profile.z[:, column]
    contribution = result.profile.contribution * len(z)  # comparable with the whole
    order = np.argsort(z, kind="stable")[: int(np.isfinite(z).sum())]  # NaN last, and not drawn
    z, contribution = z[order], contribution[order]
    levels = result.levels.get(name, ())
    mean_z, mean = _means_of_levels(z, contribution) if levels else _running(z, contribution)
    x, y = names_of(result, "x"), names_of(result, "y")
    return ProfilePicture(
        title=f"Where along {readable(name)} the relation sits",
        caption=f"Points scatter by chance. Where their mean stays above zero, {x} and {y} are "
        "related.",
        levels=tuple(readable(level) for level in levels),
        z=z,
        contribution=contribution,
        mean_z=mean_z,
        mean=mean,
        mean_label="mean" if levels else f"mean of {WINDOW} units",
        x_label=axis_label(name, is_date=result.kinds[name] == "date"),
    )


def _means_of_levels(codes: Array, values: Array) -> tuple[Array, Array]:
    distinct, inverse = np.unique(codes, return_inverse=True)
    return distinct, np.bincount(inverse, values) / np.bincount(inverse)


def _running(z: Array, values: Array) -> tuple[Array, Array]:
    if len(z) < 2 * WINDOW:
        return np.empty(0), np.empty(0)
    window = np.ones(WINDOW) / WINDOW
    return np.convolve(z, window, "valid"), np.convolve(values, window, "valid")
