"""Screening: shared work gives the answers of separate tests, and a killed run goes on."""

import itertools
import json
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest

import chsic
from chsic.many.column_tests import _tiles


def related(n=300, seed=0):
    """Columns that all follow z; only a and b are related beyond that."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    noise = rng.normal(size=(4, n))
    return pd.DataFrame(
        {
            "z": z,
            "a": np.sin(2 * z) + noise[0],
            "b": np.cos(2 * z) + noise[1] + 0.7 * noise[0] ** 2,
            "c": z + noise[2],
            "d": z**2 + noise[3],
        }
    )


@pytest.fixture(scope="module")
def frame():
    return related()


@pytest.fixture(scope="module")
def found(frame):
    return chsic.screen(frame, "z", rng=0)


def test_finds_the_pair_that_is_related(found):
    assert [(pair.x, pair.y) for pair in found] == list(itertools.combinations("abcd", 2))
    assert [(pair.x, pair.y) for pair in found.significant(0.01)] == [("a", "b")]
    assert found.given == ("z",)
    assert found.names() == ["a", "b", "c", "d"]
    assert found.skipped == {}
    assert str(found).startswith("Screen of 6 pairs given z: 1 with pvalue_bh <= 0.05")


def test_is_what_separate_tests_give(frame, found):
    for pair in found:
        alone = chsic.chsic_test(frame[pair.x], frame[pair.y], frame["z"], rng=1)
        assert pair.statistic == pytest.approx(alone.statistic, rel=1e-9)
        assert pair.coefficient == pytest.approx(alone.coefficient, rel=1e-9, abs=1e-12)
        assert (pair.low, pair.high) == pytest.approx(alone.confidence_interval(), rel=1e-9)
        # Signs are drawn anew: p-values differ by chance, about a hundredth for 999 draws.
        assert pair.pvalue == pytest.approx(alone.pvalue, abs=0.06)


@pytest.mark.parametrize(
    "given",
    [["z", "w"], ["group"], ["z", "group"], []],
    ids=["two numbers", "a category", "both", "nothing"],
)
def test_is_what_separate_tests_give_for_all_kinds_of_confounders(frame, given):
    rng = np.random.default_rng(1)
    mixed = frame.assign(w=rng.normal(size=300), group=rng.choice(list("uvw"), 300))
    found = chsic.screen(mixed, given, columns=["a", "b", "c"], rng=0)
    z = mixed[given] if given else None
    for pair in found:
        alone = chsic.chsic_test(mixed[pair.x], mixed[pair.y], z, rng=1)
        # With several columns of z, pairs are chosen for all columns together.
        tolerance = 0.2 if len(given) > 1 else 1e-9
        assert pair.statistic == pytest.approx(alone.statistic, rel=tolerance)
        if given != ["group"]:  # units in strata are drawn
            assert pair.coefficient == pytest.approx(alone.coefficient, rel=tolerance, abs=0.02)
    assert found.significant(0.01)[0].x == "a"


def test_target_and_columns_choose_the_pairs(frame, found):
    against = chsic.screen(frame, ["z"], target="b", rng=0)
    assert [(pair.x, pair.y) for pair in against] == [("a", "b"), ("c", "b"), ("d", "b")]
    some = chsic.screen(frame, ["z"], columns=["a", "c"], target="b", rng=0)
    assert [(pair.x, pair.y) for pair in some] == [("a", "b"), ("c", "b")]
    # Signs of a pair are its own, whatever else is tested.
    assert some.pairs[0].pvalue == against.pairs[0].pvalue == found.pairs[0].pvalue
    assert np.isnan(some.matrix()[0, 1])


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.DataFrame, dict], ids=["pandas", "polars", "dict"]
)
def test_frames_of_every_library_give_the_same(frame, found, make):
    again = chsic.screen(make({name: frame[name].to_numpy() for name in frame}), "z", rng=0)
    assert again.pairs == found.pairs


def test_columns_of_an_array_are_numbered(frame, found):
    again = chsic.screen(frame.to_numpy(), 0, rng=0)
    assert [(pair.x, pair.y) for pair in again] == list(itertools.combinations("1234", 2))
    assert [pair.statistic for pair in again] == [pair.statistic for pair in found]


def test_result_does_not_depend_on_workers_or_on_what_is_held(frame, found, monkeypatch):
    assert chsic.screen(frame, "z", workers=3, rng=0).pairs == found.pairs
    for held in (1, 600_000):  # nothing, and about two columns at once
        monkeypatch.setattr("chsic.many.column_tests.MOST_BYTES", held)
        assert chsic.screen(frame, "z", rng=0).pairs == found.pairs


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_blocks_hold_every_pair_once_and_few_columns(size):
    pairs = list(itertools.combinations(range(7), 2))
    blocks = list(_tiles(pairs, size))
    assert sorted(itertools.chain(*blocks)) == pairs
    assert max(len({p for pair in block for p in pair}) for block in blocks) <= 2 * size


def test_unusable_columns_are_skipped_and_named(frame):
    odd = frame.assign(
        constant=1.0,
        id=[f"id {k}" for k in range(300)],
        parts=[[1, 2]] * 300,
        flag=np.arange(300) % 2 == 0,
    )
    found = chsic.screen(odd, "z", rng=0, n_resamples=19)
    assert set(found.skipped) == {"constant", "id", "parts"}
    assert "every value is 1" in found.skipped["constant"]
    assert "300 categories" in found.skipped["id"]
    assert found.names() == ["a", "b", "c", "d", "flag"]
    assert found.kinds["flag"] == "category"
    assert "3 columns skipped" in repr(found)


def test_a_column_that_z_explains_has_nothing_left(frame):
    found = chsic.screen(frame.assign(copy=frame["z"]), "z", columns=["a", "copy"], rng=0)
    [pair] = found.pairs
    assert pair.pvalue == 1
    assert any("copy is a function of z" in sentence for sentence in pair.warnings)


def test_missing_values_are_left_out_of_each_pair(frame):
    gaps = frame.copy()
    gaps.loc[:9, "a"] = np.nan
    gaps.loc[295:, "z"] = np.nan
    with pytest.raises(ValueError, match="column a: 10 of 300"):
        chsic.screen(gaps, "z", rng=0)
    found = chsic.screen(gaps, "z", nan_policy="omit", rng=0)
    n_samples = {(pair.x, pair.y): (pair.n_samples, pair.n_omitted) for pair in found}
    assert n_samples["a", "b"] == (285, 15)
    assert n_samples["b", "c"] == (295, 5)
    alone = chsic.chsic_test(gaps["a"], gaps["b"], gaps["z"], nan_policy="omit", rng=1)
    assert found.pairs[0].coefficient == pytest.approx(alone.coefficient, rel=1e-9)


def test_missing_values_may_be_a_level(frame):
    groups = np.random.default_rng(0).choice(["u", "v", None], 300)
    found = chsic.screen(frame.assign(group=groups), "group", nan_policy="level", rng=0)
    assert {pair.n_samples for pair in found} == {300}


def test_a_pair_that_gaps_leave_constant_is_skipped_alone(frame):
    gaps = frame.copy()
    gaps["rare"] = np.where(np.arange(300) < 5, 1.0, 0.0)
    gaps.loc[:9, "a"] = np.nan
    found = chsic.screen(gaps, "z", columns=["a", "b", "rare"], nan_policy="omit", rng=0)
    assert list(found.failed) == [("a", "rare")]
    assert "every value is 0" in found.failed["a", "rare"]
    assert "1 pairs failed" in repr(found)
    assert [(pair.x, pair.y) for pair in found] == [("a", "b"), ("b", "rare")]


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"given": "zz"}, ValueError, "given: there is no column 'zz'; did you mean 'z'"),
        ({"given": "z", "columns": ["a", "a"]}, ValueError, "columns: column 'a' is named more"),
        ({"given": "z", "columns": ["a", "z"]}, ValueError, "given: column 'z' is to be tested"),
        ({"given": "z", "target": "q"}, ValueError, "target: there is no column 'q'"),
        ({"given": "z", "columns": ["a"]}, ValueError, "columns: two columns at least"),
        ({"given": "z", "kinds": {"q": "number"}}, ValueError, "kinds: there is no column 'q'"),
        ({"given": "z", "nan_policy": "drop"}, ValueError, "nan_policy: unknown choice 'drop'"),
        ({"given": "z", "workers": 0}, ValueError, "workers: expected at least 1"),
        ({"given": "z", "n_resamples": 1.5}, TypeError, "n_resamples: expected a whole number"),
        ({"given": "z", "n_resamples": 10**7 + 1}, ValueError, "expected at most 10,000,000"),
        ({"given": "z", "n_resamples": 18}, ValueError, "n_resamples: expected at least 19"),
        ({"given": "z", "resume": "."}, ValueError, "resume: . is a folder"),
    ],
)
def test_errors_name_the_argument_and_the_remedy(frame, settings, error, message):
    with pytest.raises(error, match=message.replace(".", r"\.")):
        chsic.screen(frame, rng=0, **settings)


def test_too_many_pairs_and_too_few_rows_are_refused():
    many = pd.DataFrame(np.random.default_rng(0).normal(size=(10, 2_000)))
    with pytest.raises(ValueError, match="2000 columns make 1999000 pairs"):
        chsic.screen(many, rng=0)
    with pytest.raises(ValueError, match="2 of 2 rows can be used"):
        chsic.screen(many[:2], columns=["0", "1"], rng=0)
    with pytest.raises(TypeError, match="frame: expected a data frame"):
        chsic.screen([1.0, 2.0], rng=0)
    with pytest.raises(ValueError, match="by: expected one of"):
        chsic.screen(many, columns=["0", "1"], rng=0).significant(by="luck")


@pytest.mark.levels
def test_level_is_kept_by_many_columns_against_a_target():
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(12, 1_501))
    found = chsic.screen(wide, target="1500", n_resamples=19, rng=0)
    assert len(found) == 1_500
    assert 0.02 < np.mean([pair.pvalue <= 0.05 for pair in found]) < 0.08


# --- Finished pairs are kept ----------------------------------------------------------------------


def test_resumed_run_is_the_same(frame, found, tmp_path):
    path = tmp_path / "run.jsonl"
    assert chsic.screen(frame, "z", rng=0, resume=path).pairs == found.pairs
    lines = path.read_bytes().splitlines(keepends=True)
    assert len(lines) == 7
    # Killed while the fourth pair was written.
    path.write_bytes(b"".join(lines[:4]) + lines[4][:20])
    assert chsic.screen(frame, "z", rng=0, resume=path).pairs == found.pairs
    assert sorted(path.read_bytes().splitlines(keepends=True)) == sorted(lines)


def test_finished_pairs_are_not_tested_again(frame, tmp_path, monkeypatch):
    path = tmp_path / "run.jsonl"
    first = chsic.screen(frame, "z", resume=path)
    monkeypatch.setattr("chsic.many.screening.ColumnTests", None)
    again = chsic.screen(frame, "z", resume=path)  # with the seed of the file
    assert again.pairs == first.pairs
    assert again.seed == first.seed


def test_other_data_or_settings_are_refused(frame, tmp_path):
    path = tmp_path / "run.jsonl"
    chsic.screen(frame, "z", rng=0, resume=path)
    with pytest.raises(ValueError, match="is of a run with other seed;"):
        chsic.screen(frame, "z", rng=1, resume=path)
    with pytest.raises(ValueError, match="is of a run with other n_resamples;"):
        chsic.screen(frame, "z", rng=0, n_resamples=99, resume=path)
    with pytest.raises(ValueError, match="is of a run with other data;"):
        chsic.screen(frame.assign(a=0.5 * frame["a"]), "z", rng=0, resume=path)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """A file of data, and the table of a run over all of its pairs."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=400)
    # So many pairs that a process is far from done when this one gets to stop it, on any machine.
    data = pd.DataFrame(rng.normal(size=(400, 12)) + z[:, None], columns=list("abcdefghijkl"))
    path = tmp_path_factory.mktemp("screen") / "data.csv"
    data.assign(z=z).to_csv(path, index=False)
    table = path.with_name("pairs.csv")
    command = [sys.executable, "-m", "chsic", "screen", path, "--given", "z", "--out", table]
    subprocess.run(command, check=True, capture_output=True)
    return path, table.read_bytes()


@pytest.mark.usefixtures("interrupts_heeded")
@pytest.mark.parametrize(("sent", "status"), [(signal.SIGKILL, -9), (signal.SIGINT, 130)])
def test_stopped_run_loses_no_finished_pair(uninterrupted, command, tmp_path, sent, status):
    """A real process, killed without warning or interrupted half-way, then resumed."""
    data, whole = uninterrupted
    kept, table = tmp_path / "run.jsonl", tmp_path / "pairs.csv"
    options = ["screen", data, "--given", "z", "--resume", kept, "--out", table]
    running = subprocess.Popen(
        [sys.executable, "-m", "chsic", *map(str, options)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if kept.exists() and kept.read_bytes().count(b"\n") > 5:
            break
        time.sleep(0.01)
    running.send_signal(sent)
    _, errors = running.communicate(timeout=60)
    assert running.returncode == status
    assert b"Traceback" not in errors
    finished = [line for line in kept.read_bytes().splitlines(keepends=True) if line[-1:] == b"\n"]
    assert 5 < len(finished) < 1 + 66
    assert not table.exists()
    resumed, _, errors = command(*options)
    assert resumed == 0, errors
    assert kept.read_bytes().startswith(b"".join(finished))
    assert table.read_bytes() == whole
    assert len(json.loads(kept.read_text().splitlines()[1])) == 10


def test_rows_lost_to_gaps_in_z_are_told(frame):
    gaps = frame.copy()
    gaps.loc[:9, "z"] = np.nan
    gaps.loc[20:25, "a"] = np.nan
    found = chsic.screen(gaps, "z", nan_policy="omit", rng=0)
    for pair in found:
        omitted = 16 if "a" in (pair.x, pair.y) else 10
        assert pair.n_omitted == omitted
        assert f"{omitted} rows with missing values were left out." in pair.warnings


def test_pairs_that_failed_do_not_hide_columns(frame):
    gaps = frame[["a", "b"]].copy()
    gaps.loc[:149, "a"] = np.nan
    gaps.loc[150:, "b"] = np.nan
    gaps["a, b"] = frame["c"]
    found = chsic.screen(gaps, nan_policy="omit", rng=0)
    assert "0 of 300 rows have no missing value" in found.failed["a", "b"]
    assert found.matrix().shape == (3, 3)
