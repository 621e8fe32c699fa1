"""The columns of a screen, read from a data frame: confounders, and those to be tested."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from chsic._validate import MIN_SAMPLES, did_you_mean, require_same_length
from chsic.columns import Column, read_column, require_usable
from chsic.samples import require_complete


@dataclasses.dataclass(frozen=True, eq=False)
class Frame:
    """What was read.

    Attributes
    ----------
    z : list of Column
        Confounders, of rows in which none of them is missing.
    columns : dict of Column
        Those to be tested, by name and of the same rows; values may be missing.
    skipped : dict of str
        Columns that cannot be tested, and why.
    kinds : dict of str
        Of all columns that could be read.
    n_rows : int
        Rows of the data frame.
    """

    z: list[Column]
    columns: dict[str, Column]
    skipped: dict[str, str]
    kinds: dict[str, str]
    n_rows: int

    @classmethod
    def read(
        cls,
        raw: Mapping[str, Any],
        of_z: Sequence[str],
        tested: Sequence[str],
        kinds: Mapping[str, str],
        nan_policy: str,
    ) -> Frame:
        """Read columns that are there; confounders must be usable, others may be skipped."""
        for name in kinds:
            if name not in raw:
                hint = did_you_mean(name, list(raw))
                raise ValueError(f"kinds: there is no column {name!r}; {hint}")
        z = [read_column(name, raw[name], kinds.get(name)) for name in of_z]
        columns, skipped = _readable(raw, tested, kinds)
        read = [*z, *columns.values()]
        require_same_length(**{column.name: column.values for column in read})
        if nan_policy == "raise":
            require_complete({"frame": read})
        elif nan_policy == "level":
            z = [column.with_missing_level() for column in z]
            columns = {name: column.with_missing_level() for name, column in columns.items()}
        n_rows = len(read[0].values) if read else 0
        known = ~np.any([np.zeros(n_rows, bool), *(column.missing for column in z)], axis=0)
        if known.sum() < MIN_SAMPLES:
            raise ValueError(
                f"frame: {known.sum()} of {n_rows} rows can be used, at least {MIN_SAMPLES} are "
                "needed."
            )
        z = [column.rows(known) for column in z]
        if z:
            require_usable("given", z)
        usable: dict[str, Column] = {}
        for name, column in columns.items():
            there = dataclasses.replace(column, values=column.values[known])
            complete = there.rows(~there.missing)
            try:
                require_usable(name, [complete])
            except ValueError as error:
                skipped[name] = str(error)
            else:
                usable[name] = there if there.missing.any() else complete
        return cls(z, usable, skipped, {c.name: c.kind for c in read}, n_rows)

    @property
    def complete(self) -> list[str]:
        """Names of the columns in which nothing is missing."""
        return [name for name, column in self.columns.items() if not column.missing.any()]

    def fingerprint(self) -> str:
        """Return what two data sets share only if they are the same."""
        digest = hashlib.sha256()
        for column in (*self.z, *self.columns.values()):
            role = "tested" if column.name in self.columns else "given"
            digest.update(repr((role, column.name, column.kind, column.levels)).encode())
            digest.update(np.ascontiguousarray(column.values).tobytes())
        return digest.hexdigest()


def _readable(
    raw: Mapping[str, Any], names: Sequence[str], kinds: Mapping[str, str]
) -> tuple[dict[str, Column], dict[str, str]]:
    """Read columns, and say why not of those that cannot be."""
    columns, skipped = {}, {}
    for name in names:
        try:
            columns[name] = read_column(name, raw[name], kinds.get(name))
        except (TypeError, ValueError) as error:
            if name in kinds:  # somebody said what it is
                raise
            skipped[name] = str(error)
    return columns, skipped
