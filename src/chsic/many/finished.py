"""Finished pieces of a long run, kept in a file as they come, so that a killed run can go on.

The file is read again by another process, maybe after others wrote to it: it is input. Nothing in
it changes before all of it is known to be valid.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Generic, Protocol, TypeVar

from chsic._util.names import seen
from chsic._util.strict_json import read_json

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

KEPT_OF = "chsic run"
START = json.dumps({KEPT_OF: {}}).encode()[:-2]  # how such a file begins

Key = TypeVar("Key", bound=Hashable, covariant=True)


class Schema(Protocol[Key]):
    """What the lines of a file may be; both checks raise a ValueError of a few words."""

    @property
    def longest(self) -> int:
        """Bytes of a line at the most."""

    def check_run(self, run: Any) -> None:
        """Check what the first line says of the run."""

    def check_line(self, line: Any) -> Key:
        """Check another line, and return which piece it is of: each piece has one line."""


class Finished(Generic[Key]):
    """A file of JSON lines: what the run is, then one line for each piece that is finished.

    Parameters
    ----------
    path : path-like
        Made if it is not there; if it is, what it has need not be done again.
    run : dict
        What names the run: the same data and settings have the same.
    defaults : dict
        What is new if the file is, and taken from the file if not, such as a seed.
    schema : Schema
        What lines are valid.

    Attributes
    ----------
    run : dict
        Both, as they are in the file.
    lines : dict
        What the file has, by piece.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from chsic.many.finished import Finished
    >>> class Answers:
    ...     longest = 100
    ...     def check_run(self, run):
    ...         pass
    ...     def check_line(self, line):
    ...         return line["question"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "run.jsonl"
    ...     with Finished(path, {"data": "a"}, {"seed": 7}, Answers()) as first:
    ...         first.add({"question": 1, "answer": 42})
    ...     with Finished(path, {"data": "a"}, {"seed": 8}, Answers()) as again:
    ...         again.run["seed"], again.lines
    (7, {1: {'question': 1, 'answer': 42}})
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        run: dict[str, Any],
        defaults: dict[str, Any],
        schema: Schema[Key],
    ) -> None:
        place = _named_file(path)
        self._shown, self._schema = seen(str(place)), schema
        place.parent.mkdir(parents=True, exist_ok=True)
        # Without a buffer: a process that is forked meanwhile has none that it might write, too.
        self._file = place.open("a+b", buffering=0)
        try:
            self._lock()
            self.run, self.lines = run | defaults, dict[Key, dict[str, Any]]()
            whole = self._read(run)
            self._file.truncate(whole)  # a line that a killed run left unfinished goes
            if not whole:
                self.add({KEPT_OF: self.run})
        except BaseException:
            self._close()
            raise

    def _lock(self) -> None:
        """Keep other runs off the file until this one ends."""
        if fcntl is None:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ValueError(
                f"resume: another run is using {self._shown}; wait for it, or name another file."
            ) from None

    def __enter__(self) -> Finished[Key]:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def _close(self) -> None:
        if fcntl is not None:  # a forked process may have the file open for longer
            with contextlib.suppress(OSError):
                fcntl.flock(self._file, fcntl.LOCK_UN)
        self._file.close()

    def add(self, line: dict[str, Any]) -> None:
        """Keep one more, at once: a killed process loses none of those."""
        rest = json.dumps(line).encode() + b"\n"
        while rest:
            rest = rest[self._file.write(rest) :]

    def _read(self, run: dict[str, Any]) -> int:
        """Read and check all lines that were finished, and return how many bytes they are."""
        whole = 0
        first: dict[Key, int] = {}
        with open(self._file.fileno(), "rb", closefd=False) as reader:
            for number, text in enumerate(self._texts(reader), 1):
                try:
                    line = read_json(text)
                    if number == 1:
                        self.run = _run_of(line, self._schema)
                    else:
                        key = self._schema.check_line(line)
                        if first.setdefault(key, number) != number:
                            raise ValueError(f"the same piece as in line {first[key]}")
                        self.lines[key] = line
                except ValueError as error:
                    raise self._damaged(number, str(error)) from None
                if number == 1:
                    self._require_same(run)
                whole += len(text)
        return whole

    def _texts(self, reader: BinaryIO) -> Iterator[bytes]:
        """Yield the lines that were finished, of a file that is of this kind."""
        reader.seek(0)
        most = self._schema.longest
        for number in itertools.count(1):
            text = reader.readline(most + 1)
            if number == 1 and not text.startswith(START[: len(text)]):
                raise ValueError(
                    f"resume: {self._shown} is not a file of finished pieces, as line 1 shows; "
                    "name another one."
                )
            if len(text) > most:
                raise self._damaged(number, f"longer than {most:,} bytes")
            if not text.endswith(b"\n"):
                return
            yield text

    def _require_same(self, run: dict[str, Any]) -> None:
        differ = [name for name, value in run.items() if value != self.run.get(name)]
        if differ:
            raise ValueError(
                f"resume: {self._shown} is of a run with other {' and '.join(differ)}; name "
                "another file, or remove it."
            )

    def _damaged(self, number: int, what: str) -> ValueError:
        remedy = (
            "name another file, or remove this one and start anew"
            if number == 1
            else "remove that line, and its piece is done again"
        )
        return ValueError(f"resume: {self._shown}, line {number}: {what}; {remedy}.")


def _named_file(path: str | os.PathLike[str]) -> Path:
    """Return where a file is or can be made; folders, pipes and devices are not even opened."""
    if not isinstance(path, str | os.PathLike) or isinstance(os.fspath(path), bytes):
        raise TypeError(f"resume: expected the name of a file, got {path!r}; write 'run.jsonl'.")
    place = Path(path)
    shown = seen(str(place))
    if "\0" in str(place):
        raise ValueError(f"resume: no file can be called {shown!r}; name another one.")
    if place.is_dir():
        raise ValueError(f"resume: {shown} is a folder; name a file.")
    if place.exists() and not place.is_file():
        raise ValueError(f"resume: {shown} is not a regular file; name another one.")
    return place


def _run_of(line: Any, schema: Schema[Any]) -> dict[str, Any]:
    """Return what the first line says of the run."""
    if not isinstance(line, dict) or [*line] != [KEPT_OF]:
        raise ValueError(f"expected an object with {KEPT_OF!r} and nothing else")
    run: dict[str, Any] = line[KEPT_OF]
    schema.check_run(run)
    return run
