"""Tables of results as plain text cells, which terminal, notebook and page lay out."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from chsic._util.names import readable, shortened
from chsic.data.grouped import in_groups
from chsic.inference.result import IndependenceResult
from chsic.many.screen_result import Screen
from chsic.many.sensitivity import Sensitivity
from chsic.measure.comparison import Comparison
from chsic.show.column_summary import ColumnSummary
from chsic.show.sentences import answer, pvalue, sample_size, strength

# Names of facts, and the facts.
FactRows: TypeAlias = list[tuple[str, str]]
KINDS = {"number": "numbers", "date": "dates", "category": "categories"}


@dataclasses.dataclass(frozen=True)
class TextTable:
    """Rows of text under headings.

    Attributes
    ----------
    headings : tuple of str
        One for each column.
    rows : tuple of tuple of str
        The cells.
    n_names : int
        Columns, the first ones, that hold names; numbers are in the others.
    """

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    n_names: int = 0


def result_facts(result: IndependenceResult) -> FactRows:
    """Return answer, strength, samples, what the columns were taken for, and cautions.

    Examples
    --------
    >>> import chsic
    >>> from chsic.show.tables import result_facts
    >>> x, y, _ = chsic.datasets.draw_scenario("add", 100, rng=0)
    >>> [name for name, _ in result_facts(chsic.hsic_test(x, y, rng=0))]
    ['answer', 'strength', 'samples', 'numbers']
    """
    rows = [
        ("answer", answer(result)),
        ("strength", strength(result)),
        ("samples", sample_size(result)),
    ]
    for kind, heading in KINDS.items():
        names = [readable(name) for name, of_column in result.kinds.items() if of_column == kind]
        if names:
            rows.append((heading, ", ".join(names)))
    return rows + [("beware", sentence) for sentence in result.warnings]


def settings_facts(result: IndependenceResult, versions: Mapping[str, str]) -> FactRows:
    """Return what has to be the same to get the same numbers again.

    Examples
    --------
    >>> import chsic
    >>> from chsic.show.tables import settings_facts
    >>> x, y, _ = chsic.datasets.draw_scenario("add", 100, rng=0)
    >>> settings_facts(chsic.hsic_test(x, y, rng=0), {"chsic": "0.1"})[-1]
    ('chsic', '0.1')
    """
    return [
        ("samples", f"{result.n_samples}{in_groups(result)}"),
        ("pairs", f"{result.n_pairs} ({result.pairs}), alpha {result.alpha:.3g}"),
        ("adjustment for z", _adjustment(result)),
        ("samples that share a random sign", f"{result.unit_size:.3g}"),
        ("kernels of x and y", " and ".join(result.kernels.values())),
        ("bandwidths of x", ", ".join(f"{h:.3g}" for h, _ in result.bandwidths)),
        ("bandwidths of y", ", ".join(f"{h:.3g}" for _, h in result.bandwidths)),
        ("null distribution", _null(result)),
        *versions.items(),
    ]


def _adjustment(result: IndependenceResult) -> str:
    """Say what z explains of x and of y, and how many jumps it makes."""
    explained = " and ".join(f"{share:.0%} of {of}" for of, share in result.explained.items())
    jumps = sum(result.jumps.values())
    seen = f", {jumps} jump{'s' if jumps > 1 else ''}" if jumps else ""
    return f"{result.adjust}: z explains {explained}{seen}" if result.names["z"] else "none"


def _null(result: IndependenceResult) -> str:
    """Say where the p-value comes from."""
    if result.null == "pearson3":
        return "Pearson III law of random signs"
    every = "all" if result.null == "exhaustive" else "draws of"
    return f"{every} signs, {len(result.null_distribution)}"


def columns_table(columns: Iterable[ColumnSummary]) -> TextTable:
    """Return what the columns of the data are.

    Examples
    --------
    >>> from chsic.show.column_summary import ColumnSummary
    >>> from chsic.show.tables import columns_table
    >>> columns_table([ColumnSummary("x", "dose", "number", 2, "0 to 5")]).rows
    (('dose', 'x', 'number', '2', '0 to 5'),)
    """
    return TextTable(
        ("column", "used as", "taken for", "missing", "values"),
        tuple(
            (readable(c.name), c.role, c.kind, str(c.n_missing), shortened(c.values))
            for c in columns
        ),
        n_names=1,
    )


def pairs_table(screen: Screen, most: int) -> TextTable:
    """Return the pairs with the smallest p-values.

    Examples
    --------
    >>> import chsic
    >>> from chsic.show.tables import pairs_table
    >>> screen = chsic.screen(chsic.datasets.summer(), "temperature", rng=0)
    >>> [row[:2] for row in pairs_table(screen, 1).rows]
    [('ice_cream', 'lemonade')]
    """
    smallest = sorted(screen, key=lambda pair: pair.pvalue)[:most]
    return TextTable(
        ("x", "y", "strength", "95% interval", "p", "adjusted", "Holm"),
        tuple(
            (
                readable(pair.x),
                readable(pair.y),
                f"{pair.coefficient:z.3f}",
                f"{pair.low:.3f} to {pair.high:.3f}",
                *(pvalue(p) for p in (pair.pvalue, pair.pvalue_bh, pair.pvalue_holm)),
            )
            for pair in smallest
        ),
        n_names=2,
    )


def sensitivity_table(sensitivity: Sensitivity) -> TextTable:
    """Return the answers along alpha, then along the bandwidth.

    Examples
    --------
    >>> import chsic
    >>> from chsic.show.tables import sensitivity_table
    >>> x, y, z = chsic.datasets.draw_scenario("add", 100, rng=0)
    >>> result = chsic.sensitivity(x, y, z, alphas=[4], bandwidths=[1.2, 5], rng=0)
    >>> [row[:2] for row in sensitivity_table(result).rows][0]
    ('4', 'family')
    """
    return TextTable(
        ("alpha", "bandwidth", "strength", "p"),
        tuple(
            (
                f"{point.alpha:.3g}",
                "family" if point.bandwidth is None else f"{point.bandwidth:g}",
                f"{point.coefficient:z.3f}",
                pvalue(point.pvalue),
            )
            for point in (*sensitivity.along_alpha, *sensitivity.along_bandwidth)
        ),
    )


def measures_table(comparisons: Mapping[str, Comparison]) -> TextTable:
    """Return the paper's measures side by side, a row for each question.

    Examples
    --------
    >>> import chsic
    >>> from chsic.measure.comparison import compare
    >>> from chsic.show.tables import measures_table
    >>> x, y, z = chsic.datasets.m_plus(100, 10.0, 0)
    >>> measures_table({"x, y | z": compare(x, y, z, rng=0)}).headings[1:3]
    ('HSIC', 'C-HSIC')
    """
    return TextTable(
        ("x, y | z", "HSIC", "C-HSIC", "related,\nany z", "related,\ngiven z"),
        tuple((question, *_three_digits(result)) for question, result in comparisons.items()),
        n_names=1,
    )


def _three_digits(result: Comparison) -> Sequence[str]:
    numbers = (result.hsic, result.chsic, result.ignoring_z, result.given_z)
    return [f"{number:.3g}" for number in numbers]
