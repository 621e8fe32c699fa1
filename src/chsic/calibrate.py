"""How far can the p-value be trusted on data like these? Simulate, and count."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.spatial import KDTree

from chsic._validate import (
    Array,
    Index,
    RNGLike,
    as_count,
    as_generator,
    as_number,
)
from chsic.adjust import Adjuster, all_rows
from chsic.column import Column
from chsic.columns import Columns, Data
from chsic.confounder import Confounder
from chsic.design import Design, make_design
from chsic.engines.parallel import blas_on_one_thread, in_order
from chsic.independence import chsic_test
from chsic.samples import Samples, read_samples

NEIGHBOURS = 20  # samples near in z that a redrawn value comes from
FEW_VALUES = 20  # distinct ones that make a column discrete: it is redrawn as it is
LEVELS = (0.01, 0.05, 0.1)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Calibration:
    """How often the test rejected in data like the user's own.

    Attributes
    ----------
    n_sim, n_samples : int
        Simulated data sets for each effect size, and samples in each.
    effect_sizes : tuple of float
        0 first: x and y independent given z. An effect of 0.3 means that in 30 percent of the
        samples, y is as high among its neighbours in z as x is among them.
    pvalues : tuple of tuple of float
        Of every data set, for each effect size.
    """

    n_sim: int
    n_samples: int
    effect_sizes: tuple[float, ...]
    pvalues: tuple[tuple[float, ...], ...]

    def rejection_rate(self, effect_size: float = 0.0, level: float = 0.05) -> float:
        """Return how often the test rejected: type I error for effect 0, else power.

        Examples
        --------
        >>> from chsic.calibrate import Calibration
        >>> made = Calibration(
        ...     n_sim=4, n_samples=9, effect_sizes=(0.0,), pvalues=((0.01, 0.2, 0.5, 0.9),)
        ... )
        >>> made.rejection_rate(0.0, level=0.05)
        0.25
        """
        if effect_size not in self.effect_sizes:
            raise ValueError(
                f"effect_size: {effect_size:g} was not simulated; there are "
                f"{', '.join(f'{e:g}' for e in self.effect_sizes)}."
            )
        values = np.array(self.pvalues[self.effect_sizes.index(effect_size)])
        return float((values <= level).mean())

    def interval(self, effect_size: float = 0.0, level: float = 0.05) -> tuple[float, float]:
        """Return a 95 percent interval (Clopper and Pearson) for `rejection_rate`."""
        from scipy.stats import binomtest  # slow to import, and seldom needed

        count = round(self.rejection_rate(effect_size, level) * self.n_sim)
        found = binomtest(count, self.n_sim).proportion_ci(0.95, method="exact")
        return float(found.low), float(found.high)

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers in lists."""
        return dataclasses.asdict(self)

    def __str__(self) -> str:
        lines = [
            f"{self.n_sim} data sets of {self.n_samples} samples each, x and y redrawn given z",
            "effect  " + "  ".join(f"{f'level {level:g}':>20}" for level in LEVELS),
        ]
        for effect in self.effect_sizes:
            cells = []
            for level in LEVELS:
                low, high = self.interval(effect, level)
                rate = self.rejection_rate(effect, level)
                cells.append(f"{rate:6.3f} [{low:.3f}, {high:.3f}]")
            lines.append(f"{effect:6g}  " + "  ".join(f"{cell:>20}" for cell in cells))
        return "\n".join(lines)


@blas_on_one_thread()
def calibrate(
    x: Data,
    y: Data,
    z: Data,
    /,
    *,
    n_sim: int = 200,
    effect_sizes: Sequence[float] = (0.1, 0.3),
    workers: int = 1,
    rng: RNGLike | None = None,
    **settings: Any,
) -> Calibration:
    """Simulate data like the user's own and report how often the test rejects.

    Values of x and y are redrawn given z: a regression on z is kept, and its residuals come from
    samples near in z, so that the law of x given z, and of y given z, stay about what they are,
    with their spread, tails and ties. Drawn apart for x and y, they are independent given z,
    whatever the data are. Drawn with coupled ranks in some of the samples, they are not.

    What the regression does not follow becomes noise: a dependence on z that is too rough to be
    seen in these samples is not simulated, and its effect on the p-value is not shown.

    Parameters
    ----------
    x, y, z : array_like
        As for `chsic_test`.
    n_sim : int
        Data sets for each effect size. 200 give a type I error of 0.05 to within 0.03.
    effect_sizes : sequence of float
        Shares of samples, between 0 and 1, in which y is as high among its neighbours as x is.
        0, which gives the type I error, is always added.
    workers : int
        Threads. The result does not depend on it.
    rng : None, int or numpy.random.Generator
        Draws the data sets.
    **settings
        Those of `chsic_test` that are to be examined.

    Returns
    -------
    Calibration
        Print it for a table.

    Examples
    --------
    >>> import chsic
    >>> day = chsic.datasets.summer()
    >>> columns = day["ice_cream"], day["rescues"], day["temperature"]
    >>> found = chsic.calibrate(*columns, n_sim=20, effect_sizes=[0.5], rng=0, n_resamples=199)
    >>> found.rejection_rate(0.0) < 0.3 < found.rejection_rate(0.5)
    True
    """
    read = {name: settings.pop(name) for name in ("nan_policy", "kinds") if name in settings}
    samples = read_samples(x, y, z, **read)
    n_sim = as_count("n_sim", n_sim, minimum=1)
    workers = as_count("workers", workers, minimum=1)
    effects = [0.0, *sorted({as_number("effect_sizes", e) for e in effect_sizes} - {0.0})]
    if effects[-1] > 1 or min(effects) < 0:
        raise ValueError(f"effect_sizes: must lie between 0 and 1, got {list(effect_sizes)!r}.")
    generator = as_generator(rng)
    source = _Source.of(samples, generator)
    seeds = generator.integers(2**63, size=(len(effects), n_sim, 2)).tolist()

    def one(task: tuple[float, list[int]]) -> float:
        effect, (data_seed, test_seed) = task
        drawn = source.draw(effect, np.random.default_rng(data_seed))
        if any(np.ptp(column.values) == 0 for columns in drawn for column in columns):
            return 1.0  # an event so rare that it did not happen: nothing to see
        return chsic_test(*drawn, samples.z, rng=test_seed, **settings).pvalue

    tasks = [(effect, seed) for effect, row in zip(effects, seeds, strict=True) for seed in row]
    values = list(in_order(one, tasks, workers))
    return Calibration(
        n_sim=n_sim,
        n_samples=len(samples),
        effect_sizes=tuple(effects),
        pvalues=tuple(
            tuple(values[start : start + n_sim]) for start in range(0, len(values), n_sim)
        ),
    )


@dataclasses.dataclass(frozen=True, eq=False)
class _Source:
    """What redrawn data are made of: a fit, and residuals sorted among neighbours in z."""

    columns: tuple[Columns, Columns]
    fits: tuple[Array, Array]
    residuals: tuple[Array, Array]
    ranked: tuple[Index, Index]  # (n, NEIGHBOURS) neighbours in increasing order of the residuals

    @classmethod
    def of(cls, samples: Samples, rng: np.random.Generator) -> _Source:
        z = Confounder.of(samples.z)
        x, y = (np.column_stack([column.values for column in of]) for of in (samples.x, samples.y))
        design = make_design(
            (x, y), z, pairs="auto", alpha=None, block_size=None, adjust="auto", rng=rng
        )
        near = _neighbours(z, design)
        parts = [
            _split(values, columns, adjuster, near)
            for values, columns, adjuster in zip(
                (x, y), (samples.x, samples.y), design.adjusters, strict=True
            )
        ]
        fits, residuals, ranked = zip(*parts, strict=True)
        return cls((samples.x, samples.y), fits, residuals, ranked)

    def draw(self, effect: float, rng: np.random.Generator) -> tuple[list[Column], list[Column]]:
        n, k = self.ranked[0].shape
        rank_x, rank_y = rng.integers(k, size=(2, n))
        coupled = rng.random(n) < effect
        rank_y[coupled] = rank_x[coupled]
        drawn = []
        for columns, fit, left, ranked, rank in zip(
            self.columns, self.fits, self.residuals, self.ranked, (rank_x, rank_y), strict=True
        ):
            values = fit + left[ranked[np.arange(n), rank]]
            drawn.append(
                [
                    dataclasses.replace(column, values=made).rows(slice(None))
                    for column, made in zip(columns, values.T, strict=True)
                ]
            )
        return drawn[0], drawn[1]


def _split(
    values: Array, columns: Columns, adjuster: Adjuster, near: Index
) -> tuple[Array, Array, Index]:
    residuals, left = all_rows(adjuster.fit(values.__getitem__), len(values))
    few_values = min(FEW_VALUES, len(values) // 3)
    categories = any(column.kind == "category" for column in columns)
    if left is None or categories or len(np.unique(values, axis=0)) <= few_values:
        fit, residuals = np.zeros_like(values), values
    else:
        fit = values - residuals
        # What the fit took from the noise is given back.
        residuals = residuals / np.sqrt(np.maximum(left, 0.1))[:, np.newaxis]
        # Values come from k neighbours, less their mean: it is a rough function of z, which x
        # and y would share if they are related.
        k = near.shape[1]
        residuals *= (k / (k - 1)) ** 0.5
        fit -= residuals[near].mean(axis=1)
    # Several columns stay together and are ranked by their first principal direction.
    centred = residuals - residuals.mean(axis=0)
    order = centred @ np.linalg.svd(centred, full_matrices=False)[2][0]
    ranked = np.take_along_axis(near, np.argsort(order[near], axis=1, kind="stable"), axis=1)
    return fit, residuals, ranked


def _neighbours(z: Confounder, design: Design) -> Index:
    """Return for each sample some that are near in z; in strata, some of its own."""
    n = len(z.values)
    if design.pairs == "strata":
        strata = z.strata
        rng = np.random.default_rng(0)
        members = np.argsort(strata, kind="stable")
        sizes = np.bincount(strata)
        starts = np.cumsum(sizes) - sizes
        offsets = (rng.random((n, NEIGHBOURS)) * sizes[strata][:, np.newaxis]).astype(np.intp)
        chosen: Index = members[starts[strata][:, np.newaxis] + offsets]
        return chosen
    k = min(NEIGHBOURS, max(2, n // 5))
    _, found = KDTree(z.scaled).query(z.scaled, k)
    return np.asarray(found, dtype=np.intp).reshape(n, k)
