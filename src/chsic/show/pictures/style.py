"""What all pictures share: colours, and names of columns as labels of axes."""

from __future__ import annotations

from typing import Protocol

from chsic._util.names import readable

# Okabe and Ito's, which colour-blind readers can tell apart.
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#999999"
LONGEST_TICK = 24  # letters beside an axis, or in the title of one panel of two


class Picture(Protocol):
    """What every picture has."""

    @property
    def title(self) -> str:
        """One line of plain text."""

    @property
    def caption(self) -> str:
        """Sentences of plain text that say how to read it."""


def axis_label(name: str, *, is_date: bool = False) -> str:
    """Return a column's name, with the unit if there is one.

    Examples
    --------
    >>> from chsic.show.pictures.style import axis_label
    >>> axis_label("day", is_date=True)
    'day (days since 1970)'
    """
    return readable(name) + (" (days since 1970)" if is_date else "")


def tick_label(name: str) -> str:
    """Return a column's name, short enough to stand beside many others.

    Examples
    --------
    >>> from chsic.show.pictures.style import tick_label
    >>> tick_label("concentration of nitrogen dioxide")
    'concentration of nitrog…'
    """
    line = readable(name)
    return line if len(line) <= LONGEST_TICK else line[: LONGEST_TICK - 1] + "…"
