"""All calls, in blocks of a hundred, into a journal that a stopped run goes on from."""

import collections
import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.attack import calls
from benchmarks.attack.judge import attempt
from benchmarks.attack.permutation import CONFIRMED, permutation_pvalue
from benchmarks.attack.questions import draw_question
from benchmarks.calibration.journal import Journal, read

BLOCK = 100
SMALL = 1e-4  # p-values of true nulls that have to be confirmed
LEVEL = 0.05
EVERY_OTHER = 2  # of which one is a true null, tested with default settings


def one(number: int) -> dict[str, Any]:
    """Draw and judge the call of a number."""
    rng = np.random.default_rng([number, 17])
    null = number % EVERY_OTHER == 0
    asked = draw_question(rng, null=null)
    call = calls.test if null else calls.draw_call(rng)
    outcome, defects = attempt(call, asked, number)
    row: dict[str, Any] = {"number": number, "call": call.__name__, "drawn": asked.drawn}
    if outcome is not None and null:
        row["pvalue"] = pvalue = outcome.pvalues[0]
        if pvalue < SMALL:
            row["permutation"] = permutation_pvalue(*asked.plain, asked.strata, rng)
            if row["permutation"] > CONFIRMED:
                defects = [*defects, f"p = {pvalue:.2g} of a true null is not confirmed"]
    if outcome is None and not defects:
        row["refused"] = True
    return {**row, "defects": defects}


def block(first: int) -> dict[str, Any]:
    """Run a block of calls, and keep what a summary needs."""
    rows = [one(number) for number in range(first, first + BLOCK)]
    pvalues = [row["pvalue"] for row in rows if "pvalue" in row]
    return {
        "first": first,
        "calls": dict(collections.Counter(row["call"] for row in rows)),
        "refused": sum("refused" in row for row in rows),
        "nulls": len(pvalues),
        "rejected": sum(p <= LEVEL for p in pvalues),
        "small": [row for row in rows if row.get("pvalue", 1.0) < SMALL],
        "defects": [row for row in rows if row["defects"]],
    }


def run(n_calls: int, path: Path, workers: int) -> list[dict[str, Any]]:
    """Run the blocks that the journal does not have, and return all of them."""
    with Journal(path) as journal:
        known = {line["first"] for line in read(path)}
        wanted = [first for first in range(0, n_calls, BLOCK) if first not in known]
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(workers, mp_context=context) as pool:
            for done, line in enumerate(pool.map(block, wanted), start=1):
                journal.append(line)
                for row in line["defects"]:
                    print(f"{row['number']}: {row['call']}, {row['drawn']}: {row['defects']}")
                if sys.stderr.isatty():
                    print(f"\r{done * BLOCK} of {len(wanted) * BLOCK} calls", end="",
                          file=sys.stderr)  # fmt: skip
    return [line for line in read(path) if line["first"] < n_calls]


def summary(lines: list[dict[str, Any]]) -> dict[str, Any]:
    """Add up blocks."""
    by_call: collections.Counter[str] = collections.Counter()
    for line in lines:
        by_call.update(line["calls"])
    nulls, rejected = (sum(line[name] for line in lines) for name in ("nulls", "rejected"))
    return {
        "calls": sum(by_call.values()),
        "by_function": dict(by_call.most_common()),
        "refused": sum(line["refused"] for line in lines),
        "true_nulls": nulls,
        "rejected_at_0.05": rejected / max(nulls, 1),
        "pvalues_below_1e-4": [row for line in lines for row in line["small"]],
        "defects": [row for line in lines for row in line["defects"]],
    }
