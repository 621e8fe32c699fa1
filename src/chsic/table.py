"""Named columns from a CSV file."""

from __future__ import annotations

import csv
import difflib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

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
    with _lines(path) as lines:
        header = _header(lines, path)
        wanted = list(columns) if columns is not None else header
        positions = [_position(name, header, path) for name in wanted]
        if len(set(positions)) < len(positions):
            repeated = next(name for name in wanted if wanted.count(name) > 1)
            raise ValueError(f"{path}: column {repeated!r} is asked for more than once.")
        values: list[list[float]] = [[] for _ in wanted]
        for line in lines:
            if not line:
                continue  # csv gives an empty list for a blank line
            for column, name, position in zip(values, wanted, positions, strict=True):
                column.append(_number(line, position, name, path, lines.line_num))
    return {name: np.array(column) for name, column in zip(wanted, values, strict=True)}


def read_header(path: str | os.PathLike[str]) -> list[str]:
    """Read the names of the columns of a CSV file, without the spaces around them."""
    with _lines(path) as lines:
        return _header(lines, path)


@contextmanager
def _lines(path: str | os.PathLike[str]) -> Iterator[Any]:
    """Open a CSV file; what is wrong with its text becomes an error that names it."""
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as file:
            yield csv.reader(file)
    except UnicodeDecodeError:
        raise ValueError(f"{path}: this is not UTF-8 text; save it as CSV in UTF-8.") from None
    except csv.Error as error:
        raise ValueError(f"{path}: {error}; is a quotation mark left open?") from None


def _header(lines: Any, path: object) -> list[str]:
    header = [name.strip() for name in next(lines, [])]
    if not header:
        raise ValueError(f"{path}: the file is empty; its first line must name the columns.")
    return header


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
