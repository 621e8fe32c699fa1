"""P-values of one test of one data set, in a checkpoint that several processes may use."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping
from typing import Any

from chsic._util.strict_json import is_pvalue, is_text, require_fields
from chsic.many.checkpoint import Checkpoint, require_file_name

MAX_SHARE_OF_TIME = 0.05  # of all, that may be spent on saving
PATIENCE = 30.0  # seconds to wait for other processes that save
COLUMNS = re.compile(r"{0};{0}(\|{0})?".format(r"[0-9]+(\.[0-9]+)*"))  # x;y|z, as 0;1.2|3.4


class PValueCheckpoint:
    """P-values by the columns they are of, and the file that has them, too.

    The file is open only while it is saved; p-values of other processes are taken from it then.

    Parameters
    ----------
    path : path-like
        Made if it is not there; if it is, its p-values are read.
    header : mapping
        What names the run, as text: version, data and settings.

    Attributes
    ----------
    pvalues : dict
        By columns, such as ``"0;1|2"`` for 0 and 1 given 2; more may be added.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from chsic.adapters.pvalue_checkpoint import PValueCheckpoint
    >>> header = {"version": "1", "data": "ab", "settings": "cd"}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "pvalues.jsonl"
    ...     file = PValueCheckpoint(path, header)
    ...     file.pvalues["0;1|2"] = 0.5
    ...     file.save()
    ...     PValueCheckpoint(path, header).pvalues
    {'0;1|2': 0.5}
    """

    def __init__(self, path: str | os.PathLike[str], header: Mapping[str, str]) -> None:
        # Absolute, as it is opened again when the folder may be another one.
        self._path = require_file_name("cache_path", path).absolute()
        self._header = dict(header)
        self.pvalues: dict[str, float] = {}
        self._n_saved, self._saved_at, self._seconds = -1, 0.0, 0.0
        self.save()

    def save_at_times(self) -> None:
        """Save if that has not taken much of the time so far."""
        if time.monotonic() - self._saved_at > self._seconds / MAX_SHARE_OF_TIME:
            self.save()

    def save(self) -> None:
        """Save if anything was added."""
        if len(self.pvalues) == self._n_saved:
            return
        start = time.monotonic()
        with Checkpoint(
            "cache_path", self._path, self._header, PValueLines(), patience=PATIENCE
        ) as file:
            for columns, pvalue in list(self.pvalues.items()):
                if columns not in file.lines:
                    file.add({"columns": columns, "pvalue": pvalue})
        for columns, line in file.lines.items():
            self.pvalues.setdefault(columns, line["pvalue"])
        self._n_saved, self._saved_at = len(self.pvalues), time.monotonic()
        self._seconds = self._saved_at - start


class PValueLines:
    """Which lines a checkpoint of p-values may have.

    Examples
    --------
    >>> from chsic.adapters.pvalue_checkpoint import PValueLines
    >>> PValueLines().check_line({"columns": "0;1", "pvalue": 0.5})
    '0;1'
    """

    max_bytes = 2**20

    def check_header(self, header: Any) -> None:
        """Raise unless this can be the first line."""
        require_fields({"version": is_text, "data": is_text, "settings": is_text}, header)

    def check_line(self, line: Any) -> str:
        """Raise unless this can be the line of a p-value, and return its columns."""
        require_fields({"columns": _are_columns, "pvalue": is_pvalue}, line)
        columns: str = line["columns"]
        return columns


def _are_columns(value: Any) -> str | None:
    valid = isinstance(value, str) and COLUMNS.fullmatch(value)
    return None if valid else "positions of columns, as 0;1|2"
