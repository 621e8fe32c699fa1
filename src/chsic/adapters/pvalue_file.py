"""P-values in a JSON file, which belongs to one test of one data set."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from chsic._util.files import write_whole
from chsic._util.names import seen
from chsic._util.strict_json import described, read_json

SHARE_OF_TIME = 0.05  # of all, that may be spent on saving
COLUMNS = re.compile(r"{0};{0}(\|{0})?".format(r"[0-9]+(\.[0-9]+)*"))  # x;y|z, as 0;1.2|3.4


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
            found = _read(self.path, belongs_to)
            for name, (ours, otherwise) in belongs_to.items():
                if found[name] != ours:
                    raise ValueError(
                        f"cache_path: {seen(str(path))} belongs to {otherwise}; name another file."
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


def _read(path: Path, names: Collection[str]) -> dict[str, Any]:
    """Read a file, which anybody may have written: all that is not as `save` makes it is refused.

    As a pipe has no end, and a folder no text, neither is opened.
    """
    try:
        if not path.is_file():
            raise ValueError("not a regular file")
        found = read_json(path.read_bytes())
        if not isinstance(found, dict):
            raise ValueError(f"expected an object, got {described(found)}")
        for name in names:
            if not isinstance(found.get(name), str):
                raise ValueError(f"{name} is {described(found.get(name))}, expected a text")
        for key, value in found.items():
            if key not in names:
                _require_pvalue(key, value)
    except ValueError as error:
        raise ValueError(
            f"cache_path: {seen(str(path))} is not a whole file of p-values: {error}; delete it, "
            "or name another file."
        ) from None
    return found


def _require_pvalue(key: str, value: object) -> None:
    if not COLUMNS.fullmatch(key):
        raise ValueError(f"{described(key)} names no columns, as 0;1|2 does")
    if type(value) not in (int, float) or not 0 <= value <= 1:  # type: ignore[operator]
        raise ValueError(f"{described(key)} is {described(value)}, expected a number from 0 to 1")
