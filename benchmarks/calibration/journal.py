"""The p-values on disk: a file to which whole lines of JSON are added, and nothing is changed."""

import fcntl
import json
import os
from pathlib import Path
from types import TracebackType
from typing import Self


class Journal:
    """A file of JSON lines, open for one writer at a time.

    A line counts once its newline is written: what a killed run left of a line is cut off.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Journal(Path(folder, "a.jsonl")) as journal:
    ...     journal.append({"first": 0})
    ...     read(journal.path)
    [{'first': 0}]
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> Self:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._file)
            raise RuntimeError(
                f"{self.path}: another run is writing to it; wait for it, or give another --out."
            ) from None
        os.ftruncate(self._file, self.path.read_bytes().rfind(b"\n") + 1)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        os.close(self._file)

    def append(self, row: dict) -> None:
        """Write one line, at once and to the disk."""
        data = memoryview(json.dumps(row, allow_nan=False).encode() + b"\n")
        while data:
            data = data[os.write(self._file, data) :]
        os.fsync(self._file)


def read(path: Path) -> list[dict]:
    """Return the finished lines of a journal; none where there is no file yet."""
    if not path.exists():
        return []
    *lines, _ = path.read_bytes().split(b"\n")  # what follows the last newline is unfinished
    rows = []
    for number, text in enumerate(lines, start=1):
        try:
            rows.append(json.loads(text))
        except json.JSONDecodeError as error:
            raise ValueError(f"{path}, line {number}: {error}; delete that line.") from error
    return rows
