"""Imports only point back along the flow of data, and the public names are these."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import chsic

PACKAGE = Path(chsic.__file__).parent

# From samples to what people see; a module may import only those of the lines before its own.
LAYERS = [
    ["forks"],
    ["_validate", "names", "kept", "freed", "cells", "memory", "system", "thrift"],
    ["strict_json"],
    ["_line", "column", "distinct", "outliers", "rounding", "rows"],
    ["columns"],
    ["samples"],
    ["kernels", "bandwidth"],
    ["features"],
    ["pairs.intervals", "pairs.neighbours", "strata"],
    ["pairs.graph"],
    ["pairs.blind", "pairs.on_line", "pairs.strata", "pairs.varying"],
    ["pairs.nearest"],
    ["pairs.in_space", "pairs.blocks"],
    ["pairs.closest", "pairs.entries"],
    ["pairs"],
    ["terms"],
    ["engines", "engines.grid", "engines.parallel", "engines.samples"],
    [
        "engines.dense",
        "engines.overlap",
        "engines.exponential",
        "engines.fourier",
        "engines.features",
    ],
    ["engines.choose"],
    ["statistic"],
    ["measure"],
    ["smooth", "units", "confounder", "smallest"],
    ["metric", "adjust", "grams", "pieces", "comparable"],
    ["design", "variable"],
    ["prepare", "redraw"],
    ["family", "null", "result"],
    ["outcome"],
    ["inference"],
    ["independence", "shared"],
    ["along_settings", "calibration", "words", "discovery"],
    ["frame", "screened", "finished", "progress"],
    ["checkpoint"],
    ["screening", "notebook"],
    ["content", "footer", "reading"],
    ["parquet"],
    ["table", "files", "models"],
    ["scenarios"],
    ["datasets", "paper"],
    ["compare", "figure1"],
    ["plot.canvas"],
    [
        "plot.paper_figure",
        "plot.null",
        "plot.along_z",
        "plot.along_settings",
        "plot.differences",
        "plot.screened",
    ],
    ["plot"],
    ["report.facts"],
    ["report.figures"],
    ["report.page"],
    ["report.write"],
    ["report"],
    ["adapters", "adapters.digest", "adapters.pvalue_file"],
    ["adapters.causal_learn", "adapters.dowhy", "adapters.gcastle"],
    ["adapters.pgmpy", "adapters.sklearn", "adapters.tigramite"],
    [""],  # the package itself: the public names
    ["interrupt", "terminal", "options"],
    ["cli_paper"],
    ["cli"],
    ["run"],
    ["__main__"],
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


def imports_of(path):
    """Modules of chsic that a file imports, at any depth of its code, without the "chsic."."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [a.name for a in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide the direction"
            # "from chsic import x" imports module x, or a name of chsic itself.
            names = [
                f"{node.module}.{a.name}"
                if f"{node.module}.{a.name}".removeprefix("chsic.") in LEVEL
                else node.module
                for a in node.names
            ]
        else:
            continue
        for name in names:
            if name == "chsic" or name.startswith("chsic."):
                yield name.removeprefix("chsic").removeprefix(".")


def wrong_imports(path, relative):
    parts = [part for part in relative.with_suffix("").parts if part != "__init__"]
    here = ".".join(parts)
    for there in imports_of(path):
        if LEVEL[there] >= LEVEL[here]:
            yield f"{relative} imports chsic.{there}"


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
        "from chsic import hsic",
        "def late():\n    from chsic.cli import app",
    ):
        bad.write_text(line)
        assert list(wrong_imports(bad, Path("kernels.py"))), line
    bad.write_text("from chsic._validate import Array\nimport numpy")
    assert not list(wrong_imports(bad, Path("kernels.py")))


def test_extras_are_imported_where_used():
    """Importing all public names must not need, or pay for, what is optional."""
    extras = ("matplotlib", "narwhals", "plotly", "polars", "rich", "statsmodels", "typer")
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
        "random_pairs",
        "screen",
        "sensitivity",
        "write_report",
    ]
    for name in chsic.__all__:
        assert getattr(chsic, name).__doc__


PUBLIC_MODULES = [
    "calibration",
    "compare",
    "datasets",
    "figure1",
    "independence",
    "kernels",
    "measure",
    "models",
    "paper",
    "notebook",
    "plot.screened",
    "report.facts",
    "report.page",
    "report.write",
    "screening",
    "screened",
    "plot.along_settings",
    "plot.along_z",
    "plot.differences",
    "plot.null",
    "plot.paper_figure",
    "scenarios",
    "along_settings",
    "table",
    "words",
]


@pytest.mark.parametrize("name", [*PUBLIC_MODULES, "pairs.blind", "pairs.closest", "pairs.graph"])
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
    "before_and_after",
    "count_pairs",
    "max_pairs",
    "adjusted_pvalues",
    "as_resamples",
    "profile_along",
    "require_statsmodels",
    "save",
    "settings",
}
