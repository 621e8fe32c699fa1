"""Imports only point back along the flow of data, and the public names are these."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import chsic

PACKAGE = Path(chsic.__file__).parent

# The way of the data; a module may import its own package and those before it.
PACKAGES = [
    "_util",
    "data",
    "datasets",
    "kernels",
    "pairs",
    "measure",
    "inference",
    "many",
    "show",
    "adapters",
]


def imports_of(path):
    """Packages of chsic that a file imports, at any depth of its code; "" is chsic itself."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [a.name for a in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide the direction"
            # "from chsic import x" imports package x, or a name of chsic itself.
            names = [f"{node.module}.{a.name}" for a in node.names]
        else:
            continue
        for name in names:
            if name == "chsic" or name.startswith("chsic."):
                package = name.removeprefix("chsic").removeprefix(".").partition(".")[0]
                yield package if package in PACKAGES else ""


def wrong_imports(path, relative):
    here = PACKAGES.index(relative.parts[0])
    for there in imports_of(path):
        if there == "" or PACKAGES.index(there) > here:
            yield f"{relative} imports chsic.{there}"


# The command line calls what people call.
FROM_OUTSIDE = {"show/command_line/commands.py", "show/command_line/paper_commands.py"}


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*/*.py")), ids=lambda p: p.name)
def test_imports_point_back(path):
    relative = path.relative_to(PACKAGE)
    wrong = list(wrong_imports(path, relative))
    if relative.as_posix() in FROM_OUTSIDE:
        wrong = [one for one in wrong if not one.endswith("imports chsic.")]
    assert not wrong


def test_the_tree_holds_packages_only():
    files = {path.name for path in PACKAGE.iterdir() if path.is_file()}
    assert files == {"__init__.py", "__main__.py", "py.typed"}
    folders = {path.relative_to(PACKAGE).parts[0] for path in PACKAGE.rglob("*/*.py")}
    assert folders == set(PACKAGES)


def test_a_wrong_import_is_noticed(tmp_path):
    bad = tmp_path / "kernel.py"
    for line in (
        "from chsic.measure.measures import hsic",
        "import chsic.pairs.graph",
        "from chsic import measure",
        "import chsic",
        "from chsic import hsic",
        "def late():\n    from chsic.show.command_line.commands import app",
    ):
        bad.write_text(line)
        assert list(wrong_imports(bad, Path("kernels/kernel.py"))), line
    bad.write_text("from chsic._util.validate import Array\nimport numpy")
    assert not list(wrong_imports(bad, Path("kernels/kernel.py")))


def test_extras_are_imported_where_used():
    """Importing all public names must not need, or pay for, what is optional."""
    extras = (
        "jinja2",
        "matplotlib",
        "narwhals",
        "plotly",
        "polars",
        "rich",
        "typer",
    )
    code = (
        "import sys, chsic; [getattr(chsic, name) for name in chsic.__all__];"
        f"print([m for m in {extras} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_public_names():
    assert sorted(chsic.__all__) == [
        "AccuracyWarning",
        "Answer",
        "Calibration",
        "Discovery",
        "IndependenceResult",
        "PairGraph",
        "Screen",
        "ScreenedPair",
        "Sensitivity",
        "adapters",
        "block_pairs",
        "calibrate",
        "chsic",
        "chsic_test",
        "closest_pairs",
        "complete_pairs",
        "datasets",
        "explain",
        "hsic",
        "hsic_test",
        "kernels",
        "nearest_pairs",
        "paper",
        "plot",
        "random_pairs",
        "screen",
        "sensitivity",
        "write_report",
    ]
    for name in chsic.__all__:
        assert getattr(chsic, name).__doc__


PUBLIC_MODULES = [
    "data.table",
    "datasets.__init__",
    "datasets.models",
    "datasets.scenarios",
    "inference.independence",
    "kernels.kernel",
    "many.sensitivity",
    "many.calibration",
    "many.multiple_testing",
    "many.screen_result",
    "many.screening",
    "measure.comparison",
    "measure.figure1",
    "measure.measures",
    "measure.paper",
    "pairs.closest",
    "pairs.graph",
    "pairs.unconditional",
    "show.column_summary",
    "show.notebook",
    "show.pictures.differences",
    "show.pictures.figure1",
    "show.pictures.null",
    "show.pictures.profile",
    "show.pictures.screen",
    "show.pictures.sensitivity",
    "show.pictures.style",
    "show.plot.draw_differences",
    "show.plot.draw_figure1",
    "show.plot.draw_null",
    "show.plot.draw_profile",
    "show.plot.draw_screen",
    "show.plot.draw_sensitivity",
    "show.report.gather",
    "show.report.html_file",
    "show.report.page",
    "show.report.plotly_figures",
    "show.report.repeat",
    "show.sentences",
    "show.tables",
    "show.templates.__init__",
]


@pytest.mark.parametrize("name", PUBLIC_MODULES)
def test_every_public_function_has_an_example(name):
    """numpydoc with an example that runs: the doctests of the modules run with these tests."""
    path = PACKAGE / (name.replace(".", "/") + ".py")
    without = [
        node.name
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
        and not node.name.startswith("_")
        and ">>>" not in (ast.get_docstring(node) or "")
    ]
    assert set(without) <= HELPERS


# Functions that other modules share but nobody outside calls.
HELPERS = {
    "count_pairs",
    "max_pairs",
    "along_settings",
    "as_resamples",
    "has_differences_picture",
    "plotly_script",
    "require_libraries",
    "save",
    "settings",
}
