"""A checkpoint of p-values is input: what no test writes is refused, and stays as it is."""

import json
import multiprocessing
import os

import pytest

from chsic.adapters import pvalue_checkpoint
from chsic.adapters.pvalue_checkpoint import PValueCheckpoint
from chsic.many.checkpoint import Checkpoint

HEADER = {"version": "1", "data": "d1", "settings": "s1"}
PVALUES = {"0;1": 0.5, "0.1;2|3.10": 1}


def line(columns, pvalue, **more):
    return json.dumps({"columns": columns, "pvalue": pvalue, **more}).encode() + b"\n"


FIRST = json.dumps({"chsic checkpoint": HEADER}).encode() + b"\n"
WHOLE = FIRST + b"".join(line(*item) for item in PVALUES.items())
WRONG_LINES = {
    "NaN": (line("0;2", float("nan")), "NaN is not a finite number"),
    "infinity": (line("0;2", float("inf")), "Infinity is not a finite number"),
    "a negative number": (line("0;2", -5), "pvalue is -5, expected a number from 0 to 1"),
    "zero": (line("0;2", 0), "pvalue is 0, expected a number above 0"),
    "a number above 1": (line("0;2", 1.5), "pvalue is 1.5, expected"),
    "a boolean": (line("0;2", True), "pvalue is true, expected"),
    "null": (line("0;2", None), "pvalue is null, expected"),
    "text": (line("0;2", "0.5"), "pvalue is '0.5', expected"),
    "a list": (line("0;2", [0.5]), "pvalue is a list, expected"),
    "no columns": (line("x\x1b[31m", 0.5), r"columns is 'x\x1b[31m', expected positions"),
    "a number for columns": (line(5, 0.5), "columns is 5, expected positions"),
    "a field too many": (line("0;2", 0.5, n=1), "unknown field 'n'"),
    "a field too few": (b'{"columns": "0;2"}\n', "pvalue is missing"),
    "the same columns": (line("0;1", 0.4), "the same result as in line 2"),
    "pairs": (b'[["columns", "0;2"]]\n', "expected an object, got a list"),
    "a number too large": (b'{"columns": "0;2", "pvalue": 1e400}\n', "1e400 is too large"),
    "a number of many digits": (b'{"pvalue": ' + b"9" * 10_000 + b"}\n", "is too large"),
    "a field twice": (b'{"pvalue": 0.1, "pvalue": 0.2}\n', "'pvalue' is there twice"),
    "deep nesting": (b"[" * 100_000 + b"\n", "nested too deeply"),
    "not UTF-8": (b'{"\xff": 1}\n', "not UTF-8 text"),
    "NUL": (b"\0\n", "not JSON"),
    "nothing": (b"\n", "not JSON"),
    "two million letters": (b"a" * 2_000_000, "longer than 1,048,576 bytes"),
}


def refused(path, content):
    path.write_bytes(content)
    with pytest.raises(ValueError, match="cache_path: ") as caught:
        PValueCheckpoint(path, HEADER)
    message = str(caught.value)
    assert str(path) in message
    assert message.isprintable()
    assert path.read_bytes() == content
    return message


@pytest.mark.parametrize(("content", "what"), WRONG_LINES.values(), ids=WRONG_LINES)
def test_a_line_that_is_no_pvalue_is_refused(tmp_path, content, what):
    message = refused(tmp_path / "run.jsonl", WHOLE + content)
    assert what in message
    assert "line 4: " in message
    assert message.endswith("; remove that line, and its result is computed again.")


WRONG_HEADERS = {
    "a number": (HEADER | {"data": 1}, "data is 1, expected a text"),
    "a field too few": ({"version": "1", "data": "d1"}, "settings is missing"),
    "the header of a screen": (
        {"version": "1", "data": "d1", "n_resamples": 99, "seed": 0},
        "unknown field 'n_resamples'",
    ),
}


@pytest.mark.parametrize(("header", "what"), WRONG_HEADERS.values(), ids=WRONG_HEADERS)
def test_a_header_of_another_kind_is_refused(tmp_path, header, what):
    first = json.dumps({"chsic checkpoint": header}).encode() + b"\n"
    message = refused(tmp_path / "run.jsonl", first + WHOLE[len(FIRST) :])
    assert f"line 1: {what}" in message
    assert message.endswith("; name another file, or remove this one and start anew.")


@pytest.mark.parametrize("name", HEADER)
def test_other_data_and_settings_are_refused(tmp_path, name):
    other = json.dumps({"chsic checkpoint": HEADER | {name: "other"}}).encode() + b"\n"
    message = refused(tmp_path / "run.jsonl", other)
    assert f"is of a run with other {name}; name another file, or remove it." in message


@pytest.mark.parametrize("content", [b"{}", b"[1, 2]", b"3", b'{"0;1": 0.5}', b"\0", b"\n"])
def test_another_file_is_refused(tmp_path, content):
    assert "is not a checkpoint of chsic" in refused(tmp_path / "run.json", content)


def test_folders_pipes_and_other_things_are_not_opened(tmp_path):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match=r"cache_path: .*folder is a folder; name a file"):
        PValueCheckpoint(tmp_path / "folder", HEADER)
    with pytest.raises(ValueError, match=r"cache_path: .*pipe is not a regular file"):
        PValueCheckpoint(tmp_path / "pipe", HEADER)
    with pytest.raises(TypeError, match="cache_path: expected the name of a file, got 3"):
        PValueCheckpoint(3, HEADER)


def test_what_was_saved_is_read(tmp_path):
    path = tmp_path / "new" / "run.jsonl"
    file = PValueCheckpoint(path, HEADER)
    assert path.read_bytes() == FIRST
    file.pvalues.update(PVALUES)
    file.save()
    assert path.read_bytes() == WHOLE
    assert PValueCheckpoint(path, HEADER).pvalues == PVALUES


def test_an_unfinished_line_is_dropped(tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_bytes(WHOLE[:-5])
    assert PValueCheckpoint(path, HEADER).pvalues == {"0;1": 0.5}
    assert path.read_bytes() == FIRST + line("0;1", 0.5)


def test_saving_takes_a_small_share_of_the_time(tmp_path, monkeypatch):
    clock = [1_000.0]
    monkeypatch.setattr(pvalue_checkpoint.time, "monotonic", lambda: clock[0])
    save = Checkpoint.__exit__

    def slow(self, *arguments):
        clock[0] += 2.0
        save(self, *arguments)

    monkeypatch.setattr(Checkpoint, "__exit__", slow)
    path = tmp_path / "run.jsonl"
    file = PValueCheckpoint(path, HEADER)
    saved = []
    for k in range(100):
        clock[0] += 1.0
        file.pvalues[f"0;{k + 1}"] = 0.5
        before = path.stat().st_size
        file.save_at_times()
        if path.stat().st_size > before:
            saved.append(k)
    assert saved == [40, 81]  # 2 seconds are 5 percent of 40
    file.save()
    assert len(path.read_bytes().splitlines()) == 1 + 100


def save_some(path, number):
    file = PValueCheckpoint(path, HEADER)
    for k in range(20):
        file.pvalues[f"{number % 2};{k + 2}"] = 0.5  # two of them have the same
        file.save()


def test_processes_share_a_file(tmp_path):
    path = tmp_path / "run.jsonl"
    several = [multiprocessing.Process(target=save_some, args=(path, k)) for k in range(4)]
    for process in several:
        process.start()
    for process in several:
        process.join()
        assert process.exitcode == 0
    expected = {f"{number};{k + 2}" for number in range(2) for k in range(20)}
    assert PValueCheckpoint(path, HEADER).pvalues.keys() == expected
    assert len(path.read_bytes().splitlines()) == 1 + 40


def test_pvalues_of_another_process_are_taken_when_saving(tmp_path):
    path = tmp_path / "run.jsonl"
    one, other = PValueCheckpoint(path, HEADER), PValueCheckpoint(path, HEADER)
    one.pvalues["0;1"] = 0.25
    one.save()
    other.pvalues["0;2"] = 0.75
    other.save()
    assert other.pvalues == {"0;1": 0.25, "0;2": 0.75}


def test_a_file_in_use_is_waited_for_and_then_refused(tmp_path, monkeypatch):
    path = tmp_path / "run.jsonl"
    monkeypatch.setattr(pvalue_checkpoint, "PATIENCE", 0.05)
    with (
        Checkpoint("resume", path, HEADER, pvalue_checkpoint.PValueLines()),
        pytest.raises(ValueError, match="cache_path: another run is using"),
    ):
        PValueCheckpoint(path, HEADER)


def test_the_file_stays_the_same_when_the_folder_changes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = PValueCheckpoint("run.jsonl", HEADER)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    file.pvalues.update(PVALUES)
    file.save()
    assert (tmp_path / "run.jsonl").read_bytes() == WHOLE
