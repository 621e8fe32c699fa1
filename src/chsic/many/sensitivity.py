"""How an answer changes with alpha and with the bandwidth: nobody has to trust one value."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from chsic._util.parallel import blas_on_one_thread
from chsic._util.validate import RNGLike, as_count, as_generator, as_numbers
from chsic.data.arguments import Data
from chsic.data.samples import Samples, read_samples
from chsic.inference.arrangement import Arrangement
from chsic.inference.compare import Question, compare
from chsic.inference.pairing import default_alpha
from chsic.inference.plan import PlannedVariable
from chsic.inference.planning import MULTIPLES, TOL, Multiples
from chsic.inference.result import IndependenceResult, later
from chsic.inference.settings import Settings

ALPHAS = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
BANDWIDTHS = (0.3, 0.6, 1.2, 2.4, 5.0)


@dataclasses.dataclass(frozen=True, kw_only=True)
class SensitivityPoint:
    """The answer for one setting.

    Attributes
    ----------
    alpha : float
        As for `chsic_test`: neighbours that a sample is paired with.
    bandwidth : float or None
        As a multiple of the median distance; None for the family of them that `chsic_test` takes.
    statistic, coefficient, pvalue : float
        As in `IndependenceResult`.
    """

    alpha: float
    bandwidth: float | None
    statistic: float
    coefficient: float
    pvalue: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class Sensitivity:
    """Answers along two settings, each varied while the other is at its default.

    Attributes
    ----------
    along_alpha, along_bandwidth : tuple of SensitivityPoint
        In increasing order.
    """

    along_alpha: tuple[SensitivityPoint, ...]
    along_bandwidth: tuple[SensitivityPoint, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers in lists."""
        return dataclasses.asdict(self)

    def plot(self, axes: Any = None) -> Any:
        """Draw the p-value along alpha and along the bandwidth, as ``chsic.plot.sensitivity`` does.

        Parameters
        ----------
        axes : pair of matplotlib.axes.Axes, optional
            Where to draw; on a new figure if not given.

        Returns
        -------
        pair of matplotlib.axes.Axes

        Examples
        --------
        >>> import chsic
        >>> x, y, z = chsic.datasets.draw_scenario("add", 100, rng=0)
        >>> result = chsic.sensitivity(x, y, z, alphas=[4, 8], bandwidths=[1.2], rng=0)
        >>> len(result.plot())
        2
        """
        return later("chsic.show.plot", "sensitivity", self, axes=axes)

    def _repr_html_(self) -> str | None:
        html: str | None = later("chsic.show.notebook", "html_of_sensitivity", self)
        return html

    def __str__(self) -> str:
        lines = ["  alpha  bandwidth   statistic  coefficient     pvalue"]
        for point in (*self.along_alpha, *self.along_bandwidth):
            width = "family" if point.bandwidth is None else f"{point.bandwidth:g}"
            lines.append(
                f"{point.alpha:7.3g}  {width:>9}  {point.statistic:10.3g}  "
                f"{point.coefficient:z11.3f}  {point.pvalue:9.3g}"
            )
        return "\n".join(lines)


@blas_on_one_thread()
def sensitivity(
    x: Data,
    y: Data,
    /,
    z: Data,
    *,
    alphas: Sequence[float] | None = None,
    bandwidths: Sequence[float] | None = None,
    data: Data = None,
    pairs: str = "nearest",
    unit_size: int | str = "auto",
    adjust: Any = "auto",
    augment: bool | str = "auto",
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
) -> Sensitivity:
    """Test again and again, along alpha and along the bandwidth.

    Pairs are neighbours in z, also for a z of few values, where `chsic_test` would take strata.

    Parameters
    ----------
    x, y, z : array_like, or names of columns of `data`
        As for `chsic_test`.
    alphas : sequence of float, optional
        Numbers of neighbours, as for `chsic_test`; 2, 4, ..., 64 as far as the samples allow.
    bandwidths : sequence of float, optional
        Multiples of the median distance between samples of x, and of y, after adjustment;
        0.3 to 5 if not given.
    pairs : {"nearest", "closest"}
        Those for which alpha can be varied.
    data, unit_size, adjust, augment, null, n_resamples, tol, nan_policy, kinds
        As for `chsic_test`.
    groups, time, stretch, within, weights, workers
        As for `chsic_test`.
    rng : None, int or numpy.random.Generator
        All tests use the same signs, so that differences between them are not by chance.

    Returns
    -------
    Sensitivity
        Print it for a table.

    Examples
    --------
    >>> import chsic
    >>> x, y, z = chsic.datasets.draw_scenario("add", 300, rng=0)
    >>> result = chsic.sensitivity(x, y, z, alphas=[4, 16], bandwidths=[1.2, 5], rng=0)
    >>> [point.pvalue < 0.05 for point in result.along_alpha]
    [True, True]
    """
    if not isinstance(pairs, str) or pairs not in ("nearest", "closest"):
        raise ValueError(
            f"pairs: alpha can be varied for 'nearest' and 'closest', got {pairs!r}; use one of "
            "them, or chsic_test."
        )
    if z is None:
        raise ValueError("z: is needed here; without it there are no neighbours to choose.")
    settings = Settings.of(
        pairs=pairs,
        unit_size=unit_size,
        adjust=adjust,
        augment=augment,
        null=null,
        n_resamples=n_resamples,
        tol=tol,
    )
    workers = as_count("workers", workers, minimum=1)
    samples = read_samples(
        x, y, z, data=data, nan_policy=nan_policy, kinds=kinds, groups=groups, time=time,
        stretch=stretch, within=within, weights=weights,
    )  # fmt: skip
    return along_settings(samples, settings, rng, alphas, bandwidths, workers)


def along_settings(
    samples: Samples,
    settings: Settings,
    rng: RNGLike | None,
    alphas: Sequence[float] | None = None,
    bandwidths: Sequence[float] | None = None,
    workers: int = 1,
    like: Answered | None = None,
) -> Sensitivity:
    """Test clean samples along alpha and along the bandwidth.

    What z decides, and all kernels of x and y, are planned once; what an answer to the same
    question with default settings has planned already is used.
    """
    if not any(column.kind == "number" for column in samples.z):
        raise ValueError(
            "z: it has categories only, and all pairs inside them are compared: there is no number "
            "of neighbours to vary."
        )
    n = len(samples)
    chosen = [a for a in ALPHAS if a <= n - 1] if alphas is None else _positive("alphas", alphas)
    if chosen[-1] > n - 1:
        raise ValueError(f"alphas: {chosen[-1]:g} is more than the n - 1 = {n - 1} other samples.")
    widths = list(BANDWIDTHS) if bandwidths is None else _positive("bandwidths", bandwidths)
    generator = np.random.default_rng(int(as_generator(rng).integers(2**63)))
    question = Question.of(samples, settings, None if like is None else like.question.given)
    d = sum(column.kind == "number" for column in samples.z)
    default = default_alpha(n, d, question.closely)
    multiples = tuple(sorted({*MULTIPLES, *widths}))
    tests = _Tests(question, generator, default, multiples, workers, like)
    return Sensitivity(
        along_alpha=tuple(tests.at(alpha, None) for alpha in chosen),
        along_bandwidth=tuple(tests.at(default, width) for width in widths),
    )


@dataclasses.dataclass(frozen=True, eq=False)
class Answered:
    """A question with default settings, and what was planned for its answer.

    Attributes
    ----------
    question : Question
        The question.
    arrangement : Arrangement
        Pairs and units.
    planned : pair of PlannedVariable
        x and y, with a kernel for each of `multiples`.
    multiples : tuple of float
        Bandwidths, as multiples of the median distance.
    """

    question: Question
    arrangement: Arrangement
    planned: tuple[PlannedVariable, PlannedVariable]
    multiples: tuple[float, ...]

    @classmethod
    def of(cls, question: Question, rng: np.random.Generator, workers: int = 1) -> Answered:
        """Plan a question with all bandwidths that are varied by default."""
        arrangement, multiples = question.arrange(rng), tuple(sorted({*MULTIPLES, *BANDWIDTHS}))
        threads = question.threads(workers)
        planned = question.plan(arrangement, Multiples(multiples), threads)
        return cls(question, arrangement, planned, multiples)

    def answer(self, rng: np.random.Generator, workers: int = 1) -> IndependenceResult:
        """Answer with the default family of bandwidths."""
        question, family = self.question, [self.multiples.index(m) for m in MULTIPLES]
        x, y = (variable.select(family) for variable in self.planned)
        settings, threads = question.given.settings, question.threads(workers)
        return compare(self.arrangement, settings, x, y, question.samples, rng, threads)

    def on_same_line(self, question: Question, multiples: tuple[float, ...]) -> bool:
        """Whether another question has the same order along z, and the same plans do."""
        ours, theirs = self.question.given.order, question.given.order
        return (
            multiples == self.multiples
            and ours is not None
            and theirs is not None
            and self.question.given.kind == question.given.kind == "nearest"
            and np.array_equal(ours, theirs)
        )


class _Tests:
    """Tests of one question, all with the same signs."""

    def __init__(
        self,
        question: Question,
        rng: np.random.Generator,
        default: float,
        multiples: tuple[float, ...],
        workers: int,
        like: Answered | None,
    ) -> None:
        self._question, self._rng, self._multiples = question, rng, multiples
        self._threads = question.threads(workers)
        self._arranged: dict[float, tuple[Arrangement, np.random.Generator]] = {}
        if like is not None and like.on_same_line(question, multiples):
            self._arranged[default] = like.arrangement, rng  # on a line, nothing is drawn for it
            self._planned = like.planned
        else:
            self._planned = self._plan(default)

    def at(self, alpha: float, bandwidth: float | None) -> SensitivityPoint:
        """Test with a number of neighbours, and one bandwidth or the default family."""
        arrangement, rng = self._arrange(alpha)
        planned = self._planned
        if any(variable.depends_on_pairs for variable in planned):
            planned = self._plan(alpha)
        chosen = MULTIPLES if bandwidth is None else (bandwidth,)
        x, y = (one.select([self._multiples.index(m) for m in chosen]) for one in planned)
        settings, samples = self._question.given.settings, self._question.samples
        result = compare(arrangement, settings, x, y, samples, copy.deepcopy(rng), self._threads)
        return SensitivityPoint(
            alpha=alpha,
            bandwidth=bandwidth,
            statistic=result.statistic,
            coefficient=result.coefficient,
            pvalue=result.pvalue,
        )

    def _arrange(self, alpha: float) -> tuple[Arrangement, np.random.Generator]:
        """Return pairs and units, and what draws signs after them: as if nothing were shared."""
        if alpha not in self._arranged:
            rng = copy.deepcopy(self._rng)
            self._arranged[alpha] = self._question.arrange(rng, alpha), rng
        return self._arranged[alpha]

    def _plan(self, alpha: float) -> tuple[PlannedVariable, PlannedVariable]:
        arrangement, _ = self._arrange(alpha)
        return self._question.plan(arrangement, Multiples(self._multiples), self._threads)


def _positive(name: str, values: Sequence[float]) -> list[float]:
    numbers = sorted(as_numbers(name, values))
    if not numbers or numbers[0] <= 0:
        raise ValueError(f"{name}: positive numbers are needed, got {values!r}.")
    return numbers
