"""The bytes of a file, a pipe or standard input, and that they are text."""

from __future__ import annotations

import codecs
import contextlib
import io
import mmap
import os
import re
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TypeAlias

from chsic._util.system_errors import naming
from chsic.data.memory_limit import gigabytes, memory_for_data

STANDARD_INPUT = "-"
CHUNK = 2**20
MOST_OF_HEADER = 2**28  # bytes: a quote that is never closed would go on to the end
# How files begin that are not text, whatever follows, and what to do with them.
UNPACK = "unpack it first, as in: zcat FILE | chsic test -"
NOT_TEXT = {
    b"\x1f\x8b": f"this is compressed with gzip; {UNPACK}",
    b"\x28\xb5\x2f\xfd": f"this is compressed with zstd; {UNPACK.replace('zcat', 'zstdcat')}",
    b"PK\x03\x04": "this is a zip archive, as Excel's files are; save it as CSV in UTF-8",
    b"\xff\xfe": "this is UTF-16 or UTF-32 text; save it as CSV in UTF-8",
    b"\xfe\xff": "this is UTF-16 or UTF-32 text; save it as CSV in UTF-8",
}
PARQUET = b"PAR1"
LIKE_ZLIB = (b"x^", b"x\x01")  # polars takes text that begins so for compressed
BARE_RETURN = re.compile(rb"\r(?!\n)")
QUOTED_OR_RETURN = re.compile(rb'("[^"]*")|\r\n?')
QUOTED = re.compile(rb'"[^"]*"')
BLANK_LINE = re.compile(rb"\n\r?\n")

Content: TypeAlias = Path | bytes


def load(path: str) -> tuple[str, Content]:
    """Return what to call a file and what it holds; of a file on disk, where it is."""
    if path == STANDARD_INPUT:
        if sys.stdin is None:
            raise ValueError("standard input is closed; name a file.")
        return "standard input", _all_of("standard input", sys.stdin.buffer)
    if os.path.isdir(path):
        raise ValueError(f"{path}: this is a folder; name a file.")
    with open(path, "rb") as stream:
        there = os.fstat(stream.fileno())
        # Pipes can be read once only, and files that the system makes up have no size.
        if stat.S_ISREG(there.st_mode) and there.st_size and _is_unicode(path):
            return path, Path(os.path.abspath(path))
        return path, _all_of(path, stream)


@contextlib.contextmanager
def mapped(content: Content) -> Iterator[bytes | mmap.mmap]:
    """Give the bytes, without a copy of those on disk."""
    if isinstance(content, bytes):
        yield content
        return
    with (
        content.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
    ):
        yield data


def is_parquet(content: Content) -> bool:
    """Tell whether a file is of this kind, by how it begins."""
    with mapped(content) as data:
        return data[: len(PARQUET)] == PARQUET


def as_text(name: str, content: Content) -> Content:
    """Return text that polars reads right: lines of old Macintosh files end as others do."""
    with mapped(content) as data:
        _require_text(name, data)
        returns = data.find(b"\r") >= 0 and BARE_RETURN.search(data)
        misleads = data[:2] in LIKE_ZLIB
        if not (returns or misleads):
            return content
        whole = data[:]
    if returns and BARE_RETURN.search(QUOTED.sub(b"", whole)):  # not all are inside of cells
        whole = QUOTED_OR_RETURN.sub(lambda match: match[1] or b"\n", whole)
    return codecs.BOM_UTF8 + whole if misleads else whole


def first_record(name: str, data: bytes | mmap.mmap) -> int:
    """Return where the first line ends, which goes on as long as a quote is open."""
    start, quotes = 0, 0
    while start < len(data):
        end = end_of_line(data, start, start)
        quotes += data[start:end].count(b'"')
        if quotes % 2 == 0:
            return end
        if end > MOST_OF_HEADER:
            break
        start = end + 1
    if quotes % 2:
        raise ValueError(f"{name}: a quote in the first line is not closed; close or remove it.")
    return 0


def end_of_line(data: bytes | mmap.mmap, start: int, after: int) -> int:
    """Return where the first line ends that does so after some place, if it is not very long."""
    end = data.find(b"\n", after, start + MOST_OF_HEADER)
    return end if end >= 0 else min(len(data), start + MOST_OF_HEADER)


def has_blank_lines(content: Content) -> bool:
    """Tell whether a line is empty."""
    with mapped(content) as data:
        return BLANK_LINE.search(data) is not None


def _all_of(name: str, stream: IO[bytes]) -> bytes:
    """Read to the end, if there is one."""
    most = memory_for_data()
    whole = io.BytesIO()
    with naming(name):
        while part := stream.read(CHUNK):
            whole.write(part)
            if whole.tell() == len(part) and not is_parquet(part):
                _require_text(name, part)  # as devices may go on for ever
            if whole.tell() > most:
                raise ValueError(
                    f"{name}: more than {gigabytes(most)}, half of the memory; save it as a file, "
                    "and name that."
                )
    return whole.getvalue()


def _require_text(name: str, data: bytes | mmap.mmap) -> None:
    for start, what in NOT_TEXT.items():
        if data[: len(start)] == start:
            raise ValueError(f"{name}: {what}.")
    place = data.find(b"\0")
    if place >= 0:
        raise ValueError(
            f"{name}: byte {place} is NUL, which is in no text; save it as CSV in UTF-8."
        )


def _is_unicode(path: str) -> bool:
    """Tell whether a name can be handed on to libraries that want Unicode."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
