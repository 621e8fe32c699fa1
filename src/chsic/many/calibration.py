"""How far can the p-value be trusted on data like these? Simulate, and count."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from chsic._util.parallel import blas_on_one_thread, in_order
from chsic._util.validate import RNGLike, as_count, as_generator, as_number, as_numbers
from chsic.data.arguments import Data
from chsic.data.grouped import in_groups
from chsic.data.samples import Samples, read_samples
from chsic.inference.compare import Question
from chsic.inference.given import Given
from chsic.inference.planning import TOL, Bandwidths
from chsic.inference.settings import Settings
from chsic.inference.stretches import in_stretches
from chsic.many.simulation import Source
from chsic.pairs import PairGraph

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
    missed : tuple of str
        Which of "x" and "y" samples near in z foretell better than the regression does. If both,
        simulated data are as rough as the user's, and rejections at effect 0 show what that does.
    n_groups : int or None
        Groups of samples, or stretches of time, if those of one may depend on each other.
    stretch, stretch_unit, within, n_effective
        As in `IndependenceResult`.
    """

    n_sim: int
    n_samples: int
    effect_sizes: tuple[float, ...]
    pvalues: tuple[tuple[float, ...], ...]
    missed: tuple[str, ...] = ()
    n_groups: int | None = None
    stretch: float | None = None
    stretch_unit: str = ""
    within: bool = False
    n_effective: float | None = None

    def rejection_rate(self, effect_size: float = 0.0, level: float = 0.05) -> float:
        """Return how often the test rejected: type I error for effect 0, else power.

        Examples
        --------
        >>> from chsic.many.calibration import Calibration
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
        interval = binomtest(count, self.n_sim).proportion_ci(0.95, method="exact")
        return float(interval.low), float(interval.high)

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers in lists."""
        return dataclasses.asdict(self)

    def __str__(self) -> str:
        lines = [
            f"{self.n_sim} data sets of {self.n_samples} samples{in_groups(self)} each, x and y "
            "redrawn given z",
            "effect  " + "  ".join(f"{f'level {level:g}':>20}" for level in LEVELS),
        ]
        for effect in self.effect_sizes:
            cells = []
            for level in LEVELS:
                low, high = self.interval(effect, level)
                rate = self.rejection_rate(effect, level)
                cells.append(f"{rate:6.3f} [{low:.3f}, {high:.3f}]")
            lines.append(f"{effect:6g}  " + "  ".join(f"{cell:>20}" for cell in cells))
        if len(self.missed) == 2:
            lines.append(
                "The regression has missed something of both x and y: samples near in z foretell "
                "them better. If both missed the same, rejections at effect 0 are more than these."
            )
        return "\n".join(lines)


@blas_on_one_thread()
def calibrate(
    x: Data,
    y: Data,
    /,
    z: Data,
    *,
    n_sim: int = 200,
    effect_sizes: Sequence[float] = (0.1, 0.3),
    data: Data = None,
    pairs: str | PairGraph = "auto",
    block_size: int | str = "auto",
    unit_size: int | str = "auto",
    bandwidth: Bandwidths = "auto",
    adjust: Any = "auto",
    augment: bool | str = "auto",
    alpha: float | str = "auto",
    null: str = "auto",
    n_resamples: int = 9999,
    tol: float = TOL,
    nan_policy: str = "raise",
    kinds: Mapping[str, str] | None = None,
    groups: Data = None,
    time: Data = None,
    stretch: float | str = "auto",
    within: bool = False,
    weights: Data = None,
    workers: int = 1,
    rng: RNGLike | None = None,
) -> Calibration:
    """Simulate data like the user's own and report how often the test rejects.

    Values of x and y are redrawn given z: a regression on z is kept, and its residuals come from
    samples near in z, so that the law of x given z, and of y given z, stay about what they are,
    with their spread, tails and ties. Drawn apart for x and y, they are independent given z,
    whatever the data are. Drawn with coupled ranks in some of the samples, they are not.

    What the regression does not follow would become noise that way. Where samples near in z
    foretell both x and y better than the regression does, neighbours exchange their values instead,
    so that simulated data are about as rough as these. What not even neighbours share is too rough
    to be simulated, and its effect on the p-value is not shown: a rate at effect 0 that is too high
    is a reason for doubt, and one that is right is no proof.

    With `groups`, residuals of whole groups are exchanged, x and y with different ones, in units of
    the spread that residuals have near in z; categories and numbers of few values by their ranks
    among samples near in z, or of equal z. So rows of one group stay about as dependent as they
    were, whatever that dependence is, and x and y are independent given z. What is kept beside that
    is the regression, how the spread changes along z, and tails. What is lost: how the dependence
    within groups, or skewness, changes along z; groups that are larger than nearly all others may
    be put together from several; what the regression misses becomes noise, and is not looked for.

    With `time`, stretches are found once, and are groups of all data sets. With `within`, the level
    of every group is kept as well, in x and in y, so that simulated groups differ as these do. For
    x or y of few values that cannot be done.

    With `weights`, the regression is that of the weighted population, and every row keeps its
    weight, whatever x and y are drawn for it: that rows were selected by x or y is not simulated,
    only what unequal weights do.

    Parameters
    ----------
    x, y, z : array_like, or names of columns of `data`
        As for `chsic_test`.
    n_sim : int
        Data sets for each effect size. 200 give a type I error of 0.05 to within 0.03.
    effect_sizes : sequence of float
        Shares of samples, between 0 and 1, in which y is as high among its neighbours as x is.
        0, which gives the type I error, is always added.
    data, nan_policy, kinds, groups, time, stretch, within, weights
        As for `chsic_test`.
    pairs, block_size, unit_size, bandwidth, adjust, augment, alpha, null, n_resamples, tol
        Those of `chsic_test` that are to be examined.
    workers : int
        Threads. The result does not depend on it.
    rng : None, int or numpy.random.Generator
        Draws the data sets.

    Returns
    -------
    Calibration
        Print it for a table.

    Examples
    --------
    >>> import chsic
    >>> table = chsic.calibrate(
    ...     "ice_cream", "rescues", "temperature", data=chsic.datasets.summer(),
    ...     n_sim=20, effect_sizes=[0.5], n_resamples=199, rng=0,
    ... )
    >>> table.rejection_rate(0.0) < 0.3 < table.rejection_rate(0.5)
    True
    """
    if z is None:
        raise ValueError("z: is needed here; x and y are redrawn given z.")
    settings = Settings.of(
        pairs=pairs,
        block_size=block_size,
        unit_size=unit_size,
        bandwidth=bandwidth,
        adjust=adjust,
        augment=augment,
        alpha=alpha,
        null=null,
        n_resamples=n_resamples,
        tol=tol,
    )
    samples = read_samples(
        x, y, z, data=data, nan_policy=nan_policy, kinds=kinds, groups=groups, time=time,
        stretch=stretch, within=within, weights=weights,
    )  # fmt: skip
    samples = in_stretches(samples, settings)
    n_sim = as_count("n_sim", n_sim, minimum=1)
    workers = as_count("workers", workers, minimum=1)
    effects = [0.0, *sorted(set(as_numbers("effect_sizes", effect_sizes)) - {0.0})]
    if effects[-1] > 1 or min(effects) < 0:
        raise ValueError(f"effect_sizes: must lie between 0 and 1, got {list(effect_sizes)!r}.")
    generator = as_generator(rng)
    source = Source.of(samples, generator)
    seeds = generator.integers(2**63, size=(len(effects), n_sim, 2)).tolist()
    # All data sets have the same z, and share regressions on it.
    sampling = source.samples.sampling
    like = Given.of(source.samples.z, settings, sampling=sampling)

    def one(task: tuple[float, list[int]]) -> float:
        effect, (data_seed, test_seed) = task
        drawn = source.draw(effect, np.random.default_rng(data_seed))
        if any(np.ptp(column.values) == 0 for columns in drawn for column in columns):
            return 1.0  # an event so rare that it did not happen: nothing to see
        simulated = Samples(*drawn, source.samples.z, sampling=sampling)
        test_rng = np.random.default_rng(test_seed)
        return Question.of(simulated, settings, like).answer(test_rng).pvalue

    tasks = [(effect, seed) for effect, row in zip(effects, seeds, strict=True) for seed in row]
    values = list(in_order(one, tasks, workers))
    return Calibration(
        n_sim=n_sim,
        n_samples=source.samples.n_rows,
        effect_sizes=tuple(effects),
        pvalues=tuple(
            tuple(values[start : start + n_sim]) for start in range(0, len(values), n_sim)
        ),
        missed=source.missed,
        **sampling.facts,
    )
