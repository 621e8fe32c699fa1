"""The page of licences names every dependency, and what finufft's wheel contains."""

import json
import re
import tomllib
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]


def wanted():
    """Return what pyproject.toml asks for, by group."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = {"core": project["dependencies"], **project["optional-dependencies"]}
    return {
        group: {canonicalize_name(Requirement(text).name) for text in texts} - {"chsic"}
        for group, texts in groups.items()
    }


def named(table):
    """Return the packages in a table of the page."""
    rows = table.splitlines()[2:]
    return {canonicalize_name(row[2:].split()[0]) for row in rows if row.startswith("| ")}


def test_the_page_names_every_dependency(tables):
    page = (ROOT / "docs" / "licences.md").read_text(encoding="utf-8")
    shown = re.findall(r"{results} licences (\w+)", page)
    assert shown == ["users", "developers"]
    users, developers = (named(tables.licences(readers)) for readers in shown)
    of = wanted()
    assert len(of) > 5
    for group, names in of.items():
        assert names <= (users | developers if group in tables.FOR_DEVELOPERS else users), group
    assert not users & developers


def test_every_row_tells_a_licence(tables):
    rows = json.loads(tables.LICENCES.read_text(encoding="utf-8"))["distributions"]
    assert [row["name"] for row in rows if row["licence"] in ("", "not told")] == []


def test_the_page_tells_what_the_wheel_of_finufft_contains(tables):
    [row] = [row for row in tables.licences("users").splitlines() if row.startswith("| finufft ")]
    assert "Apache" in row
    assert re.search(r"FFTW [0-9.]+ \(GPL-2.0-or-later\)", row)


def test_the_list_is_what_is_installed(tables, licences):
    """Of the core, which every environment has, if maybe in other versions."""
    listed = {
        canonicalize_name(row["name"]): row
        for row in json.loads(tables.LICENCES.read_text(encoding="utf-8"))["distributions"]
    }
    found = licences.needed_by({"core": licences.groups()["core"]})
    assert wanted()["core"] < {*found}
    assert {*found} == {name for name, row in listed.items() if "core" in row["groups"]}
    for name in found:
        installed, row = metadata.distribution(name), listed[name]
        if installed.version == row["version"]:
            assert licences.licence_of(installed) == row["licence"]


def test_fftw_is_seen_wherever_it_is_linked_into(licences, tmp_path):
    (tmp_path / "a.libs").mkdir()
    (tmp_path / "a.libs" / "libgomp-1a2b.so.1.0.0").write_bytes(b"\x7fELF")
    (tmp_path / "a.so").write_bytes(b"\x7fELF\0(fftw-3.3.10 fftw_wisdom\0")
    (tmp_path / "a.py").write_bytes(b"# fftw-3.3.1")

    class Installed(metadata.Distribution):
        def read_text(self, filename):
            names = ("a.libs/libgomp-1a2b.so.1.0.0", "a.so", "a.py")
            return "".join(f"{name},,\n" for name in names) if filename == "RECORD" else None

        def locate_file(self, path):
            return tmp_path / path

    assert sorted(licences.inside(Installed())) == [
        "FFTW 3.3.10 (GPL-2.0-or-later)",
        f"libgomp ({licences.GCC})",
    ]
