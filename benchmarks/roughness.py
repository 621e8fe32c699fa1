"""Measure what warns of a regression that missed something: the caution of the test, and calibrate.

``python -m benchmarks.roughness`` writes benchmarks/results/roughness.json, which the page "When
not to trust it" shows. x and y follow one rough function of z, or a smooth one, or are related.
"""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
from benchmarks.machine import describe

import chsic
from chsic._util.files import write_whole
from chsic.datasets.models import Sample

OUT = Path(__file__).parent / "results" / "roughness.json"
REPETITIONS = 40
CALIBRATED, SIMULATED = 4, 25  # data sets that calibrate is called on, and what it draws of each
LEVEL = 0.05
SAID = "so that the regression has missed something"
Draw = Callable[[int, np.random.Generator], Sample]


def following(
    function: Callable[[np.ndarray], np.ndarray], d: int, *, normal: bool = False
) -> Draw:
    """Let x and y follow one function of z, with noise of half its standard deviation."""

    def draw(n: int, rng: np.random.Generator) -> Sample:
        z = rng.normal(size=(n, d)) if normal else rng.random((n, d))
        f = function(z)
        x, y = (f - f.mean()) / f.std() + 0.5 * rng.normal(size=(2, n))
        return Sample(x, y, z[:, 0] if d == 1 else z)

    return draw


def events(n: int, rng: np.random.Generator) -> Sample:
    z = rng.normal(size=(n, 4))
    f = np.sign(z[:, 0] * z[:, 1])
    x, y = (rng.random((2, n)) < 1 / (1 + np.exp(-2 * f))).astype(float)
    return Sample(x, y, z)


def scenario(name: str, d: int | None = None) -> Draw:
    return lambda n, rng: chsic.datasets.draw_scenario(name, n, d, rng)


LEVELS = np.random.default_rng(5).normal(size=100)
ROUGH: dict[str, Draw] = {
    "sin(1 / z)": following(lambda z: np.sin(1 / (z[:, 0] + 0.01)), 1),
    "sin(2π · 100 z)": following(lambda z: np.sin(200 * np.pi * z[:, 0]), 1),
    "40 levels along z": following(lambda z: LEVELS[(40 * z[:, 0]).astype(int)], 1),
    "100 levels along z": following(lambda z: LEVELS[(100 * z[:, 0]).astype(int)], 1),
    "checkerboard of 2 columns": following(
        lambda z: np.sign(np.sin(6 * z[:, 0]) * np.sin(6 * z[:, 1])), 2, normal=True
    ),
    "signs of 3 columns of 5": following(lambda z: np.sign(z[:, :3].prod(1)), 5, normal=True),
    "signs of 3 columns of 10": following(lambda z: np.sign(z[:, :3].prod(1)), 10, normal=True),
    "events by the signs of 2 columns of 4": events,
    "sin(3 z1 z2), 4 columns": following(lambda z: np.sin(3 * z[:, 0] * z[:, 1]), 4, normal=True),
    "thresholds of 8 columns, added": following(lambda z: (z > 0.3).sum(1) * 1.0, 8, normal=True),
    "largest of 5 columns": following(lambda z: z.max(1), 5, normal=True),
}
SMOOTH = [("linear", 1), ("linear", 2), ("linear", 5), ("oscillating", 1), ("oscillating", 2),
          ("oscillating", 5), ("m_plus-10dB", 1), ("pnl-I", 1), ("pnl-I", 2), ("pnl-I", 5),
          ("scale", 1), ("heavy", 1)]  # fmt: skip
RELATED = [("m_minus-10dB", 1), ("add", 1), ("add", 2), ("add", 5), ("square", 1), ("sign", 1),
           ("pnl-shared", 2), ("circle", 1), ("product", 1), ("cancel", 1)]  # fmt: skip


def measure(draw: Draw, n: int) -> dict[str, float]:
    """Count rejections and cautions."""
    rejected = warned = both = 0
    for seed in range(REPETITIONS):
        result = chsic.chsic_test(*draw(n, np.random.default_rng([seed, n])), rng=seed)
        is_small, says = result.pvalue <= LEVEL, any(SAID in one for one in result.warnings)
        rejected, warned, both = rejected + is_small, warned + says, both + (is_small and says)
    return {
        "rejected": rejected / REPETITIONS,
        "warned": warned / REPETITIONS,
        "warned of rejected": both / rejected if rejected else 0.0,
    }


def calibrated(draw: Draw, n: int) -> float:
    """Return the mean rate that calibrate finds at effect 0."""
    rates = [
        chsic.calibrate(
            *draw(n, np.random.default_rng([seed, n])), n_sim=SIMULATED, effect_sizes=[], rng=seed
        ).rejection_rate(0.0, LEVEL)
        for seed in range(CALIBRATED)
    ]
    return float(np.mean(rates))


def main() -> None:
    rough = []
    for case, draw in ROUGH.items():
        rough.append(
            {"case": case, "n": 500, **measure(draw, 500), "calibrate": calibrated(draw, 500)}
        )
        print(rough[-1], flush=True)
    others = {}
    for kind, names in (("independent", SMOOTH), ("related", RELATED)):
        for n in (200, 1_000):
            rows = [{"scenario": s, "d": d, **measure(scenario(s, d), n)} for s, d in names]
            others[f"{kind}, n = {n:,}"] = rows
            print(kind, n, np.mean([row["warned"] for row in rows]), flush=True)
    made = {
        "machine": describe("chsic", "numpy", "scipy"),
        "repetitions": REPETITIONS,
        "level": LEVEL,
        "calibrate": {"data sets": CALIBRATED, "simulated of each": SIMULATED},
        "rough": rough,
        "others": others,
    }
    text = json.dumps(made, indent=1, ensure_ascii=False) + "\n"
    write_whole(OUT, lambda path: path.write_text(text, encoding="utf-8"))


if __name__ == "__main__":
    main()
