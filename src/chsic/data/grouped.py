"""What a result tells of groups of rows, in words."""

from __future__ import annotations

from typing import Protocol


class Grouped(Protocol):
    """A result that tells which rows may depend on each other, or are compared."""

    @property
    def n_groups(self) -> int | None:
        """Number of groups, or of stretches of time; None if rows are independent."""

    @property
    def stretch(self) -> float | str | None:
        """How long these stretches are; ``"auto"`` if every pair of columns has its own."""

    @property
    def stretch_unit(self) -> str:
        """As in `chsic.data.sampling.Stretches`."""

    @property
    def within(self) -> bool:
        """Whether rows are compared with those of their group alone."""


def in_groups(result: Grouped) -> str:
    """Write " in 50 groups", or nothing if rows are independent.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from chsic.data.grouped import in_groups
    >>> from chsic.data.sampling import INDEPENDENT, Sampling, Stretches
    >>> in_groups(SimpleNamespace(**INDEPENDENT.facts))
    ''
    >>> weeks = Sampling([0, 0, 1], stretches=Stretches(7.0, False, "days"))
    >>> in_groups(SimpleNamespace(**weeks.facts))
    ' in 2 stretches of 7 days'
    >>> in_groups(SimpleNamespace(**Sampling([0, 0, 1, 1], within=True).facts))
    ' compared inside 2 groups'
    """
    if result.stretch == "auto":
        return " in stretches of time"
    if result.stretch == 0:
        return " that time shows to be independent"
    if not result.n_groups:
        return ""
    if result.within:
        return f" compared inside {result.n_groups} groups"
    if result.stretch is None:
        return f" in {result.n_groups} groups"
    length, unit = f"{result.stretch:.3g}", result.stretch_unit
    if unit:
        length = f"{length} {unit.removesuffix('s') if length == '1' else unit}"
    else:
        length = f"length {length}"
    return f" in {result.n_groups} stretches of {length}"
