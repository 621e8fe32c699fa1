"""The numbers in docs/calibration.md are those of the committed table."""

import csv
import re
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]


def rates(method, independent):
    with open(ROOT / "benchmarks" / "results" / "calibration" / "table.csv", newline="") as file:
        return [
            float(row["rate_05"])
            for row in csv.DictReader(file)
            if (row["method"], row["n"], row["independent"]) == (method, "200", str(independent))
        ]


def test_summary():
    text = (ROOT / "docs" / "calibration.md").read_text(encoding="utf-8")
    table = {
        line.split("|")[1].strip(): [cell.strip() for cell in line.split("|")[2:-1]]
        for line in text.splitlines()
        if line.startswith("|")
    }
    assert table[""] == ["chsic_test", "KCI", "RCIT"]
    for column, method in enumerate(("chsic", "KCI", "RCIT")):
        null, alternative = rates(method, True), rates(method, False)
        for label, value in (
            (f"mean rejection rate under the null ({len(null)} cells)", np.mean(null)),
            ("largest one", max(null)),
            ("cells above 0.10", sum(rate > 0.10 for rate in null)),
            (f"mean power ({len(alternative)} cells)", np.mean(alternative)),
        ):
            told = table[label][column]
            digits = len(re.sub(r"^\d+\.?", "", told))
            assert f"{value:.{digits}f}" == told, (label, method)


def test_sentence_on_levels():
    text = " ".join((ROOT / "docs" / "calibration.md").read_text(encoding="utf-8").split())
    with open(ROOT / "benchmarks" / "results" / "calibration" / "table.csv", newline="") as file:
        nulls = [
            row
            for row in csv.DictReader(file)
            if (row["method"], row["independent"]) == ("chsic", "True") and int(row["n"]) >= 200
        ]
    at_05, at_01 = ([float(row[rate]) for row in nulls] for rate in ("rate_05", "rate_01"))
    assert f"lies between {min(at_05):.3f} and {max(at_05):.3f} at level 0.05" in text
    assert f"none is above {max(at_01):.3f} at level 0.01" in text
