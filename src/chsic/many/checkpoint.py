"""A checkpoint: results of a long run in a file, so that a run that was killed can go on.

The file is read again by another process, maybe after others wrote to it: it is input. Nothing in
it changes before all of it is known to be valid.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import time
from collections.abc import Hashable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Generic, Protocol, TypeVar

from chsic._util.names import printable
from chsic._util.strict_json import read_json

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

TITLE = "chsic checkpoint"
START = json.dumps({TITLE: {}}).encode()[:-2]  # how such a file begins
PAUSE = 0.01  # seconds between two attempts to lock a file

Key = TypeVar("Key", bound=Hashable, covariant=True)


class LineFormat(Protocol[Key]):
    """Which lines a file may have; both checks raise a ValueError of a few words."""

    @property
    def max_bytes(self) -> int:
        """Of a line."""

    def check_header(self, header: Any) -> None:
        """Check what the first line says of the run."""

    def check_line(self, line: Any) -> Key:
        """Check another line, and return the key of its result: each has one line."""


class Checkpoint(Generic[Key]):
    """A file of JSON lines: a header that names the run, then one line for each result.

    No other process can open it meanwhile. A line that a killed process left unfinished is dropped.

    Parameters
    ----------
    argument : str
        What the caller calls the path, for messages.
    path : path-like
        Made if it is not there; if it is, its results need not be computed again.
    header : mapping
        What names the run: the same data and settings have the same.
    line_format : LineFormat
        Which lines are valid.
    defaults : mapping
        Further fields of the header of a new file; those of an old one may differ, as a seed does.
    patience : float
        Seconds to wait for another process that has the file open.

    Attributes
    ----------
    header : dict
        As it is in the file.
    lines : dict
        The results in the file, by key.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from chsic.many.checkpoint import Checkpoint
    >>> class Answers:
    ...     max_bytes = 100
    ...     def check_header(self, header):
    ...         pass
    ...     def check_line(self, line):
    ...         return line["question"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "run.jsonl"
    ...     with Checkpoint("resume", path, {"data": "a"}, Answers(), {"seed": 7}) as first:
    ...         first.add({"question": 1, "answer": 42})
    ...     with Checkpoint("resume", path, {"data": "a"}, Answers(), {"seed": 8}) as again:
    ...         again.header["seed"], again.lines
    (7, {1: {'question': 1, 'answer': 42}})
    """

    def __init__(
        self,
        argument: str,
        path: str | os.PathLike[str],
        header: Mapping[str, Any],
        line_format: LineFormat[Key],
        defaults: Mapping[str, Any] | None = None,
        *,
        patience: float = 0.0,
    ) -> None:
        file = require_file_name(argument, path)
        self._argument, self._name, self._format = argument, printable(str(file)), line_format
        file.parent.mkdir(parents=True, exist_ok=True)
        # Without a buffer: a process that is forked meanwhile has none that it might write, too.
        self._file = file.open("a+b", buffering=0)
        try:
            self._lock(patience)
            self.header = {**header, **(defaults or {})}
            self.lines: dict[Key, dict[str, Any]] = {}
            n_bytes = self._read(header)
            self._file.truncate(n_bytes)
            if not n_bytes:
                self.add({TITLE: self.header})
        except BaseException:
            self._close()
            raise

    def __enter__(self) -> Checkpoint[Key]:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def add(self, line: dict[str, Any]) -> None:
        """Write one more, at once: a killed process loses none of those."""
        rest = json.dumps(line).encode() + b"\n"
        while rest:
            rest = rest[self._file.write(rest) :]

    def _lock(self, patience: float) -> None:
        """Keep other processes off the file until it is closed."""
        deadline = time.monotonic() + patience
        while not _try_lock(self._file):
            if time.monotonic() >= deadline:
                raise ValueError(
                    f"{self._argument}: another run is using {self._name}; wait for it, or name "
                    "another file."
                )
            time.sleep(PAUSE)

    def _close(self) -> None:
        if fcntl is not None:  # a forked process may have the file open for longer
            with contextlib.suppress(OSError):
                fcntl.flock(self._file, fcntl.LOCK_UN)
        self._file.close()

    def _read(self, header: Mapping[str, Any]) -> int:
        """Read and check all lines that are whole, and return how many bytes they are."""
        n_bytes = 0
        first: dict[Key, int] = {}
        with open(self._file.fileno(), "rb", closefd=False) as reader:
            for number, text in enumerate(self._whole_lines(reader), 1):
                try:
                    line = read_json(text)
                    if number == 1:
                        self.header = _header_of(line, self._format)
                    else:
                        key = self._format.check_line(line)
                        if first.setdefault(key, number) != number:
                            raise ValueError(f"the same result as in line {first[key]}")
                        self.lines[key] = line
                except ValueError as error:
                    raise self._damaged(number, str(error)) from None
                if number == 1:
                    self._require_same(header)
                n_bytes += len(text)
        return n_bytes

    def _whole_lines(self, reader: BinaryIO) -> Iterator[bytes]:
        """Yield all lines but an unfinished one, if the file is a checkpoint."""
        reader.seek(0)
        for number in itertools.count(1):
            text = reader.readline(self._format.max_bytes + 1)
            if number == 1 and not text.startswith(START[: len(text)]):
                raise ValueError(
                    f"{self._argument}: {self._name} is not a checkpoint of chsic, as line 1 "
                    "shows; name another file."
                )
            if len(text) > self._format.max_bytes:
                raise self._damaged(number, f"longer than {self._format.max_bytes:,} bytes")
            if not text.endswith(b"\n"):
                return
            yield text

    def _require_same(self, header: Mapping[str, Any]) -> None:
        other = [name for name, value in header.items() if value != self.header.get(name)]
        if other:
            raise ValueError(
                f"{self._argument}: {self._name} is of a run with other {' and '.join(other)}; "
                "name another file, or remove it."
            )

    def _damaged(self, number: int, what: str) -> ValueError:
        remedy = (
            "name another file, or remove this one and start anew"
            if number == 1
            else "remove that line, and its result is computed again"
        )
        return ValueError(f"{self._argument}: {self._name}, line {number}: {what}; {remedy}.")


def require_file_name(argument: str, path: str | os.PathLike[str]) -> Path:
    """Return where a file is or can be made; folders, pipes and devices are not even opened."""
    if not isinstance(path, str | os.PathLike) or isinstance(os.fspath(path), bytes):
        raise TypeError(
            f"{argument}: expected the name of a file, got {path!r}; write 'run.jsonl'."
        )
    file = Path(path)
    name = printable(str(file))
    if "\0" in str(file):
        raise ValueError(f"{argument}: no file can be called {name!r}; name another one.")
    if file.is_dir():
        raise ValueError(f"{argument}: {name} is a folder; name a file.")
    if file.exists() and not file.is_file():
        raise ValueError(f"{argument}: {name} is not a regular file; name another one.")
    return file


def _try_lock(file: BinaryIO) -> bool:
    """Lock a file if no other process has, and tell whether that worked."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _header_of(line: Any, line_format: LineFormat[Any]) -> dict[str, Any]:
    """Return what the first line says of the run."""
    if not isinstance(line, dict) or [*line] != [TITLE]:
        raise ValueError(f"expected an object with {TITLE!r} and nothing else")
    header: dict[str, Any] = line[TITLE]
    line_format.check_header(header)
    return header
