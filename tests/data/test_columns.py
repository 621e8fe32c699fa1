"""Columns of every kind from every kind of frame; what is missing; what cannot be read."""

import datetime
import decimal
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import chsic
from chsic.data.arguments import as_columns, indicators, read_columns
from chsic.data.samples import read_arguments, read_samples
from chsic.datasets import draw_scenario

FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
WORDS = ["b", "a", None, "c", "a"]


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_kinds_are_the_same_from_every_library(make):
    day = datetime.date(1970, 1, 3)
    frame = make(
        {
            "number": [1.5, 2.5, None, 4.5, 5.5],
            "count": [1, 2, 3, 4, 5],
            "flag": [True, False, True, True, False],
            "word": WORDS,
            "day": [day, day, None, datetime.date(1970, 1, 1), day],
            "moment": [datetime.datetime(1970, 1, 2, 12)] * 4 + [None],
            "span": [datetime.timedelta(hours=36)] * 5,
        }
    )
    columns = read_columns("x", frame)
    assert [c.name for c in columns] == ["number", "count", "flag", "word", "day", "moment", "span"]
    kinds = ["number", "number", "category", "category", "number", "number", "number"]
    assert [c.kind for c in columns] == kinds
    by_name = {c.name: c for c in columns}
    np.testing.assert_array_equal(by_name["number"].values, [1.5, 2.5, np.nan, 4.5, 5.5])
    np.testing.assert_array_equal(by_name["word"].values, [1, 0, np.nan, 2, 0])
    assert by_name["word"].levels == ("a", "b", "c")
    assert by_name["flag"].levels == ("False", "True")
    np.testing.assert_array_equal(by_name["day"].values, [2, 2, np.nan, 0, 2])
    np.testing.assert_array_equal(by_name["moment"].values, [1.5] * 4 + [np.nan])
    np.testing.assert_array_equal(by_name["span"].values, [1.5] * 5)


@pytest.mark.parametrize(
    "values",
    [
        np.array(WORDS, dtype=object),
        WORDS,
        pd.Series(WORDS),
        pd.Series(WORDS, dtype="category"),
        pd.Series(WORDS, dtype="string"),
        pl.Series("x", WORDS),
        pl.Series("x", WORDS, dtype=pl.Categorical),
        pl.Series("x", WORDS, dtype=pl.Enum(["c", "b", "a"])),
        pa.chunked_array([WORDS]),
    ],
    ids=lambda v: f"{type(v).__module__}.{getattr(v, 'dtype', '')}",
)
def test_text_is_a_category(values):
    [column] = read_columns("x", values)
    assert (column.name, column.kind, column.levels) == ("x", "category", ("a", "b", "c"))
    np.testing.assert_array_equal(column.values, [1, 0, np.nan, 2, 0])


@pytest.mark.parametrize(
    "values",
    [
        [decimal.Decimal("1.5"), None, decimal.Decimal(2)],
        pd.Series([1.5, pd.NA, 2.0], dtype="Float64"),
        pl.Series([decimal.Decimal("1.5"), None, decimal.Decimal(2)]),
        np.ma.array([1.5, 7.0, 2.0], mask=[False, True, False]),
        pd.Series([1.5, None, 2], dtype=object),
    ],
    ids=lambda v: type(v).__module__,
)
def test_numbers_of_other_types_are_numbers(values):
    [column] = read_columns("x", values)
    assert column.kind == "number"
    np.testing.assert_array_equal(column.values, [1.5, np.nan, 2.0])


def test_dates_of_numpy_and_of_lists_are_days():
    [column] = read_columns("x", np.array(["1970-01-02", "NaT", "1970-01-11"], "datetime64[D]"))
    np.testing.assert_array_equal(column.values, [1, np.nan, 10])
    [column] = read_columns("x", [datetime.date(1970, 1, 2), datetime.date(1970, 1, 11)])
    np.testing.assert_array_equal(column.values, [1, 10])
    [column] = read_columns("x", np.array([12, 36], "timedelta64[h]"))
    np.testing.assert_array_equal(column.values, [0.5, 1.5])
    [column] = read_columns("x", pl.Series([datetime.time(12), None, datetime.time(18)]))
    np.testing.assert_array_equal(column.values, [0.5, np.nan, 0.75])


def test_kinds_say_what_numbers_are_categories():
    frame = pd.DataFrame({"ward": [10.0, 2.0, np.nan, 10.0], "age": [1, 2, 3, 4]})
    ward, age = read_columns("z", frame, {"ward": "category"})
    assert (ward.kind, ward.levels, age.kind) == ("category", ("10", "2"), "number")
    np.testing.assert_array_equal(ward.values, [0, 1, np.nan, 0])
    both = read_arguments({"z": frame}, {"z": "category"})["z"]
    assert [column.kind for column in both] == ["category", "category"]
    with pytest.raises(ValueError, match="kinds: unknown kind 'ordinal' of 'ward'"):
        read_columns("z", frame, {"ward": "ordinal"})
    x = np.arange(4.0)
    with pytest.raises(ValueError, match=r"kinds: there is no column 'wards'; did you mean 'ward'"):
        read_samples(x, x, frame, nan_policy="omit", kinds={"wards": "category"})
    with pytest.raises(TypeError, match=r"x: expected numbers, got 'a' at row 0"):
        read_columns("x", ["a", "b"], {"x": "number"})


def test_names_of_columns_go_before_names_of_arguments():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 3, size=(60, 3)).astype(float), columns=list("xyz"))
    found = chsic.chsic_test(frame["y"], frame["z"], frame["x"], kinds={"x": "category"}, rng=0)
    assert found.kinds == {"y": "number", "z": "number", "x": "category"}
    with pytest.raises(TypeError, match="kinds: expected a mapping such as"):
        chsic.chsic_test(frame["y"], frame["z"], kinds=["x"])


@pytest.mark.parametrize(
    "values",
    [
        pd.Series([1, 2, 3, 1, 2, 3] * 10).astype("category"),
        pd.cut(pd.Series(np.arange(60.0)), 3),
        pd.Series(pd.to_datetime(["2024-01-01", "2024-01-02"] * 30)).astype("category"),
        pl.Series([1, 2, 3] * 20).cast(pl.String).cast(pl.Categorical),
        pl.Series(["u", "v"] * 30, dtype=pl.Enum(["u", "v"])),
    ],
    ids=["integers", "intervals", "dates", "polars", "enum"],
)
def test_categorical_types_are_categories_whatever_they_hold(values):
    [column] = read_columns("x", values)
    assert column.kind == "category"
    assert len(column.levels) in (2, 3)


def test_times_with_a_zone_and_very_long_integers_are_numbers():
    times = pd.Series(pd.date_range("2024-01-01", periods=5, tz="Europe/Madrid"))
    [column] = read_columns("x", times)
    assert column.described == "date"
    np.testing.assert_allclose(np.diff(column.values), 1)
    assert column.values[0] == pytest.approx(19723 - 1 / 24)
    [column] = read_columns("x", pl.Series([1, 2, 3, 4], dtype=pl.Int128))
    np.testing.assert_array_equal(column.values, [1, 2, 3, 4])


def test_text_is_numbers_where_kinds_say_so():
    [column] = read_columns("x", ["1.5", "2", "1e3", None], {"x": "number"})
    np.testing.assert_array_equal(column.values, [1.5, 2, 1000, np.nan])
    many = [str(k) for k in range(200)] + ["?"]
    with pytest.raises(ValueError, match=r"x: 201 categories \(such as '\?', which is no number"):
        chsic.chsic_test(many, np.arange(201.0))


def test_many_levels_of_z_cost_no_column_each(monkeypatch):
    # That takes a block for a moment, which is never touched.
    monkeypatch.setattr("chsic.inference.given.keep_freed_memory", lambda: None)
    rng = np.random.default_rng(0)
    n = 3_000
    x, y, z = rng.normal(size=(3, n))
    peaks = []
    for n_levels in (10, 1_000):
        homes = rng.integers(0, n_levels, n).astype(str)
        tracemalloc.start()
        found = chsic.chsic_test(x, y, pd.DataFrame({"home": homes, "z": z}))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert found.kinds["home"] == "category"
    few, many = peaks
    assert many < few + 8 * n * 500  # a dense matrix of all levels alone would be 24 MB
    assert chsic.screen({"x": x, "y": y, "home": homes}, "home", n_resamples=19, rng=0).pairs


def test_indicators_have_a_column_for_each_number_and_level():
    columns = read_columns(
        "x", pd.DataFrame({"a": [1.0, 2, 3], "b": list("uvw"), "c": list("ppq")})
    )
    made, origin = indicators(columns)
    np.testing.assert_array_equal(made, [[1, 1, 0, 0, 0], [2, 0, 1, 0, 0], [3, 0, 0, 1, 1]])
    np.testing.assert_array_equal(origin, [0, 1, 1, 1, 2])


def test_missing_values_are_refused_left_out_or_a_level():
    x = pd.Series([1.0, np.nan, 3, 4, 5, 6, 7], name="height")
    y = pd.Series(["a", "b", None, "a", "b", "b", "a"], name="group")
    with pytest.raises(
        ValueError, match=r"x, column height: 1 of 7; y, column group: 1 of 7 samples are missing"
    ):
        read_samples(x, y, None)
    omitted = read_samples(x, y, None, nan_policy="omit")
    assert (len(omitted), omitted.n_omitted) == (5, 2)
    level = read_samples(x, y, None, nan_policy="level")
    assert (len(level), level.n_omitted) == (6, 1)
    assert level.y[0].levels == ("a", "b", "(missing)")
    with pytest.raises(ValueError, match="nan_policy: unknown choice 'drop'"):
        read_samples(x, y, None, nan_policy="drop")
    # A level that is gone with its rows is forgotten.
    rare = read_samples([1.0, 2, 3, 4, np.nan], list("ababc"), None, nan_policy="omit")
    assert rare.y[0].levels == ("a", "b")


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        (pl.LazyFrame({"a": [1]}), TypeError, r"x: a lazy frame holds no data yet"),
        (pd.DataFrame(index=range(5)), ValueError, r"x: the data frame has no columns"),
        (pd.DataFrame([[1, 2]] * 5, columns=["a", "a"]), ValueError, r"x: .*cannot be read"),
        (pl.Series([[1], [2]]), TypeError, r"x: expected numbers, got \[1\] at row 0"),
        (["a", "b", "a"], ValueError, r"x: got 3 samples"),
        ([str(k) for k in range(200)], ValueError, r"x: 200 categories are more than 100"),
        (pd.Series(["a"] * 9, name="b"), ValueError, r"x, column b: every value is 'a'"),
    ],
    ids=str,
)
def test_what_cannot_be_read_is_refused_with_a_remedy(values, error, message):
    with pytest.raises(error, match=message):
        as_columns("x", values)


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_frames_give_what_arrays_give(make):
    x, y, z = draw_scenario("add", 150, 2, rng=0)
    frame = make({"x": x, "y": y, "z1": z[:, 0], "z2": z[:, 1]})
    confounders = frame.select(["z1", "z2"]) if make is not pd.DataFrame else frame[["z1", "z2"]]
    plain = chsic.chsic_test(x, y, z, rng=0).to_dict()
    framed = chsic.chsic_test(frame["x"], frame["y"], confounders, rng=0).to_dict()
    assert framed.pop("names") == {"x": ["x"], "y": ["y"], "z": ["z1", "z2"]}
    assert framed.pop("kinds") == dict.fromkeys(["x", "y", "z1", "z2"], "number")
    for result in (plain, framed):
        result.pop("names", None)
        result.pop("kinds", None)
    assert framed == plain
    assert chsic.hsic(frame["x"], frame["y"]) == chsic.hsic(x, y)
    assert chsic.chsic(frame["x"], frame["y"], confounders) == chsic.chsic(x, y, z)
    graph = chsic.closest_pairs(confounders, 4)
    np.testing.assert_array_equal(graph.i, chsic.closest_pairs(z, 4).i)


def test_the_index_is_not_looked_at():
    x, y, z = draw_scenario("add", 100, rng=0)
    shuffled = pd.Series(x, index=np.random.default_rng(0).permutation(100))
    one = chsic.chsic_test(shuffled, pd.Series(y), pd.Series(z), rng=0)
    assert one.pvalue == chsic.chsic_test(x, y, z, rng=0).pvalue
    with pytest.raises(ValueError, match="x has 99, y has 100, z has 100"):
        chsic.chsic_test(shuffled[:99], y, z)


# --- The test with categories ---------------------------------------------------------------------


def grouped(rng, n, shift=0.0):
    """Return x and y that share a group and a trend in z, and perhaps a little more."""
    group = rng.choice(["north", "south", "east", "west"], n)
    level = {"north": 2.0, "south": -1.0, "east": 0.5, "west": 3.0}
    offset = np.array([level[name] for name in group])
    z, e, h = rng.normal(size=(3, n))
    x, y = np.sin(2 * z) + offset + 0.5 * e, np.cos(2 * z) - offset + 0.5 * h + shift * e
    return x, y, pd.DataFrame({"z": z, "group": group})


@pytest.mark.levels
def test_level_and_power_with_a_category_among_the_confounders():
    """At a true 0.05, more than 6 of 30 come up in 1 of 1,700 cases; at 0.3, in 5 of 6."""
    rejected = {
        shift: sum(
            chsic.chsic_test(*grouped(np.random.default_rng(s), 150, shift), rng=s,
                             n_resamples=199).pvalue <= 0.05
            for s in range(30)
        )
        for shift in (0.0, 0.3)
    }  # fmt: skip
    assert rejected[0.0] <= 6
    assert rejected[0.3] >= 23


def test_a_category_alone_gives_strata():
    x, y, z = grouped(np.random.default_rng(1), 200)
    z = z["group"]
    found = chsic.chsic_test(x, y, z, rng=0)
    assert (found.pairs, found.adjust, found.kinds["group"]) == ("strata", "none", "category")
    codes = np.unique(z, return_inverse=True)[1]
    as_numbers = chsic.chsic_test(x, y, codes, rng=0)  # the same strata, rows in another order
    assert found.coefficient == pytest.approx(as_numbers.coefficient, rel=0.01)
    assert found.pvalue == pytest.approx(as_numbers.pvalue, abs=0.02)
    for settings, message in [
        ({"pairs": "nearest"}, "'nearest' needs numbers"),
        ({"pairs": "closest"}, "'closest' needs numbers"),
        ({"adjust": "ridge"}, "nothing to adjust"),
        ({"alpha": 4}, "alpha: is not used"),
    ]:
        with pytest.raises(ValueError, match=message):
            chsic.chsic_test(x, y, z, **settings)


def test_dependence_of_categories_is_found():
    """A class that depends on another one, and one that does not, given a number."""
    rng = np.random.default_rng(2)
    n = 400
    z = rng.normal(size=n)
    x = np.array(["low", "middle", "high"])[np.digitize(z + rng.normal(size=n), [-0.7, 0.7])]
    free = np.array(["no", "yes", "maybe"])[np.digitize(z + rng.normal(size=n), [-0.7, 0.7])]
    copied = np.where(rng.random(n) < 0.3, x, free)
    assert chsic.chsic_test(x, free, z, rng=0).pvalue > 0.05
    assert chsic.chsic_test(x, copied, z, rng=0).pvalue < 0.001
    mixed = pd.DataFrame({"class": x, "other": rng.normal(size=n)})
    assert chsic.chsic_test(mixed, copied, z, rng=0).pvalue < 0.01
    assert chsic.hsic_test(x, copied, rng=0).pvalue < 1e-6
    assert chsic.hsic(x, copied) > chsic.hsic(x, rng.permutation(copied))


def test_a_level_that_is_a_function_of_z_is_no_trouble():
    rng = np.random.default_rng(3)
    group = np.repeat(["a", "b", "c"], 100)
    x = np.where(group == "a", "never", rng.choice(["u", "v"], 300))
    found = chsic.chsic_test(x, rng.normal(size=300), group, rng=0)
    assert found.pvalue > 0.01
    assert not any("function of z" in sentence for sentence in found.warnings)
    same = chsic.chsic_test(group, rng.normal(size=300), group, rng=0)
    assert same.pvalue == 1
    assert any("x is a function of z" in sentence for sentence in same.warnings)


def test_a_mapping_names_columns_without_a_data_frame():
    rng = np.random.default_rng(0)
    x, y, z = rng.normal(size=(3, 60))
    found = chsic.chsic_test({"dose": x}, {"a": y, "b": z}, rng=0)
    assert found.names["x"] == ("dose",)
    assert found.names["y"] == ("a", "b")
    assert found.pvalue == chsic.chsic_test(x, np.column_stack([y, z]), rng=0).pvalue
    with pytest.raises(ValueError, match="x: the mapping has no columns"):
        chsic.chsic_test({}, y)
    with pytest.raises(TypeError, match="dose: expected one column, got shape"):
        chsic.chsic_test({"dose": np.ones((60, 2))}, y)


def test_labels_of_pandas_that_are_numbers_become_names():
    values = np.random.default_rng(0).normal(size=(60, 3))
    frame = pd.DataFrame(values)
    found = chsic.chsic_test(frame[[0]], frame[[1, 2]], rng=0)
    assert found.names == {"x": ("0",), "y": ("1", "2"), "z": ()}
    assert found.pvalue == chsic.chsic_test(values[:, 0], values[:, 1:], rng=0).pvalue


@pytest.mark.parametrize("as_series", [True, False])
def test_periods_of_pandas_are_dates(as_series):
    months = pd.period_range("2020-01", periods=5, freq="M")
    [column] = read_columns("month", pd.Series(months) if as_series else months.to_numpy())
    assert (column.described, column.values[0]) == ("date", 18262.0)  # 2020-01-01
    np.testing.assert_array_equal(np.diff(column.values), [31, 29, 31, 30])
