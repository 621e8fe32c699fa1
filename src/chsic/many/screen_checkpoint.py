"""The lines of a screen's checkpoint: how they are made from results, and which ones are valid."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from chsic._util.names import printable
from chsic._util.strict_json import (
    Check,
    described,
    is_pvalue,
    is_text,
    number_between,
    require_fields,
    whole_number_between,
)
from chsic._util.validate import MIN_SAMPLES
from chsic.inference.result import IndependenceResult
from chsic.inference.settings import FEWEST_RESAMPLES, MOST_RESAMPLES
from chsic.many.column_tests import Failure
from chsic.many.multiple_testing import benjamini_hochberg, holm
from chsic.many.screen_result import ScreenedPair

N_SEEDS = 2**62
MAX_SENTENCE = 2_000  # characters of a warning
MAX_BYTES_BESIDE_NAMES = 2**20  # of a line without the names of its columns
MAX_BYTES_OF_CHARACTER = 12  # in JSON


def line_of(x: str, y: str, result: IndependenceResult | Failure) -> dict[str, Any]:
    """Return the line of a test: all fields of a pair that it alone decides, ready for JSON."""
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
    adjusted = zip(benjamini_hochberg(pvalues).tolist(), holm(pvalues).tolist(), strict=True)
    return tuple(
        ScreenedPair(**line | {"warnings": tuple(line["warnings"])}, pvalue_bh=bh, pvalue_holm=p)
        for line, (bh, p) in zip(lines, adjusted, strict=True)
    )


class PairLines:
    """Which lines the checkpoint of a screen may have.

    Parameters
    ----------
    columns : collection of str
        Names of those that can be tested.
    n_rows : int
        Of the data.

    Examples
    --------
    >>> from chsic.many.screen_checkpoint import PairLines
    >>> PairLines({"a", "b"}, 100).check_line({"x": "a", "y": "b", "failed": "a is constant."})
    ('a', 'b')
    """

    def __init__(self, columns: Collection[str], n_rows: int) -> None:
        self._columns, self._n_rows = columns, n_rows
        pair: dict[str, Check] = {"x": self._column, "y": self._column}
        strength = number_between(-1, 1)
        self._failed: dict[str, Check] = {**pair, "failed": _is_sentence}
        self._tested: dict[str, Check] = {
            **pair,
            "pvalue": is_pvalue,
            "coefficient": strength,
            "low": strength,
            "high": strength,
            "statistic": number_between(),
            "n_samples": whole_number_between(MIN_SAMPLES, n_rows),
            "n_omitted": whole_number_between(0, n_rows),
            "warnings": _is_list_of_sentences,
        }

    @property
    def max_bytes(self) -> int:
        """Of a line."""
        name = max(map(len, self._columns), default=0)
        return MAX_BYTES_BESIDE_NAMES + 2 * MAX_BYTES_OF_CHARACTER * name

    def check_header(self, header: Any) -> None:
        """Raise unless this can be the first line."""
        fields: dict[str, Check] = {
            "version": is_text,
            "data": is_text,
            "n_resamples": whole_number_between(FEWEST_RESAMPLES, MOST_RESAMPLES),
            "seed": whole_number_between(0, N_SEEDS - 1),
        }
        require_fields(fields, header)

    def check_line(self, line: Any) -> tuple[str, str]:
        """Raise unless this can be the line of a pair, and return the pair."""
        if isinstance(line, dict) and "failed" in line:
            require_fields(self._failed, line)
        else:
            require_fields(self._tested, line)
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


def _sentence(text: str) -> str:
    """Return what a line holds of a sentence, which may quote the data."""
    return printable(text[:MAX_SENTENCE])


def _is_sentence(value: Any) -> str | None:
    valid = isinstance(value, str) and value.isprintable() and len(value) <= MAX_SENTENCE
    return None if valid else "a sentence of characters that can be printed"


def _is_list_of_sentences(value: Any) -> str | None:
    valid = isinstance(value, list) and all(_is_sentence(one) is None for one in value)
    return None if valid else "a list of sentences of characters that can be printed"
