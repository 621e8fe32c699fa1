"""Make src/chsic/datasets/summer.csv: simulated days at a lake, with a known truth.

Temperature drives everything; the number of visitors, given the temperature, drives both kinds of
sales; rescues depend on the temperature alone.
"""

import sys
from pathlib import Path

import numpy as np


def simulate(n_days: int = 400, seed: int = 7) -> dict[str, np.ndarray]:
    """Draw the days; the docstring above says who depends on whom."""
    rng = np.random.default_rng(seed)
    temperature = np.round(rng.normal(22, 5, n_days), 1)
    warmth = 1 / (1 + np.exp(-(temperature - 22) / 3))
    visitors = rng.poisson(60 + 240 * warmth * rng.gamma(12, 1 / 12, n_days))
    return {
        "temperature": temperature,
        "ice_cream": rng.binomial(visitors, 0.2 + 0.3 * warmth),
        "lemonade": rng.binomial(visitors, 0.3),
        "rescues": rng.poisson(0.3 + 5 * warmth),
    }


def main(path: str) -> None:
    """Write the file."""
    columns = simulate()
    rows = [column.tolist() for column in columns.values()]
    lines = [",".join(columns)]
    lines += [",".join(map(str, day)) for day in zip(*rows, strict=True)]
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "src/chsic/datasets/summer.csv")
