"""What a family of six statistics and pruning cost: ``python -m benchmarks.calibration.price``.

Rejection rates of the joint test and of its narrowest member alone, in the scenario where KCI is
ahead most, with the default neighbours, with all pairs, and with disjoint blocks of several sizes.
"""

import json

import numpy as np
from benchmarks.calibration import RESULTS
from benchmarks.calibration.chunk import seeds
from benchmarks.machine import describe

import chsic
from chsic._util.files import write_whole

SCENARIO, N, REPETITIONS, LEVEL = "m_minus-5dB", 200, 300, 0.05
BLOCK_SIZES = (4, 8, 20)  # larger ones are too few to get signs: 4 of 50 have 8 choices


def rates(**settings) -> dict:
    joint, narrow = [], []
    for repetition in range(REPETITIONS):
        data, signs = map(np.random.default_rng, seeds(SCENARIO, 1, N, repetition))
        sample = chsic.datasets.draw_scenario(SCENARIO, N, rng=data)
        found = chsic.chsic_test(*sample, n_resamples=999, rng=signs, **settings)
        joint.append(found.pvalue)
        narrow.append(found.members[0].pvalue)
    return {
        "joint": float(np.mean(np.array(joint) <= LEVEL)),
        "narrowest alone": float(np.mean(np.array(narrow) <= LEVEL)),
    }


def main() -> None:
    result = {
        "machine": describe("chsic", "numpy", "scipy"),
        "scenario": SCENARIO,
        "n_samples": N,
        "repetitions": REPETITIONS,
        "rejection rates at 0.05": {
            "default neighbours": rates(),
            "all pairs": rates(alpha=N - 1),
            **{f"blocks of {m}": rates(pairs="blocks", block_size=m) for m in BLOCK_SIZES},
        },
    }
    text = json.dumps(result, indent=1)
    print(text)
    write_whole(RESULTS / "price.json", lambda path: path.write_text(text + "\n"))


if __name__ == "__main__":
    main()
