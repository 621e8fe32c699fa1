"""Files that are broken, disguised or made to do harm: one sentence, and bounded memory."""

import codecs
import gzip
import io
import os
import random
import sys
import threading
import zlib

import numpy as np
import polars as pl
import pytest

from chsic.data.file_content import load
from chsic.data.memory_limit import gigabytes, memory_for_data
from chsic.data.parquet_footer import column_sizes
from chsic.data.table import open_table

TEXT = "a,b,c\n" + "".join(f"{k},{k * 37 % 101},{k % 7}\n" for k in range(60))


def write(tmp_path, content, name="data.csv"):
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def parquet(frame, **settings):
    buffer = io.BytesIO()
    frame.write_parquet(buffer, **settings)
    return buffer.getvalue()


WHOLE = parquet(pl.DataFrame({"a": np.arange(60.0), "b": [f"s{k % 7}" for k in range(60)]}))


def test_headers_may_be_of_any_length(tmp_path):
    names = [f"gene_{k:05d}" for k in range(20_000)]
    for separator in ",\t;":
        header, row = separator.join(names), separator.join(map(str, range(20_000)))
        path = write(tmp_path, "\n".join([header, row, row]))
        table = open_table(path)
        assert table.names == tuple(names)
        assert table.read([names[17_000]]).rows() == [(17_000,)] * 2
    with pytest.raises(ValueError, match=r"row 1 has 20001 fields, .* names 20000 columns"):
        open_table(write(tmp_path, f"{header}\n{row};7\n{row}"))
    long = "n" * 1_000_000
    assert open_table(write(tmp_path, f"a,{long}\n1,2\n")).read([long]).rows() == [(2,)]
    broken = "line\n" * 1_000
    table = open_table(write(tmp_path, f'a,"{broken}"\n1,2\n'))
    assert table.names == ("a", broken.strip())
    assert table.read(["a"]).rows() == [(1,)]
    cell = "y" * 300_000
    assert open_table(write(tmp_path, f"a,b\n1,{cell}\n")).read(["b"]).rows() == [(cell,)]


@pytest.mark.parametrize(
    "content",
    [
        TEXT.replace("\n", "\r"),  # as on the first Macintosh
        TEXT.replace("\n", "\r\n"),
        TEXT.replace("\n", "\r", 30),  # two files, one after the other
        TEXT.replace("\n", "\r").removesuffix("\r"),
        codecs.BOM_UTF8 + TEXT.replace("\n", "\r").encode(),
    ],
)
def test_lines_end_in_any_way(tmp_path, content):
    frame = open_table(write(tmp_path, content)).read(["a", "b", "c"])
    assert frame.rows() == [(k, k * 37 % 101, k % 7) for k in range(60)]


def test_carriage_returns_inside_of_cells_stay(tmp_path):
    for end in ("\n", "\r\n", "\r"):
        path = write(tmp_path, end.join(['"a\rb",c', '"x\ry",1', "z,2", ""]))
        assert open_table(path).read(["a\rb", "c"]).rows() == [("x\ry", 1), ("z", 2)]


def test_text_that_looks_compressed_is_text(tmp_path):
    """polars takes files that begin with the two bytes of zlib for compressed."""
    for name in ("x^2", "x\x01"):
        table = open_table(write(tmp_path, f"{name},b\n1,2\n"))
        assert table.names == (name, "b")
        assert table.read([name]).rows() == [(1,)]


def test_names_of_files_are_no_patterns(tmp_path):
    for name in ("d[1].csv", "d1.csv", "~.csv"):
        write(tmp_path, f"a,b\n{len(name)},2\n", name)
    assert open_table(tmp_path / "d[1].csv").read(["a"]).rows() == [(8,)]
    write(tmp_path, WHOLE, "p[1]")
    assert open_table(tmp_path / "p[1]").read(["a"]).height == 60
    path = os.fsencode(tmp_path) + b"/\xff.csv"
    with open(path, "wb") as file:
        file.write(b"a,b\n1,2\n")
    assert open_table(os.fsdecode(path)).read(["a"]).rows() == [(1,)]


@pytest.mark.parametrize("content", [TEXT.encode(), WHOLE], ids=["text", "Parquet"])
def test_pipes_that_cannot_seek_are_read(tmp_path, content):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=lambda: fifo.write_bytes(content))
    writer.start()
    table = open_table(fifo)
    writer.join()
    assert table.path == str(fifo)
    assert table.read(["a"])["a"].to_list() == list(range(60))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (gzip.compress(TEXT.encode()), "this is compressed with gzip; unpack it first"),
        (b"\x28\xb5\x2f\xfd rest", "this is compressed with zstd"),
        (zlib.compress(TEXT.encode()), "byte 65 is NUL"),
        (b"PK\x03\x04 rest", "this is a zip archive, as Excel's files are"),
        (TEXT.encode("utf-16"), "this is UTF-16 or UTF-32 text"),
        (TEXT.encode("utf-32"), "this is UTF-16 or UTF-32 text"),
        (TEXT.encode("utf-16-le"), "byte 1 is NUL"),
        (TEXT.encode() + b"1,\0,2\n", r"byte 473 is NUL, which is in no text"),
        (bytes(range(256)) * 20, "byte 0 is NUL"),
        (bytes(range(128, 256)) * 20, "this is not UTF-8 text"),
        ('"a,b\n' + "1,2\n" * 1_000, "a quote in the first line is not closed"),
        ('5" pipe,b\n1,2\n', "a quote in the first line is not closed"),
        ('a,b,c\n1,2,3\n"4,5,6\n7,8,9\n', r"this cannot be read as CSV: .*; close its quotes"),
        (WHOLE[:-100], r"this Parquet file cannot be read: .*; write or copy it again"),
        (WHOLE[:20], "this Parquet file cannot be read"),
        (b"PAR1", "this Parquet file cannot be read"),
        (WHOLE[:50] + b"\0" * 300 + WHOLE[350:], "this Parquet file cannot be read"),
    ],
)
def test_what_is_no_table_is_named_with_a_remedy(tmp_path, capfd, content, message):
    path = write(tmp_path, content)
    with pytest.raises(ValueError, match=rf"data\.csv: {message}"):
        open_table(path).read(["a", "b"])
    with pytest.raises(ValueError, match=r"this is a folder; name a file"):
        open_table(tmp_path)
    assert capfd.readouterr() == ("", "")


def test_a_panic_inside_of_polars_is_an_error_like_others(tmp_path, capfd, monkeypatch):
    def panic(*_, **__):
        os.write(2, b"thread '<unnamed>' panicked at crates/polars")  # as Rust does
        raise pl.exceptions.PanicException("called `Option::unwrap()` on a `None` value")

    for content, function in ((WHOLE, "scan_parquet"), (WHOLE, "read_parquet"), (TEXT, "read_csv")):
        path = write(tmp_path, content)
        with monkeypatch.context() as patch:
            patch.setattr(pl, function, panic)
            with pytest.raises(ValueError, match=r"it is damaged; "):
                open_table(path).read(["a"])
    assert capfd.readouterr() == ("", "")
    os.write(2, b"heard")
    assert capfd.readouterr().err == "heard"


def test_damaged_parquet_is_refused_or_read(tmp_path, capfd):
    draw = random.Random(0)
    refused = []
    for _ in range(150):
        content = bytearray(WHOLE)
        for _ in range(draw.choice([1, 2, 5])):
            content[draw.randrange(4, len(content))] = draw.randrange(256)
        try:
            open_table(write(tmp_path, bytes(content))).read(["a", "b"])
        except ValueError as error:
            refused.append(str(error))
    assert len(refused) > 50
    assert all(error.startswith(f"{tmp_path / 'data.csv'}: ") for error in refused)
    assert capfd.readouterr() == ("", "")


def test_pages_of_impossible_sizes_are_refused(tmp_path):
    """polars would take all memory for them, which ends the process."""
    frame = pl.DataFrame({"a": np.arange(100.0)})
    content = parquet(frame, compression="uncompressed", statistics=False)
    head, rest = content[:24], content[24:]  # that of the only page, in which integers are doubled
    assert b"\xce\x0c" in head  # 2 * 807 bytes
    assert b"\xc8\x01" in head  # 2 * 100 values
    for number, negative in ((b"\xce\x0c", b"\xcf\x0c"), (b"\xc8\x01", b"\xc9\x01")):
        path = write(tmp_path, head.replace(number, negative) + rest)
        with pytest.raises(ValueError, match=r"Parquet file cannot be read: a page is damaged"):
            open_table(path).read(["a"])


def test_sizes_in_footers_are_those_that_arrow_tells():
    pyarrow = pytest.importorskip("pyarrow.parquet")
    frame = pl.DataFrame(
        {
            "n": np.arange(1_000) % 5,
            "text": [f"text {k % 7}" for k in range(1_000)],
            "parts": [{"one": k, "two": str(k)} for k in range(1_000)],
        }
    )
    buffer = io.BytesIO()
    pyarrow.write_table(frame.to_arrow(), buffer, row_group_size=300)
    sizes = column_sizes(buffer.getvalue())
    found = pyarrow.read_metadata(buffer)
    chunks = [
        found.row_group(group).column(column)
        for group in range(found.num_row_groups)
        for column in range(found.num_columns)
    ]
    for name, size in sizes.items():
        of = [chunk for chunk in chunks if chunk.path_in_schema.split(".")[0] == name]
        assert size.n_values == sum(chunk.num_values for chunk in of)
        assert size.n_bytes == sum(chunk.total_uncompressed_size for chunk in of)
        assert size.is_text == any(chunk.physical_type == "BYTE_ARRAY" for chunk in of)
    assert sizes["text"].n_text == frame["text"].str.len_bytes().sum()


def test_a_small_file_may_not_take_the_memory(tmp_path, monkeypatch):
    """A few hundred bytes stand for any number of equal values."""
    monkeypatch.setattr("chsic.data.memory_limit.memory_for_data", lambda: 2_000_000)
    content = parquet(pl.DataFrame({"a": np.zeros(1_000_000), "b": np.zeros(1_000_000, bool)}))
    assert len(content) < 20_000
    table = open_table(write(tmp_path, content))
    with monkeypatch.context() as patch:
        patch.setattr(pl, "read_parquet", None)  # it must not come to that
        message = r"takes 0\.158 GB, more than 0\.002 GB, half .* name fewer"
        with pytest.raises(ValueError, match=message):
            table.read(["a"])
    monkeypatch.setattr("chsic.data.memory_limit.memory_for_data", lambda: 200_000_000)
    assert table.read(["a"]).height == 1_000_000


@pytest.mark.parametrize("kind", [pl.String, pl.Categorical, pl.Binary])
def test_text_counts_with_all_its_repetitions(tmp_path, monkeypatch, kind):
    """Arrow holds it once, but values of Python are not shared."""
    monkeypatch.setattr("chsic.data.memory_limit.memory_for_data", lambda: 50_000_000)
    for times in (10, 1_000):
        frame = pl.DataFrame({"a": ["x" * 100_000] * times}).cast(kind)
        content = parquet(frame, statistics=False)
        table = open_table(write(tmp_path, content))
        if times == 10:
            assert table.read(["a"]).height == 10
        else:
            assert len(content) < 50_000
            with pytest.raises(ValueError, match=r"these columns takes 0\.1 GB"):
                table.read(["a"])


def test_columns_of_lists_are_refused_before_they_are_read(tmp_path, monkeypatch):
    frame = pl.DataFrame({"a": [[1, 2]] * 5, "b": [{"c": 1}] * 5, "d": range(5)})
    table = open_table(write(tmp_path, parquet(frame)))
    assert table.read(["d"]).height == 5
    monkeypatch.setattr(pl, "read_parquet", None)
    for name, kind in (("a", "List"), ("b", "Struct")):
        with pytest.raises(
            ValueError, match=rf"column '{name}' holds values of type {kind}; choose"
        ):
            table.read([name])


def test_columns_nested_without_end_do_not_crash(tmp_path):
    """polars would overflow its stack, which nobody can catch."""
    arrow = pytest.importorskip("pyarrow")
    kind = arrow.int64()
    for _ in range(5_000):
        kind = arrow.list_(kind)
    path = tmp_path / "deep"
    schema = arrow.schema([("a", kind)])
    pytest.importorskip("pyarrow.parquet").ParquetWriter(path, schema, store_schema=False).close()
    with pytest.raises(ValueError, match=r"deep: .* parts of parts, \d{4,} levels deep"):
        open_table(path)


def test_pipes_have_a_bound_and_devices_without_end_are_left_at_once(monkeypatch):
    class Endless(io.RawIOBase):
        """Gives lines for ever, and counts."""

        n_read = 0

        def readable(self):
            return True

        def readinto(self, buffer):
            self.n_read += len(buffer)
            buffer[:] = (b"1,2\n" * len(buffer))[: len(buffer)]
            return len(buffer)

    endless = Endless()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(endless)))
    monkeypatch.setattr("chsic.data.file_content.memory_for_data", lambda: 5_000_000)
    with pytest.raises(ValueError, match=r"standard input: more than 0\.005 GB, half of the mem"):
        load("-")
    assert endless.n_read < 8_000_000
    monkeypatch.setattr("chsic.data.file_content.memory_for_data", lambda: 10**15)
    for device in ("/dev/zero", "/dev/urandom"):
        with pytest.raises(ValueError, match=r"byte \d+ is NUL"):
            load(device)


def test_half_of_the_memory_or_of_what_the_container_may_take(tmp_path, monkeypatch):
    assert 10**8 < memory_for_data() < 10**15
    limit = tmp_path / "memory.max"
    monkeypatch.setattr("chsic.data.memory_limit.LIMITS", [str(limit), str(tmp_path / "missing")])
    limit.write_text("1000000\n")
    assert memory_for_data() == 500_000
    limit.write_text("max\n")
    assert memory_for_data() > 10**8
    monkeypatch.delattr(os, "sysconf")
    assert memory_for_data() == 4 * 2**30
    assert gigabytes(12_345_678_901) == "12.3 GB"
