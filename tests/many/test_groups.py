"""Groups of rows that depend on each other, in screens, discovery and calibration."""

import json

import numpy as np
import pandas as pd
import pytest

import chsic
from chsic.data.arguments import read_columns
from chsic.data.fingerprint import fingerprint
from tests.inference.test_groups import patients


@pytest.fixture(scope="module")
def frame():
    """Measurements of 30 patients, four rows of each, and the column that names them."""
    x, y, z, groups = patients(0, number=30, related=0.5)
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "patient": [f"patient {k}" for k in groups],
            "x": x,
            "y": y,
            "z": z,
            "w": np.cos(z) + rng.normal(size=len(z)),
            "ward": rng.choice(list("abc"), len(z)),
        }
    )


def with_gaps(frame):
    """A group that is missing, and a value in another row."""
    gaps = frame.copy()
    gaps.loc[7, "patient"] = None
    gaps.loc[50, "x"] = np.nan
    return gaps


def alone(frame, x, y, z, **settings):
    return chsic.chsic_test(x, y, z or None, data=frame, groups="patient", **settings)


# --- Screens --------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [["z"], ["ward"], []], ids=["a number", "a category", "nothing"])
def test_a_screen_is_what_separate_tests_give(frame, given):
    found = chsic.screen(frame, given, columns=["x", "y", "w"], groups="patient")
    assert found.n_groups == 30
    for pair in found:
        expected = alone(frame, pair.x, pair.y, given)
        assert pair.pvalue == pytest.approx(expected.pvalue, rel=1e-9)
        assert pair.statistic == pytest.approx(expected.statistic, rel=1e-9)
        assert (pair.low, pair.high) == pytest.approx(expected.confidence_interval(), rel=1e-9)
    ignoring = chsic.screen(frame, given, columns=["x", "y", "w"])
    assert ignoring.n_groups is None
    assert ignoring.pairs[0].pvalue != found.pairs[0].pvalue
    assert ", rows in 30 groups:" in repr(found)


def test_the_groups_of_a_screen_are_not_tested(frame):
    found = chsic.screen(frame, "z", groups="patient")
    assert found.names() == ["x", "y", "w", "ward"]
    assert found.skipped == {}
    labels = np.unique(frame["patient"], return_inverse=True)[1]
    unnamed = chsic.screen(frame.drop(columns="patient"), "z", groups=labels)
    assert unnamed.pairs == found.pairs
    numbers = frame[["x", "y", "z"]].assign(patient=labels).to_numpy()
    assert chsic.screen(numbers, 2, groups=3).pairs[0].pvalue == found.pairs[0].pvalue


def test_a_screen_leaves_out_rows_without_a_group(frame):
    gaps = with_gaps(frame)
    with pytest.raises(ValueError, match="groups, column patient: 1 of 120"):
        chsic.screen(gaps, "z", groups="patient")
    found = chsic.screen(gaps, "z", columns=["x", "y", "w"], groups="patient", nan_policy="omit")
    assert [pair.n_samples for pair in found] == [118, 118, 119]
    for pair in found:  # those with x go alone
        expected = alone(gaps, pair.x, pair.y, "z", nan_policy="omit")
        assert pair.pvalue == pytest.approx(expected.pvalue, rel=1e-9)
        assert (pair.n_omitted, pair.warnings) == (expected.n_omitted, expected.warnings)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"given": ["z", "patient"]}, ValueError, "given: column 'patient' is named for groups as"),
        (
            {"columns": ["x", "patient"]},
            ValueError,
            "columns: column 'patient' is named for groups",
        ),
        ({"target": "patient"}, ValueError, "target: column 'patient' is named for groups as"),
        ({"groups": "patent"}, ValueError, "groups: there is no column 'patent'; did you mean"),
        ({"groups": np.zeros(120)}, ValueError, "groups: all rows are of one group"),
        ({"groups": np.arange(7)}, ValueError, "frame has 120, groups has 7"),
        ({"groups": np.ones((120, 2))}, ValueError, "groups: got 2 columns; one is needed"),
    ],
)
def test_wrong_groups_of_a_screen_are_refused(frame, settings, error, message):
    with pytest.raises(error, match=message):
        chsic.screen(frame, **{"groups": "patient", **settings})


def test_a_checkpoint_belongs_to_the_groups(frame, tmp_path):
    path, other = tmp_path / "run.jsonl", tmp_path / "other.jsonl"
    settings = {"given": "z", "columns": ["x", "y", "w"], "rng": 0}
    found = chsic.screen(frame, **settings, groups="patient", resume=path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2]))
    assert chsic.screen(frame, **settings, groups="patient", resume=path).pairs == found.pairs
    assert sorted(path.read_bytes().splitlines(keepends=True)) == sorted(lines)
    shifted = np.roll(frame["patient"], 1)
    for groups in (None, shifted):
        with pytest.raises(ValueError, match="is of a run with other data;"):
            chsic.screen(frame, **settings, groups=groups, resume=path)
    chsic.screen(frame, **settings, resume=other)
    with pytest.raises(ValueError, match="is of a run with other data;"):
        chsic.screen(frame, **settings, groups="patient", resume=other)
    parts = [read_columns(name, frame[[name]])[0] for name in "zxyw"]
    headers = [json.loads(file.read_text().splitlines()[0]) for file in (path, other)]
    header = headers[1]["chsic checkpoint"]
    assert header.keys() == headers[0]["chsic checkpoint"].keys()
    assert header["data"] == fingerprint(1, *parts)  # as ever, where there are no groups


# --- Discovery ------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [(), ("z",), ("ward",)], ids=str)
def test_discovery_is_what_separate_tests_give(frame, given):
    tests = chsic.Discovery(frame, groups="patient")
    for x, y in (("x", "y"), ("x", "w")):
        found, expected = tests.result(x, y, given), alone(frame, x, y, [*given])
        assert found.n_groups == 30
        assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-9)
        assert found.coefficient == pytest.approx(expected.coefficient, rel=1e-9)


def test_discovery_cannot_be_asked_about_groups(frame):
    tests = chsic.Discovery(frame, groups="patient")
    assert tests.names == ["x", "y", "z", "w", "ward"]
    assert repr(tests).startswith("Discovery(n_samples=120, n_groups=30, columns: x,")
    assert tests.answer(0, 1, 2) == tests.answer("x", "y", "z")
    unnamed = chsic.Discovery(frame.drop(columns="patient"), groups=frame["patient"])
    assert unnamed.answer("x", "y", "z") == tests.answer("x", "y", "z")
    assert chsic.Discovery(frame).answer("x", "y", "z") != tests.answer("x", "y", "z")
    with pytest.raises(ValueError, match="z: there is no column 'patient'"):
        tests.answer("x", "y", "patient")
    with pytest.raises(ValueError, match="data has 120, groups has 7"):
        chsic.Discovery(frame, groups=np.arange(7))


def test_discovery_leaves_out_rows_without_a_group(frame):
    gaps = with_gaps(frame)
    with pytest.raises(ValueError, match="groups, column patient: 1 of 120"):
        chsic.Discovery(gaps, groups="patient")
    tests = chsic.Discovery(gaps, groups="patient", nan_policy="omit")
    for x, n_omitted in (("x", 2), ("w", 1)):
        found, expected = tests.result(x, "y", "z"), alone(gaps, x, "y", "z", nan_policy="omit")
        assert (found.n_omitted, found.warnings) == (n_omitted, expected.warnings)
        assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-9)
