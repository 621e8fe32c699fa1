"""Run the attack: ``python -m benchmarks.attack``."""

import argparse
import json
import sys
from pathlib import Path

from benchmarks.attack.run import one, run, summary

RESULTS = Path(__file__).parents[1] / "results"


def main() -> None:
    parser = argparse.ArgumentParser(description="Call the library with data of the worst kinds.")
    parser.add_argument("--calls", type=int, default=40_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--journal", type=Path, default=Path("build/attack.jsonl"))
    parser.add_argument("--out", type=Path, default=RESULTS / "attack.json")
    parser.add_argument("--only", type=int, help="run the call of one number, and show it")
    options = parser.parse_args()
    if options.only is not None:
        print(json.dumps(one(options.only), indent=1))
        return
    found = summary(run(options.calls, options.journal, options.workers))
    options.out.write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps({name: found[name] for name in ("calls", "true_nulls", "rejected_at_0.05")}))
    sys.exit(bool(found["defects"]))


if __name__ == "__main__":
    main()
