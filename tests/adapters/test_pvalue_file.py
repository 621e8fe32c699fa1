"""A file of p-values is input: what is no p-value of some columns is refused, and stays there."""

import json
import os

import pytest

from chsic.adapters.pvalue_file import PValueFile

BELONGS_TO = {"method_name": ("chsic", "another test"), "data_hash": ("d1", "other data")}
WHOLE = {"method_name": "chsic", "data_hash": "d1", "0;1": 0.5, "0.1;2|3.10": 1}

WRONG = {
    "NaN": (WHOLE | {"0;2": float("nan")}, "NaN is not a finite number"),
    "infinity": (WHOLE | {"0;2": float("inf")}, "Infinity is not a finite number"),
    "a negative number": (WHOLE | {"0;2": -5}, "'0;2' is -5, expected a number from 0 to 1"),
    "a number above 1": (WHOLE | {"0;2": 1.5}, "'0;2' is 1.5, expected"),
    "a boolean": (WHOLE | {"0;2": True}, "'0;2' is true, expected"),
    "null": (WHOLE | {"0;2": None}, "'0;2' is null, expected"),
    "text": (WHOLE | {"0;2": "0.5"}, "'0;2' is '0.5', expected"),
    "a list": (WHOLE | {"0;2": [0.5]}, "'0;2' is a list, expected"),
    "a key of no columns": (WHOLE | {"x\x1b[31m": 0.5}, r"'x\x1b[31m' names no columns"),
    "a name that is a number": (WHOLE | {"data_hash": 1}, "data_hash is 1, expected a text"),
    "a name that is missing": ({"method_name": "chsic"}, "data_hash is null, expected a text"),
    "pairs": ([*WHOLE.items()], "expected an object, got a list"),
    "a number too large": (b'{"0;1": 1e400}', "1e400 is too large"),
    "a number of many digits": (b'{"0;1": ' + b"9" * 10_000 + b"}", "is too large"),
    "a key twice": (b'{"0;1": 0.1, "0;1": 0.2}', "'0;1' is there twice"),
    "deep nesting": (b"[" * 100_000, "nested too deeply"),
    "not UTF-8": (b'{"\xff": 1}', "not UTF-8 text"),
    "NUL": (b"\0", "not JSON"),
    "nothing": (b"", "not JSON"),
}


@pytest.mark.parametrize(("content", "what"), WRONG.values(), ids=WRONG)
def test_what_is_no_pvalue_is_refused(tmp_path, content, what):
    path = tmp_path / "cache.json"
    text = content if isinstance(content, bytes) else json.dumps(content).encode()
    path.write_bytes(text)
    with pytest.raises(ValueError, match="is not a whole file of p-values: ") as caught:
        PValueFile(path, BELONGS_TO)
    message = str(caught.value)
    assert what in message
    assert str(path) in message
    assert message.endswith("; delete it, or name another file.")
    assert message.isprintable()
    assert path.read_bytes() == text


def test_folders_and_pipes_are_not_opened(tmp_path):
    (tmp_path / "folder.json").mkdir()
    os.mkfifo(tmp_path / "pipe.json")
    for name in ("folder.json", "pipe.json"):
        with pytest.raises(ValueError, match="not a regular file"):
            PValueFile(tmp_path / name, BELONGS_TO)


def test_what_was_saved_is_read(tmp_path):
    path = tmp_path / "cache.json"
    file = PValueFile(path, BELONGS_TO)
    file.values.update(WHOLE)
    file.save()
    assert PValueFile(path, BELONGS_TO).values == WHOLE
