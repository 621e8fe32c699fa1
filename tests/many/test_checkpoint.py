"""A checkpoint is input: what no run writes is refused, and stays as it is."""

import json
import os
import sys

import numpy as np
import pandas as pd
import pytest

import chsic
from chsic._util.strict_json import read_json
from chsic.many.checkpoint import Checkpoint
from chsic.many.column_tests import Failure
from chsic.many.screen_checkpoint import MAX_BYTES_BESIDE_NAMES, PairLines, line_of

N = 40


def frame(**more):
    rng = np.random.default_rng(0)
    return pd.DataFrame({name: rng.normal(size=N) for name in "abc"} | more)


def screened(path, **settings):
    return chsic.screen(frame(), rng=0, n_resamples=19, resume=path, **settings)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The lines of a finished run: what it is, and three pairs."""
    path = tmp_path_factory.mktemp("whole") / "run.jsonl"
    screened(path)
    return path.read_bytes().splitlines(keepends=True)


def refused(path, content, number, **settings):
    """Screen with a file of some content, and return what is said to be wrong in it."""
    path.write_bytes(content)
    with pytest.raises(ValueError, match="resume: ") as caught:
        screened(path, **settings)
    message = str(caught.value)
    assert message.isprintable()  # and so on one line
    assert len(message) < 400
    assert f"{path}, line {number}: " in message
    assert message.endswith(("computed again.", "start anew."))
    assert path.read_bytes() == content
    return message.split(f"line {number}: ")[1]


def changed(line, **fields):
    """Return a line of the file with other fields; None takes one out."""
    one = json.loads(line) | fields
    return json.dumps({k: v for k, v in one.items() if v is not None}).encode() + b"\n"


WRONG_FIELDS = {
    "a p-value below 0": ({"pvalue": -5}, "pvalue is -5, expected a number from 0 to 1;"),
    "a p-value of 0": ({"pvalue": 0.0}, "pvalue is 0.0, expected a number above 0"),
    "a p-value above 1": ({"pvalue": 1.5}, "pvalue is 1.5, expected"),
    "a p-value that is NaN": ({"pvalue": float("nan")}, "NaN is not a finite number"),
    "an infinite statistic": ({"statistic": float("inf")}, "Infinity is not a finite number"),
    "minus infinity": ({"low": -float("inf")}, "-Infinity is not a finite number"),
    "text for a number": ({"coefficient": "0.5"}, "coefficient is '0.5', expected a number"),
    "a list for a number": ({"statistic": [0.5]}, "statistic is a list, expected a number"),
    "an object for a number": ({"low": {"a": 1}}, "low is an object, expected a number"),
    "a boolean for a number": ({"pvalue": True}, "pvalue is true, expected a number"),
    "a boolean for a count": ({"n_omitted": False}, "n_omitted is false, expected a whole"),
    "a float for a count": ({"n_samples": float(N)}, "n_samples is 40.0, expected a whole"),
    "no samples": ({"n_samples": 0, "n_omitted": N}, "n_samples is 0, expected a whole number"),
    "more rows than there are": ({"n_samples": 10**19}, "n_samples is 1000000"),
    "rows that do not add up": ({"n_omitted": 1}, "add up to 41, but the data have 40 rows"),
    "a strength above 1": ({"coefficient": 1.01}, "coefficient is 1.01, expected"),
    "low above high": ({"low": 0.5, "high": 0.25}, "low is 0.5, above high, which is 0.25"),
    "a missing field": ({"statistic": None}, "statistic is missing"),
    "an unknown field": ({"color\x1b[31m": 1}, r"unknown field 'color\x1b[31m'"),
    "an unknown column": ({"x": "zz"}, "x is 'zz', expected the name of a column"),
    "an unhashable column": ({"x": ["a"]}, "x is a list, expected the name of a column"),
    "a column with itself": ({"x": "b", "y": "b"}, "x and y are the same column, 'b'"),
    "warnings that are text": ({"warnings": "no"}, "warnings is 'no', expected a list"),
    "warnings that are numbers": ({"warnings": [1]}, "warnings is a list, expected a list of"),
    "a warning with escapes": ({"warnings": ["\x1b[31m"]}, "characters that can be printed"),
    "a warning with half a letter": ({"warnings": ["\ud800"]}, "characters that can be printed"),
    "a failure that has results": ({"failed": "no"}, "unknown field 'pvalue'"),
    "a pair again": ({"x": "a", "y": "b"}, "the same result as in line 2"),
}


@pytest.mark.parametrize(("fields", "what"), WRONG_FIELDS.values(), ids=WRONG_FIELDS)
def test_a_line_with_a_wrong_field_is_refused(whole, tmp_path, fields, what):
    content = b"".join([*whole[:2], changed(whole[2], **fields), whole[3], b'{"unfin'])
    assert what in refused(tmp_path / "run.jsonl", content, 3)


WRONG_TEXTS = {
    "a number of 400 digits in few letters": (b'{"x": 1e400}', "1e400 is too large a number"),
    "a number of 10,000 digits": (b'{"x": ' + b"7" * 10_000 + b"}", "77777"),
    "a name twice": (b'{"x": "a", "x": "b"}', "'x' is there twice"),
    "deep lists": (b"[" * 100_000, "nested too deeply"),
    "deep objects": (b'{"x":' * 100_000, "nested too deeply"),
    "not JSON": (b'{"x": "a", "y"', "not JSON, at character 1"),
    "two objects": (b"{} {}", "not JSON, at character 4"),
    "a list": (b"[1, 2]", "expected an object, got a list"),
    "a number": (b"5", "expected an object, got 5"),
    "null": (b"null", "expected an object, got null"),
    "nothing": (b"", "not JSON"),
    "bytes that are no text": (b'{"x": "\xff\xfe"}', "not UTF-8 text, at byte 8"),
    "NUL bytes": (b'{"x": "a\0"}', "not JSON, at character 9"),
    "only NUL bytes": (b"\0" * 64, "not JSON, at character 1"),
    "UTF-16": ('{"x": 1}'.encode("utf-16-le"), "not JSON, at character 2"),
    "30 million letters": (b'{"x": "' + b"a" * 30_000_000, "longer than 1,048,600 bytes"),
}


@pytest.mark.parametrize(("text", "what"), WRONG_TEXTS.values(), ids=WRONG_TEXTS)
@pytest.mark.parametrize("last", [False, True], ids=["in the middle", "at the end"])
def test_a_line_that_is_no_json_object_is_refused(whole, tmp_path, text, what, last):
    content = b"".join([*whole[:3], text, b"\n", *([] if last else whole[3:])])
    assert what in refused(tmp_path / "run.jsonl", content, 4)


def test_only_a_newline_ends_a_line(whole, tmp_path):
    """bytes.splitlines() would end lines at a carriage return, too."""
    path = tmp_path / "run.jsonl"
    two_in_one = b"".join([whole[0], whole[1][:-1], b"\r", whole[2], whole[3]])
    assert "not JSON" in refused(path, two_in_one, 2)
    for other in (b"\r", b"\x0b", b"\x0c", b"\x1c", b"\xc2\x85"):
        content = b"".join(whole).replace(b'"a"', b'"a' + other + b'"')
        assert refused(path, content, 2)
    path.write_bytes(b"".join(whole[:3]) + whole[3][:-1] + b"\r")  # unfinished
    screened(path)
    assert path.read_bytes() == b"".join(whole)


WRONG_HEADERS = {
    "no version": ({"version": None}, "version is missing"),
    "no seed": ({"seed": None}, "seed is missing"),
    "a seed that is text": ({"seed": "7"}, "seed is '7', expected a whole number from 0"),
    "a seed that is a float": ({"seed": 7.0}, "seed is 7.0, expected"),
    "a seed that is true": ({"seed": True}, "seed is true, expected"),
    "a seed that is a list": ({"seed": [7]}, "seed is a list, expected"),
    "a negative seed": ({"seed": -1}, "seed is -1, expected a whole number from 0"),
    "a large seed": ({"seed": 2**62}, f"seed is {2**62}, expected"),
    "resamples that are a float": ({"n_resamples": 19.0}, "n_resamples is 19.0, expected"),
    "few resamples": ({"n_resamples": 0}, "n_resamples is 0, expected a whole number from 19"),
    "data that are a number": ({"data": 1}, "data is 1, expected a text"),
    "something else": ({"more": 1}, "unknown field 'more'"),
}


@pytest.mark.parametrize("rng", [0, None], ids=["seed given", "seed of the file"])
@pytest.mark.parametrize(("fields", "what"), WRONG_HEADERS.values(), ids=WRONG_HEADERS)
def test_a_first_line_that_no_run_writes_is_refused(whole, tmp_path, fields, what, rng):
    header = json.loads(whole[0])["chsic checkpoint"]
    header = {name: value for name, value in (header | fields).items() if value is not None}
    first = json.dumps({"chsic checkpoint": header}).encode() + b"\n"
    path = tmp_path / "run.jsonl"
    path.write_bytes(first + b"".join(whole[1:]))
    with pytest.raises(ValueError, match="line 1: ") as caught:
        chsic.screen(frame(), rng=rng, n_resamples=19, resume=path)
    assert what in str(caught.value)
    assert path.read_bytes() == first + b"".join(whole[1:])


def test_a_first_line_with_something_beside_the_run_is_refused(whole, tmp_path):
    first = whole[0][:-2] + b', "x": 1}\n'
    assert "expected an object with 'chsic checkpoint'" in refused(tmp_path / "run.jsonl", first, 1)


@pytest.mark.parametrize(
    "content",
    [
        b"do not lose me",
        b"{}\n",
        b"[]\n",
        b"\n",
        b"\x89PNG\r\n",
        b"\0" * 100,
        b'{"chsic checkpoint": 5}\n',
    ],
)
def test_a_file_of_another_kind_is_refused(tmp_path, content):
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="is not a checkpoint of chsic, as line 1 shows; name"):
        screened(path)
    assert path.read_bytes() == content


def test_pipes_and_devices_are_not_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(ValueError, match="is not a regular file; name another one"):
            screened(path)
    with pytest.raises(TypeError, match="resume: expected the name of a file, got 5"):
        screened(5)
    with pytest.raises(TypeError, match="resume: expected the name of a file, got b'run"):
        screened(b"run.jsonl")
    with pytest.raises(ValueError, match="resume: no file can be called 'a b'"):
        screened("a\0b")


def test_the_name_of_the_file_is_shown_without_escapes(tmp_path):
    path = tmp_path / "run\x1b[31m.jsonl"
    path.write_bytes(b"no\n")
    with pytest.raises(ValueError, match="is not a checkpoint") as caught:
        screened(path)
    assert str(caught.value).isprintable()


def test_an_unfinished_line_goes_wherever_it_was_cut(whole, tmp_path):
    path = tmp_path / "run.jsonl"
    valid = PairLines(frame().columns, N)
    header = json.loads(whole[0])["chsic checkpoint"]
    for cut in range(1, len(whole[0]) + len(whole[1]) + 1):
        path.write_bytes(b"".join(whole)[:cut])
        with Checkpoint("resume", path, header, valid) as file:
            expected = whole[: max(1, b"".join(whole)[:cut].count(b"\n"))]
            assert path.read_bytes() == b"".join(expected)
            assert len(file.lines) == len(expected) - 1


def test_pairs_that_failed_are_not_tested_again(tmp_path, monkeypatch):
    odd = frame()
    odd.loc[: N // 2 - 1, "a"] = np.nan
    odd.loc[N // 2 :, "b"] = np.nan
    path = tmp_path / "run.jsonl"
    settings = {"nan_policy": "omit", "n_resamples": 19, "rng": 0, "resume": path}
    first = chsic.screen(odd, **settings)
    assert list(first.failed) == [("a", "b")]
    written = path.read_bytes()
    for tester in ("ColumnTests", "run_test"):
        monkeypatch.setattr(sys.modules[chsic.screen.__module__], tester, None)
    again = chsic.screen(odd, **settings)
    assert (again.failed, again.pairs) == (first.failed, first.pairs)
    assert path.read_bytes() == written


def test_what_a_run_writes_is_valid_whatever_the_data(tmp_path):
    """Names and levels of all kinds reach the lines: in names, warnings and failures."""
    hostile = "\x1b[31m\n\r\u2028\ud800" + "é" * 500
    values = frame()
    half = np.arange(N) < N // 2
    odd = {
        "z": values["c"].to_numpy(),
        "a": np.where(half, values["a"], np.nan),
        hostile: values["b"].to_numpy(),
        "same": np.where(half, hostile, "other").astype(object),  # one level, where a is known
        "z again": values["c"].to_numpy() ** 3,
    }
    path = tmp_path / "run.jsonl"
    settings = {"nan_policy": "omit", "n_resamples": 19, "rng": 0, "resume": path}
    first = chsic.screen(odd, "z", **settings)
    assert list(first.failed) == [("a", "same")]
    assert any(pair.warnings for pair in first)
    written = path.read_bytes()
    again = chsic.screen(odd, "z", **settings)
    assert (again.pairs, again.failed) == (first.pairs, first.failed)
    assert path.read_bytes() == written


def test_long_names_and_long_reasons_make_valid_lines():
    name = "\U0001f366" * 200_000
    valid = PairLines([name, "b"], N)
    line = line_of(name, "b", Failure("no\n" * 1_000_000))
    text = json.dumps(line).encode()
    assert MAX_BYTES_BESIDE_NAMES < len(text) < valid.max_bytes
    assert valid.check_line(read_json(text)) == (name, "b")


def test_a_run_may_go_on_against_a_target(whole, tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"".join(whole))
    found = screened(path, target="b")
    assert [(pair.x, pair.y) for pair in found] == [("a", "b"), ("c", "b")]
    assert len(screened(path)) == 3  # with (b, c) and (c, b) in the file


def test_two_runs_cannot_share_a_file(whole, tmp_path):
    path = tmp_path / "run.jsonl"
    header = json.loads(whole[0])["chsic checkpoint"]
    with (
        Checkpoint("resume", path, header, PairLines(frame().columns, N)),
        pytest.raises(ValueError, match=r"another run is using .*; wait for it, or name another"),
    ):
        screened(path)


def test_a_process_that_was_forked_meanwhile_does_not_hold_the_file(whole, tmp_path):
    path = tmp_path / "run.jsonl"
    header = json.loads(whole[0])["chsic checkpoint"]
    until, end = os.pipe()
    with Checkpoint("resume", path, header, PairLines(frame().columns, N)):
        child = os.fork()
        if child == 0:
            os.close(end)
            os.read(until, 1)  # lives as long as this test
            os._exit(0)
    try:
        assert len(screened(path)) == 3
    finally:
        os.close(end)
        os.waitpid(child, 0)
        os.close(until)
