"""CSV files, good and bad, and files that appear whole."""

import numpy as np
import pytest

from chsic.files import write_whole
from chsic.table import read_csv


def write(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "data.csv"
    path.write_text(text, encoding=encoding)
    return path


def test_reads_what_is_asked_for(tmp_path):
    path = write(tmp_path, '"größe, cm",b,name\n1.5,2,Ann\n\n-3e2,4,Bob\n', encoding="utf-8-sig")
    columns = read_csv(path, ["größe, cm", "b"])
    assert list(columns) == ["größe, cm", "b"]
    np.testing.assert_array_equal(columns["größe, cm"], [1.5, -300])
    np.testing.assert_array_equal(columns["b"], [2, 4])
    assert list(read_csv(write(tmp_path, " a , b\n1,2\n"))) == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("a,b\n1,x\n", r"line 2: column 'b' must hold numbers, got 'x'"),
        ("a,b\n1,2\n3\n", r"line 3: column 'b' must hold numbers, got ''"),
        ("a,a\n1,2\n", r"2 columns are called 'a'"),
    ],
)
def test_bad_files(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read_csv(write(tmp_path, text))


def test_text_that_is_not_csv_in_utf8(tmp_path):
    with pytest.raises(ValueError, match=r"data\.csv: this is not UTF-8"):
        read_csv(write(tmp_path, "größe\n1\n", encoding="latin-1"))
    with pytest.raises(ValueError, match="is a quotation mark left open"):
        read_csv(write(tmp_path, 'a,b\n"1,2\n' + "1,2\n" * 40_000))


def test_misspelt_column(tmp_path):
    path = write(tmp_path, "temperature,b\n1,2\n")
    with pytest.raises(ValueError, match="did you mean 'temperature'"):
        read_csv(path, ["temprature"])
    with pytest.raises(ValueError, match="it has 'temperature', 'b'"):
        read_csv(path, ["zzz"])


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "kept.txt"
    path.write_text("old")

    def fail(temporary):
        temporary.write_text("half")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_whole(path, fail)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    write_whole(path, lambda temporary: temporary.write_text("new"))
    assert path.read_text() == "new"
