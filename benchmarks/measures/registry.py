"""Which measures are compared, and under which names."""

from collections.abc import Callable
from functools import partial

from benchmarks.measures import kernel, neighbours, pruned

Measure = Callable[..., float]  # (x, y, z) -> value

MEASURES: dict[str, Measure] = {
    "HSIC": pruned.hsic,
    "NOCCO": kernel.nocco,
    "C-HSIC": pruned.raw,
    "C-HSIC debiased": pruned.debiased,
    "C-HSIC coefficient": pruned.coefficient,
    "C-HSIC, median h": partial(pruned.raw, bandwidth="median"),
    "chsic_test coefficient": pruned.adjusted_coefficient,
    "conditional NOCCO": kernel.conditional_nocco,
    "HSCIC": kernel.hscic,
    "CDCor": kernel.conditional_dcor,
    "KPC": neighbours.kpc,
    "T_n": neighbours.azadkia_chatterjee,
}
IGNORE_Z = ("HSIC", "NOCCO")

# The same with other settings, where it is separation that counts: what the choice above costs.
VARIANTS: dict[str, Measure] = {
    "C-HSIC debiased, median h": partial(pruned.debiased, bandwidth="median"),
    "C-HSIC coefficient, median h": partial(pruned.coefficient, bandwidth="median"),
    "C-HSIC, α = 16": partial(pruned.raw, alpha=16),
    "C-HSIC, α = 16, median h": partial(pruned.raw, alpha=16, bandwidth="median"),
    "conditional NOCCO, ridge 1e-5": partial(kernel.conditional_nocco, ridge=1e-5),
    "conditional NOCCO, ridge 1e-2": partial(kernel.conditional_nocco, ridge=1e-2),
    "HSCIC, ridge 1e-5": partial(kernel.hscic, ridge=1e-5),
    "HSCIC, ridge 1e-2": partial(kernel.hscic, ridge=1e-2),
    "KPC, 5 neighbours": partial(neighbours.kpc, k=5),
    "KPC, 20 neighbours": partial(neighbours.kpc, k=20),
}
