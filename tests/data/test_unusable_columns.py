"""Columns that nothing can be learned from are refused with the reason, or left out of a screen."""

import datetime
import decimal
import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

import chsic
from chsic.data.arguments import read_columns
from chsic.many import column_tests

N = 60
RNG = np.random.default_rng(0)
Y, Z = RNG.normal(size=(2, N))


def names(n, n_levels):
    levels = np.append(np.arange(n_levels), np.zeros(n - n_levels, int))
    return np.array([f"id {k}" for k in np.random.default_rng(1).permutation(levels)], object)


@pytest.mark.parametrize("n_levels", [60, 57, 40])
@pytest.mark.parametrize("z", [None, Z])
def test_identifiers_are_refused(n_levels, z):
    x = names(N, n_levels)
    with pytest.raises(ValueError, match=r"^x: .* as an identifier does; drop it"):
        chsic.chsic_test(x, Y, z)
    with pytest.raises(ValueError, match=r"^y: .* as an identifier does"):
        chsic.chsic_test(Y, x, z)
    codes = np.unique(x, return_inverse=True)[1]
    with pytest.raises(ValueError, match=r"^x: .* identifier"):
        chsic.chsic_test(codes, Y, z, kinds={"x": "category"})


def test_two_samples_a_category_are_the_fewest():
    x = np.repeat([f"c{k}" for k in range(N // 2)], 2)
    assert chsic.chsic_test(x, Y, Z, rng=0).pvalue > 0.001
    x[0] = "one more"
    with pytest.raises(ValueError, match=r"^x: 31 categories for 60 samples, fewer than two"):
        chsic.chsic_test(x, Y, Z)


@pytest.mark.levels
def test_features_tell_all_categories_apart():
    """Categories without a feature were alike, and a sixth of such true nulls was rejected."""
    v = np.repeat([f"c{k}" for k in range(90)], 2)
    rejected = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        found = chsic.chsic_test(
            rng.permutation(v), rng.permutation(v), rng.random(180), rng=0, n_resamples=199
        )
        rejected += found.pvalue <= 0.05
    assert rejected <= 6  # more come up in 1 of 290 cases
    every = chsic.chsic_test(v, rng.permutation(v) == "c89", rng.random(180))
    assert not any("categories" in sentence for sentence in every.warnings)


def test_many_rare_categories_are_as_much_evidence_as_few():
    """95 levels of x in 200 rows: y follows a class of the level in half of the rows."""
    rng = np.random.default_rng(0)
    pvalues = []
    for _ in range(10):
        level, copied = rng.integers(0, 95, 200), rng.random(200) < 0.5
        y = np.where(copied, rng.integers(0, 3, 95)[level], rng.integers(0, 3, 200))
        x, y = (np.array([f"c{code}" for code in codes]) for codes in (level, y))
        pvalues.append(chsic.hsic_test(x, y).pvalue)
    assert max(pvalues) < 0.05


class Incomparable:
    def __ne__(self, other):
        raise RuntimeError("no")

    __hash__ = object.__hash__


def test_objects_that_fail_when_compared_are_refused():
    numbers = [decimal.Decimal(k) for k in range(N)]
    gap = [decimal.Decimal("sNaN"), *numbers[1:]]
    with pytest.raises(ValueError, match=r"^x: 1 of 60 samples are missing"):
        chsic.chsic_test(gap, Y, Z)
    frame = {"a": Z, "b": Y, "gap": gap, "odd": [Incomparable() for _ in range(N)]}
    found = chsic.screen(frame, rng=0, nan_policy="omit")
    assert {(pair.x, pair.y) for pair in found} == {("a", "b"), ("a", "gap"), ("b", "gap")}
    assert "odd" in found.skipped


def test_identifiers_are_left_out_of_a_screen():
    frame = {"id": names(N, N), "y": Y, "z": Z, "w": RNG.normal(size=N)}
    found = chsic.screen(frame, "z", rng=0)
    assert [(pair.x, pair.y) for pair in found] == [("y", "w")]
    assert "identifier" in found.skipped["id"]


def test_categories_of_a_few_rows_each_are_no_identifiers():
    x = np.array([f"pair {k // 2}" for k in range(N)], object)
    assert chsic.chsic_test(x, Y, rng=0).pvalue > 1e-3


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.linspace(0, 50, N).round() * 5e-324, "standard deviation underflows"),
        (np.append(np.ones(N - 1), 1 + 1e-300), "every value is 1"),
        (pd.Categorical([None] * N, categories=[]), "60 of 60 samples are missing"),
        (pd.Series(pd.Categorical([])), "the same number of samples|at least 4"),
        (np.arange(N).astype("timedelta64[Y]"), "no fixed length; give days"),
        ((np.arange(N) * 10**17).astype("datetime64[Y]"), "years away; correct them"),
        (pd.Series([[k % 3] for k in range(N)]), "expected numbers"),
    ],
    ids=["denormal", "rounds to constant", "no category", "no rows", "years", "far", "lists"],
)
@pytest.mark.parametrize("place", [0, 2])
def test_what_cannot_be_used_is_named(values, message, place):
    samples = [Y, Y**2 + Z, Z]
    samples[place] = values
    with pytest.raises((ValueError, TypeError), match=message) as error:
        chsic.chsic_test(*samples, rng=0)
    assert "xyz"[place] in str(error.value).partition(":")[0]


def test_one_differing_value_however_small_is_an_event():
    for small in (1e-300, 1e-200, 1.0):
        x = np.append(np.zeros(N - 1), small)
        found = chsic.chsic_test(x, Y, Z, rng=0)
        assert found.pvalue > 0.01
        assert found.to_dict()["bandwidth"][0] > 0
    same = [chsic.chsic_test(np.append(np.zeros(N - 1), s), Y, rng=0) for s in (1e-300, 1.0)]
    assert same[0].pvalue == same[1].pvalue


@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns"])
def test_dates_are_days_in_every_unit(unit):
    dates = np.array(["2024-02-01", "1970-01-01", "NaT"], f"datetime64[{unit}]")
    days = dates.astype("datetime64[D]").astype(float)
    for values in (dates, pd.Series(dates) if unit in ("s", "ms", "us", "ns") else dates):
        [column] = read_columns("x", values)
        np.testing.assert_array_equal(column.values[:2], days[:2])
        assert np.isnan(column.values[2])
        assert column.is_date


def test_dates_beyond_nanoseconds_do_not_wrap_around():
    seconds = np.array([10**14, 10**15, 10**16]).astype("datetime64[s]")
    expected = np.array([1e14, 1e15, 1e16]) / 86400
    for values in (seconds, pd.Series(seconds)):
        np.testing.assert_allclose(read_columns("x", values)[0].values, expected)
    milliseconds = pl.Series(np.array([10**16, 10**17])).cast(pl.Datetime("ms"))
    expected = np.array([1e16, 1e17]) / 86400e3
    np.testing.assert_allclose(read_columns("x", milliseconds)[0].values, expected)


def test_times_with_a_zone_are_points_in_time():
    madrid = datetime.timezone(datetime.timedelta(hours=1))
    here = [datetime.datetime(2024, 1, 1, 12, tzinfo=madrid)]
    there = [datetime.datetime(2024, 1, 1, 11, tzinfo=datetime.UTC)]
    assert read_columns("x", here)[0].values == read_columns("x", there)[0].values


def test_lists_and_arrays_are_categories_by_their_text_if_said():
    values = pd.Series([[1], [2], [1], [2, 3]])
    [column] = read_columns("x", values, {"x": "category"})
    assert column.levels == ("[1]", "[2, 3]", "[2]")
    ragged = np.empty(2, object)
    ragged[:] = [np.zeros(2), np.ones(3)]
    assert not read_columns("x", ragged, {"x": "category"})[0].has_gaps


def test_one_bad_pair_does_not_end_a_screen(monkeypatch, tmp_path):
    original, asked = column_tests.compare, []

    def compare(arrangement, settings, x, y, samples, rng):
        asked.append((samples.x[0].name, samples.y[0].name))
        if asked[-1] == ("a", "b"):
            raise OverflowError("(34, 'Numerical result out of range')")
        return original(arrangement, settings, x, y, samples, rng)

    monkeypatch.setattr(column_tests, "compare", compare)
    frame = dict(zip("abcd", RNG.normal(size=(4, N)), strict=True))
    path = tmp_path / "run.jsonl"
    for workers in (1, 2):
        found = chsic.screen(frame, rng=0, workers=workers, resume=path)
        assert len(found) == 5
        assert found.failed == {("a", "b"): "OverflowError: (34, 'Numerical result out of range')"}
    assert len(asked) == 6  # the second run had nothing left to do
    assert "1 pairs failed" in repr(found)


def test_a_column_that_is_bad_only_in_the_rows_used_does_not_end_a_screen():
    """Without the row whose category stands alone, x names samples."""
    group = np.array(["u"] * 20 + ["v"] * 20 + [f"alone {k}" for k in range(20)], object)
    x = np.array([f"{k}" for k in range(25)] + ["same"] * 35, object)
    frame = {"x": x, "y": Y, "w": RNG.normal(size=N), "group": group}
    found = chsic.screen(frame, "group", rng=0)
    assert [(pair.x, pair.y) for pair in found] == [("y", "w")]
    assert found.failed.keys() == {("x", "y"), ("x", "w")}
    assert "identifier" in found.failed["x", "y"]


@pytest.mark.parametrize("z", [None, Z, np.arange(N) % 3])
def test_dictionaries_are_valid_json(z):
    x = (np.arange(N) == 3) * 1.0
    for y in (x, Y, (np.arange(N) == 4) * 1.0):
        text = json.dumps(chsic.chsic_test(x, y, z, rng=0).to_dict(), allow_nan=False)
        assert 0 < json.loads(text)["pvalue"] <= 1
    frame = {"x": x, "y": Y, "w": RNG.normal(size=N)}
    text = json.dumps(chsic.screen(frame, rng=0).to_dict(), allow_nan=False)
    assert len(json.loads(text)["pvalue"]) == 3
