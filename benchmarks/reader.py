"""Time the reading of three columns of a large CSV file: ``python -m benchmarks.reader``."""

import json
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl
from benchmarks.machine import describe

from chsic._util.files import write_whole
from chsic.data.arguments import read_columns
from chsic.data.table import open_table

RESULT = Path(__file__).parent / "results" / "reader.json"
ROWS, COLUMNS, REPEATS = 1_000_000, 20, 5


def main() -> None:
    rng = np.random.default_rng(0)
    wanted = ["c3", "c11", "c17"]
    frame = pl.DataFrame({f"c{k}": rng.normal(size=ROWS).round(6) for k in range(COLUMNS)})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.csv"
        frame.write_csv(path)
        bare, ours = [], []
        for _ in range(REPEATS):
            start = time.perf_counter()
            pl.read_csv(path, columns=wanted)
            bare.append(time.perf_counter() - start)
            start = time.perf_counter()
            read_columns("x", open_table(path).read(wanted))
            ours.append(time.perf_counter() - start)
        size = path.stat().st_size
    result = {
        "machine": describe("polars"),
        "rows": ROWS,
        "columns": {"in the file": COLUMNS, "read": len(wanted)},
        "megabytes": round(size / 1e6),
        "seconds": {"polars alone": min(bare), "ours, to checked columns": min(ours)},
        "ours over polars": min(ours) / min(bare),
    }
    text = json.dumps(result, indent=1)
    print(text)
    write_whole(RESULT, lambda path: path.write_text(text + "\n"))


if __name__ == "__main__":
    main()
