"""Names of columns in sentences: short, on one line, and with a hint if one is misspelt."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

LONGEST = 40
MOST_LETTERS = 200  # of a text that is quoted
SHOWN = 20  # of the names there are


def readable(name: str) -> str:
    r"""Return a column's name as it can stand in a sentence or a picture: in one line, and short.

    Marks that turn the direction of writing, and others that cannot be printed, become spaces.

    Examples
    --------
    >>> from chsic._util.names import readable
    >>> readable("rate\nper year"), len(readable("x" * 10_000))
    ('rate per year', 40)
    """
    line = printable(name).strip() or "(no name)"
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"


def printable(text: str) -> str:
    """Replace characters that cannot be printed by spaces."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def shortened(text: str) -> str:
    """Return text that is quoted: on one line, and not too long.

    Examples
    --------
    >>> from chsic._util.names import shortened
    >>> len(shortened("x" * 10_000))
    200
    """
    line = printable(text)
    return line if len(line) <= MOST_LETTERS else line[: MOST_LETTERS - 1] + "…"


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """Return a hint for a name that is not known: the nearest one, or some of those there are."""
    asked = str(name)[:MOST_LETTERS]  # comparing takes the square of the length
    near = difflib.get_close_matches(asked, [o for o in known if len(o) <= MOST_LETTERS], n=1)
    listed = ", ".join(repr(readable(one)) for one in known[:SHOWN])
    more = ", ..." if len(known) > SHOWN else ""
    return f"did you mean {near[0]!r}?" if near else f"there are {listed}{more}."


def listed(names: Iterable[str]) -> str:
    """Write names as in a sentence.

    Examples
    --------
    >>> from chsic._util.names import listed
    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    *first, last = [readable(name) for name in names] or [""]
    return f"{', '.join(first)} and {last}" if first else last
