"""Files of columns, good and bad."""

import io
import sys

import numpy as np
import polars as pl
import pytest

from chsic.data.table import open_table


def write(tmp_path, text, encoding="utf-8", name="data.csv"):
    path = tmp_path / name
    path.write_text(text, encoding=encoding)
    return path


def test_reads_what_is_asked_for_in_that_order(tmp_path):
    path = write(tmp_path, '"größe, cm",b,name\n1.5,2,Ann\n-3e2,4,Bob\n', encoding="utf-8-sig")
    table = open_table(path)
    assert table.names == ("größe, cm", "b", "name")
    columns = table.read(["b", "größe, cm"])
    assert columns.columns == ["b", "größe, cm"]
    np.testing.assert_array_equal(columns["größe, cm"], [1.5, -300])
    np.testing.assert_array_equal(columns["b"], [2, 4])
    assert open_table(write(tmp_path, " a , b\n1,2\n")).names == ("a", "b")
    blank = open_table(write(tmp_path, "a,b\n1,2\n\n3,\n\n")).read(["a", "b"])
    assert blank.rows() == [(1, 2), (3, None)]
    assert table.split(["größe, cm", "b,name"]) == ["größe, cm", "b", "name"]


def test_kinds_of_values_and_what_is_missing(tmp_path):
    text = "n,day,word,flag\n1,2020-01-01,a,true\nNA,2020-01-03,,false\n3.5,,b,true\n"
    frame = open_table(write(tmp_path, text)).read(["n", "day", "word", "flag"])
    assert frame.dtypes == [pl.Float64, pl.Date, pl.String, pl.Boolean]
    assert frame.null_count().row(0) == (1, 1, 1, 0)
    # A column whose text comes late is read again, with all rows looked at.
    late = "a,b\n" + "1,2\n" * 20_000 + "x,3\n"
    assert open_table(write(tmp_path, late)).read(["a"])["a"].dtype == pl.String


@pytest.mark.parametrize(("name", "separator"), [("t.tsv", "\t"), ("t.csv", ";"), ("t", ",")])
def test_separators_are_recognised(tmp_path, name, separator):
    text = "\n".join(separator.join(row) for row in (["a", "b c"], ["1", "2"], ["3", "4"]))
    assert open_table(write(tmp_path, text, name=name)).read(["b c"])["b c"].to_list() == [2, 4]


def test_decimal_commas_between_semicolons_are_numbers(tmp_path):
    text = "a;b;c;d\n-1,5;2;3,5;1,5\n2e3;4;x;\n0,25;6;1,5;2,5\n"
    frame = open_table(write(tmp_path, text)).read(["a", "b", "c", "d"])
    assert frame["a"].to_list() == [-1.5, 2000.0, 0.25]
    assert frame["b"].to_list() == [2, 4, 6]
    assert frame["c"].to_list() == ["3,5", "x", "1,5"], "not all of them are numbers"
    assert frame["d"].to_list() == [1.5, None, 2.5]
    quoted = write(tmp_path, 'a,b\n"1,500",2\n"2,500",4\n')
    assert open_table(quoted).read(["a"])["a"].to_list() == ["1,500", "2,500"]  # thousands, maybe


def test_parquet_and_standard_input_are_read(tmp_path, monkeypatch):
    frame = pl.DataFrame({"a": [1, 2], "b": ["x", None], "c": [0.5, 1.5]})
    frame.write_parquet(tmp_path / "data.bin")
    table = open_table(tmp_path / "data.bin")
    assert table.names == ("a", "b", "c")
    assert table.read(["c", "b"]).equals(frame.select("c", "b"))
    for content in ((tmp_path / "data.bin").read_bytes(), b"a,b,c\n1,x,0.5\n2,,1.5\n"):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert open_table("-").read(["c", "b"]).equals(frame.select("c", "b"))


@pytest.mark.parametrize(
    ("text", "columns", "message"),
    [
        ("", [], "the file is empty"),
        ("\n1,2\n", [], "the file is empty"),
        ("a,a\n1,2\n", ["a"], r"2 columns are called 'a'"),
        ("a,b\n1,2\n", ["a", "a"], r"'a' is asked for more than once"),
        ("temperature,b\n1,2\n", ["temprature"], "did you mean 'temperature'"),
        ("temperature,b\n1,2\n", ["zzz"], "there are 'temperature', 'b'"),
        ("a,b\n1,2,3\n", ["a", "b"], r"data\.csv: row 1 has 3 fields, but the first line names 2"),
    ],
)
def test_bad_files_are_refused(tmp_path, text, columns, message):
    with pytest.raises(ValueError, match=message):
        open_table(write(tmp_path, text)).read(columns)


def test_text_that_is_not_utf8_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"data\.csv: this is not UTF-8"):
        open_table(write(tmp_path, "größe\n1\n", encoding="latin-1"))
    with pytest.raises(ValueError, match=r"data\.csv: this is not UTF-8"):
        open_table(write(tmp_path, "a,b\nü,1\n", encoding="latin-1")).read(["a"])
    (tmp_path / "half.parquet").write_bytes(b"PAR1 and nothing more")
    with pytest.raises(ValueError, match="this Parquet file cannot be read"):
        open_table(tmp_path / "half.parquet")


def test_rows_that_are_empty_in_the_columns_read_are_rows(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,b,c\n1,2,3\n,,5\n\n4,5,6\n")
    assert open_table(path).read(["a", "b"])["a"].to_list() == [1, None, 4]
    path.write_text("a,b,c\r\n1,2,3\r\n,,5\r\n4,5,6\r\n")
    assert open_table(path).read(["b"])["b"].to_list() == [2, None, 5]


def test_names_with_line_breaks_and_other_marks_for_missing(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text('"a\nlong",b\n1,?\n3,4\n')
    table = open_table(path, missing=["?"])
    assert table.names == ("a\nlong", "b")
    assert table.read(["b"])["b"].to_list() == [None, 4]


def test_rows_may_not_have_more_fields_than_names_though_few_columns_are_read(tmp_path):
    """As R writes tables: without a name for the first field, all values are one column off."""
    path = tmp_path / "data.csv"
    path.write_text("a;b;c\n1;2;3\n4;5;6;\n7;8;9;10\n")
    with pytest.raises(ValueError, match="row 3 has 4 fields, but the first line names 3 columns"):
        open_table(path)
    path.write_text("a;b;c\n1;2;3\n4;5;6;\n")  # an empty one at the end names nothing
    assert open_table(path).read(["b"])["b"].to_list() == [2, 5]
