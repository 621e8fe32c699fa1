"""The result of a screen: one line for each pair of columns, with adjusted p-values."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from chsic._util.names import readable
from chsic._util.validate import Array, as_number
from chsic.data.grouped import in_groups
from chsic.inference.result import later, require_picture

SHOWN = 10  # pairs in a repr
FIELDS = ("pvalue", "pvalue_bh", "pvalue_holm", "coefficient", "low", "high", "statistic")
ADJUSTED = {"bh": "pvalue_bh", "holm": "pvalue_holm", "none": "pvalue"}


@dataclasses.dataclass(frozen=True, kw_only=True)
class ScreenedPair:
    """One pair of columns.

    Attributes
    ----------
    x, y : str
        Names of the columns.
    pvalue : float
        That of the pair alone.
    pvalue_bh : float
        Adjusted by Benjamini and Hochberg: among pairs with at most q, a share q is by chance, on
        average.
    pvalue_holm : float
        Adjusted by Holm: the probability that any pair with at most p is by chance is p.
    coefficient, low, high : float
        Strength, 0 if unrelated and 1 if the same, and its 95 percent interval.
    statistic : float
        C-HSIC.
    n_samples, n_omitted : int
        Samples used, and those left out for missing values.
    warnings : tuple of str
        Sentences that apply to this pair.
    """

    x: str
    y: str
    pvalue: float
    pvalue_bh: float
    pvalue_holm: float
    coefficient: float
    low: float
    high: float
    statistic: float
    n_samples: int
    n_omitted: int
    warnings: tuple[str, ...]


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Screen:
    """All pairs that were tested.

    Attributes
    ----------
    pairs : tuple of ScreenedPair
        In the order of the columns.
    given : tuple of str
        Names of the confounders.
    target : str or None
        The column that others were tested against, if one was named.
    skipped : dict
        Columns that could not be tested, and why.
    failed : dict
        Pairs, as (x, y), that could not be tested, and why: one may be constant in the rows that
        both have.
    kinds : dict
        Of each column, by its name: ``"number"``, ``"date"`` or ``"category"``.
    seed : int
        Of the random signs.
    n_groups : int or None
        Groups of the rows in which no confounder is missing, or stretches of time; None if rows are
        independent.
    stretch : float, "auto" or None
        How long these stretches are; ``"auto"`` if every pair has its own, which `chsic_test`
        tells. None if no time was given.
    stretch_unit : str
        ``"days"`` if the time was of dates; empty if it was of numbers.
    within : bool
        Whether rows were compared with those of their group alone.
    n_effective : float or None
        As many rows of equal weight say as much about a mean; None if no weights were given.
    """

    pairs: tuple[ScreenedPair, ...]
    given: tuple[str, ...]
    target: str | None
    skipped: Mapping[str, str]
    failed: Mapping[tuple[str, str], str]
    kinds: Mapping[str, str]
    seed: int
    n_groups: int | None = None
    stretch: float | str | None = None
    stretch_unit: str = ""
    within: bool = False
    n_effective: float | None = None

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[ScreenedPair]:
        return iter(self.pairs)

    def significant(self, level: float = 0.05, by: str = "bh") -> list[ScreenedPair]:
        """Return the pairs whose adjusted p-value is at most `level`, the strongest first.

        Parameters
        ----------
        level : float
            Largest adjusted p-value.
        by : {"bh", "holm", "none"}
            How p-values are adjusted for the number of pairs.

        Returns
        -------
        list of ScreenedPair

        Examples
        --------
        >>> import chsic
        >>> screen = chsic.screen(chsic.datasets.summer(), "temperature", rng=0)
        >>> len(screen), len(screen.significant(0.01, by="holm"))
        (3, 1)
        """
        if by not in ADJUSTED:
            raise ValueError(f"by: expected one of {', '.join(map(repr, ADJUSTED))}, got {by!r}.")
        largest = as_number("level", level)
        few = [pair for pair in self.pairs if getattr(pair, ADJUSTED[by]) <= largest]
        return sorted(few, key=lambda pair: (-pair.coefficient, pair.pvalue))

    def names(self) -> list[str]:
        """Return the columns that were tested, in their order.

        Examples
        --------
        >>> import chsic
        >>> chsic.screen(chsic.datasets.summer(), "temperature", rng=0).names()
        ['ice_cream', 'lemonade', 'rescues']
        """
        others = {*self.given, *self.skipped}
        return [name for name in self.kinds if name not in others]

    def matrix(self, field: str = "coefficient") -> Array:
        """Return a field of all pairs as a symmetric matrix in the order of `names`.

        Parameters
        ----------
        field : str
            A number of `ScreenedPair`, such as ``"coefficient"`` or ``"pvalue_bh"``.

        Returns
        -------
        array, shape (n_columns, n_columns)
            NaN on the diagonal and for pairs that were not tested.

        Examples
        --------
        >>> import chsic
        >>> screen = chsic.screen(chsic.datasets.summer(), "temperature", rng=0)
        >>> screen.matrix("pvalue").shape
        (3, 3)
        """
        if field not in FIELDS:
            raise ValueError(f"field: expected one of {', '.join(FIELDS)}, got {field!r}.")
        place = {name: position for position, name in enumerate(self.names())}
        values = np.full((len(place), len(place)), np.nan)
        for pair in self.pairs:
            i, j = place[pair.x], place[pair.y]
            values[i, j] = values[j, i] = getattr(pair, field)
        return values

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the pairs as lists by field: what a data frame is made from.

        Examples
        --------
        >>> import chsic, pandas
        >>> screen = chsic.screen(chsic.datasets.summer(), "temperature", rng=0)
        >>> pandas.DataFrame(screen.to_dict())["y"].tolist()
        ['lemonade', 'rescues', 'rescues']
        """
        names = [field.name for field in dataclasses.fields(ScreenedPair)]
        rows = self.rows()
        return {name: [row[name] for row in rows] for name in names}

    def rows(self) -> list[dict[str, Any]]:
        """Return the pairs as dictionaries of plain numbers, strings and lists.

        Examples
        --------
        >>> import chsic
        >>> screen = chsic.screen(chsic.datasets.summer(), "temperature", rng=0)
        >>> [row["x"] for row in screen.rows()]
        ['ice_cream', 'ice_cream', 'lemonade']
        """
        return [
            {**dataclasses.asdict(pair), "warnings": list(pair.warnings)} for pair in self.pairs
        ]

    def plot(
        self, what: str = "heat_map", *, level: float = 0.05, by: str = "bh", ax: Any = None
    ) -> Any:
        """Draw all pairs as a heat map, or as a network.

        Parameters
        ----------
        what : {"heat_map", "network"}
            As in ``chsic.plot``.
        level : float
            Largest adjusted p-value of a pair that is marked.
        by : {"bh", "holm", "none"}
            How p-values of the network are adjusted; the heat map marks by Benjamini and Hochberg.
        ax : matplotlib.axes.Axes, optional
            Where to draw; on a new figure if not given.

        Returns
        -------
        matplotlib.axes.Axes

        Examples
        --------
        >>> import chsic
        >>> result = chsic.screen(chsic.datasets.summer(), "temperature", rng=0)
        >>> len(result.plot("network", level=0.01).lines)
        1
        """
        require_picture(what, ("heat_map", "network"))
        adjusted = {"by": by} if what == "network" else {}
        return later("chsic.show.plot", what, self, level=level, ax=ax, **adjusted)

    def _repr_html_(self) -> str | None:
        html: str | None = later("chsic.show.notebook", "html_of_screen", self)
        return html

    def __repr__(self) -> str:
        given = f" given {', '.join(map(readable, self.given))}" if self.given else ""
        few = sum(pair.pvalue_bh <= 0.05 for pair in self.pairs)
        grouped = f", rows{groups}" if (groups := in_groups(self)) else ""
        skipped = f", {len(self.skipped)} columns skipped" if self.skipped else ""
        failed = f", {len(self.failed)} pairs failed" if self.failed else ""
        lines = [
            f"Screen of {len(self)} pairs{given}{grouped}: {few} with pvalue_bh <= 0.05{skipped}"
            f"{failed}"
        ]
        strongest = sorted(self.pairs, key=lambda pair: pair.pvalue)[:SHOWN]
        lines += [
            f"  {readable(pair.x)}, {readable(pair.y)}: coefficient {pair.coefficient:z.3f} "
            f"[{pair.low:.3f}, {pair.high:.3f}], pvalue {pair.pvalue:.2g}, "
            f"pvalue_bh {pair.pvalue_bh:.2g}"
            for pair in strongest
        ]
        if len(self) > SHOWN:
            lines.append(f"  ... and {len(self) - SHOWN} with larger p-values")
        return "\n".join(lines)
