"""Show on README and pages what Python and commands print now: ``python tools/show_answers.py``.

For changes that are meant to change answers; the difference then shows in the commit. Of commands,
a page may show the beginning, and ``...``. Python whose output it shortens is listed, to be mended
by hand. Examples of libraries that are not installed are left out, as in the tests.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from conftest import collect_ignore  # noqa: E402

LONG = re.compile(r"-?\d+\.\d{9,}(?:e[-+]\d+)?")  # as JSON has them
WIDTH = 100
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
COMMAND = re.compile(
    r"^( *)\$ chsic (?P<words>.*)\n(?P<shown>(?:\1(?!```).*\n|\n(?=\1 *\S))*)", re.M
)


class Outdated(doctest.DocTestRunner):
    """Collects examples that print something else than the page shows."""

    def __init__(self) -> None:
        super().__init__(verbose=False, optionflags=FLAGS)
        self.examples: list[tuple[doctest.Example, str]] = []

    def report_failure(self, out, test, example, got):
        """Note the example."""
        self.examples.append((example, got))

    def report_unexpected_exception(self, out, test, example, exc_info):
        """Let the page be mended by hand."""
        raise exc_info[1]


def with_examples(text: str, name: str) -> str:
    """Return a page with what its examples print."""
    runner = Outdated()
    test = doctest.DocTestParser().get_doctest(text, {}, name, name, 0)
    with contextlib.redirect_stdout(io.StringIO()):
        runner.run(test, clear_globs=True)
    lines = text.splitlines(keepends=True)
    for example, got in reversed(runner.examples):
        if "..." in example.want:
            print(f"{name}: mend by hand:\n{example.source}{got}")
            continue
        start = example.lineno + example.source.count("\n")
        margin = " " * example.indent
        wrapped = [part for line in got.splitlines() for part in textwrap.wrap(line, WIDTH) or [""]]
        shown = [f"{margin}{line}\n" if line else "\n" for line in wrapped]
        lines[start : start + example.want.count("\n")] = shown
    return "".join(lines)


def with_commands(text: str, name: str) -> str:
    """Return a page with what its commands print."""

    def anew(match: re.Match[str]) -> str:
        margin, words, shown = match[1], match["words"], match["shown"].splitlines()
        if not any(shown):
            return match[0]
        printed = output_of(shlex.split(words))
        if shown[-1].strip() == "...":
            printed = [*printed[: len(shown) - 1], "..."]
        elif margin:  # README shows the beginning
            printed = printed[: len(shown)]
        printed = [LONG.sub(lambda number: f"{float(number[0]):.4g}", line) for line in printed]
        new = "".join(f"{margin}{line}".rstrip() + "\n" for line in printed)
        return f"{margin}$ chsic {words}\n{new}"

    return COMMAND.sub(anew, text)


def output_of(words: list[str]) -> list[str]:
    """Run a command beside the example's file, and return the lines it prints."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(ROOT / "src" / "chsic" / "datasets" / "summer.csv", folder)
        Path(folder, "src").symlink_to(ROOT / "src")
        command = [sys.executable, "-m", "chsic", *words]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def pages() -> list[Path]:
    """Return README and pages whose libraries are installed."""
    every = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    made = {"gallery", "generated"}
    return [
        path
        for path in every
        if not made & {*path.parts} and str(path.relative_to(ROOT)) not in collect_ignore
    ]


if __name__ == "__main__":
    for path in pages():
        before = path.read_text(encoding="utf-8")
        after = with_commands(with_examples(before, path.name), path.name)
        if after != before:
            path.write_text(after, encoding="utf-8")
            print(path.relative_to(ROOT))
