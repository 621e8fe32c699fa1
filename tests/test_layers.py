"""Imports only point back along the flow of data, and the public names are these."""

import ast
from pathlib import Path

import pytest

import chsic

PACKAGE = Path(chsic.__file__).parent

# From samples to what people see; a module may import those of the lines before its own, and its
# own package.
LAYERS = [
    ["_validate"],
    ["_line"],
    ["kernels", "bandwidth"],
    ["pairs"],
    ["engines"],
    ["measure"],
    ["table", "files"],
    ["datasets", "paper"],
    ["compare", "figure1"],
    ["plot"],
    [""],  # the package itself: the public names
    ["cli"],
    ["__main__"],
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
# Where the package must be imported whole, names below it are reached through their modules.
PUBLIC_SUBMODULES = {"chsic.datasets", "chsic.kernels", "chsic.paper"}


def unit(module):
    """Name of the file or subpackage directly below chsic; empty for chsic itself."""
    return module.split(".")[1] if "." in module else ""


def imports_of(path):
    """Full names of the chsic modules that a file imports, at any depth of its code."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name.split(".")[0] == "chsic")
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide the direction"
            if node.module == "chsic":
                submodules = {f"chsic.{a.name}" for a in node.names}
                yield from (m for m in submodules if unit(m) in LEVEL)
            elif node.module and node.module.startswith("chsic."):
                yield node.module


def wrong_imports(path, relative):
    parts = list(relative.with_suffix("").parts)
    here = "" if parts == ["__init__"] else parts[0]
    for module in imports_of(path):
        there = unit(module)
        if there != here and LEVEL[there] >= LEVEL[here]:
            yield f"{relative} ({here or 'chsic'}) imports {module}"


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: p.name)
def test_imports_point_back(path):
    assert not list(wrong_imports(path, path.relative_to(PACKAGE)))


def test_a_wrong_import_is_noticed(tmp_path):
    bad = tmp_path / "kernels.py"
    for line in (
        "from chsic.measure import hsic",
        "import chsic.pairs.graph",
        "from chsic import measure",
        "import chsic",
        "def late():\n    from chsic.cli import app",
    ):
        bad.write_text(line)
        assert list(wrong_imports(bad, Path("kernels.py"))), line
    bad.write_text("from chsic._validate import Array\nimport numpy")
    assert not list(wrong_imports(bad, Path("kernels.py")))


def test_extras_are_imported_where_used():
    """Importing the package must not need, or pay for, what is optional."""
    import subprocess
    import sys

    code = (
        "import sys, chsic; print([m for m in ('matplotlib', 'rich', 'typer') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_public_names():
    assert sorted(chsic.__all__) == [
        "PairGraph",
        "chsic",
        "closest_pairs",
        "complete_pairs",
        "datasets",
        "hsic",
        "kernels",
        "paper",
        "random_pairs",
    ]
    for name in chsic.__all__:
        assert getattr(chsic, name).__doc__


def test_every_public_function_has_an_example():
    """numpydoc with an example that runs: the doctests of the modules run with these tests."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.name.startswith("_") or path.name == "cli.py":
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            public = isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
            if public and node.name in PUBLIC_FUNCTIONS:
                assert ">>>" in (ast.get_docstring(node) or ""), f"{path.name}: {node.name}"


PUBLIC_FUNCTIONS = {
    *(name for name in chsic.__all__),
    *(name for name in vars(chsic.paper) if not name.startswith("_")),
    "m_plus",
    "m_minus",
    "summer",
    "as_kernel",
    "simulate",
    "figure1",
    "compare",
    "read_csv",
}
