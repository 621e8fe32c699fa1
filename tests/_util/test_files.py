"""Outputs: whole or not at all, into what a name leads to, and never in the place of an input."""

import errno
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import chsic
from chsic._util.csv_cells import inert, original
from chsic._util.files import is_stream, require_outputs, write_rows, write_whole
from chsic.data.table import open_table

ROWS = "".join(f"{k * 37 % 101},{k * 53 % 97},{k * 29 % 89}\n" for k in range(60))
DATA = f"a,b,c\n{ROWS}"
QUESTION = ["--x", "a", "--y", "b", "--given", "c", "--resamples", "99"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with data under three names, where commands run."""
    (tmp_path / "data.csv").write_text(DATA)
    (tmp_path / "linked.csv").symlink_to("data.csv")
    os.link(tmp_path / "data.csv", tmp_path / "hard.csv")
    (tmp_path / "deep").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(path, text):
    write_whole(Path(path), lambda temporary: temporary.write_text(text))


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "kept.txt"
    path.write_text("old")

    def fail(temporary):
        temporary.write_text("half")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_whole(path, fail)
    assert path.read_text() == "old"
    with pytest.raises(RuntimeError):
        write_whole(tmp_path / "new" / "folder" / "file.txt", fail)
    assert list(tmp_path.iterdir()) == [path]
    put(path, "new")
    assert path.read_text() == "new"


def test_permissions_of_a_file_that_is_replaced_stay(tmp_path):
    path = tmp_path / "private.txt"
    path.write_text("old")
    path.chmod(0o600)
    put(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    before = os.umask(0o027)
    put(tmp_path / "new.txt", "new")
    os.umask(before)
    assert stat.S_IMODE((tmp_path / "new.txt").stat().st_mode) == 0o640


def test_links_stay_and_what_they_point_to_is_replaced(tmp_path):
    target, link, dangling = (tmp_path / name for name in ("target", "link", "dangling"))
    target.write_text("old")
    link.symlink_to(target)
    before = target.stat().st_ino
    put(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert target.stat().st_ino != before, "replaced at once, not written over"
    dangling.symlink_to("folder/made")
    put(dangling, "made")
    assert dangling.is_symlink()
    assert (tmp_path / "folder" / "made").read_text() == "made"
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "dangling",
        "folder",
        "link",
        "target",
    ]


def device(tmp_path, name):
    """A device to write to; root, who could replace that of the machine, gets one of its own."""
    real = Path("/dev") / name
    if os.geteuid():
        return real
    try:
        os.mknod(tmp_path / name, 0o666 | stat.S_IFCHR, real.stat().st_rdev)
        (tmp_path / name).open("ab").close()
    except OSError:
        pytest.skip("devices cannot be made here")
    return tmp_path / name


def test_pipes_are_written_to(tmp_path):
    fifo, got = tmp_path / "fifo", []
    os.mkfifo(fifo)
    reader = threading.Thread(target=lambda: got.append(fifo.read_text()), daemon=True)
    reader.start()
    put(fifo, "through")
    reader.join(timeout=20)
    assert got == ["through"]
    assert stat.S_ISFIFO(fifo.stat().st_mode)
    assert list(tmp_path.iterdir()) == [fifo]


@pytest.mark.parametrize("linked", [False, True])
def test_devices_are_written_to(tmp_path, linked):
    null, full = (device(tmp_path, name) for name in ("null", "full"))
    before = sorted(tmp_path.iterdir())
    if linked:
        (tmp_path / "link").symlink_to(null)
    put(tmp_path / "link" if linked else null, "nowhere")
    assert stat.S_ISCHR(null.stat().st_mode)
    (tmp_path / "link").unlink(missing_ok=True)
    with pytest.raises(OSError, match=rf"No space left on device: '{full}'") as raised:
        put(full, "x")
    assert raised.value.errno == errno.ENOSPC
    assert stat.S_ISCHR(full.stat().st_mode)
    assert sorted(tmp_path.iterdir()) == before


def test_a_file_that_output_goes_to_already_is_added_to(tmp_path):
    """Replaced, it would lose what is printed later."""
    code = (
        "import pathlib, sys; from chsic._util.files import write_whole; print('first');"
        "write_whole(pathlib.Path(sys.argv[1]), lambda file: file.write_text('second\\n'));"
        "print('third')"
    )
    path, link = tmp_path / "all.txt", tmp_path / "stdout"
    link.symlink_to("/proc/self/fd/1")  # as /dev/stdout is
    for name in (link, path):
        with path.open("w") as stream:
            subprocess.run([sys.executable, "-c", code, name], stdout=stream, check=True)
        assert path.read_text() == "first\nsecond\nthird\n"


COMMANDS = {
    "screen": ["screen", "data.csv", "--given", "c", "--resamples", "99"],
    "report": ["report", "data.csv", *QUESTION],
    "alpha": ["alpha", "data.csv", *QUESTION],
}


@pytest.mark.parametrize("name", ["data.csv", "linked.csv", "hard.csv", "deep/../data.csv", None])
@pytest.mark.parametrize("kind", COMMANDS)
def test_no_command_overwrites_what_it_reads(folder, command, kind, name):
    name = name or str(folder / "data.csv")
    if kind == "alpha":  # which draws
        (folder / "picture.png").symlink_to(name)
        name = "picture.png"
    status, out, err = command(*COMMANDS[kind], "--out", name)
    assert (status, out) == (2, "")
    assert (
        err == f"chsic: --out: {name} is the file that the data are read from; name another one.\n"
    )
    assert (folder / "data.csv").read_text() == DATA


def test_other_files_of_a_screen_are_no_input_either(folder, command, monkeypatch):
    screen = COMMANDS["screen"]
    status, _, err = command(*screen, "--resume", "linked.csv")
    assert (status, "--resume: linked.csv is the file that the data" in err) == (2, True)
    for again in ("run.jsonl", "deep/../run.jsonl"):
        status, _, err = command(*screen, "--out", again, "--resume", "run.jsonl")
        assert (status, "--resume: run.jsonl is the file of --out" in err) == (2, True)
    status, _, err = command(*screen, "--resume", "/dev/null")
    assert (status, "--resume: /dev/null cannot be read again" in err) == (2, True)
    with open("data.csv") as stream:
        monkeypatch.setattr(
            "chsic.show.cli.source_of", lambda file: stream.fileno()
        )  # as "< data.csv"
        status, _, err = command(*screen, "--out", "hard.csv")
    assert (status, "--out: hard.csv is the file that the data" in err) == (2, True)
    assert not (folder / "run.jsonl").exists()


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("data.csv/x.png", "cannot be written: Not a directory"),
        ("/proc/x.png", "cannot be written: /proc: "),
        ("/proc/new/x.png", "cannot be written: /proc: "),
        ("folder.png", "is a folder; name a file"),
        ("loop.png", "cannot be written: Too many levels of symbolic links"),
        (f"{'n' * 300}.png", "cannot be written: File name too long"),
    ],
)
@pytest.mark.parametrize("kind", COMMANDS)
def test_what_cannot_be_written_is_refused_before_the_work(
    folder, command, monkeypatch, kind, path, message
):
    (folder / "folder.png").mkdir()
    (folder / "loop.png").symlink_to("loop.png")
    before = sorted(folder.rglob("*"))
    for work in ("chsic.show.cli.open_file", "chsic.show.cli.chsic"):
        monkeypatch.setattr(work, None)
    status, out, err = command(*COMMANDS[kind], "--out", path)
    assert (status, out) == (2, "")
    assert err.startswith(f"chsic: --out: {path} {message}")
    assert err.count("\n") == 1
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("kind", ["figure1", "demo"])
def test_commands_that_write_folders_look_at_all_their_files_first(
    folder, command, monkeypatch, kind
):
    for work in ("simulate", "compare"):
        monkeypatch.setattr(f"chsic.show.cli_paper.{work}", None)
    (folder / "taken" / "figure1.csv").mkdir(parents=True)
    for out, message in [
        ("data.csv", "data.csv is a file; name a folder"),
        ("taken", "taken/figure1.csv is a folder; name a file"),
        ("/proc/new", "/proc/new/figure1.png cannot be written"),
        ("data.csv/deep", "data.csv/deep/figure1.png cannot be written: Not a directory"),
    ]:
        status, _, err = command(kind, "--out", out)
        assert (status, err.partition("--out: ")[2][: len(message)]) == (2, message)
    if kind == "demo":
        (folder / "shown" / "report.html").mkdir(parents=True)
        assert "report.html is a folder" in command(kind, "--out", "shown")[2]


def test_a_report_from_python_is_no_source_and_can_be_written(folder):
    x, y = np.random.default_rng(0).normal(size=(2, 50))
    for path in ("data.csv", Path("linked.csv"), "hard.csv"):
        with pytest.raises(ValueError, match="is the file that the data are read from"):
            chsic.write_report(path, x, y, source="data.csv")
    for path in ("data.csv/page.html", "/proc/page.html"):
        with pytest.raises(ValueError, match=r"path: .*cannot be written"):
            chsic.write_report(path, x, y)
    assert (folder / "data.csv").read_text() == DATA
    require_outputs([("path", "new.html")], ["new.html", "no\0file"])  # which are not there


def test_pictures_go_where_they_are_told(tmp_path):
    figure = pytest.importorskip("matplotlib.figure").Figure(figsize=(1, 1))
    chsic.plot.save(figure, str(tmp_path / "plain"))
    (tmp_path / "drawn.svg").symlink_to("elsewhere")
    chsic.plot.save(figure, tmp_path / "drawn.svg")
    assert (tmp_path / "plain").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "elsewhere").read_bytes().startswith(b"<?xml")
    assert len(list(tmp_path.iterdir())) == 3
    with pytest.raises(ValueError, match=r"path: .* is a folder"):
        chsic.plot.save(figure, tmp_path)


def test_no_cell_of_text_is_a_formula_and_all_are_read_again(tmp_path):
    texts = ["=1+2", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "'=1", "''-", "'x", "a=b", "", "'"]
    path = tmp_path / "cells.csv"
    write_rows(path, ["=name", "number"], [{"=name": t, "number": -0.5} for t in texts])
    with path.open(newline="", encoding="utf-8") as file:
        lines = file.read().split("\r\n")[1:-1]
    assert all(line.lstrip('"')[0] not in "=+-@\t\r" for line in lines)
    table = open_table(path)
    assert table.names == ("=name", "number")
    frame = table.read(["=name", "number"])
    assert frame["=name"].to_list() == [text or None for text in texts]
    assert frame["number"].to_list() == [-0.5] * len(texts)
    assert [original(inert(text)) for text in texts] == texts


def test_a_screen_of_formulas_writes_none_and_is_read_again(folder, command):
    names = ["=cmd|' /C calc'!A0", "-b", "@c"]
    pl.DataFrame(dict(zip(names, pl.read_csv("data.csv"), strict=True))).write_csv("formulas.csv")
    status, _, err = command("screen", "formulas.csv", "--out", "pairs.csv", "--resamples", "99")
    assert (status, err) == (0, "")
    assert all(line[0] in "x'" for line in (folder / "pairs.csv").read_text().splitlines())
    pairs = open_table("pairs.csv").read(["x", "y", "coefficient"])
    assert pairs["x"].to_list() == [names[0], names[0], names[1]]
    assert pairs["y"].to_list() == [names[1], names[2], names[2]]
    assert pairs["coefficient"].dtype == pl.Float64


def test_a_device_is_a_stream_and_a_file_is_none(tmp_path):
    (tmp_path / "file").write_text("")
    for path, expected in [("file", False), ("missing", False), (".", False), ("/dev/null", True)]:
        assert is_stream(tmp_path / path) == expected
