"""Errors of polars for files that it cannot read, in one sentence."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

from chsic._util.names import shortened

NOT_UTF8 = "this is not UTF-8 text; save it as CSV in UTF-8"
CSV_IS_BROKEN = (
    "this cannot be read as CSV: ",
    "; close its quotes, and give all lines the same number of fields",
)
PARQUET_IS_BROKEN = ("this Parquet file cannot be read: ", "; write or copy it again")


@contextlib.contextmanager
def errors_of_polars(name: str, prefix: str, remedy: str) -> Iterator[None]:
    """Raise a ``ValueError`` that names the file for whatever polars raises.

    Parameters
    ----------
    name : str
        What the file is called.
    prefix, remedy : str
        Of the message, before and after the words of polars.
    """
    import polars as pl

    try:
        with _without_panic_messages():
            yield
    except (pl.exceptions.PolarsError, OSError) as error:
        first = str(error).strip().partition("\n")[0]
        if "utf-8" in first.lower():
            raise ValueError(f"{name}: {NOT_UTF8}.") from None
        raise ValueError(f"{name}: {prefix}{shortened(first)}{remedy}.") from None
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # which is no Exception
            raise
        raise ValueError(f"{name}: {prefix}it is damaged{remedy}.") from None


@contextlib.contextmanager
def _without_panic_messages() -> Iterator[None]:
    """Keep off standard error what Rust prints there before an error arrives here."""
    if sys.stderr is not None:
        sys.stderr.flush()
    try:
        before = os.dup(2)
    except OSError:  # it is closed
        yield
        return
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)
