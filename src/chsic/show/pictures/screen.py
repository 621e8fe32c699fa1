"""All pairs of a screen: as a matrix, and as a network."""

from __future__ import annotations

import dataclasses

import numpy as np

from chsic._util.names import listed, readable
from chsic._util.validate import Array, Index
from chsic.many.screen_result import Screen
from chsic.show.pictures.style import tick_label

MOST_NAMED = 60  # columns whose names can be read beside each other
LEAST_SCALE = 0.1  # strength at which colours end: below it is chance, which must not look big


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class HeatMapPicture:
    """The strength of every pair.

    Attributes
    ----------
    title, caption : str
        Plain text.
    names : tuple of str
        Of the columns, in the order of rows and columns of the matrix, short enough for ticks.
    strengths : array, shape (n_columns, n_columns)
        At least 0; NaN on the diagonal and for pairs that were not tested.
    largest : float
        Strength at which the scale of colours ends.
    dot_rows, dot_columns : array of int
        Where dots are: the pairs that are significant.
    scale_label : str
        Of the scale of colours.
    """

    title: str
    caption: str
    names: tuple[str, ...]
    strengths: Array
    largest: float
    dot_rows: Index
    dot_columns: Index
    scale_label: str = "coefficient"


@dataclasses.dataclass(frozen=True)
class NetworkLine:
    """A line between two columns.

    Attributes
    ----------
    ends : pair of int
        The columns, as places in `NetworkPicture.names`.
    share : float
        Strength as a share of that of the strongest pair, from 0 to 1.
    """

    ends: tuple[int, int]
    share: float


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class NetworkPicture:
    """Columns on a circle, and lines between those that are related.

    Attributes
    ----------
    title, caption : str
        Plain text.
    names : tuple of str
        Of the columns.
    angles : array, shape (n_columns,)
        Where the columns are on the circle of radius 1, in radians; the first is at the top.
    lines : tuple of NetworkLine
        The strongest first.
    """

    title: str
    caption: str
    names: tuple[str, ...]
    angles: Array
    lines: tuple[NetworkLine, ...]

    @property
    def places(self) -> Array:
        """Coordinates of the columns, shape (n_columns, 2)."""
        return np.column_stack([np.cos(self.angles), np.sin(self.angles)])

    @property
    def connected(self) -> set[int]:
        """Columns at which a line ends."""
        return {end for line in self.lines for end in line.ends}


def heat_map_picture(screen: Screen, level: float) -> HeatMapPicture:
    """Arrange strengths as a matrix.

    Examples
    --------
    >>> import chsic
    >>> from chsic.show.pictures.screen import heat_map_picture
    >>> screen = chsic.screen(chsic.datasets.summer(), "temperature", rng=0)
    >>> heat_map_picture(screen, 0.05).names
    ('ice_cream', 'lemonade', 'rescues')
    """
    names = _require_names(screen)
    strengths = screen.matrix("coefficient")
    finite = strengths[np.isfinite(strengths)]
    with np.errstate(invalid="ignore"):
        rows, columns = np.nonzero(screen.matrix("pvalue_bh") <= level)
    return HeatMapPicture(
        title=f"Strength{_given(screen)}; dots: adjusted p ≤ {level:g}",
        caption="How strongly the columns are related, pair by pair. A dot marks a pair whose "
        f"p-value, adjusted by Benjamini and Hochberg, is at most {level:g}.",
        names=tuple(tick_label(name) for name in names),
        strengths=np.maximum(strengths, 0),
        largest=max(LEAST_SCALE, float(finite.max())) if len(finite) else 1.0,
        dot_rows=rows,
        dot_columns=columns,
    )


def network_picture(screen: Screen, level: float, by: str) -> NetworkPicture:
    """Place the columns, and choose the pairs that are drawn.

    Examples
    --------
    >>> import chsic
    >>> from chsic.show.pictures.screen import network_picture
    >>> screen = chsic.screen(chsic.datasets.summer(), "temperature", rng=0)
    >>> network_picture(screen, 0.01, "bh").lines
    (NetworkLine(ends=(0, 1), share=1.0),)
    """
    names = _require_names(screen)
    place = {name: position for position, name in enumerate(names)}
    related = screen.significant(level, by)
    strongest = max((pair.coefficient for pair in related), default=1.0)
    return NetworkPicture(
        title=f"Related{_given(screen)}, adjusted p ≤ {level:g}",
        caption="Columns that are related are joined by a line; the thicker it is, the stronger "
        "the relation.",
        names=tuple(map(readable, names)),
        angles=np.pi / 2 - 2 * np.pi * np.arange(len(names)) / len(names),
        lines=tuple(
            NetworkLine(
                (place[pair.x], place[pair.y]),
                max(pair.coefficient, 0) / strongest if strongest > 0 else 0.0,
            )
            for pair in related
        ),
    )


def _require_names(screen: Screen) -> list[str]:
    names = screen.names()
    if not names:
        raise ValueError("screen: no column could be tested, so there is nothing to draw.")
    return names


def _given(screen: Screen) -> str:
    """Name the confounders in a title, however many they are."""
    return f" given {readable(listed(screen.given))}" if screen.given else ""
