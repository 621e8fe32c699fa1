"""Figure 1: the same numbers for any number of workers, files whole, and every curve drawn."""

import csv
from pathlib import Path

import numpy as np
import pytest

from chsic import plot
from chsic.measure import figure1


@pytest.fixture(scope="module")
def points():
    return figure1.simulate(trials=2, seed=1, workers=1)


@pytest.fixture
def few_settings(monkeypatch):
    """One abscissa of each panel, of data sets that take little time."""
    monkeypatch.setattr(figure1, "GAMMAS_DB", (10.0,))
    monkeypatch.setattr(figure1, "SIZES", (100,))


def test_workers_do_not_matter(points):
    assert figure1.simulate(trials=2, seed=1, workers=2) == points


@pytest.mark.usefixtures("few_settings")
def test_cutting_the_trials_into_other_units_of_work_changes_nothing(monkeypatch):
    points = figure1.simulate(trials=3, seed=1, workers=1)
    monkeypatch.setattr(figure1, "CHUNK", 1)
    assert figure1.simulate(trials=3, seed=1, workers=1) == points


@pytest.mark.usefixtures("few_settings")
def test_seed_matters():
    first, second = (figure1.simulate(trials=2, seed=seed, workers=1) for seed in (1, 2))
    assert len(first) == 4 * len(figure1.MEASURES)
    assert not {p.mean for p in first} & {p.mean for p in second}


def test_every_point_is_there(points):
    panels = {p.panel for p in points}
    assert panels == {"a.1", "a.2", "b.1", "b.2"}
    for panel in panels:
        abscissae = figure1.GAMMAS_DB if panel.endswith("1") else figure1.SIZES
        here = [p for p in points if p.panel == panel]
        assert len(here) == len(abscissae) * len(figure1.MEASURES)
        assert {p.model for p in here} == {"M+" if panel[0] == "a" else "M-"}
    assert all(np.isfinite(p.mean) and p.std > 0 for p in points)


def test_means_are_those_of_the_measures(points):
    """One point recomputed from its documented random stream."""
    where = figure1.settings()
    index = next(i for i, s in enumerate(where) if s.panel == "b.1" and s.gamma_db == 10)
    values = []
    for trial in range(2):
        rng = np.random.default_rng(np.random.SeedSequence(1, spawn_key=(index, trial)))
        sample = figure1.MODELS["M-"](100, 10.0, rng)
        values.append([measure(sample, rng) for measure in figure1.MEASURES])
    here = [p for p in points if p.panel == "b.1" and p.gamma_db == 10]
    np.testing.assert_allclose([p.mean for p in here], np.mean(values, axis=0))
    np.testing.assert_allclose([p.std for p in here], np.std(values, axis=0, ddof=1))


@pytest.mark.usefixtures("few_settings")
def test_progress_is_reported():
    calls = []
    figure1.simulate(trials=2, workers=1, progress=lambda done, total: calls.append((done, total)))
    assert calls[-1] == (2 * len(figure1.settings()),) * 2
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)


def test_picture_shows_every_number(points):
    figure = plot.figure1(points)
    assert len(figure.axes) == 4
    for ax, panel in zip(figure.axes, ("a.1", "a.2", "b.1", "b.2"), strict=True):
        assert f"({panel})" in ax.get_title(loc="left")
        for line, measure in zip(ax.lines, figure1.MEASURES, strict=True):
            curve = [p for p in points if p.panel == panel and p.measure == measure.label]
            assert line.get_label() == measure.label
            np.testing.assert_array_equal(line.get_ydata(), [p.mean for p in curve])
        assert len(ax.collections) == len(figure1.MEASURES)  # one band each


@pytest.mark.no_cover
def test_committed_numbers_come_from_this_code():
    """One point of each panel of docs/images/figure1.csv, recomputed with its 200 trials."""
    path = Path(__file__).parents[2] / "docs" / "images" / "figure1.csv"
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    where = figure1.settings()
    assert len(rows) == len(where) * len(figure1.MEASURES)
    for model in figure1.MODELS:
        index = next(i for i, s in enumerate(where) if s.model == model and s.gamma_db == 10)
        values = figure1._measure_trials((index, 0, 200), seed=0)
        for column, row in enumerate(rows[5 * index : 5 * index + 5]):
            assert row["trials"] == "200"
            assert row["measure"] == figure1.MEASURES[column].label
            assert float(row["mean"]) == pytest.approx(values[:, column].mean(), rel=1e-9)
            assert float(row["std"]) == pytest.approx(values[:, column].std(ddof=1), rel=1e-9)
        # Means of another 200 trials with other code, in units of 1e-3, standard errors below 0.3.
        for column, seen in enumerate(SEEN[model]):
            assert 1e3 * values[:, column].mean() == pytest.approx(seen, abs=1.2)


SEEN = {"M+": (18.9, 6.8, 7.3, 21.7), "M-": (6.6, 13.7, 8.6, 9.8)}
