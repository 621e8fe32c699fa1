"""How an answer changes with alpha and with the bandwidth: nobody has to trust one value."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from chsic._util.validate import RNGLike, as_generator, as_numbers
from chsic.data.arguments import Data
from chsic.data.samples import read_samples
from chsic.inference.arrangement import default_alpha
from chsic.inference.independence import chsic_test
from chsic.inference.plan import MULTIPLES, Multiples
from chsic.inference.result import later

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

    def plot(self, **settings: Any) -> Any:
        """Draw the p-value along alpha and along the bandwidth, as ``chsic.plot.sensitivity`` does.

        Examples
        --------
        >>> import chsic
        >>> x, y, z = chsic.datasets.draw_scenario("add", 100, rng=0)
        >>> found = chsic.sensitivity(x, y, z, alphas=[4, 8], bandwidths=[1.2], rng=0)
        >>> len(found.plot())
        2
        """
        return later("chsic.show.plot", "sensitivity", self, **settings)

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


def sensitivity(
    x: Data,
    y: Data,
    z: Data,
    /,
    *,
    alphas: Sequence[float] | None = None,
    bandwidths: Sequence[float] | None = None,
    rng: RNGLike | None = None,
    **settings: Any,
) -> Sensitivity:
    """Test again and again, along alpha and along the bandwidth.

    Pairs are neighbours in z, also for a z of few values, where `chsic_test` would take strata.

    Parameters
    ----------
    x, y, z : array_like
        As for `chsic_test`.
    alphas : sequence of float, optional
        Numbers of neighbours, as for `chsic_test`; 2, 4, ..., 64 as far as the samples allow.
    bandwidths : sequence of float, optional
        Multiples of the median distance between samples of x, and of y, after adjustment;
        0.3 to 5 if not given.
    rng : None, int or numpy.random.Generator
        All tests use the same signs, so that differences between them are not by chance.
    **settings
        Further ones of `chsic_test`.

    Returns
    -------
    Sensitivity
        Print it for a table.

    Examples
    --------
    >>> import chsic
    >>> x, y, z = chsic.datasets.draw_scenario("add", 300, rng=0)
    >>> found = chsic.sensitivity(x, y, z, alphas=[4, 16], bandwidths=[1.2, 5], rng=0)
    >>> [point.pvalue < 0.05 for point in found.along_alpha]
    [True, True]
    """
    for name in ("alpha", "bandwidth"):
        if name in settings:
            raise ValueError(f"{name}: is varied here; give alphas and bandwidths instead.")
    settings = {"pairs": "nearest", **settings}
    if not isinstance(settings["pairs"], str) or settings["pairs"] not in ("nearest", "closest"):
        raise ValueError(
            f"pairs: alpha can be varied for 'nearest' and 'closest', got {settings['pairs']!r}; "
            "use one of them, or chsic_test."
        )
    read = {name: settings.pop(name) for name in ("nan_policy", "kinds") if name in settings}
    if z is None:
        raise ValueError("z: is needed here; without it there are no neighbours to choose.")
    samples = read_samples(x, y, z, **read)
    if not any(column.kind == "number" for column in samples.z):
        raise ValueError(
            "z: it has categories only, and all pairs inside them are compared: there is no number "
            "of neighbours to vary."
        )
    n = len(samples)
    seed = int(as_generator(rng).integers(2**63))
    default = default_alpha(n, sum(column.kind == "number" for column in samples.z))
    chosen = [a for a in ALPHAS if a <= n - 1] if alphas is None else _positive("alphas", alphas)
    if chosen[-1] > n - 1:
        raise ValueError(f"alphas: {chosen[-1]:g} is more than the n - 1 = {n - 1} other samples.")
    widths = list(BANDWIDTHS) if bandwidths is None else _positive("bandwidths", bandwidths)

    def at(alpha: float, bandwidth: float | None) -> SensitivityPoint:
        family = Multiples(MULTIPLES if bandwidth is None else (bandwidth,))
        result = chsic_test(
            samples.x, samples.y, samples.z, alpha=alpha, bandwidth=family, rng=seed, **settings
        )
        return SensitivityPoint(
            alpha=alpha,
            bandwidth=bandwidth,
            statistic=result.statistic,
            coefficient=result.coefficient,
            pvalue=result.pvalue,
        )

    return Sensitivity(
        along_alpha=tuple(at(alpha, None) for alpha in chosen),
        along_bandwidth=tuple(at(default, width) for width in widths),
    )


def _positive(name: str, values: Sequence[float]) -> list[float]:
    numbers = sorted(as_numbers(name, values))
    if not numbers or numbers[0] <= 0:
        raise ValueError(f"{name}: positive numbers are needed, got {values!r}.")
    return numbers
