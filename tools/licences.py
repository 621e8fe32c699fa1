"""List the licences of everything that ``chsic`` installs, from what is installed here.

Run by ``make licences``, it writes ``docs/licences.json``, from which a page of the documentation
is made. What metadata say of a wheel need not hold for the libraries inside it: shared libraries
are named, and compiled files are searched for FFTW, which can be linked into others.
"""

from __future__ import annotations

import json
import platform
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
RESULT = ROOT / "docs" / "licences.json"
CORE = "core"

# Of libraries inside wheels, as the licence files of numpy and the manual of FFTW tell them; for
# others see the licence files in their wheels.
GCC = "GPL-3.0-or-later WITH GCC-exception-3.1"
INSIDE = {
    "libgfortran": GCC,
    "libgomp": GCC,
    "libquadmath": "LGPL-2.1-or-later",
    "libscipy_openblas": "BSD-3-Clause",
}
FFTW = re.compile(rb"fftw-(\d+(?:\.\d+)+)")
OF_FFTW = "GPL-2.0-or-later"
COMPILED = {".so", ".dylib", ".dll", ".pyd", ".a"}


def groups() -> dict[str, list[Requirement]]:
    """Return what ``pyproject.toml`` asks for: the core, and every extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = {CORE: project["dependencies"], **project["optional-dependencies"]}
    return {group: [Requirement(text) for text in texts] for group, texts in listed.items()}


def needed_by(wanted: dict[str, list[Requirement]]) -> dict[str, dict[str, set[str]]]:
    """Return for every distribution the groups that need it, and who asks for it."""
    found: dict[str, dict[str, set[str]]] = {}

    def add(requirement: Requirement, group: str, asking: str) -> None:
        name = canonicalize_name(requirement.name)
        if name == "chsic":
            for extra in requirement.extras:
                for one in wanted[extra]:
                    add(one, group, extra)
            return
        entry = found.setdefault(name, {"groups": set(), "asked for by": set()})
        entry["asked for by"].add(asking)
        if group in entry["groups"] and not requirement.extras:
            return
        entry["groups"].add(group)
        for text in metadata.requires(name) or ():
            one = Requirement(text)
            extras = requirement.extras or {""}
            if one.marker is None or any(one.marker.evaluate({"extra": e}) for e in extras):
                add(one, group, name)

    for group, requirements in wanted.items():
        for requirement in requirements:
            add(requirement, group, group)
    return found


def licence_of(distribution: metadata.Distribution) -> str:
    """Return what metadata say: an expression, a short text, or classifiers."""
    about = distribution.metadata
    for field in ("License-Expression", "License"):
        text = (about.get(field) or "").strip()
        if text and "\n" not in text and len(text) < 80 and text != "UNKNOWN":
            return text
    named = [text for text in about.get_all("Classifier") or () if text.startswith("License ::")]
    return ", ".join(text.rpartition(" :: ")[2] for text in named) or "not told"


def inside(distribution: metadata.Distribution) -> Iterator[str]:
    """Yield the libraries in a wheel, with their licences where they are known here."""
    for file in distribution.files or ():
        if COMPILED & {*file.suffixes} and Path(str(distribution.locate_file(file))).is_file():
            content = Path(str(distribution.locate_file(file))).read_bytes()
            for version in FFTW.findall(content):
                yield f"FFTW {version.decode()} ({OF_FFTW})"
            if any(part.endswith((".libs", ".dylibs")) for part in file.parts):
                name = re.split(r"(?:64_)?[-.]", file.name)[0]
                yield f"{name} ({INSIDE[name]})" if name in INSIDE else name


def rows() -> list[dict[str, object]]:
    listed = []
    for name, entry in sorted(needed_by(groups()).items()):
        distribution = metadata.distribution(name)
        listed.append(
            {
                "name": distribution.name,
                "version": distribution.version,
                "licence": licence_of(distribution),
                "inside": sorted({*inside(distribution)}),
                **{what: sorted(names) for what, names in entry.items()},
            }
        )
    return listed


def main() -> None:
    try:
        listed = rows()
    except metadata.PackageNotFoundError as error:
        sys.exit(f"{error.name} is not installed; make licences installs all extras first")
    where = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    made = {"wheels for": where, "distributions": listed}
    RESULT.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    print(RESULT.relative_to(ROOT), len(listed))


if __name__ == "__main__":
    main()
