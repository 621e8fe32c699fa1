"""Measures that invert or weight whole kernel or distance matrices, in time n^3.

Gaussian kernels are exp(-s^2 / (2 m^2)) with m the median distance of two different samples, each
column divided by its standard deviation.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial.distance import pdist, squareform

RIDGE = 1e-3  # theory asks only that it fall slowly with n; `registry.VARIANTS` has others


def nocco(x, y, z, *, ridge=RIDGE):
    """NOCCO of Fukumizu et al. (2007): Tr[R_Y R_X], see below. It ignores z."""
    return float((_normalised(_gram(x), ridge) * _normalised(_gram(y), ridge)).sum())


def conditional_nocco(x, y, z, *, ridge=RIDGE):
    """Conditional NOCCO of Fukumizu et al. (2007), with X" = (X, Z) and Y" = (Y, Z).

    Tr[R_Y" R_X" - 2 R_Y" R_X" R_Z + R_Y" R_Z R_X" R_Z], where R = G (G + n ridge I)^-1 and G is a
    centred kernel matrix; the kernel of a pair of variables is the product of theirs.
    """
    k_z = _gram(z)
    r_xz, r_yz, r_z = (_normalised(k, ridge) for k in (_gram(x) * k_z, _gram(y) * k_z, k_z))
    # All are symmetric, so the trace is that of R_Y" S R_X" S with S = I - R_Z.
    s = np.eye(len(k_z)) - r_z
    return float((r_yz * (s @ r_xz @ s)).sum())


def hscic(x, y, z, *, ridge=RIDGE):
    """HSCIC of Park and Muandet (2020), the mean of its square over the sample's z.

    At z: w' (K o Q) w - 2 w' (K w o Q w) + (w' K w) (w' Q w), with w = (K_Z + n ridge I)^-1 k_z.
    """
    weights = _ridge_solve(_gram(z), ridge)
    return float(_weighted_covariances(_gram(x), _gram(y), weights).mean())


def conditional_dcor(x, y, z):
    """Conditional distance correlation of Wang et al. (2015), the mean of its square over z.

    A distance correlation at every z_u, in which sample k counts with a Gaussian kernel density
    weight K_H(z_k - z_u), H by Scott's rule. The same number as from hyppo's `ConditionalDcorr`
    with ``use_cov=False``, whose loop over u would take most of the benchmark's time.
    """
    a, b = (squareform(pdist(_columns(values))) for values in (x, y))
    z = _columns(z)
    n, d = z.shape
    h = np.std(z, axis=0, ddof=1) * n ** (-1 / (d + 4))
    weights = np.exp(-0.5 * squareform(pdist(z / h, "sqeuclidean")))
    weights /= weights.sum(axis=0)
    covariance, x_variance, y_variance = (
        _weighted_covariances(*pair, weights) for pair in ((a, b), (a, a), (b, b))
    )
    variance = x_variance * y_variance
    varies = variance > 0  # where x or y is constant near z there is no dependence to see
    return float((covariance[varies] / np.sqrt(variance[varies])).sum() / n)


def _weighted_covariances(a, b, weights):
    """For every column w: w' (A o B) w - 2 w' (A w o B w) + (w' A w) (w' B w).

    With kernel matrices and weights that sum to one this is the squared norm of the weighted
    cross-covariance, with distances the weighted squared distance covariance.
    """
    aw, bw = a @ weights, b @ weights
    joint = (weights * ((a * b) @ weights)).sum(axis=0)
    mixed = (weights * aw * bw).sum(axis=0)
    return joint - 2 * mixed + (weights * aw).sum(axis=0) * (weights * bw).sum(axis=0)


def _normalised(gram, ridge):
    """R = G (G + n ridge I)^-1 of the centred kernel matrix G."""
    centred = gram - gram.mean(axis=0)
    centred -= centred.mean(axis=1, keepdims=True)
    return _ridge_solve(centred, ridge)


def _ridge_solve(gram, ridge):
    """(G + n ridge I)^-1 G, which is symmetric because the two commute."""
    n = len(gram)
    return cho_solve(cho_factor(gram + n * ridge * np.eye(n), lower=True), gram)


def _gram(values):
    columns = _columns(values)
    distances = pdist(columns / np.std(columns, axis=0, ddof=1))
    return np.exp(-squareform(distances**2) / (2 * median_distance(distances) ** 2))


def median_distance(distances):
    """Return the median over different samples: a discrete variable has many zeros."""
    return float(np.median(distances[distances > 0]))


def _columns(values):
    return np.reshape(values, (len(values), -1)).astype(float)
