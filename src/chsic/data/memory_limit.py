"""How much memory data from a file may take."""

from __future__ import annotations

import os
from pathlib import Path

SHARE = 0.5  # of the machine's memory
UNKNOWN = 8 * 2**30  # bytes, where the system does not say
BYTES_OF_ROW = 150  # that a test takes beside the data, at 10^6 rows of one column each
# Where Linux has the limit of a container, in both versions of its control groups.
LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def memory_for_data() -> int:
    """Return the bytes that data may take: half of the memory of the machine, or the container.

    Examples
    --------
    >>> from chsic.data.memory_limit import memory_for_data
    >>> memory_for_data() > 0
    True
    """
    sizes = [_limit(Path(file)) for file in LIMITS]
    try:
        sizes.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):  # not on Windows
        sizes.append(None)
    return int(SHARE * min((size for size in sizes if size), default=UNKNOWN))


def require_memory(name: str, size: int) -> None:
    """Raise if the columns of a file take more than data may.

    Examples
    --------
    >>> from chsic.data.memory_limit import require_memory
    >>> require_memory("data.parquet", 10**18)
    Traceback (most recent call last):
    ValueError: data.parquet: to unpack and test these columns takes 1e+09 GB, more than ... GB...
    """
    most = memory_for_data()
    if size > most:
        raise ValueError(
            f"{name}: to unpack and test these columns takes {gigabytes(size)}, more than "
            f"{gigabytes(most)}, half of the memory; name fewer columns, or write fewer rows to "
            "a file."
        )


def gigabytes(size: float) -> str:
    """Write a number of bytes for people.

    Examples
    --------
    >>> from chsic.data.memory_limit import gigabytes
    >>> gigabytes(2.5e11), gigabytes(1_500)
    ('250 GB', '1.5e-06 GB')
    """
    return f"{size / 1e9:.3g} GB"


def _limit(file: Path) -> int | None:
    try:
        return int(file.read_text())
    except (OSError, ValueError):  # not there, or "max"
        return None
