"""What the committed results are meant to show: level, power, uniform p-values, speed.

An exception is named here and in the documentation, or a test fails.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from benchmarks.calibration.cells import ROUGH
from scipy.stats import binom

from chsic.datasets import SCENARIOS

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"
ENOUGH = 1_000  # repetitions of a true null, for bounds to hold without allowance for chance
SO_FAR = 250  # that there are, at 200 to 1,000 samples: the run is not finished
# Alternatives on which KCI is ahead by more than 0.10: scenario, columns of z, n. On the nulls like
# them, "pnl-II" with more than one column, it does not keep its level.
BEHIND_KCI = {
    ("pnl-shared", 3, 100), ("pnl-shared", 4, 100), ("pnl-shared", 5, 100),
    ("pnl-shared", 2, 200), ("pnl-shared", 3, 200), ("pnl-shared", 4, 200),
    ("pnl-shared", 2, 400), ("pnl-shared", 3, 400), ("pnl-shared", 4, 400),
}  # fmt: skip
SLOWER_THAN_WANTED = {
    "causal-learn KCI over chsic_test, seconds, L = 1000",
    "causal-learn RCIT over chsic_test, seconds, L = 10000",
}
NOT_COVERED = {("square", 1_000), ("wave", 1_000), ("cancel", 400)}  # too seldom


def read(name):
    return json.loads((RESULTS / name).read_text())


@pytest.fixture(scope="module")
def rates():
    """Rows of the laboratory by method, scenario, columns of z and n."""
    return {
        (row["method"], row["scenario"], row["d"], row["n"]): row
        for row in read("calibration/table.json")["rows"]
    }


def holds(row, low, high):
    """Whether a rate is within bounds; after fewer than 1,000 tests, whether its interval is."""
    if row["tests"] >= ENOUGH:
        return low <= row["rate_05"] <= high
    return row["low_05"] <= high and row["high_05"] >= low


def test_true_nulls_are_rejected_as_often_as_the_level_says(rates):
    cells = {n: [] for n in (200, 400, 1_000, 10_000, 100_000)}
    for (method, scenario, d, n), row in rates.items():
        if method == "chsic" and row["independent"] and n in cells:
            assert row["tests"] >= SO_FAR or n > 1_000, (scenario, d, n)
            assert holds(row, 0.025, 0.075), (scenario, d, n)
            by_chance = binom.sf(row["rate_01"] * row["tests"] - 0.5, row["tests"], 0.02)
            finished = row["tests"] >= ENOUGH
            assert row["rate_01"] <= 0.02 or (not finished and by_chance > 0.01 / 31), (scenario, n)
            cells[n].append(row["rate_05"])
    assert {n: len(of) for n, of in cells.items()} == {
        200: 31, 400: 31, 1_000: 31, 10_000: 5, 100_000: 5
    }  # fmt: skip
    assert all(0.04 <= np.mean(cells[n]) <= 0.055 for n in (200, 400, 1_000))


def test_true_nulls_are_rejected_as_often_where_z_is_rough():
    rows = [row for row in read("calibration/frontier/table.json")["rows"]
            if row["method"] == "chsic" and row["independent"]]  # fmt: skip
    beyond = {
        (row["scenario"], row["d"], row["n"])
        for row in rows
        if not holds(row, 0.0, 0.10 if row["n"] == 500 else 0.075)
    }
    assert len(rows) == 32
    assert not beyond


def test_true_nulls_are_rejected_as_often_where_rows_depend_on_each_other():
    def bound(case):
        if case.startswith("memory") and case.endswith("n = 400"):
            return 0.09
        return 0.08 if case in ("12 groups of 15", "levels of 15 groups of 12") else 0.075

    rows = [
        row
        for row in read("dependence.json")["rows"]
        if "related" not in row["case"] and "stretch=" not in row["case"]
    ]
    assert len(rows) == 49
    for row in rows:
        rates = {f"{name}_05": row[name] for name in ("rate", "low", "high")}
        assert holds({"tests": row["tests"], **rates}, 0.0, bound(row["case"])), row
    # Without what is known of them, most are rejected far too often.
    # Without what is known of them, most are rejected far too often, as selection by x and y does.
    assert np.median([row["without"] for row in rows if row["kind"] != "weights"]) > 0.2
    selected = [row["without"] for row in rows if row["case"].startswith("drawn by x and y")]
    assert min(selected) > 0.1


@pytest.mark.parametrize("memory", [0.5, 0.8, 0.9])
def test_stretches_from_the_data_find_what_the_best_length_finds(memory):
    """At least 0.8 times as much, the best of the lengths that reject at most 0.075 of nulls."""
    rates = {row["case"]: row["rate"] for row in read("dependence.json")["rows"]}
    drawn = f"memory {memory}, n = 400"
    lengths = [f"{drawn}, stretch={length}" for length in (5, 10, 15, 20, 30, 40)]
    kept = [rates[f"{case}, related"] for case in lengths if rates[case] <= 0.075]
    assert rates[f"{drawn}, related"] >= 0.8 * max(kept)


def test_independent_rows_are_hardly_ever_said_to_depend_on_each_other():
    rows = read("alarms.json")["rows"]
    independent = [
        row for row in rows
        if row["rows"] == "independent" and row["design"] != "sorted by x, n = 400"
    ]  # fmt: skip
    assert len(independent) == 95
    tests, said = (sum(row[key] for row in independent) for key in ("tests", "said"))
    assert tests == 9_500
    assert said <= 0.01 * tests
    by_design = {row["design"]: row for row in rows}
    for design in ("memory 0.8, n = 400", "memory 0.9, n = 400", "200 rows twice"):
        row = by_design[design]
        assert row["said where rejected"] == row["rejected"] > 50


def test_true_nulls_are_rejected_hardly_more_often_at_100_samples(rates):
    levels = [
        row
        for (method, _, _, n), row in rates.items()
        if (method, n) == ("chsic", 100) and row["independent"]
    ]
    assert len(levels) == 31
    assert all(holds(row, 0.0, 0.08) for row in levels)


def test_true_nulls_with_five_columns_are_rejected_less_often_than_by_kci(rates):
    seen = set()
    for (method, scenario, d, n), row in rates.items():
        if method == "chsic" and row["independent"] and n >= 400 and d == 5:
            assert holds(row, 0.0, 0.08)
            assert row["rate_05"] <= 0.10
            assert row["rate_05"] < rates["KCI", scenario, d, n]["rate_05"], (scenario, n)
            seen.add((scenario, n))
    wanted = {name for name, scenario in SCENARIOS.items()
              if scenario.independent and 5 in scenario.dimensions} - ROUGH  # fmt: skip
    assert seen == {(name, n) for name in wanted for n in (400, 1_000)}


def test_peers_exceed_their_level_mostly_with_many_columns_or_sharp_changes(rates):
    above = [
        d >= 3 or scenario in ("sharp", "levels-30")
        for (method, scenario, d, n), row in rates.items()
        if method in ("KCI", "RCIT") and n <= 1_000 and row["independent"]
        and row["rate_05"] > 0.10
    ]  # fmt: skip
    assert np.mean(above) > 0.75


@pytest.mark.parametrize("n", [100, 200, 400, 1_000])
def test_power_is_above_that_of_the_peers_on_average(rates, n):
    for peer in ("KCI", "RCIT", "CMIknn", "GCM", "FCIT"):
        shared = [
            (rates["chsic", *key[1:]]["rate_05"], row["rate_05"])
            for key, row in rates.items()
            if key[0] == peer and key[3] == n and not row["independent"] and row["tests"]
        ]
        if peer in ("KCI", "RCIT") or n == 200:
            ours, theirs = np.mean(shared, axis=0)
            assert ours > theirs, peer
        else:
            assert not shared  # these were run at one size only


@pytest.mark.parametrize("n", [100, 200, 400, 1_000])
def test_power_is_above_that_of_kci_where_it_keeps_its_level(rates, n):
    kept = [
        (rates["chsic", *key[1:]]["rate_05"], row["rate_05"])
        for key, row in rates.items()
        if (key[0], key[3]) == ("KCI", n)
        and (null := SCENARIOS[key[1]].null) is not None
        and rates["KCI", null, key[2], n]["rate_05"] <= 0.075
    ]
    assert len(kept) >= 10
    ours, kci = np.mean(kept, axis=0)
    assert ours > kci


def test_kci_is_nowhere_far_ahead_but_in_the_cases_that_are_named(rates):
    behind = {
        key[1:]
        for key, row in rates.items()
        if key[0] == "KCI"
        and not row["independent"]
        and rates["chsic", *key[1:]]["rate_05"] < row["rate_05"] - 0.10
    }
    assert behind == BEHIND_KCI
    keeps_its_level = {
        (scenario, d, n)
        for scenario, d, n in behind
        if rates["KCI", SCENARIOS[scenario].null, d, n]["rate_05"] <= 0.075
    }
    assert not keeps_its_level


def test_pvalues_are_uniform_and_intervals_cover():
    checks = read("calibration/checks.json")
    assert checks["uniform"]["seeds"] >= 2_000
    assert checks["uniform"]["pvalue"] > 0.01
    rows = checks["coverage_of_95_percent_intervals"]
    off = {(row["scenario"], row["n"]) for row in rows if abs(row["covered"] - 0.95) > 0.0301}
    assert len({row["scenario"] for row in rows}) >= 8
    assert off == NOT_COVERED


@pytest.fixture(scope="module")
def settings():
    """Return rates by setting and cell, and the places of true nulls, of each comparison."""

    def arrays(comparison):
        scenarios = [cell.split(",")[0] for cell in comparison["cells"]]
        independent = np.array([SCENARIOS[name].independent for name in scenarios])
        return {name: np.array(of) for name, of in comparison["rates"].items()}, independent

    return [arrays(one) for one in read("calibration/settings.json")["comparisons"]]


def test_level_is_kept_with_any_number_of_neighbours_after_a_ridge_regression(settings):
    rates, independent = settings[0]
    ridge = [of[independent] for name, of in rates.items() if name.startswith("ridge")]
    assert len(ridge) > 3
    assert np.max(ridge) <= 0.10


def test_family_loses_little_power_against_its_best_member(settings):
    rates, independent = settings[2]
    family = rates["default: 0.6, 1.2, 5.0, weighted"]
    bandwidths = np.max([rates[h] for h in ("0.6", "1.2", "5.0")], axis=0)
    kinds = [rates[f"0.6, 1.2, 5.0, {kind} only"] for kind in ("plain", "augmented")]
    assert np.max((bandwidths - family)[~independent]) <= 0.08
    assert np.max((np.max(kinds, axis=0) - family)[~independent]) <= 0.08


def test_weights_and_wide_kernels_find_weak_dependence_more_often_and_lose_little(settings):
    rates, independent = settings[3]
    before = rates["the same, n / 8 neighbours"]
    gain = rates["default"] - before
    assert gain[3] >= 0.05  # m_minus-5dB
    assert gain[~independent].min() >= -0.05
    assert gain[~independent].mean() >= 0


def test_level_is_kept_by_units_of_every_size(settings):
    rates, independent = settings[4]
    assert len(rates) > 3
    assert max(of[independent].max() for of in rates.values()) <= 0.085


def test_targets_of_speed_are_met():
    rows = [*read("targets.json")["targets"], *read("peers.json")["pvalue_targets"]]
    for row in rows:
        if row["wanted"] == "no target":
            continue
        kind, bound = row["wanted"].rsplit(" ", 1)
        at_least = kind == "at least"
        assert at_least or kind == "at most", row
        bound = float(bound.replace(",", ""))
        met = row["found"] is not None and (
            row["found"] >= bound if at_least else row["found"] <= bound
        )
        assert met != (row["name"] in SLOWER_THAN_WANTED), row


def peers_in_the_readme():
    found = {row["name"]: row["found"] for row in read("peers.json")["pvalue_targets"]}
    kci, rcit = (f"causal-learn {peer} over chsic_test, seconds, L = " for peer in ("KCI", "RCIT"))
    memory = found[rcit.replace("seconds", "peak_bytes") + "1000000"]
    whole = [f"{found[kci + n]:.0f}" for n in ("1000", "2000")]
    return [*whole, *(f"{found[rcit + n]:.1f}" for n in ("10000", "100000", "1000000")),
            f"{memory:.1f}"]  # fmt: skip


def screening_in_the_readme():
    of = read("screening.json")
    sizes = [f"{of[size]:,}" for size in ("n_columns", "n_samples", "n_pairs")]
    return [
        *sizes,
        *(f"{of['seconds'][how]:.0f}" for how in ("screen, workers=2", "separate tests")),
    ]


@pytest.mark.parametrize(
    ("name", "numbers"),
    [("peers.json", peers_in_the_readme), ("screening.json", screening_in_the_readme)],
)
def test_readme_has_the_committed_numbers_where_it_refers_to_them(name, numbers):
    """In whatever words, as no directive fills the README in."""
    paragraphs = (ROOT / "README.md").read_text(encoding="utf-8").split("\n\n")
    [paragraph] = (text for text in paragraphs if f"(benchmarks/results/{name})" in text)
    words = {word.strip(".,;:*()") for word in paragraph.split()}
    assert {*numbers()} <= words


def test_many_levels_are_as_safe_and_as_telling_as_permutations_show():
    rows = read("categories.json")["rows"]
    tested = [row for row in rows if "rate" in row["independent"]]
    refused = [row for row in rows if "rate" not in row["independent"]]
    assert all(
        (row["design"][0], row["n"], row["rows_a_level"]) == ("x", 500, 2) for row in refused
    )
    assert all(row["independent"]["low"] <= 0.05 for row in tested)
    assert np.mean([row["independent"]["rate"] for row in tested]) <= 0.06
    lost = [row["related"]["permutations"] - row["related"]["rate"] for row in tested]
    assert max(lost) <= 0.15
    assert np.mean(lost) <= 0.02
