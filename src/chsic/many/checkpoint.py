"""The lines of a screen's file of finished pairs: how they are made, and which ones are valid."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeAlias

from chsic._util.names import seen
from chsic._util.strict_json import described
from chsic._util.validate import MIN_SAMPLES
from chsic.inference.result import IndependenceResult
from chsic.inference.settings import FEWEST_RESAMPLES, MOST_RESAMPLES
from chsic.many.column_tests import Failure
from chsic.many.screened import ScreenedPair, adjusted_pvalues

SEEDS = 2**62  # they are smaller
LONGEST_SENTENCE = 2_000  # characters of a warning
LONGEST_BESIDE_NAMES = 2**20  # bytes of a line without the names of its columns
BYTES_OF_CHARACTER = 12  # in JSON, at the most

Check: TypeAlias = Callable[[Any], str | None]  # what should be there, if it is not


def line_of(x: str, y: str, result: IndependenceResult | Failure) -> dict[str, Any]:
    """Return what is kept of a test, ready for JSON: all fields of a pair that it alone decides."""
    if isinstance(result, Failure):
        return {"x": x, "y": y, "failed": _sentence(result.reason)}
    low, high = result.confidence_interval()
    return {
        "x": x,
        "y": y,
        "pvalue": result.pvalue,
        "coefficient": result.coefficient,
        "low": low,
        "high": high,
        "statistic": result.statistic,
        "n_samples": result.n_samples,
        "n_omitted": result.n_omitted,
        "warnings": [_sentence(warning) for warning in result.warnings],
    }


def pairs_of(lines: Sequence[dict[str, Any]]) -> tuple[ScreenedPair, ...]:
    """Add adjusted p-values, which all pairs decide together."""
    pvalues = [line["pvalue"] for line in lines]
    return tuple(
        ScreenedPair(**line | {"warnings": tuple(line["warnings"])}, pvalue_bh=bh, pvalue_holm=holm)
        for line, bh, holm in zip(
            lines, adjusted_pvalues(pvalues), adjusted_pvalues(pvalues, "holm"), strict=True
        )
    )


class PairLines:
    """Which lines a file of finished pairs may have.

    Parameters
    ----------
    columns : collection of str
        Names of those that can be tested.
    n_rows : int
        Of the data.

    Examples
    --------
    >>> from chsic.many.checkpoint import PairLines
    >>> PairLines({"a", "b"}, 100).check_line({"x": "a", "y": "b", "failed": "a is constant."})
    ('a', 'b')
    """

    def __init__(self, columns: Collection[str], n_rows: int) -> None:
        self._columns, self._n_rows = columns, n_rows
        pair: dict[str, Check] = {"x": self._column, "y": self._column}
        strength = _number(-1, 1)
        self._failed: dict[str, Check] = {**pair, "failed": _printable}
        self._tested: dict[str, Check] = {
            **pair,
            "pvalue": _pvalue,
            "coefficient": strength,
            "low": strength,
            "high": strength,
            "statistic": _number(),
            "n_samples": _whole(MIN_SAMPLES, n_rows),
            "n_omitted": _whole(0, n_rows),
            "warnings": _sentences,
        }

    @property
    def longest(self) -> int:
        """Bytes of a line at the most."""
        name = max(map(len, self._columns), default=0)
        return LONGEST_BESIDE_NAMES + 2 * BYTES_OF_CHARACTER * name

    def check_run(self, run: Any) -> None:
        """Raise unless this can be the first line."""
        fields: dict[str, Check] = {
            "version": _text,
            "data": _text,
            "n_resamples": _whole(FEWEST_RESAMPLES, MOST_RESAMPLES),
            "seed": _whole(0, SEEDS - 1),
        }
        _require(fields, run)

    def check_line(self, line: Any) -> tuple[str, str]:
        """Raise unless this can be the line of a pair, and return the pair."""
        if isinstance(line, dict) and "failed" in line:
            _require(self._failed, line)
        else:
            _require(self._tested, line)
            if line["low"] > line["high"]:
                raise ValueError(f"low is {line['low']}, above high, which is {line['high']}")
            rows = line["n_samples"] + line["n_omitted"]
            if rows > self._n_rows:  # samples without a partner are in neither
                raise ValueError(
                    f"n_samples and n_omitted add up to {rows}, but the data have {self._n_rows} "
                    "rows"
                )
        if line["x"] == line["y"]:
            raise ValueError(f"x and y are the same column, {described(line['x'])}")
        return line["x"], line["y"]

    def _column(self, value: Any) -> str | None:
        known = isinstance(value, str) and value in self._columns
        return None if known else "the name of a column that can be tested"


def _require(fields: Mapping[str, Check], found: Any) -> None:
    """Raise unless something is an object with these fields and no others."""
    if not isinstance(found, dict):
        raise ValueError(f"expected an object, got {described(found)}")
    for name in found:
        if name not in fields:
            raise ValueError(f"unknown field {described(name)}")
    for name, check in fields.items():
        if name not in found:
            raise ValueError(f"{name} is missing")
        expected = check(found[name])
        if expected is not None:
            raise ValueError(f"{name} is {described(found[name])}, expected {expected}")


def _number(low: float | None = None, high: float | None = None) -> Check:
    def check(value: Any) -> str | None:
        if type(value) not in (int, float):  # a boolean is an int, too
            return "a number"
        inside = (low is None or low <= value) and (high is None or value <= high)
        return None if inside else f"a number from {low} to {high}"

    return check


def _pvalue(value: Any) -> str | None:
    return "a number above 0" if value == 0 else _number(0, 1)(value)


def _whole(low: int, high: int) -> Check:
    def check(value: Any) -> str | None:
        inside = type(value) is int and low <= value <= high
        return None if inside else f"a whole number from {low:,} to {high:,}"

    return check


def _text(value: Any) -> str | None:
    return None if isinstance(value, str) else "a text"


def _sentence(text: str) -> str:
    """Return what is kept of a sentence, which may quote the data."""
    return seen(text[:LONGEST_SENTENCE])


def _printable(value: Any) -> str | None:
    valid = isinstance(value, str) and value.isprintable() and len(value) <= LONGEST_SENTENCE
    return None if valid else "a sentence of characters that can be printed"


def _sentences(value: Any) -> str | None:
    valid = isinstance(value, list) and all(_printable(one) is None for one in value)
    return None if valid else "a list of sentences of characters that can be printed"
