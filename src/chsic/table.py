"""Named columns from a CSV file."""

from __future__ import annotations

import csv
import difflib
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from chsic._validate import Array


def read_csv(
    path: str | os.PathLike[str], columns: Sequence[str] | None = None
) -> dict[str, Array]:
    r"""Read columns of numbers from a CSV file whose first line names them.

    Parameters
    ----------
    path : path-like
        The file, in UTF-8.
    columns : sequence of str, optional
        Names of the columns to read; all of them if not given.

    Returns
    -------
    dict of str to array

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from chsic.table import read_csv
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "data.csv"
    ...     _ = path.write_text("a,b\n1,2\n3,4\n")
    ...     read_csv(path, ["b"])
    {'b': array([2., 4.])}
    """
    with Path(path).open(newline="", encoding="utf-8-sig") as file:
        lines = csv.reader(file)
        header = next(lines, [])
        if not header:
            raise ValueError(f"{path}: the file is empty; its first line must name the columns.")
        wanted = list(columns) if columns is not None else header
        positions = [_position(name, header, path) for name in wanted]
        values: list[list[float]] = [[] for _ in wanted]
        for line in lines:
            if not line:
                continue  # csv gives an empty list for a blank line
            for column, name, position in zip(values, wanted, positions, strict=True):
                column.append(_number(line, position, name, path, lines.line_num))
    return {name: np.array(column) for name, column in zip(wanted, values, strict=True)}


def _position(name: str, header: list[str], path: object) -> int:
    if header.count(name) == 1:
        return header.index(name)
    if name in header:
        raise ValueError(f"{path}: {header.count(name)} columns are called {name!r}; rename them.")
    near = difflib.get_close_matches(name, header, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(map(repr, header))}."
    raise ValueError(f"{path}: there is no column {name!r}; {hint}")


def _number(line: list[str], position: int, name: str, path: object, line_number: int) -> float:
    text = line[position] if position < len(line) else ""
    try:
        return float(text)
    except ValueError:
        raise ValueError(
            f"{path}, line {line_number}: column {name!r} must hold numbers, got {text!r}; "
            "fill or drop that row."
        ) from None
