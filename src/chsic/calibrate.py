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
    as_numbers,
)
from chsic.adjust import Adjuster, all_rows
from chsic.column import Column
from chsic.columns import Columns, Data
from chsic.confounder import Confounder
from chsic.design import make_design
from chsic.engines.parallel import blas_on_one_thread, in_order
from chsic.independence import chsic_test
from chsic.samples import Samples, read_samples

NEIGHBOURS = 20  # samples near in z that a redrawn value comes from
FEW_VALUES = 20  # distinct ones that make a variable discrete: it is redrawn as it is
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
        level = as_number("level", level)
        if not 0 < level < 1:
            raise ValueError(f"level: must lie between 0 and 1, got {level:g}; 0.05 is usual.")
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
    if z is None:
        raise ValueError("z: is needed here; x and y are redrawn given z.")
    samples = read_samples(x, y, z, **read)
    n_sim = as_count("n_sim", n_sim, minimum=1)
    workers = as_count("workers", workers, minimum=1)
    effects = [0.0, *sorted(set(as_numbers("effect_sizes", effect_sizes)) - {0.0})]
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
class _Pools:
    """For each sample, those that a redrawn value may come from, in increasing order of it."""

    samples: Index  # one pool after the other
    starts: Index  # where that of each sample begins
    sizes: Index

    @classmethod
    def of_strata(cls, strata: Index, order: Array) -> _Pools:
        """All samples with the same z."""
        sizes = np.bincount(strata)
        return cls(np.lexsort((order, strata)), (np.cumsum(sizes) - sizes)[strata], sizes[strata])

    @classmethod
    def of_neighbours(cls, near: Index, order: Array) -> _Pools:
        """Rows of `near`."""
        n, k = near.shape
        ranked = np.take_along_axis(near, np.argsort(order[near], axis=1, kind="stable"), axis=1)
        return cls(ranked.ravel(), k * np.arange(n), np.full(n, k))

    def at(self, ranks: Array) -> Index:
        """Return the sample at a rank, between 0 and 1, of each pool."""
        chosen: Index = self.samples[self.starts + (ranks * self.sizes).astype(np.intp)]
        return chosen


@dataclasses.dataclass(frozen=True, eq=False)
class _Redrawn:
    """What redrawn values of one variable are made of: a fit, and residuals near in z."""

    columns: Columns
    fit: Array
    residuals: Array
    pools: _Pools

    @classmethod
    def of(
        cls, columns: Columns, adjuster: Adjuster, z: Confounder, in_strata: bool, half: Index
    ) -> _Redrawn:
        values = np.column_stack([column.values for column in columns])
        if in_strata:  # nothing to fit, and no neighbours
            return cls(
                columns, np.zeros_like(values), values, _Pools.of_strata(z.strata, _order(values))
            )
        if _is_discrete(columns, values):
            # How often a value occurs nearby is a rough function of z. x and y that are related
            # would share it, if they did not have it from different samples.
            near = half[_nearest(z.scaled[half], z.scaled)]
            return cls(
                columns, np.zeros_like(values), values, _Pools.of_neighbours(near, _order(values))
            )
        near = _nearest(z.scaled, z.scaled)
        residuals, left = all_rows(adjuster.fit(values.__getitem__), len(values))
        fit = values - residuals
        if left is not None:  # what the fit took from the noise is given back
            residuals = residuals / np.sqrt(np.maximum(left, 0.1))[:, np.newaxis]
        # Less the mean of the neighbours, which is a rough function of z, too.
        k = near.shape[1]
        residuals = residuals * (k / (k - 1)) ** 0.5
        fit -= residuals[near].mean(axis=1)
        return cls(columns, fit, residuals, _Pools.of_neighbours(near, _order(residuals)))

    def at(self, ranks: Array) -> list[Column]:
        values = self.fit + self.residuals[self.pools.at(ranks)]
        return [
            dataclasses.replace(column, values=made).rows(slice(None))
            for column, made in zip(self.columns, values.T, strict=True)
        ]


@dataclasses.dataclass(frozen=True, eq=False)
class _Source:
    """Makes data sets in which x and y depend on z as in the user's own."""

    x: _Redrawn
    y: _Redrawn

    @classmethod
    def of(cls, samples: Samples, rng: np.random.Generator) -> _Source:
        z = Confounder.of(samples.z)
        values = [
            np.column_stack([column.values for column in of]) for of in (samples.x, samples.y)
        ]
        design = make_design(
            values, z, pairs="auto", alpha=None, block_size=None, adjust="auto", rng=rng
        )
        halves = np.array_split(rng.permutation(len(samples)), 2)
        x, y = (
            _Redrawn.of(columns, adjuster, z, design.pairs == "strata", half)
            for columns, adjuster, half in zip(
                (samples.x, samples.y), design.adjusters, halves, strict=True
            )
        )
        return cls(x, y)

    def draw(self, effect: float, rng: np.random.Generator) -> tuple[list[Column], list[Column]]:
        n = len(self.x.fit)
        ranks_of_x, ranks_of_y = rng.random((2, n))
        coupled = rng.random(n) < effect
        ranks_of_y[coupled] = ranks_of_x[coupled]
        return self.x.at(ranks_of_x), self.y.at(ranks_of_y)


def _is_discrete(columns: Columns, values: Array) -> bool:
    """Whether values repeat: categories, few numbers, or one that most samples have."""
    if any(column.kind == "category" for column in columns):
        return True
    counts = np.unique(values, axis=0, return_counts=True)[1]
    return len(counts) <= min(FEW_VALUES, len(values) // 3) or 2 * counts.max() >= len(values)


def _order(values: Array) -> Array:
    """Rank several columns, which stay together, by their first principal direction."""
    centred = values - values.mean(axis=0)
    order: Array = centred @ np.linalg.svd(centred, full_matrices=False)[2][0]
    return order


def _nearest(source: Array, z: Array) -> Index:
    """Return some rows of `source` that are near to each row of z."""
    k = min(NEIGHBOURS, max(2, len(source) // 5))
    _, found = KDTree(source).query(z, k)
    return np.asarray(found, dtype=np.intp).reshape(len(z), k)
