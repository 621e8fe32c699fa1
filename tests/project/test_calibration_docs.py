"""The numbers in docs/calibration.md are those of the committed table."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
SIZES = (100, 200, 400, 1_000)


@pytest.fixture(scope="module")
def text():
    return (ROOT / "docs" / "calibration.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def sentences(text):
    return " ".join(text.split())


@pytest.fixture(scope="module")
def rows():
    with open(ROOT / "benchmarks" / "results" / "calibration" / "table.csv", newline="") as file:
        return list(csv.DictReader(file))


def rates(rows, method, independent, *sizes, rate="rate_05"):
    return [
        float(row[rate])
        for row in rows
        if (row["method"], row["independent"]) == (method, str(independent))
        and int(row["n"]) in sizes
    ]


def test_summary(text, rows):
    table = {
        line.split("|")[1].strip(): [cell.strip() for cell in line.split("|")[2:-1]]
        for line in text.splitlines()
        if line.startswith("|")
    }
    assert table[""] == ["chsic_test", "KCI", "RCIT"]
    for column, method in enumerate(("chsic", "KCI", "RCIT")):
        null, alternative = (rates(rows, method, independent, 200) for independent in (True, False))
        for label, value in (
            (f"mean rejection rate under the null ({len(null)} cells)", np.mean(null)),
            ("largest one", max(null)),
            ("cells above 0.10", sum(rate > 0.10 for rate in null)),
            (f"mean power ({len(alternative)} cells)", np.mean(alternative)),
        ):
            told = table[label][column]
            digits = len(re.sub(r"^\d+\.?", "", told))
            assert f"{value:.{digits}f}" == told, (label, method)


def test_sentence_on_levels(sentences, rows):
    at_05 = rates(rows, "chsic", True, 200, 400, 1_000)
    at_01 = rates(rows, "chsic", True, 200, 400, 1_000, rate="rate_01")
    assert f"lies between {min(at_05):.3f} and {max(at_05):.3f} at level 0.05" in sentences
    assert f"none is above {max(at_01):.3f} at level 0.01" in sentences
    assert f"At n = 100 the largest is {max(rates(rows, 'chsic', True, 100)):.3f}" in sentences


def test_sentence_on_power(sentences, rows):
    ours, kci, rcit = (
        "{:.2f}, {:.2f}, {:.2f} and {:.2f}".format(
            *(np.mean(rates(rows, method, False, n)) for n in SIZES)
        )
        for method in ("chsic", "KCI", "RCIT")
    )
    assert f"Mean power is {ours} at n = 100, 200, 400 and 1,000" in sentences
    assert f"against {kci} of KCI and {rcit} of RCIT" in sentences


@pytest.mark.parametrize(("n", "called"), [(10_000, "10^4"), (100_000, "10^5")])
def test_sentences_on_many_samples(sentences, rows, n, called):
    levels = rates(rows, "chsic", True, n)
    ours, rcit = (np.mean(rates(rows, method, False, n)) for method in ("chsic", "RCIT"))
    for told in (
        f"rejected in {min(levels):.3f} to {max(levels):.3f} of the cases at n = {called}",
        f"{ours:.2f} of the dependences are found (RCIT: {rcit:.2f}) at n = {called}",
    ):
        assert told in sentences
    at_01 = rates(rows, "chsic", True, 10_000, 100_000, rate="rate_01")
    assert f"at level 0.01 in {max(at_01):.3f} at most" in sentences


def test_sentences_on_slow_peers(sentences, rows):
    ours = {(row["scenario"], row["d"], row["n"]): float(row["rate_05"])
            for row in rows if row["method"] == "chsic"}  # fmt: skip
    for method in ("CMIknn", "GCM", "FCIT"):
        found = [
            (float(row["rate_05"]), ours[row["scenario"], row["d"], row["n"]])
            for row in rows
            if (row["method"], row["independent"]) == (method, "False") and int(row["tests"]) >= 90
        ]
        theirs, of_ours = np.mean(found, axis=0)
        told = f"| {method} | {len(found)} | {theirs:.2f} | {of_ours:.2f} |"
        assert told in sentences


def test_sentences_on_where_kci_is_ahead(sentences, rows):
    found = {
        (row["method"], row["scenario"], int(row["n"])): float(row["rate_05"])
        for row in rows
        if row["d"] == "1"
    }

    def ours_against(scenario, n):
        ours, kci = (found[method, scenario, n] for method in ("chsic", "KCI"))
        return f"{ours:.2f} against {kci:.2f}"

    at_200, at_400 = (ours_against("m_minus-5dB", n) for n in (200, 400))
    assert f'in "m_minus-5dB" ({at_200}; {at_400} at n = 400)' in sentences
    assert f"at n = 100 ({ours_against('pnl-shared', 100)})" in sentences


def test_sentences_on_the_price(sentences):
    path = ROOT / "benchmarks" / "results" / "calibration" / "price.json"
    rates = json.loads(path.read_text())["rejection rates at 0.05"]
    alone = [
        f"{rates[pairs]['narrowest alone']:.2f}" for pairs in ("default neighbours", "all pairs")
    ]
    assert f"would reject in {alone[0]} of the cases, and in {alone[1]} if all pairs" in sentences
    blocks = [f"{rates[f'blocks of {m}']['joint']:.2f}" for m in (4, 8, 20)]
    assert f"reject in {blocks[0]}, {blocks[1]} and {blocks[2]} of the cases" in sentences
