"""One data set, four numbers side by side: HSIC, C-HSIC, and the two it is held against."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from chsic._validate import RNGLike, as_count, as_generator
from chsic.bandwidth import Bandwidth
from chsic.kernels import Function, Kernel
from chsic.measure import chsic, hsic
from chsic.pairs import closest_pairs


@dataclasses.dataclass(frozen=True, kw_only=True)
class Comparison:
    """What knowing z does to the dependence of x and y, in numbers and in words.

    Attributes
    ----------
    n_samples, alpha
        Size of the data and mean number of partners of a sample.
    hsic : float
        Dependence of x and y, z ignored.
    chsic : float
        Dependence of x and y over pairs close in z.
    controls : tuple of float
        As many pairs drawn at random instead: the paper's control.
    floors : tuple of float
        The pairs of `chsic` with y shuffled, which leaves nothing to be found.
    """

    n_samples: int
    alpha: float
    hsic: float
    chsic: float
    controls: tuple[float, ...]
    floors: tuple[float, ...]

    @property
    def control(self) -> float:
        """Mean of the controls: what `chsic` would be near to if z did not matter."""
        return float(np.mean(self.controls))

    @property
    def floor(self) -> float:
        """Mean of the floors: what `chsic` would be near to if nothing were related."""
        return float(np.mean(self.floors))

    @property
    def reading(self) -> str:
        """A few words; they compare with the controls and floors and are not a test."""
        if self.chsic <= max(self.floors):
            return "not seen given z"
        if self.chsic < min(self.controls):
            return "weaker given z"
        if self.chsic > max(self.controls):
            return "stronger given z"
        return "unchanged given z"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers and strings."""
        derived = {name: getattr(self, name) for name in ("control", "floor", "reading")}
        return {**dataclasses.asdict(self), **derived}


def compare(
    x: ArrayLike,
    y: ArrayLike,
    z: ArrayLike,
    /,
    *,
    alpha: float = 4,
    kernel: str | Kernel | Function = "gaussian",
    bandwidth: Bandwidth = "paper",
    n_controls: int = 20,
    rng: RNGLike | None = None,
) -> Comparison:
    """Measure dependence without z and given z, and show what the second should be held against.

    Raw values of HSIC and C-HSIC have no scale of their own: both are positive even without
    dependence, and pruning adds to that. Random pruning keeps as many pairs as C-HSIC, so the
    difference between the two is what conditioning on z does; shuffling y leaves nothing to be
    found, so it shows where the scale begins.

    Parameters
    ----------
    x, y, z, alpha, kernel, bandwidth
        As for `chsic.chsic`, where the bandwidth h is that of kappa(s / h) = exp(-(s / h)^2).
    n_controls : int
        How many times pairs are drawn at random, and how many times y is shuffled.
    rng : None, int or numpy.random.Generator
        Draws the controls and shuffles, and decides between pairs tied in z.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import chsic
    >>> from chsic.compare import compare
    >>> day = chsic.datasets.summer()
    >>> result = compare(day["ice_cream"], day["rescues"], day["temperature"], rng=0)
    >>> result.reading
    'not seen given z'
    """
    generator = as_generator(rng)
    n_controls = as_count("n_controls", n_controls, minimum=1)
    settings: dict[str, Any] = {"kernel": kernel, "bandwidth": bandwidth}
    marginal = hsic(x, y, **settings)
    pairs = closest_pairs(z, alpha, rng=generator)
    conditional = chsic(x, y, z, pairs=pairs, **settings)
    y = np.asarray(y)
    repeats = range(n_controls)
    return Comparison(
        n_samples=len(y),
        alpha=float(alpha),
        hsic=marginal,
        chsic=conditional,
        controls=tuple(
            chsic(x, y, z, alpha=alpha, pairs="random", rng=generator, **settings) for _ in repeats
        ),
        floors=tuple(
            chsic(x, generator.permutation(y), z, pairs=pairs, **settings) for _ in repeats
        ),
    )
