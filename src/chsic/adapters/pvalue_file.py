"""P-values in a JSON file, which belongs to one test of one data set."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chsic.files import write_whole

SHARE_OF_TIME = 0.05  # of all, that may be spent on saving


class PValueFile:
    """P-values by key, and the file that keeps them.

    Parameters
    ----------
    path : str or path
        JSON file. It is read if it exists.
    belongs_to : mapping
        What has to be the same in the file, and how a message says that it is not.

    Attributes
    ----------
    values : dict
        All that the file holds; p-values may be added.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from chsic.adapters.pvalue_file import PValueFile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "pvalues.json"
    ...     file = PValueFile(path, {"data": ("digest", "other data")})
    ...     file.values["0;1"] = 0.5
    ...     file.save()
    ...     PValueFile(path, {"data": ("digest", "other data")}).values["0;1"]
    0.5
    """

    def __init__(
        self, path: str | os.PathLike[str], belongs_to: Mapping[str, tuple[str, str]]
    ) -> None:
        if not isinstance(path, str | os.PathLike):
            raise TypeError(f"cache_path: expected the name of a .json file, got {path!r}.")
        self.path = Path(path)
        if self.path.suffix != ".json":
            raise ValueError(f"cache_path: a .json file is needed, got {str(path)!r}.")
        self.values: dict[str, Any] = {name: ours for name, (ours, _) in belongs_to.items()}
        self._saved, self._saved_at, self._took = 0, 0.0, 0.0
        if self.path.exists():
            found = _read(self.path, list(belongs_to))
            for name, (ours, otherwise) in belongs_to.items():
                if found[name] != ours:
                    raise ValueError(
                        f"cache_path: {self.path} belongs to {otherwise}; name another file."
                    )
            self.values = found
            self._saved = len(found)

    def save_at_times(self) -> None:
        """Save if that has not taken much of the time so far."""
        if time.monotonic() - self._saved_at > self._took / SHARE_OF_TIME:
            self.save()

    def save(self) -> None:
        """Save if anything was added."""
        if len(self.values) == self._saved:
            return
        start, n_values = time.monotonic(), len(self.values)
        text = json.dumps(self.values, indent=2)
        write_whole(self.path, lambda temporary: temporary.write_text(text, "utf-8"))
        self._saved, self._saved_at = n_values, time.monotonic()
        self._took = self._saved_at - start


def _read(path: Path, names: list[str]) -> dict[str, Any]:
    try:
        found: dict[str, Any] = dict(json.loads(path.read_text("utf-8")))
        pvalues = [value for key, value in found.items() if key not in names]
        if all(isinstance(found[name], str) for name in names) and all(
            0 <= p <= 1 for p in pvalues
        ):
            return found
    except (ValueError, KeyError, TypeError):
        pass  # not text, not JSON, or JSON of something else
    raise ValueError(
        f"cache_path: {path} is not a whole file of p-values; delete it, or name another file."
    )
