"""What reaches a terminal: nothing that steers it, and no line that a name made up."""

import ast
import io
import json
import re
import sys
import warnings
from pathlib import Path

import polars as pl
import pytest

import chsic
from chsic.show.terminal import say

# Clears the screen, sets the title, C1's own introducer, turns the direction, ends the line.
HARM = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202eevil\u202c\u2028\u200b\r\nchsic: all is well\n\x7f\x08"
STEERING = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u2028\u2029\u202a-\u202e\u2066-\u2069]")
ROWS = "".join(f"{k * 37 % 101},{k * 53 % 97},{k * 29 % 89},{k % 3}\n" for k in range(60))


def require_harmless(*texts):
    for text in texts:
        assert not STEERING.search(text), ascii(text)
        assert not re.search(r"^chsic: all is well", text, re.MULTILINE), text


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Data whose file, columns, levels and checkpoint are all called as badly as can be."""
    monkeypatch.chdir(tmp_path)
    frame = pl.read_csv(f"a,b,c,d\n{ROWS}".encode())
    level = pl.Series([f"{HARM}{k}" for k in range(3)])
    frame = frame.with_columns(d=level.gather(frame["d"]), e=pl.lit(HARM))
    frame = frame.rename({name: name + HARM for name in frame.columns})
    frame.write_csv(tmp_path / "harm.csv", include_header=True)
    (tmp_path / ("f" + HARM.replace("/", ""))).write_bytes((tmp_path / "harm.csv").read_bytes())
    return tmp_path


def names(letters):
    return [letter + HARM for letter in letters]


def test_results_steer_no_terminal(folder, command):
    a, b, c, d = names("abcd")
    file = "f" + HARM
    for arguments in (
        ["test", file, "--x", a, "--y", b, "--given", c, "--given", d],
        ["measure", file, "--x", a, "--y", b, "--given", c],
        ["alpha", file, "--x", a, "--y", b, "--given", c, "--alphas", "4", "--bandwidths", "1",
         "--out", f"{HARM}.png"],
        ["report", file, "--x", a, "--y", b, "--out", f"{HARM}.html"],
        ["screen", file, "--given", c, "--resume", "run.jsonl"],
    ):  # fmt: skip
        few = [] if arguments[0] == "measure" else ["--resamples", 99]
        status, out, err = command(*arguments, *few)
        assert status == 0, err
        assert out
        require_harmless(out, err)
    assert "skipped e" in out
    status, out, _ = command("test", file, "--x", a, "--y", b, "--json", "--resamples", 99)
    assert json.loads(out)["names"]["x"] == [a]
    require_harmless(out)


def test_texts_of_a_checkpoint_steer_no_terminal(folder, command):
    """As they were written by whoever had the file before."""
    arguments = ["screen", "harm.csv", "--columns", "a" + HARM, "--columns", "b" + HARM,
                 "--resamples", "99", "--resume", "run.jsonl"]  # fmt: skip
    assert command(*arguments)[0] == 0
    head, line = Path("run.jsonl").read_text().splitlines()
    told = json.loads(line)
    failed = {"x": told["x"], "y": told["y"], "failed": HARM}
    for changed in (told | {"warnings": [HARM]}, told | {"x": HARM}, failed):
        Path("run.jsonl").write_text(f"{head}\n{json.dumps(changed)}\n")
        status, out, err = command(*arguments)
        assert status == 2
        assert "run.jsonl, line 2" in err
        require_harmless(out, err)
    Path("run.jsonl").write_text(HARM)
    require_harmless(*command(*arguments)[1:])


@pytest.mark.parametrize(
    "arguments",
    [
        ["test", "no" + HARM, "--x", "a", "--y", "b"],
        ["test", "harm.csv", "--x", "nothing" + HARM, "--y", "b"],
        ["test", "harm.csv", "--x", "e" + HARM, "--y", "a" + HARM],
        ["test", "harm.csv", "--x", "a" + HARM, "--y", "b" + HARM, "--numbers", "d" + HARM],
        ["test", "wide.csv", "--x", "a", "--y", "b"],
        ["test", "quotes.csv", "--x", "a", "--y", "b"],
        ["test", "harm.csv", "--nonsense" + HARM],
        ["test", "harm.csv", "--x", "a", "--y", "b", "--nan-policy", HARM],
        ["screen", "harm.csv", "--out", "harm.csv/" + HARM],
        ["screen", "harm.csv", "--resume", "harm.csv"],
        ["nonsense" + HARM],
    ],
)
def test_errors_are_one_harmless_line(folder, command, arguments):
    (folder / "wide.csv").write_text(f"a,b\n1,2,{HARM.strip()}\n")
    (folder / "quotes.csv").write_text(f'a,b\n1,2\n"{HARM.strip()},3\n4,5\n')
    status, out, err = command(*arguments)
    assert (status, out) == (2, "")
    assert err.startswith("chsic: ")
    assert err.count("\n") == 1
    assert len(err) < 2_100
    require_harmless(err)


def test_letters_that_an_encoding_lacks_are_escaped(folder, command, monkeypatch):
    (folder / "data.csv").write_text(f"größe,b,c,d\n{ROWS}", encoding="utf-8")
    printed = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(printed, encoding="ascii"))
    assert command("test", "data.csv", "--x", "größe", "--y", "b", "--resamples", 99)[0] == 0
    assert b"Is gr\\xf6\\xdfe related to b?" in printed.getvalue()


def test_output_that_cannot_be_written_is_one_line(folder, command, monkeypatch):
    (folder / "data.csv").write_text(f"a,b,c,d\n{ROWS}")
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        status, _, err = command("test", "data.csv", "--x", "a", "--y", "b", "--resamples", 99)
    assert err == "chsic: standard output: No space left on device\n"
    assert status == 2


def test_warnings_and_defects_are_one_line_too(command, monkeypatch):
    def fail(*_, **__):
        warnings.warn(f"careful{HARM}", stacklevel=1)
        raise ZeroDivisionError(f"oh{HARM}")

    monkeypatch.setattr("chsic.show.cli_paper.simulate", fail)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        status, _, err = command("figure1", "--out", "missing")
    assert status == 2
    assert err.count("\n") == 2
    assert err.startswith("chsic: careful")
    assert "\nchsic: ZeroDivisionError at test_terminal.py:" in err
    assert not Path("missing").exists()
    require_harmless(err.replace("\n", " "))


def test_what_is_said_is_seen(capsys):
    say("one\ntwo", "three", error=True)
    assert capsys.readouterr().err == "one two\nthree\n"


def test_one_module_prints():
    """So that there is one place where letters that steer are taken off."""
    package = Path(chsic.__file__).parent
    for path in package.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        prints = {name for name in called if re.search(r"^print$|\becho$|\.std\w+\.write$", name)}
        imports = {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
        if path.stem == "terminal":
            assert prints == {"print"}
        else:
            assert not prints, path
            # Of all that rich draws, the progress bar has no text but our own.
            assert path.stem == "progress" or "rich.console" not in imports, path
