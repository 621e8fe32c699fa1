"""Run the calibration laboratory: ``python -m benchmarks.calibration --help``."""

import argparse
import fnmatch
import os
import sys
from pathlib import Path

from benchmarks.calibration import RESULTS, cells, picture, table
from benchmarks.calibration.methods import METHODS
from benchmarks.calibration.run import run


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.calibration",
        description="How often do tests of conditional independence reject? Stop it at any time; "
        "the same command goes on where it was.",
    )
    parser.add_argument("--reduced", action="store_true", help="a few minutes instead of hours")
    parser.add_argument(
        "--frontier", action="store_true", help="rough functions of z, many columns"
    )
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--only", metavar="PATTERN", default="*", help="scenarios, as 'pnl-*'")
    parser.add_argument("--sizes", type=int, nargs="+", help="numbers of samples, as 100 200")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--minutes", type=float, help="stop then; 0 only makes the tables again")
    parser.add_argument("--out", type=Path, help="folder of the results")
    given = parser.parse_args()
    if given.workers < 1:
        parser.error(f"--workers: at least 1 is needed, got {given.workers}.")
    if not any(fnmatch.fnmatchcase(name, given.only) for name in cells.SCENARIOS):
        parser.error(f"--only: no scenario matches {given.only!r}; there are "
                     f"{', '.join(cells.SCENARIOS)}.")  # fmt: skip
    return given


def _cells(given: argparse.Namespace) -> list[cells.Cell]:
    if given.reduced:
        return cells.reduced()
    return cells.frontier() if given.frontier else cells.full()


def main() -> None:
    given = options()
    wanted = [
        cell
        for cell in _cells(given)
        if cell.method in given.methods
        and fnmatch.fnmatchcase(cell.scenario, given.only)
        and (given.sizes is None or cell.n in given.sizes)
    ]
    # A folder of its own, so that trying the laboratory does not change committed results.
    part = "reduced" if given.reduced else "frontier" if given.frontier else ""
    folder = given.out or RESULTS / part
    journal = folder / "pvalues.jsonl"
    try:
        run(wanted, journal, workers=given.workers, minutes=given.minutes)
    except ImportError as error:
        sys.exit(f"{error}: install 'chsic[bench]', or choose --methods without it.")
    rows = table.rates(journal)
    if rows:
        table.write(rows, journal, folder)
        picture.save(rows, folder / "calibration.png")


if __name__ == "__main__":
    main()
