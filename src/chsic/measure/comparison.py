"""One data set, four numbers side by side: HSIC, C-HSIC, and the two it is held against."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from chsic._util.validate import RNGLike, as_count, as_generator
from chsic.data.arguments import Data, indicators
from chsic.data.samples import read_samples
from chsic.kernels import Function, Kernel, as_kernel
from chsic.kernels.bandwidth import Bandwidth, in_bandwidths
from chsic.measure.engines.choose import compute
from chsic.measure.engines.overlap import overlap_sum
from chsic.pairs import PairGraph, complete_pairs, random_pairs
from chsic.pairs.closest import closest_rows

TOL = 1e-6  # as `chsic.chsic` has it


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
    floor : float
        The part of `chsic` from pairs of pairs that share a sample, positive in any case.
    control : float
        `chsic` with as many pairs drawn at random instead, the paper's control: a mean.
    control_floor : float
        The floor of `control`, likewise.
    """

    n_samples: int
    alpha: float
    hsic: float
    chsic: float
    floor: float
    control: float
    control_floor: float

    @property
    def given_z(self) -> float:
        """`chsic` above its floor: zero on average if x and y are independent given z."""
        return self.chsic - self.floor

    @property
    def ignoring_z(self) -> float:
        """`control` above its floor: zero on average if x and y are independent."""
        return self.control - self.control_floor

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers and strings."""
        derived = {"given_z": self.given_z, "ignoring_z": self.ignoring_z}
        return {**dataclasses.asdict(self), **derived}


def compare(
    x: Data,
    y: Data,
    /,
    z: Data,
    *,
    data: Data = None,
    alpha: float = 4,
    kernel: str | Kernel | Function = "gaussian",
    bandwidth: Bandwidth = "paper",
    n_controls: int = 20,
    nan_policy: str = "raise",
    kinds: Mapping[str, str] | None = None,
    rng: RNGLike | None = None,
) -> Comparison:
    """Measure dependence without z and given z, and show what the second should be held against.

    Raw values of HSIC and C-HSIC have no scale of their own: both are positive even without
    dependence, and pruning adds to that. What stands above the floor does not, and random pruning
    keeps as many pairs as C-HSIC, so the difference between the two is what knowing z does.

    Parameters
    ----------
    x, y, z, data, alpha, kernel, bandwidth
        As for `chsic.chsic`, where the bandwidth h is that of kappa(s / h) = exp(-(s / h)^2).
    n_controls : int
        How many times pairs are drawn at random.
    nan_policy, kinds
        As for `chsic.chsic`.
    rng : None, int or numpy.random.Generator
        Draws the controls, and decides between pairs tied in z.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import chsic
    >>> from chsic.measure.comparison import compare
    >>> day = chsic.datasets.summer()
    >>> result = compare(day["ice_cream"], day["rescues"], day["temperature"], rng=0)
    >>> print(f"ignoring z {result.ignoring_z:.5f}, given z {result.given_z:.5f}")
    ignoring z 0.00798, given z -0.00007
    """
    generator = as_generator(rng)
    n_controls = as_count("n_controls", n_controls, minimum=1)
    samples = read_samples(x, y, z, data=data, nan_policy=nan_policy, kinds=kinds)
    x_columns, y_columns, z_columns = (
        indicators(of)[0] for of in (samples.x, samples.y, samples.z)
    )
    scaled, kappa, n = (
        in_bandwidths(x_columns, y_columns, bandwidth),
        as_kernel(kernel),
        len(samples),
    )

    def value_of(graph: PairGraph) -> float:
        return compute(*scaled, graph, kappa, engine="auto", tol=TOL, workers=1)

    def value_and_floor(graph: PairGraph) -> tuple[float, float]:
        floor = overlap_sum(*scaled, graph, kappa) / (4 * graph.n_pairs**2)
        return value_of(graph), floor

    marginal = value_of(complete_pairs(n))
    conditional, floor = value_and_floor(closest_rows(z_columns, alpha, generator))
    controls = [value_and_floor(random_pairs(n, alpha, generator)) for _ in range(n_controls)]
    control, control_floor = np.mean(controls, axis=0).tolist()
    return Comparison(
        n_samples=n,
        alpha=float(alpha),
        hsic=marginal,
        chsic=conditional,
        floor=floor,
        control=control,
        control_floor=control_floor,
    )
