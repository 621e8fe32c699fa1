"""What the commands share: their options, and how a question is read from a file."""

from __future__ import annotations

import dataclasses
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from chsic.data.file_content import STANDARD_INPUT
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
        Keywords ``kinds``, ``nan_policy`` and perhaps ``groups`` of what answers it.
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
    groups: str | None = None,
) -> Question:
    """Read the columns of a question."""
    of_x, of_y, of_z = table.split(x), table.split(y), table.split(given or [])
    of_groups = [] if groups is None else [groups]
    frame = table.read([*of_x, *of_y, *of_z, *of_groups])
    if groups is not None:
        settings = {**settings, "groups": frame[of_groups]}
    return Question(table, frame[of_x], frame[of_y], frame[of_z] if of_z else None, settings)


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
