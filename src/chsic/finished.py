"""Finished pieces of a long run, kept in a file as they come, so that a killed run can go on."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

KEPT_OF = "chsic run"
START = json.dumps({KEPT_OF: {}}).encode()[:-2]  # how such a file begins


class Finished:
    """A file of JSON lines: what the run is, then one line for each piece that is finished.

    Parameters
    ----------
    path : path-like
        Made if it is not there; if it is, what it has need not be done again.
    run : dict
        What names the run: the same data and settings have the same.
    defaults : dict, optional
        What is new if the file is, and taken from the file if not, such as a seed.

    Attributes
    ----------
    run : dict
        Both, as they are in the file.
    lines : list of dict
        What the file has.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from chsic.finished import Finished
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "run.jsonl"
    ...     with Finished(path, {"data": "a"}, {"seed": 7}) as first:
    ...         first.add({"answer": 42})
    ...     with Finished(path, {"data": "a"}, {"seed": 8}) as again:
    ...         again.run["seed"], again.lines
    (7, [{'answer': 42}])
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        run: dict[str, Any],
        defaults: dict[str, Any] | None = None,
    ) -> None:
        self._path = Path(path)
        if self._path.is_dir():
            raise ValueError(f"resume: {self._path} is a folder; name a file.")
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self._path.open("a+b")
        try:
            self._lock()
            whole = self._whole_lines()
            # A line that a killed run left unfinished goes.
            self._file.truncate(sum(map(len, whole)))
            if whole:
                self.run = self._same_run(whole[0], run)
                self.lines = [self._read(line) for line in whole[1:]]
            else:
                self.run, self.lines = run | (defaults or {}), []
                self.add({KEPT_OF: self.run})
        except BaseException:
            self._file.close()
            raise

    def _lock(self) -> None:
        """Keep other runs off the file until this one ends."""
        if fcntl is None:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ValueError(
                f"resume: another run is using {self._path}; wait for it, or name another file."
            ) from None

    def __enter__(self) -> Finished:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, line: dict[str, Any]) -> None:
        """Keep one more, at once: a killed process loses none of those."""
        self._file.write(json.dumps(line).encode() + b"\n")
        self._file.flush()

    def _whole_lines(self) -> list[bytes]:
        """Return the lines that were finished, of a file that is of this kind."""
        self._file.seek(0)
        content = self._file.read()
        if not content.startswith(START[: len(content)]):
            raise ValueError(
                f"resume: {self._path} is not a file of finished pieces; name another one."
            )
        lines = content.splitlines(keepends=True)
        return [line for line in lines if line.endswith(b"\n")]

    def _same_run(self, first: bytes, run: dict[str, Any]) -> dict[str, Any]:
        kept: dict[str, Any] = self._read(first)[KEPT_OF]
        differ = [name for name, value in run.items() if value != kept.get(name)]
        if differ:
            raise ValueError(
                f"resume: {self._path} is of a run with other {' and '.join(differ)}; name "
                "another file, or remove it."
            )
        return kept

    def _read(self, line: bytes) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads(line)
        except ValueError:
            raise ValueError(
                f"resume: {self._path} is damaged, at {line[:40]!r}; remove it, and start anew."
            ) from None
        return found
