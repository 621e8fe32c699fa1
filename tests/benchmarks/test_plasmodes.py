"""Plasmodes: z is real, x and y are independent given z, and a stopped run goes on."""

import dataclasses
import json
import sys

import numpy as np
import pandas as pd
import pytest
from benchmarks.calibration import plasmodes, real_tables
from benchmarks.calibration.journal import read
from benchmarks.calibration.plasmodes import Design, Functions


@pytest.fixture
def small(monkeypatch):
    """A table of which another column is a function of z, and one is shared by x and y."""
    rng = np.random.default_rng(0)
    z, shared = rng.normal(size=(2, 300))
    table = np.column_stack([z, z + shared, 2 * z + shared, rng.normal(size=300)])
    monkeypatch.setattr(real_tables, "read", lambda name: table)
    monkeypatch.setattr(real_tables, "TABLES", ("small",))
    return table


# --- Tables ---------------------------------------------------------------------------------------


def test_columns_that_repeat_or_hardly_vary_are_left_out():
    rng = np.random.default_rng(0)
    income = rng.lognormal(size=100)
    table = pd.DataFrame(
        {
            "income": income,
            "log": np.log(income),
            "name": ["a", "b"] * 50,
            "always": 1.0,
            "rare": [1.0] * 2 + [0.0] * 98,
            "unknown": [np.nan] * 50 + [1.0, 2.0] * 25,
            "age": [np.nan, *rng.normal(size=99)],
        }
    )
    kept = real_tables.columns_that_differ(table)
    assert kept.tolist() == table[["income", "age"]].iloc[1:].to_numpy().tolist()


def test_tables_have_the_rows_that_sizes_need():
    pytest.importorskip("statsmodels")
    shapes = {name: real_tables.read(name).shape for name in real_tables.TABLES}
    for n in plasmodes.SIZES:
        assert sum(rows >= n for rows, _ in shapes.values()) >= (6 if n <= 2_000 else 3)
    assert all(columns >= max(plasmodes.COLUMNS) + 1 for _, columns in shapes.values())
    for name in shapes:
        table = real_tables.read(name)
        assert np.isfinite(table).all()
        assert np.all(table.std(axis=0) > 0)


# --- Samples --------------------------------------------------------------------------------------


def test_rows_of_z_are_real_and_drawn_once():
    rows = np.arange(50.0)
    of = Functions(rows[:, None], (10 * rows, 100 * rows), (np.array([0.5]), np.array([0.25])))
    x, y, z = plasmodes.sample(of, 20, np.random.default_rng(0))
    assert len(set(z)) == 20
    assert set(z) <= set(rows)
    np.testing.assert_allclose(x, 10 * z + 0.5)
    np.testing.assert_allclose(y, 100 * z + 0.25)


@pytest.mark.parametrize("learner", plasmodes.LEARNERS)
def test_residuals_of_x_and_y_lose_their_dependence(small, learner):
    """Columns 1 and 2 share what z does not explain; x and y made from them do not."""
    designs = [Design("small", learner, "whole", 1, draw) for draw in range(20)]
    of = next(
        found
        for found in map(plasmodes.functions, designs)
        if np.corrcoef(*found.residuals)[0, 1] > 0.5
    )
    assert all(0 < share < 1 for share in of.signal)
    drawn = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x, y, z = plasmodes.sample(of, 200, rng)
        f, g = (dict(zip(of.z[:, 0], values, strict=True)) for values in of.values)
        drawn.append([x - [f[value] for value in z], y - [g[value] for value in z]])
    left = np.concatenate(drawn, axis=1)
    assert abs(np.corrcoef(left)[0, 1]) < 4 * left.shape[1] ** -0.5
    assert {*np.round(left[0], 8)} <= {*np.round(of.residuals[0], 8)}


def test_learners_meet_the_same_columns(small):
    forest, boosting = (
        plasmodes.functions(Design("small", learner, "whole", 2, 1))
        for learner in plasmodes.LEARNERS
    )
    assert np.array_equal(forest.z, boosting.z)
    assert not np.array_equal(forest.values[0], boosting.values[0])


@pytest.mark.levels
def test_functions_of_halves_share_no_noise(small):
    """What z leaves of columns 1 and 2 is shared, and fits to the same rows learn part of it."""

    def alike(fit, draw):
        of = plasmodes.functions(Design("small", "boosting", fit, 1, draw))
        z = of.z[:, 0]
        return np.corrcoef([f - np.polyval(np.polyfit(z, f, 1), z) for f in of.values])[0, 1]

    whole = {draw: alike("whole", draw) for draw in range(12)}
    both = [draw for draw, correlation in whole.items() if correlation > 0.7]
    assert len(both) >= 5
    halves = [alike("halves", draw) for draw in both]
    assert np.mean(halves) < np.mean([whole[draw] for draw in both]) - 0.25
    of = plasmodes.functions(Design("small", "boosting", "halves", 1, 0))
    assert {len(residuals) for residuals in of.residuals} == {150}
    assert all(len(values) == 300 for values in of.values)


# --- Runs -----------------------------------------------------------------------------------------


def test_repetitions_are_spread_over_designs(small):
    wanted = plasmodes.designs(["small"])
    assert {design.columns for design in wanted} == {1, 2}, "four columns are two of z at most"
    tasks = plasmodes.missing(wanted, (100, 1_000), 12, [])
    assert {n for _, left in tasks for n in left} == {100}, "the table has 300 rows"
    per_cell = [
        sum(len(left[100]) for design, left in tasks if dataclasses.astuple(design)[1:4] == cell)
        for cell in (("forest", "whole", 1), ("boosting", "halves", 2))
    ]
    assert per_cell == [12, 12]


def test_a_stopped_run_goes_on_where_it_was(small, tmp_path, monkeypatch, capsys):
    """In this process, as the fixture's table is known to no other one."""
    monkeypatch.setattr(plasmodes, "worker_pool", lambda workers: Here())
    monkeypatch.setattr(plasmodes, "LEARNERS", ("boosting",))
    monkeypatch.setattr(plasmodes, "DESIGNS", 2)
    monkeypatch.setattr(
        plasmodes, "describe", lambda *packages: {"versions": dict.fromkeys(packages)}
    )

    def call(*more):
        monkeypatch.setattr(
            sys,
            "argv",
            [
                "x",
                "--tables",
                "small",
                "--sizes",
                "60",
                "--fits",
                "halves",
                "--out",
                str(tmp_path),
                *more,
            ],
        )
        plasmodes.main()
        return read(tmp_path / "plasmodes.jsonl")

    assert call("--repetitions", "2", "--minutes", "0") == []
    first = call("--repetitions", "2")
    assert [len(line["pvalues"]) for line in first] == [1] * 4  # two designs of one and of two
    lines = call("--repetitions", "4")
    assert lines[:4] == first
    assert [line["first"] for line in lines[4:]] == [1] * 4
    pvalues = [line["pvalues"][0] for line in lines]
    assert len(set(pvalues)) == 8, "every repetition has its own data"
    made = json.loads((tmp_path / "plasmodes.json").read_text())
    assert [cell["tests"] for cell in made["cells"]] == [4, 4]
    assert made["of_tables"][0]["tests"] == 8
    assert made["overall"][0]["mean_rate_05"] == pytest.approx(
        np.mean([p <= 0.05 for p in pvalues])
    )


def test_rates_leave_out_tests_without_a_pvalue():
    line = {"table": "small", "signal": [0.25, 0.75], "pvalues": [0.05, 0.06, None, 0.01]}
    [found] = plasmodes.rates([line], "table")
    assert (found["tests"], found["failed"], found["signal"]) == (3, 1, 0.5)
    assert found["rate_05"] == pytest.approx(2 / 3, abs=1e-4)
    assert found["interval"][0] < 0.5 < found["interval"][1]


class Here:
    """A pool that has one process, this one."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def submit(self, function, *arguments):
        future = plasmodes.Future()
        future.set_result(function(*arguments))
        return future
