"""The data of a screen: confounders, columns to be tested, and which of them cannot be."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chsic._util.names import readable
from chsic._util.validate import MIN_SAMPLES, require_same_length
from chsic.data.arguments import Columns, Data, require_no_identifier, require_usable
from chsic.data.column import Column, read_column
from chsic.data.fingerprint import fingerprint
from chsic.data.samples import as_kinds, require_complete, rows_that_count
from chsic.data.sampling import Sampling, read_about_rows


@dataclasses.dataclass(frozen=True, eq=False)
class ScreenData:
    """What was read.

    Attributes
    ----------
    z : list of Column
        Confounders, of all rows.
    columns : dict of Column
        Those to be tested that can be, by name.
    sampling : Sampling
        Groups, times and weights, of all rows.
    known : array of bool
        Rows in which no confounder is missing, and nothing that is known of rows.
    skipped : dict of str
        Columns that cannot be tested, and why.
    kinds : dict of str
        Of all columns that could be read.
    """

    z: list[Column]
    columns: dict[str, Column]
    sampling: Sampling
    known: NDArray[np.bool_]
    skipped: dict[str, str]
    kinds: dict[str, str]

    @classmethod
    def read(
        cls,
        raw: Mapping[str, Any],
        of_z: Sequence[str],
        tested: Sequence[str],
        kinds: Mapping[str, str] | None,
        nan_policy: str,
        about_rows: Mapping[str, Data],
        stretch: float | str = "auto",
        within: bool = False,
    ) -> ScreenData:
        """Read columns that are there; confounders must be usable, others may be skipped.

        `about_rows` is what `sampling_arguments` returned.
        """
        kind_of = as_kinds(kinds, list(raw))
        z = [read_column(name, raw[name], kind_of.get(name)) for name in of_z]
        columns, skipped = _readable(raw, tested, kind_of)
        read = [*z, *columns.values()]
        require_same_length(**{readable(column.name): column.values for column in read})
        rows: dict[str, Columns] = {}
        if read:
            rows = read_about_rows(about_rows, kind_of)
        for argument, of in rows.items():
            require_same_length(**{"frame": read[0].values, argument: of[0].values})
        if nan_policy == "raise":
            require_complete({"frame": read, **rows})
        elif nan_policy == "level":
            z = [column.with_missing_level() for column in z]
            columns = {name: column.with_missing_level() for name, column in columns.items()}
        sampling = Sampling.of(rows, stretch, within)
        by_role, sampling = rows_that_count({"z": z, "columns": [*columns.values()]}, sampling)
        z = [*by_role["z"]]
        columns = dict(zip(columns, by_role["columns"], strict=True))
        every = [*z, *columns.values()]
        n_rows = len(every[0].values) if every else 0
        missing = [*(column.missing for column in z), *sampling.missing]
        known = ~np.any([np.zeros(n_rows, bool), *missing], axis=0)
        if known.sum() < MIN_SAMPLES:
            raise ValueError(
                f"frame: {known.sum()} of {n_rows} rows can be used, at least {MIN_SAMPLES} are "
                "needed."
            )
        if z:
            require_usable("given", [column.rows(known) for column in z], math.inf)
        for name, column in list(columns.items()):
            try:
                _require_usable(name, column.rows(known & ~column.missing))
            except ValueError as error:
                skipped[name] = str(error)
                del columns[name]
        return cls(z, columns, sampling, known, skipped, {c.name: c.described for c in read})

    @property
    def n_rows(self) -> int:
        """Rows that have a weight, and copies that were merged with them."""
        copies = self.sampling.copies
        return len(self.known) if copies is None else int(copies.sum())

    @property
    def n_omitted(self) -> int:
        """Rows that no pair can use."""
        return int((~self.known).sum())

    @functools.cached_property
    def known_sampling(self) -> Sampling:
        """What is known of the known rows, their groups numbered."""
        return self.sampling.rows(self.known).complete()

    def complete(self) -> dict[str, Column]:
        """Return the known rows of columns in which none of those is missing."""
        return {
            name: column.rows(self.known)
            for name, column in self.columns.items()
            if not (self.known & column.missing).any()
        }

    def fingerprint(self) -> str:
        """Return what two data sets share only if they, and the roles of columns, are the same."""
        of_rows = self.sampling.fingerprinted
        return fingerprint(len(self.z), *self.z, *self.columns.values(), *of_rows)


def _require_usable(name: str, column: Column) -> None:
    if not len(column.values):
        raise ValueError(f"{readable(name)}: every value is missing.")
    require_usable(name, [column])
    require_no_identifier(name, [column])


def _readable(
    raw: Mapping[str, Any], names: Sequence[str], kinds: Mapping[str, str]
) -> tuple[dict[str, Column], dict[str, str]]:
    """Read columns, and say why not of those that cannot be."""
    columns, skipped = {}, {}
    for name in names:
        try:
            columns[name] = read_column(name, raw[name], kinds.get(name))
        except (TypeError, ValueError) as error:
            if name in kinds:  # the caller wants it to be that
                raise
            skipped[name] = str(error)
        except MemoryError:
            raise
        except Exception as error:  # of objects in it
            skipped[name] = f"{type(error).__name__}: {error}"
    return columns, skipped
