"""Files that appear whole or not at all, and never in the place of what was read."""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from chsic._util.csv_cells import inert
from chsic._util.system_errors import naming


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` make a temporary file, and put it in the place of `path`.

    Of a link, what it points to is replaced. What is no file, as a pipe or a terminal, is sent the
    content.
    """
    with naming(path):
        if is_stream(path):
            with tempfile.TemporaryDirectory() as folder:
                temporary = Path(folder) / "content"
                write(temporary)
                _send(temporary, path)
            return
        target = Path(os.path.realpath(path))
        with _folders(target.parent):
            handle, name = tempfile.mkstemp(dir=target.parent, prefix=".")
            os.close(handle)
            temporary = Path(name)
            try:
                write(temporary)
                temporary.chmod(_mode(target))  # mkstemp made it private
                temporary.replace(target)
            finally:
                temporary.unlink(missing_ok=True)


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Tell whether writing goes to a device, a pipe, or this program's own output."""
    try:
        there = os.stat(path)
    except OSError:
        return False
    if stat.S_ISDIR(there.st_mode):
        return False
    return not stat.S_ISREG(there.st_mode) or _own_output(there) is not None


def require_outputs(
    outputs: Sequence[tuple[str, str | os.PathLike[str]]], sources: Sequence[str | int] = ()
) -> None:
    """Raise unless files can be written, and are neither what is read nor each other.

    Parameters
    ----------
    outputs : sequence of (str, path-like)
        Files with the argument or option that names each.
    sources : sequence of str or int
        Files that data come from, or their descriptors.

    Raises
    ------
    ValueError
        That names the argument. Nothing was written yet.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from chsic._util.files import require_outputs
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     data = pathlib.Path(folder) / "data.csv"
    ...     _ = data.write_text("a,b")
    ...     require_outputs([("--out", data.with_suffix(".html"))], [str(data)])
    ...     require_outputs([("--out", data)], [str(data)])
    Traceback (most recent call last):
    ValueError: --out: ...data.csv is the file that the data are read from; name another one.
    """
    for number, (argument, path) in enumerate(outputs):
        _require_writable(argument, path)
        if any(_is_source(path, source) for source in sources):
            raise ValueError(
                f"{argument}: {path} is the file that the data are read from; name another one."
            )
        for other, earlier in outputs[:number]:
            if not is_stream(path) and _same(path, earlier):
                raise ValueError(f"{argument}: {path} is the file of {other}; name another one.")


def write_csv(path: Path, rows: Sequence[Any]) -> None:
    """Write dataclass instances of one kind as a CSV file, a column for each field."""
    names = [field.name for field in dataclasses.fields(rows[0])]
    write_rows(path, names, [dataclasses.asdict(row) for row in rows])


def write_rows(path: Path, names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    """Write a CSV file with a column for each name, in which no text is a formula."""

    def write(temporary: Path) -> None:
        with temporary.open("w", newline="", encoding="utf-8") as file:
            table = csv.writer(file)
            table.writerow(map(inert, names))
            table.writerows([inert(row[name]) for name in names] for row in rows)

    write_whole(path, write)


def _require_writable(argument: str, path: str | os.PathLike[str]) -> None:
    try:
        there = os.stat(path)
    except FileNotFoundError:  # or a link to nothing
        there = None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", error)
        raise ValueError(f"{argument}: {path} cannot be written: {why}.") from None
    if there is not None:
        if stat.S_ISDIR(there.st_mode):
            raise ValueError(f"{argument}: {path} is a folder; name a file.")
        if stat.S_ISBLK(there.st_mode) or (
            stat.S_ISSOCK(there.st_mode) and _own_output(there) is None
        ):
            raise ValueError(f"{argument}: {path} is a disk or a socket; name a file.")
        if not os.access(path, os.W_OK):
            raise ValueError(f"{argument}: {path} cannot be written: it is read-only.")
    target = Path(os.path.realpath(path))
    nearest = next(folder for folder in target.parents if folder.exists())
    folder = None if is_stream(path) else nearest  # where temporary files go
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        where = folder or "temporary files"
        raise ValueError(
            f"{argument}: {path} cannot be written: {where}: {error.strerror}."
        ) from None


def _is_source(path: str | os.PathLike[str], source: str | int) -> bool:
    try:
        there, read = os.stat(path), os.stat(source)
    except (OSError, ValueError):  # either is not there, or the source is no file at all
        return False
    return os.path.samestat(there, read) and not stat.S_ISCHR(there.st_mode)  # as a terminal


def _same(path: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    try:
        return os.path.samefile(path, other)
    except OSError:  # not both are there yet
        return os.path.realpath(path) == os.path.realpath(other)


def _own_output(there: os.stat_result) -> int | None:
    """Return the descriptor of standard output or error, if that is where it leads.

    What it is redirected to would lose the rest of the output if it were replaced.
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError, ValueError):  # closed, or no file
            if os.path.samestat(there, os.fstat(stream.fileno())):
                return stream.fileno()
    return None


def _send(temporary: Path, path: Path) -> None:
    own = _own_output(os.stat(path))
    if own is not None:
        sys.stdout.flush()
        sys.stderr.flush()
    try:
        with (
            temporary.open("rb") as content,
            open(path if own is None else own, "wb", closefd=own is None) as stream,
        ):
            shutil.copyfileobj(content, stream)
    except BrokenPipeError:
        if own is not None:  # as of any output that is not read to its end
            raise
        raise ValueError(f"{path}: its reader left before all was written.") from None


@contextlib.contextmanager
def _folders(folder: Path) -> Iterator[None]:
    """Make folders, and remove those that were made if what is done in them fails."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        for one in missing:
            with contextlib.suppress(OSError):  # it is in use by now
                one.rmdir()
        raise


def _mode(target: Path) -> int:
    """Return the permissions of a file, or those of a new one."""
    try:
        return target.stat().st_mode & 0o777
    except FileNotFoundError:
        umask = os.umask(0)
        os.umask(umask)
        return 0o666 & ~umask
