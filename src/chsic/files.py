"""Files appear whole or not at all."""

from __future__ import annotations

import csv
import dataclasses
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` make a temporary file beside `path`, then rename it to `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=path.suffix)
    os.close(handle)
    temporary = Path(name)
    try:
        write(temporary)
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)  # mkstemp made it private
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_csv(path: Path, rows: Sequence[Any]) -> None:
    """Write dataclass instances of one kind as a CSV file, a column for each field."""
    names = [field.name for field in dataclasses.fields(rows[0])]
    write_rows(path, names, [dataclasses.asdict(row) for row in rows])


def write_rows(path: Path, names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    """Write a CSV file with a column for each name."""

    def write(temporary: Path) -> None:
        with temporary.open("w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, names)
            table.writeheader()
            table.writerows(rows)

    write_whole(path, write)
