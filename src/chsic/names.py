"""Names of columns in sentences: short, on one line, and with a hint if one is misspelt."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

LONGEST = 40
SHOWN = 20  # of the names there are


def readable(name: str) -> str:
    r"""Return a column's name as it can stand in a sentence or a picture: in one line, and short.

    Marks that turn the direction of writing and other letters that cannot be seen become spaces.

    Examples
    --------
    >>> from chsic.names import readable
    >>> readable("rate\nper year"), len(readable("x" * 10_000))
    ('rate per year', 40)
    """
    line = seen(name).strip() or "(no name)"
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"


def seen(text: str) -> str:
    """Replace letters that cannot be seen by spaces."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """Return a hint for a name that is not known: the nearest one, or some of those there are."""
    near = difflib.get_close_matches(str(name), known, n=1)
    listed = ", ".join(repr(readable(one)) for one in known[:SHOWN])
    more = ", ..." if len(known) > SHOWN else ""
    return f"did you mean {near[0]!r}?" if near else f"there are {listed}{more}."
