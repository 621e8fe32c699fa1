"""Everything that stands in a report, computed but not yet written down."""

from __future__ import annotations

import dataclasses
from typing import Any

from chsic.inference.result import IndependenceResult
from chsic.many.sensitivity import Sensitivity
from chsic.show.column_summary import ColumnSummary
from chsic.show.pictures.differences import DifferencesPicture


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Facts:
    """What a report says.

    Attributes
    ----------
    result : IndependenceResult
        Given z.
    ignoring_z : IndependenceResult or None
        Of the same rows without z; None if there is no z.
    sensitivity : Sensitivity or None
        None if there is no z, or its values are categories only.
    n_for_sensitivity : int
        Samples that it was computed from.
    differences : DifferencesPicture or None
        None unless x, y and z are one column of numbers each.
    columns : tuple of ColumnSummary
        The data.
    settings : dict
        What has to be set to get the same numbers again.
    versions : dict
        Of what computed them.
    """

    result: IndependenceResult
    ignoring_z: IndependenceResult | None
    sensitivity: Sensitivity | None
    n_for_sensitivity: int
    differences: DifferencesPicture | None
    columns: tuple[ColumnSummary, ...]
    settings: dict[str, Any]
    versions: dict[str, str]
