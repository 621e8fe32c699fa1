"""A part of the attack that ``make fuzz`` runs whole, and what the whole of it found."""

import json
from pathlib import Path

import numpy as np
import pytest
from benchmarks import memory
from benchmarks.attack import calls, permutation, run
from benchmarks.attack.judge import attempt, defects_of, is_explained
from benchmarks.attack.questions import draw_question

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"


@pytest.mark.no_cover
@pytest.mark.parametrize("first", range(0, 120, 20))
def test_calls_with_data_of_the_worst_kinds(first):
    rows = [run.one(number) for number in range(first, first + 20)]
    assert not [row for row in rows if row["defects"]]


@pytest.mark.parametrize("call", [c for c in calls.SHARES if c is not calls.report])
def test_every_function_is_called(call):
    for number in range(3):
        asked = draw_question(np.random.default_rng([number, 3]), null=False)
        assert attempt(call, asked, number)[1] == []


def test_defects_are_noticed():
    asked = draw_question(np.random.default_rng(0), null=True)

    def raises(error):
        def call(asked, rng):
            raise error

        return attempt(call, asked, 0)[1]

    assert raises(ValueError("x: 3 samples are missing; leave them out.")) == []
    assert "unexplained" in raises(ValueError("operands could not be broadcast together"))[0]
    assert "crash IndexError" in raises(IndexError("x: out of range; use another one."))[0]
    for outcome in (
        calls.Outcome(numbers={"coefficient": np.nan}),
        calls.Outcome(pvalues=[0.0]),
        calls.Outcome(pvalues=[np.nan]),
        calls.Outcome(plain={"a": np.inf}),
        calls.Outcome(texts=["interval nan to 1"]),
        calls.Outcome(reasons=["OverflowError: (34, 'Numerical result out of range')."]),
    ):
        assert len(defects_of(outcome)) == 1
    assert not is_explained("too short.")


def test_permutations_within_strata_confirm_what_is_there_and_nothing_else():
    rng = np.random.default_rng(0)
    strata = np.arange(60) % 3
    x, noise = rng.normal(size=(2, 60))
    x, noise = x + strata, noise + strata
    assert permutation.permutation_pvalue(x, x + 0.3 * noise, strata, rng) < permutation.CONFIRMED
    assert permutation.permutation_pvalue(x, noise, strata, rng) > permutation.CONFIRMED


def test_a_stopped_run_goes_on_where_it_was(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "BLOCK", 2)
    monkeypatch.setattr(run, "ProcessPoolExecutor", _Here)
    first = run.run(4, tmp_path / "a.jsonl", 1)
    monkeypatch.setattr(run, "one", None)  # nothing is called again
    assert run.run(4, tmp_path / "a.jsonl", 1) == first
    assert run.summary(first)["calls"] == 4


class _Here:
    """A pool without processes."""

    def __init__(self, *_, **__): ...

    def __enter__(self):
        return self

    def __exit__(self, *_): ...

    map = staticmethod(map)


def test_the_whole_attack_found_nothing():
    found = json.loads((RESULTS / "attack.json").read_text(encoding="utf-8"))
    assert found["calls"] >= 30_000
    assert found["by_function"].keys() == {call.__name__ for call in calls.SHARES}
    assert found["true_nulls"] >= 10_000
    assert found["rejected_at_0.05"] <= 0.06
    assert found["defects"] == []
    for row in found["pvalues_below_1e-4"]:
        assert row["permutation"] <= permutation.CONFIRMED


def test_a_million_samples_take_less_than_600_megabytes():
    found = json.loads((RESULTS / "memory.json").read_text(encoding="utf-8"))
    peaks = {row["question"]: row["peak_bytes"] for row in found["tests"]}
    assert found["n"] == 10**6
    assert all(peaks[name] < memory.WANTED for name in memory.BOUNDED)
