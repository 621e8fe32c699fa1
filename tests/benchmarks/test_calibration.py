"""The laboratory runs the cells it should, survives being killed, and counts rejections rightly."""

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
import types
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from benchmarks.calibration import cells, chunk, journal, methods, picture, settings, table, todo
from benchmarks.calibration.cells import Cell
from benchmarks.calibration.chunk import Chunk
from benchmarks.calibration.run import run
from scipy.stats import beta

from chsic.datasets import SCENARIOS
from tests.benchmarks.calibration_fakes import CELLS, METHODS, fake, sample_of

ROOT = Path(__file__).parents[2]


def pvalues(path):
    """All p-values of a journal by cell and repetition, none of which may be there twice."""
    found = [
        ((*todo.key(row), repetition), p)
        for row in journal.read(path)
        for repetition, p in zip(todo.repetitions(row), row["pvalues"], strict=True)
    ]
    assert len(dict(found)) == len(found)
    return dict(found)


# --- Cells ----------------------------------------------------------------------------------------


def test_the_full_set_has_every_scenario_once():
    """16 + 15 scenarios, 31 + 26 with their dimensions, and eight at large sizes."""
    full = cells.full()
    assert len(set(full)) == len(full)
    assert Counter(cell.method for cell in full) == {
        "chsic": 57 * 4 + 8 * 2,
        "KCI": 57 * 4,
        "RCIT": 57 * 4 + 8 * 2,
        "RCoT": 57 * 4 + 8 * 2,
        "CMIknn": 31,
        "GCM": 31,
        "FCIT": 31,
        "mCMIkNN": 8,
    }
    repetitions = {(cell.method, cell.n, cell.repetitions) for cell in full}
    assert repetitions == {
        *(("chsic", n, often) for n in (100, 200, 400, 1_000) for often in (300, 1_000)),
        *(("chsic", n, repetitions) for n in (10_000, 100_000) for repetitions in (200, 1_000)),
        *((method, n, 300) for method in ("KCI", "RCIT", "RCoT") for n in (100, 200, 400)),
        ("KCI", 1_000, 100),
        *((method, n, 100) for method in ("RCIT", "RCoT") for n in (1_000, 10_000, 100_000)),
        *((method, 200, 100) for method in ("CMIknn", "GCM", "FCIT", "mCMIkNN")),
    }
    large = {(cell.scenario, cell.d) for cell in full if cell.n >= 10_000}
    models = {name for name in SCENARIOS if name.startswith("m_")}
    assert large == {("linear", 2), ("pnl-II", 1), *((name, 1) for name in models)}
    assert len(models) == 6
    few = {(c.scenario, c.n) for c in full if (c.method, c.repetitions) == ("chsic", 200)}
    assert few == {(name, n) for name in models for n in cells.LARGE if "minus" in name}


def test_mixed_scenarios_have_few_values_in_some_column():
    for name, scenario in SCENARIOS.items():
        sample = scenario.draw(200, scenario.dimensions[0], np.random.default_rng(0))
        columns = np.column_stack(sample).T
        few = any(len(np.unique(column)) <= 30 for column in columns)
        assert few == (name in cells.MIXED), name


def test_rcot_meets_what_rcit_meets():
    of = {
        method: {dataclasses.replace(cell, method="") for cell in cells.full()
                 if cell.method == method}
        for method in ("RCIT", "RCoT")
    }  # fmt: skip
    assert of["RCIT"] == of["RCoT"]


def test_mcmiknn_takes_several_columns_of_z(monkeypatch):
    class FakeTest:
        def __init__(self, columns):
            self.columns = columns

        def __call__(self, first, second, given):
            assert [first, second, *given] == list(range(self.columns.shape[1]))
            return float(self.columns[0, given[-1]])

    module = types.ModuleType("citests.tests")
    module.MCMIknn = FakeTest
    monkeypatch.setitem(sys.modules, "citests", types.ModuleType("citests"))
    monkeypatch.setitem(sys.modules, "citests.tests", module)
    x, y, z = np.zeros(4), np.zeros(4), np.full((4, 2), [0.25, 0.75])
    assert methods.METHODS["mCMIkNN"](x, y, z, None) == 0.75
    assert methods.METHODS["mCMIkNN"](x, y, z[:, 0], None) == 0.25


@pytest.mark.no_cover
def test_mcmiknn_finds_that_categories_are_copied():
    pytest.importorskip("citests")
    copied, independent = (sample_of(name, 1, 60, 0) for name in ("cancel", "levels-3"))
    rng = np.random.default_rng(0)
    assert methods.METHODS["mCMIkNN"](*copied, rng) < 0.05
    assert 0 < methods.METHODS["mCMIkNN"](*independent, rng) <= 1


def test_the_reduced_set_is_part_of_the_full_one():
    full = {(c.method, c.scenario, c.d, c.n): c.repetitions for c in cells.full()}
    reduced = cells.reduced()
    for cell in reduced:
        assert cell.repetitions <= full[cell.method, cell.scenario, cell.d, cell.n]
    assert {cell.method for cell in reduced} == {cell.method for cell in cells.full()}
    scenarios = {cell.scenario for cell in reduced if cell.method == "chsic"}
    assert scenarios == set(SCENARIOS) - cells.ROUGH


def test_every_scenario_is_in_the_full_set_or_at_the_frontier():
    full, frontier = cells.full(), cells.frontier()
    assert {cell.scenario for cell in full} == set(SCENARIOS) - cells.ROUGH
    assert {cell.scenario for cell in frontier if cell.method == "chsic"} == cells.ROUGH
    assert {cell.method for cell in frontier} == {"chsic", "KCI", "RCIT", "RCoT"}


# --- Running --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "pvalues.jsonl"
    run(CELLS, path, methods=METHODS)
    return pvalues(path)


def test_every_repetition_has_its_own_data(uninterrupted):
    assert len(uninterrupted) == 45 + 25 + 5
    assert len(set(uninterrupted.values())) == 45 + 25
    _, for_method = chunk.seeds("linear", 2, 20, 7)
    rng = np.random.default_rng(for_method)
    expected = fake(*sample_of("linear", 2, 20, 7), rng)
    assert uninterrupted["fake", "linear", 2, 20, 7] == pytest.approx(expected, rel=1e-5)


def test_a_killed_run_goes_on_where_it_was(uninterrupted, tmp_path):
    path = tmp_path / "pvalues.jsonl"
    killed = subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"from tests.benchmarks.calibration_fakes import run_slowly; run_slowly({str(path)!r})",
        ],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.DEVNULL,
    )
    while killed.poll() is None and len(journal.read(path)) < 2:
        time.sleep(0.02)
    killed.kill()
    assert killed.wait() == -signal.SIGKILL
    before = pvalues(path)
    assert 0 < len(before) < len(uninterrupted)
    with path.open("a") as file:
        file.write('{"method": "fake", "scen')  # as if killed in the middle of a line
    run(CELLS, path, methods=METHODS)
    assert pvalues(path) == uninterrupted
    assert path.read_bytes().count(b"\n") == len(journal.read(path))
    size = path.stat().st_size
    run(CELLS, path, methods=METHODS)  # nothing is left
    assert path.stat().st_size == size


def test_methods_see_the_same_data(uninterrupted):
    for repetition in range(5):
        cell = ("linear", 2, 20, repetition)
        assert uninterrupted["fake", *cell] == uninterrupted["again", *cell]


def test_nothing_is_begun_when_the_time_is_up(tmp_path):
    path = tmp_path / "pvalues.jsonl"
    run(CELLS, path, methods=METHODS, minutes=0)
    assert path.read_bytes() == b""


def test_a_test_that_ends_its_process_is_told(tmp_path):
    path = tmp_path / "pvalues.jsonl"
    run([Cell("deadly", "linear", 1, 20, 2)], path, methods=METHODS)
    assert list(pvalues(path).values()) == [0.5, None]
    assert journal.read(path)[1]["errors"] == {"1": "the process died"}


def test_what_is_not_installed_stops_the_run_and_leaves_nothing(tmp_path):
    path = tmp_path / "pvalues.jsonl"
    with pytest.raises(ImportError, match="a_package_that_nobody_has"):
        run([Cell("absent", "linear", 1, 20, 2)], path, methods=METHODS)
    assert journal.read(path) == []


# --- One chunk ------------------------------------------------------------------------------------

CHUNK = Chunk("m", "linear", 1, 20, first=3, count=4)


def test_errors_are_noted():
    def method(x, y, z, rng):
        if x[0] == sample_of("linear", 1, 20, 4).x[0]:
            raise np.linalg.LinAlgError("singular")
        if x[0] == sample_of("linear", 1, 20, 6).x[0]:
            return np.nan
        return 1 / 3

    row = chunk.compute(method, CHUNK)
    assert row["pvalues"] == [0.333333, None, 0.333333, None]
    assert row["errors"] == {"4": "LinAlgError: singular", "6": "ValueError: nan is no p-value"}
    json.dumps(row, allow_nan=False)


def test_a_slow_test_is_noted_and_a_slow_cell_given_up(monkeypatch):
    def method(x, y, z, rng):
        try:
            while True:
                pass
        except Exception:  # must not keep the limit from working
            return 0.5

    monkeypatch.setattr(chunk, "LIMIT", 0.02)
    monkeypatch.setattr(chunk, "BUDGET", 0.01)
    wanted = [Cell("m", "linear", 1, 20, 10)]
    left = todo.Todo(wanted, [])
    rows = []
    while taken := left.take():
        rows.append(chunk.compute(method, taken))
        left.settle(taken, rows[-1])
    assert [row["pvalues"] for row in rows] == [[None]] * todo.PATIENCE
    assert [row["errors"] for row in rows] == [{str(r): chunk.SLOW} for r in range(3)]
    assert todo.Todo(wanted, rows).take() is None


def test_a_long_chunk_comes_back_in_parts(monkeypatch):
    monkeypatch.setattr(chunk, "BUDGET", 0.0)
    left = todo.Todo([Cell("m", "linear", 1, 20, 3)], [])
    assert len(left) == 3
    firsts = []
    while taken := left.take():
        row = chunk.compute(lambda x, y, z, rng: 0.5, taken)
        left.settle(taken, row)
        firsts.append((row["first"], len(row["pvalues"])))
    assert firsts == [(0, 1), (1, 1), (2, 1)]


def test_work_goes_in_rounds_over_all_cells():
    wanted = [Cell("a", "linear", 1, 20, 120), Cell("b", "linear", 1, 20, 50)]
    done = [{"method": "a", "scenario": "linear", "d": 1, "n": 20, "first": 10, "pvalues": [0.5]}]
    chunks = [(c.method, c.first, c.count) for c in todo.missing(wanted, done)]
    assert chunks == [("a", 0, 10), ("a", 11, 39), ("b", 0, 50), ("a", 50, 50), ("a", 100, 20)]


# --- Journal --------------------------------------------------------------------------------------


def test_one_writer_at_a_time_and_broken_lines(tmp_path):
    path = tmp_path / "folder" / "a.jsonl"
    with journal.Journal(path) as first:
        first.append({"a": 1})
        with pytest.raises(RuntimeError, match="another run is writing"), journal.Journal(path):
            pass
    path.write_text('{"a": 1}\nnonsense\n{"a": 2}\n')
    with pytest.raises(ValueError, match=r"line 2: .*delete that line"):
        journal.read(path)


# --- Tables and picture ---------------------------------------------------------------------------


def lines_of(method, scenario, pvalues, first=0, **more):
    cell = {"method": method, "scenario": scenario, "d": 1, "n": 200, "version": "none 1"}
    return {**cell, "first": first, "seconds": 0.25, "pvalues": pvalues, **more}


@pytest.fixture
def written(tmp_path):
    path = tmp_path / "pvalues.jsonl"
    with journal.Journal(path) as file:
        file.append(lines_of("KCI", "linear", [0.05] * 5 + [0.01] * 2 + [0.5] * 43))
        file.append(lines_of("KCI", "linear", [0.0501] * 50, first=50))
        errors = {"1": "ValueError: | no", "2": chunk.SLOW}
        file.append(lines_of("chsic", "add", [0.001, None, None], errors=errors))
        file.append(lines_of("RCIT", "linear", [None], errors={"0": "ValueError: no"}))
    return path


def test_rates_and_intervals_are_those_of_the_journal(written):
    ours, kci, rcit = table.rates(written)
    assert (kci.method, kci.scenario, kci.independent, kci.tests) == ("KCI", "linear", True, 100)
    assert (kci.rate_05, kci.rate_01, kci.seconds) == (0.07, 0.02, 0.25)
    for low, high, hits in ((kci.low_05, kci.high_05, 7), (kci.low_01, kci.high_01, 2)):
        assert low == pytest.approx(beta.ppf(0.025, hits, 101 - hits), abs=1e-5)
        assert high == pytest.approx(beta.ppf(0.975, hits + 1, 100 - hits), abs=1e-5)
    assert (ours.independent, ours.tests, ours.failed, ours.slow) == (False, 1, 1, 1)
    assert ours.rate_05 == 1.0
    assert (rcit.tests, rcit.failed, rcit.rate_05) == (0, 1, None)


def test_tables_are_written(written, tmp_path):
    rows = table.rates(written)
    table.write(rows, written, tmp_path)
    assert (tmp_path / "table.csv").read_text().count("\n") == 4
    result = json.loads((tmp_path / "table.json").read_text())
    assert result["rows"][1]["rate_05"] == 0.07
    assert result["methods"]["KCI"] == ["none 1"]
    assert "chsic" in result["machine"]["versions"]
    assert sum(error["tests"] for error in result["errors"]) == 3
    null, alternative = (tmp_path / "table.md").read_text().split("## Alternative")
    assert "| linear | 1 | 200 |  | 0.070 [0.029, 0.139]; 0.020 | none |" in null
    assert "| add | 1 | 200 | 1.000 [0.025, 1.000]; 1.000 (1 of 3 tests) |" in alternative
    assert "ValueError: / no" in alternative


def test_the_picture_has_level_and_power(written, tmp_path):
    rows = table.rates(written)
    left, right = picture.draw(rows).axes
    assert [label.get_text() for label in left.get_yticklabels()] == ["linear"]
    assert [label.get_text() for label in right.get_yticklabels()] == ["add"]
    picture.save(rows, tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 10_000


# --- Settings -------------------------------------------------------------------------------------


def test_settings_make_a_table_of_each_comparison(monkeypatch, tmp_path, capsys):
    cells_ = (("oscillating", 1), ("add", 1))
    few = settings.Comparison("Neighbours", 60, {"four": {"alpha": 4}, "default": {}}, cells_)
    monkeypatch.setattr(settings, "COMPARISONS", (few,))
    monkeypatch.setattr(sys, "argv", ["x", "--repetitions", "2", "--workers", "1",
                                      "--out", str(tmp_path)])  # fmt: skip
    settings.main()
    made = json.loads((tmp_path / "settings.json").read_text())
    assert made["comparisons"][0]["rates"]["default"] == [
        settings.rate(({}, scenario, d, 60, 2)) for scenario, d in cells_
    ]
    text = (tmp_path / "settings.md").read_text()
    nulls, dependences = text.split("Dependences, found:")
    assert "| | oscillating |" in nulls
    assert "| | add |" in dependences
    assert text in capsys.readouterr().out
    more = dataclasses.replace(few, title="More")
    monkeypatch.setattr(settings, "COMPARISONS", (few, more))
    monkeypatch.setattr(settings, "rate", lambda _: 0.5)
    monkeypatch.setattr(settings, "ProcessPoolExecutor", ThreadPoolExecutor)
    settings.main()  # goes on where it was
    first, second = json.loads((tmp_path / "settings.json").read_text())["comparisons"]
    assert first == made["comparisons"][0]
    assert second["rates"]["default"] == [0.5, 0.5]


def test_settings_name_scenarios_that_exist():
    for comparison in settings.COMPARISONS:
        for scenario, d in comparison.cells:
            assert d in SCENARIOS[scenario].dimensions
