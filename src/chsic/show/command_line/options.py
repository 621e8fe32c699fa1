"""What the commands share: their options, and how a question is read from a file."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from chsic.data.file_content import STANDARD_INPUT
from chsic.data.sampling import ARGUMENTS, is_order_of_rows
from chsic.data.table import Table, open_table

if TYPE_CHECKING:
    import polars

File = Annotated[
    str, typer.Argument(help="CSV, TSV or Parquet file; - for standard input.", show_default=False)
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
OutFolder = Annotated[Path, typer.Option("--out", help="Folder for the files; made if needed.")]
Seed = Annotated[int, typer.Option(help="Same seed, same numbers.", min=0)]
X = Annotated[list[str], typer.Option(help="Column x; several: a,b.")]
Y = Annotated[list[str], typer.Option(help="Column y; several: a,b.")]
Given = Annotated[
    list[str] | None,
    typer.Option(help="Confounding column z; several: a,b, or --given a --given b."),
]
Groups = Annotated[
    str | None,
    typer.Option(
        help="Column of the patient, shop, ...: rows of one may depend on each other.",
        show_default=False,
    ),
]
Time = Annotated[
    str | None,
    typer.Option(
        help="Column of dates or numbers, or 'rows' for their order: rows that follow each other "
        "may depend on each other.",
        show_default=False,
    ),
]
Stretch = Annotated[
    float | None,
    typer.Option(
        help="For how long they do, in days or in the unit of --time.",
        show_default="as long as the data ask for",
    ),
]
Within = Annotated[
    bool, typer.Option("--within", help="Compare rows with those of their own group alone.")
]
Weights = Annotated[
    str | None,
    typer.Option(
        help="Column of survey weights, ...: how many of the population a row stands for.",
        show_default=False,
    ),
]
Categories = Annotated[
    list[str] | None,
    typer.Option(help="Columns of numbers that are names, not quantities: a,b."),
]
Numbers = Annotated[
    list[str] | None,
    typer.Option(help="Columns of text that are numbers: a,b."),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(help="What stands for no value, beside NA and its like: --missing '?'."),
]


class MissingValues(StrEnum):
    """What becomes of rows with a missing value."""

    RAISE = "raise"
    OMIT = "omit"
    LEVEL = "level"


NanPolicy = Annotated[
    MissingValues,
    typer.Option(help="Missing values: an error, omit their rows, or a level of a category."),
]
Resamples = Annotated[int, typer.Option(help="Random signs drawn.", min=19)]
Threads = Annotated[int, typer.Option(help="Threads; the answer is the same.", min=1)]
Workers = Annotated[
    int | None, typer.Option(help="Processes; all cores by default.", min=1, show_default=False)
]


@dataclasses.dataclass(frozen=True, eq=False)
class Question:
    """The columns that a question is about, and settings about them.

    Attributes
    ----------
    table : Table
        The file.
    x, y, z : data frame
        The columns; z is None if there is none.
    settings : dict
        Keywords of what answers it: ``kinds``, ``nan_policy``, and perhaps what is known of rows.
    """

    table: Table
    x: polars.DataFrame
    y: polars.DataFrame
    z: polars.DataFrame | None
    settings: dict[str, Any]


def read_question(
    table: Table,
    settings: dict[str, Any],
    x: list[str],
    y: list[str],
    given: list[str] | None,
    about_rows: Mapping[str, Any] | None = None,
) -> Question:
    """Read the columns of a question; `about_rows` is what `of_rows` returned."""
    of_x, of_y, of_z = table.split(x), table.split(y), table.split(given or [])
    about_rows = about_rows or {}
    named = columns_about_rows(table, about_rows)
    # The time may be a confounder as well.
    own = [name for of, name in named.items() if not (of == "time" and name in of_z)]
    frame = table.read([*of_x, *of_y, *of_z, *own])
    settings = {**settings, **about_rows, **{of: frame[[name]] for of, name in named.items()}}
    return Question(table, frame[of_x], frame[of_y], frame[of_z] if of_z else None, settings)


def of_rows(
    groups: str | None,
    time: str | None,
    stretch: float | None,
    within: bool,
    weights: str | None,
) -> dict[str, Any]:
    """Return what is known of rows, as keywords."""
    length = "auto" if stretch is None else stretch
    return {"groups": groups, "time": time, "stretch": length, "within": within, "weights": weights}


def columns_about_rows(table: Table, about_rows: Mapping[str, Any]) -> dict[str, str]:
    """Return the columns that are named for groups, time, weights; the order of rows is none."""
    named = {of: about_rows[of] for of in ARGUMENTS if about_rows.get(of) is not None}
    if is_order_of_rows(named.get("time"), table.names):
        del named["time"]
    return named


def source_of(file: str) -> str | int:
    """Return the file that data are read from, as its name or the descriptor of standard input."""
    return 0 if file == STANDARD_INPUT else file


def open_file(
    file: str,
    categories: list[str] | None,
    numbers: list[str] | None,
    missing: list[str] | None,
    nan_policy: MissingValues,
) -> tuple[Table, dict[str, Any]]:
    """Open a file; also the settings about its columns, as keywords."""
    table = open_table(file, missing or ())
    kinds = {
        name: kind
        for kind, columns in (("category", categories), ("number", numbers))
        for name in table.split(columns or [])
    }
    return table, {"kinds": kinds, "nan_policy": nan_policy.value}
