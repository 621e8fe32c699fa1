"""What a family of six statistics and pruning cost: ``python -m benchmarks.calibration.price``.

Rejection rates of the joint test and of its narrowest member alone, in the scenario where KCI is
ahead most, with the default neighbours and with all pairs.
"""

import json
from pathlib import Path

import numpy as np
from benchmarks.machine import describe

import chsic
from chsic.files import write_whole

RESULT = Path(__file__).parents[1] / "results" / "calibration" / "price.json"
SCENARIO, N, REPETITIONS, LEVEL = "m_minus-5dB", 200, 300, 0.05


def rates(**settings) -> dict:
    joint, narrow = [], []
    for seed in range(REPETITIONS):
        x, y, z = chsic.datasets.draw_scenario(SCENARIO, N, rng=seed)
        found = chsic.chsic_test(x, y, z, n_resamples=999, rng=seed, **settings)
        joint.append(found.pvalue)
        narrow.append(found.members[0].pvalue)
    return {
        "joint": float(np.mean(np.array(joint) <= LEVEL)),
        "narrowest alone": float(np.mean(np.array(narrow) <= LEVEL)),
    }


def main() -> None:
    result = {
        "machine": describe(),
        "scenario": SCENARIO,
        "n_samples": N,
        "repetitions": REPETITIONS,
        "rejection rates at 0.05": {
            "default neighbours": rates(),
            "all pairs": rates(alpha=N - 1),
        },
    }
    text = json.dumps(result, indent=1)
    print(text)
    write_whole(RESULT, lambda path: path.write_text(text + "\n"))


if __name__ == "__main__":
    main()
