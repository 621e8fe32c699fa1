"""Functions of z that products of residuals are multiplied by: dependence that changes along z.

Where x and y depend on each other in one direction on one side of z and in the other direction on
the other side, their products cancel. Multiplied by a function of z that changes its sign they do
not. Such functions are features of a wide Gaussian kernel on z, less their mean, so that they share
nothing with products that are added up as they are (theory.md, section 8).
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from chsic._util.namespaces import beside, namespace
from chsic._util.validate import Array
from chsic.inference.pair_weights import PairWeights
from chsic.inference.ridge import some_rows
from chsic.kernels import KERNELS
from chsic.kernels.features import Landmarks, fit_landmarks
from chsic.pairs import PairGraph
from chsic.pairs.graph import some_pairs

WIDTH = 2.0  # of the kernel, in median distances between samples of z
LARGEST_RANK = 16  # features
ACCURACY = 1e-2  # share of the kernel that they may miss
LANDMARK_CANDIDATES = 200  # samples that landmarks are chosen from
SAMPLES = 10_000  # over which means are taken


@dataclasses.dataclass(frozen=True, eq=False)
class Interactions:
    """Centred features of z, of mean squared length 1.

    Attributes
    ----------
    landmarks : Landmarks
        Of the kernel on z.
    width : float
        Of the kernel, in the unit of z.
    mean : array, shape (k,)
        Mean of the features.
    scale : float
        What they are multiplied by.
    centre_share : float
        What weighting by them leaves of the statistic's expectation under independence.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.inference.interactions import Interactions
    >>> from chsic.pairs.nearest_neighbours import nearest_in_space
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(200, 3))
    >>> of_z = Interactions.of(z, 2.3, nearest_in_space(z, 10, rng))(z)
    >>> bool(abs(of_z.mean(axis=0)).max() < 1e-12), round(float((of_z**2).sum(axis=1).mean()), 6)
    (True, 1.0)
    """

    landmarks: Landmarks
    width: float
    mean: Array
    scale: float
    centre_share: float

    @classmethod
    def of(
        cls, z: Array, distance: float, graph: PairGraph, weights: PairWeights | None = None
    ) -> Interactions:
        """Choose features of z, whose samples are that far from each other, and pairs of them."""
        width, gaussian = WIDTH * distance, KERNELS["gaussian"]
        rows = some_rows(z, SAMPLES)
        some = z[rows] / width
        landmarks, _ = fit_landmarks(some, gaussian, ACCURACY, LARGEST_RANK, LANDMARK_CANDIDATES)
        features = landmarks(some)
        of_rows = None if weights is None else weights.rows[rows]
        mean = np.average(features, axis=0, weights=of_rows)
        size = float(np.average(((features - mean) ** 2).sum(axis=1), weights=of_rows))
        scale = size**-0.5 if size > 0 else 0.0
        unscaled = cls(landmarks, width, mean, scale, 1.0)
        return dataclasses.replace(
            unscaled, centre_share=_centre_share(unscaled, z, graph, weights)
        )

    def __call__(self, z: Any) -> Any:
        """Return the features at rows of z."""
        return (self.landmarks(z / self.width) - beside(z, self.mean)) * self.scale


def times(features: Any, of_z: Any) -> Any:
    """Multiply each feature by each function of z, if there are any (theory.md, eq. 30a)."""
    if of_z is None:
        return features
    each = features[:, :, None] * of_z[:, None, :]
    return namespace(features).reshape(each, (features.shape[0], -1))


def _centre_share(
    interactions: Interactions, z: Array, graph: PairGraph, weights: PairWeights | None
) -> float:
    """Return what the features leave of sum_ij Lap_ij^2 |phi_i|^2 (theory.md, eq. 30b)."""
    i, j = some_pairs(graph)
    if not len(i):
        return 1.0
    of_i, of_j = interactions(z[i]), interactions(z[j])
    apart = ((of_i - of_j) ** 2).sum(axis=1)
    if weights is not None:
        lost = float((weights.between(i, j) ** 2 * apart).mean()) / 2
        total = float(weights.lap_lengths**2 @ (interactions(z) ** 2).sum(axis=1))
        return 1 - lost * graph.n_pairs / total if total > 0 else 1.0
    lost = float(apart.mean()) / 2
    squares = float((of_i**2 + of_j**2).sum(axis=1).mean()) / 2
    partners = graph.degrees.astype(np.float64)
    total = squares * float((partners**2 + partners).sum())
    return 1 - lost * graph.n_pairs / total if total > 0 else 1.0
