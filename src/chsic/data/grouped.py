"""What a result tells of groups and weights of rows, in words."""

from __future__ import annotations

from typing import Protocol


class Grouped(Protocol):
    """A result that tells which rows may depend on each other, are compared, or weigh more."""

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

    @property
    def n_effective(self) -> float | None:
        """As many rows of equal weight say as much; None if all rows weigh the same."""


def in_groups(result: Grouped) -> str:
    """Write " in 50 groups", and whether rows have weights; nothing if neither is so.

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
    >>> import numpy as np
    >>> in_groups(SimpleNamespace(**Sampling(weights=np.array([1.0, 1.0, 2.0])).facts))
    ' weighted (as good as 3 of equal weight)'
    """
    grouped = _in_groups(result)
    if result.n_effective is None:
        return grouped
    comma = "," if grouped else ""
    return f"{grouped}{comma} weighted (as good as {result.n_effective:.0f} of equal weight)"


def _in_groups(result: Grouped) -> str:
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
