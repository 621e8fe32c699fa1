"""Text in CSV files that no spreadsheet takes for a formula."""

from __future__ import annotations

import re
from typing import Any

# A spreadsheet computes cells that begin so: https://owasp.org/www-community/attacks/CSV_Injection.
# Text that has an apostrophe there already gets one more, so that one can always be removed.
FORMULA = re.compile(r"'*[=+\-@\t\r]")
# The same for polars, to be replaced by the group.
INERT = r"^'('*[=+\-@\t\r])"


def inert(cell: Any) -> Any:
    """Put an apostrophe before text that a spreadsheet would compute; numbers stay what they are.

    Examples
    --------
    >>> from chsic._util.csv_cells import inert
    >>> inert("=HYPERLINK()"), inert("a=b"), inert(-0.003)
    ("'=HYPERLINK()", 'a=b', -0.003)
    """
    return f"'{cell}" if isinstance(cell, str) and FORMULA.match(cell) else cell


def original(text: str) -> str:
    """Take off the apostrophe that `inert` put there.

    Examples
    --------
    >>> from chsic._util.csv_cells import inert, original
    >>> original(inert("'=1")), original("'quoted'")
    ("'=1", "'quoted'")
    """
    return text[1:] if text.startswith("'") and FORMULA.match(text) else text
