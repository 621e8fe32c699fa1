"""Answers change only on purpose: they are compared with those of ``answers.json``."""

import json

import pytest

from tests.answers import PATH, answers


def close_to(field, value):
    """What a machine may make of it: other last bits, and so another draw beyond the data."""
    if not isinstance(value, float):
        return value
    if field == "pvalue":
        draw = 1e-3 if value > 0.1 else 1e-4 if value > 1e-4 else 0.0
        return pytest.approx(value, rel=5e-3, abs=2 * draw)
    return pytest.approx(value, rel=1e-5, abs=0.0 if field == "statistic" else 1e-7)


@pytest.mark.no_cover
def test_answers_are_those_that_were_stored():
    stored, found = json.loads(PATH.read_text(encoding="utf-8")), answers()
    assert found.keys() == stored.keys()
    for question, expected in stored.items():
        for field, value in expected.items():
            assert found[question][field] == close_to(field, value), f"{question}: {field}"
