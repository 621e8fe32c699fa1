"""JSON that comes from outside: finite numbers, every name once, known fields; errors are short."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeAlias

from chsic._util.names import readable

MOST_DIGITS = 20  # of a whole number; Python reads thousands of them slowly, or not at all

Check: TypeAlias = Callable[[Any], str | None]  # what was expected, if the value is not that


def read_json(text: bytes) -> Any:
    """Return what a JSON text says.

    ``json.loads`` alone takes NaN, makes infinity of 1e400, keeps the last of two equal names,
    guesses the encoding, and raises `RecursionError` for what is nested deeply.

    Parameters
    ----------
    text : bytes
        In UTF-8.

    Returns
    -------
    object
        Of the types that ``json.loads`` makes.

    Raises
    ------
    ValueError
        With what is wrong in a few words on one line, of which the caller makes a sentence.

    Examples
    --------
    >>> from chsic._util.strict_json import read_json
    >>> read_json(b'{"pvalue": 0.5}')
    {'pvalue': 0.5}
    >>> read_json(b'{"pvalue": 1e400}')
    Traceback (most recent call last):
    ValueError: 1e400 is too large a number
    """
    try:
        return json.loads(
            text.decode(),
            parse_constant=_not_a_number,
            parse_float=_finite,
            parse_int=_whole,
            object_pairs_hook=_names_once,
        )
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 text, at byte {error.start + 1}") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON, at character {error.pos + 1}") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None


def described(value: object) -> str:
    r"""Name a value of JSON in an error message: short, and on one line.

    Examples
    --------
    >>> from chsic._util.strict_json import described
    >>> [described(value) for value in (-5, "a\n", [1, 2], {}, True, None)]
    ['-5', "'a\\n'", 'a list', 'an object', 'true', 'null']
    """
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return readable(repr(value))


def require_fields(fields: Mapping[str, Check], value: Any) -> None:
    """Raise unless a value is an object with these fields and no others.

    Examples
    --------
    >>> from chsic._util.strict_json import is_text, number_between, require_fields
    >>> require_fields({"name": is_text, "pvalue": number_between(0, 1)}, {"name": "a"})
    Traceback (most recent call last):
    ValueError: pvalue is missing
    """
    if not isinstance(value, dict):
        raise ValueError(f"expected an object, got {described(value)}")
    for name in value:
        if name not in fields:
            raise ValueError(f"unknown field {described(name)}")
    for name, check in fields.items():
        if name not in value:
            raise ValueError(f"{name} is missing")
        expected = check(value[name])
        if expected is not None:
            raise ValueError(f"{name} is {described(value[name])}, expected {expected}")


def is_text(value: Any) -> str | None:
    """Check for a text."""
    return None if isinstance(value, str) else "a text"


def is_pvalue(value: Any) -> str | None:
    """Check for a number above 0 and of at most 1."""
    return "a number above 0" if value == 0 else number_between(0, 1)(value)


def number_between(low: float | None = None, high: float | None = None) -> Check:
    """Return a check for a number, whole or not."""

    def check(value: Any) -> str | None:
        if type(value) not in (int, float):  # a boolean is an int, too
            return "a number"
        inside = (low is None or low <= value) and (high is None or value <= high)
        return None if inside else f"a number from {low} to {high}"

    return check


def whole_number_between(low: int, high: int) -> Check:
    """Return a check for a whole number."""

    def check(value: Any) -> str | None:
        inside = type(value) is int and low <= value <= high
        return None if inside else f"a whole number from {low:,} to {high:,}"

    return check


def _not_a_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a finite number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{readable(text)} is too large a number")
    return number


def _whole(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise ValueError(f"{readable(text)} is too large a number")
    return int(text)


def _names_once(items: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(items)
    if len(unique) < len(items):
        [(twice, _)] = Counter(name for name, _ in items).most_common(1)
        raise ValueError(f"{described(twice)} is there twice")
    return unique
