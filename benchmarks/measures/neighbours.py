"""Measures that ask whether neighbours in (x, z) have more similar y than neighbours in z.

Both are directed: how far y is a function of x once z is known. Distances are Euclidean on columns
divided by their standard deviations, and ties are broken at random, as their authors do.
"""

import numpy as np
from benchmarks.measures.kernel import median_distance
from scipy.spatial.distance import cdist, pdist
from scipy.stats import rankdata


def kpc(x, y, z, *, k=1):
    """Kernel partial correlation, squared, of Huang, Deb and Sen (2022), nearest-neighbour form.

    mean_i [kappa(y_i, y_M(i)) - kappa(y_i, y_N(i))] / mean_i [1 - kappa(y_i, y_N(i))], where N(i)
    is i's nearest neighbour in z and M(i) in (x, z), or kappa is averaged over the k nearest. One
    neighbour and a Gaussian kappa of median width are the defaults of the authors' package.
    """
    y = np.reshape(y, (len(y), -1)).astype(float)
    median = median_distance(pdist(y))

    def alike(partners):
        squared = ((y[:, None] - y[partners]) ** 2).sum(axis=2)
        return np.exp(-squared / (2 * median**2)).mean()

    given_z, given_both = alike(_nearest(z, k)), alike(_nearest(np.column_stack([x, z]), k))
    return float((given_both - given_z) / (1 - given_z))


def azadkia_chatterjee(x, y, z):
    """T_n of Azadkia and Chatterjee (2021).

    sum_i (min(R_i, R_M(i)) - min(R_i, R_N(i))) / sum_i (R_i - min(R_i, R_N(i))), where R_i is the
    number of y not above y_i, N(i) is i's nearest neighbour in z and M(i) in (x, z).
    """
    ranks = rankdata(y, method="max")
    given_z = np.minimum(ranks, ranks[_nearest(z)[:, 0]])
    given_both = np.minimum(ranks, ranks[_nearest(np.column_stack([x, z]))[:, 0]])
    return float((given_both - given_z).sum() / (ranks - given_z).sum())


def _nearest(values, k=1):
    """Return everybody's k nearest neighbours, shape (n, k), at random among tied ones."""
    columns = np.reshape(values, (len(values), -1)).astype(float)
    scaled = columns / np.std(columns, axis=0, ddof=1)
    distances = cdist(scaled, scaled)
    np.fill_diagonal(distances, np.inf)
    farthest = np.partition(distances, k - 1, axis=1)[:, [k - 1]]
    # A fixed seed, as for tied pairs of C-HSIC: the same data always give the same value.
    lots = np.random.default_rng(0).uniform(1, 2, distances.shape)
    order = np.where(distances < farthest, 0.0, np.where(distances == farthest, lots, np.inf))
    return np.argpartition(order, k - 1, axis=1)[:, :k]
