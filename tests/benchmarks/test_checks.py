"""Checks of intervals: ratios and coverage are counted rightly, and parts are kept apart."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from benchmarks.calibration import checks


def coefficients(scenario, n):
    """Normal draws around 0.5, of standard deviation 1 / sqrt(n): the same ones every time."""
    rng = np.random.default_rng([n, len(scenario)])
    return 0.5 + rng.normal(size=2_000) / n**0.5


@pytest.fixture
def known(monkeypatch):
    """Intervals of which it is known how wide they are: 1.2 times as wide as they should be."""

    def interval(task):
        scenario, n, repetition = task
        value = coefficients(scenario, n)[repetition]
        half = 1.2 * 1.96 / n**0.5
        return value, value - half, value + half

    monkeypatch.setattr(checks, "interval", interval)
    monkeypatch.setattr(checks, "ProcessPoolExecutor", ThreadPoolExecutor)
    monkeypatch.setattr(checks, "pvalue", lambda repetition: (repetition + 0.5) / 2_000)


@pytest.fixture
def call(known, tmp_path, monkeypatch):
    def run(*words):
        monkeypatch.setattr(sys, "argv", ["x", "--workers", "1", "--out", str(tmp_path), *words])
        checks.main()
        return json.loads((tmp_path / "checks.json").read_text())

    return run


def test_ratio_is_that_of_widths_and_deviations(known):
    with ThreadPoolExecutor(1) as pool:
        row = checks.widths("add", 400, 1_500, pool)
    low, high = row["interval_of_ratio"]
    assert low < 1.2 < high
    assert high - low == pytest.approx(2 * 1.96 * row["ratio"] / 3_000**0.5, rel=0.02)
    assert row["mean_half_width"] == pytest.approx(1.2 * 1.96 / 20)
    assert row["covered_mean"] == pytest.approx(0.981, abs=0.012)  # of 2.35 standard deviations
    drawn = coefficients("add", 400)[:1_500]
    assert row["ratio"] == pytest.approx(1.2 / 20 / drawn.std(ddof=1))
    large = coefficients("add", checks.LARGE_OF_WIDTHS)[: checks.N_LARGE_OF_WIDTHS]
    assert row["drift"] == pytest.approx((drawn.mean() - large.mean()) / drawn.std(ddof=1))
    assert row["covered"] == np.mean(abs(drawn - large.mean()) <= 1.2 * 1.96 / 20)


def test_large_samples_have_no_truth_beyond_them(known):
    with ThreadPoolExecutor(1) as pool:
        row = checks.widths("add", 100_000, 60, pool)
    assert "covered" not in row
    assert 0.9 <= row["covered_mean"] <= 1


def test_parts_leave_the_others_as_they_are(call):
    whole = call("--parts", "uniform", "coverage", "--only", "[aw]*", "--repetitions", "10")
    assert whole["uniform"]["pvalue"] > 0.99
    covered = whole["coverage_of_95_percent_intervals"]
    assert [(row["scenario"], row["n"]) for row in covered] == [
        ("add", 400), ("add", 1_000), ("wave", 400), ("wave", 1_000),
    ]  # fmt: skip
    call("--parts", "widths", "--only", "wave", "--sizes", "300", "--repetitions", "10")
    more = call("--parts", "widths", "--only", "add", "--sizes", "300", "1000",
                "--repetitions", "10")  # fmt: skip
    again = call("--parts", "widths", "--only", "add", "--sizes", "300", "--repetitions", "20")
    widths = [(row["scenario"], row["n"], row["repetitions"])
              for row in more["widths_of_95_percent_intervals"]]  # fmt: skip
    assert widths == [("add", 300, 10), ("add", 1_000, 10), ("wave", 300, 10)]
    assert again["widths_of_95_percent_intervals"][0]["repetitions"] == 20
    for part in ("uniform", "coverage_of_95_percent_intervals"):
        assert again[part] == whole[part]


def test_data_sets_become_fewer_with_their_size(call):
    made = call("--parts", "widths", "--only", "levels")["widths_of_95_percent_intervals"]
    assert [row["n"] for row in made] == list(checks.WIDTH_SIZES)
    assert [row["repetitions"] for row in made] == [400, 400, 200, 60, 20]


def test_a_pattern_without_scenarios_is_refused(call, capsys):
    with pytest.raises(SystemExit):
        call("--only", "nothing*")
    assert "no scenario matches" in capsys.readouterr().err
