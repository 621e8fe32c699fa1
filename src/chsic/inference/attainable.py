"""The smallest attainable p-value: rare events cannot be more certain than they are.

One event in x and one in y, in the same of n samples, happens by chance once in n times. Signs do
not know that: beside the product of this one sample they see many small ones, all of one sign.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from chsic._util.validate import Array, Index
from chsic.pairs.strata import strata_of

# Units of equal weight that a number of unequal ones stands for: their weights vary about as much
# as squares of normal variables do where nothing is special.
EQUAL_UNITS = 2.0


def table_probability(strata: Index, x: Index, y: Index) -> float:
    """Return how often permutations of y inside strata give the same table of x and y.

    No test by permutation can have a smaller p-value. It is the multivariate hypergeometric
    probability, the product of all factorials of row and column sums over those of the sizes of
    strata and of the entries.

    Parameters
    ----------
    strata, x, y : array of int, shape (n,)
        Stratum of each sample, and which value it has.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.inference.attainable import table_probability
    >>> event = np.arange(200) == 7
    >>> round(table_probability(np.zeros(200, int), event.astype(int), event.astype(int)), 6)
    0.005
    """

    def factorials(*labels: Index) -> float:
        codes = strata_of(np.stack(labels, axis=1)) if len(labels) > 1 else labels[0]
        return float(gammaln(np.bincount(codes) + 1.0).sum())

    sums = factorials(strata, x) + factorials(strata, y)
    entries = factorials(strata) + factorials(strata, x, y)
    return float(np.exp(min(sums - entries, 0.0)))


def pvalue_of_units(gram: Array) -> float:
    """Return the smallest p-value by signs of units, of which a few may outweigh all others.

    Signs of k equal units give the same value for both signs, and so no p-value below 2^(1 - k).

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.inference.attainable import pvalue_of_units
    >>> pvalue_of_units(np.eye(2)), pvalue_of_units(np.diag([1.0, 0.0]))
    (0.125, 0.5)
    """
    weights = np.diag(gram)
    size = float(weights.max(initial=0.0))
    if not size > 0:
        return 1.0
    weights = weights / size
    equal = float(weights.sum()) ** 2 / float((weights**2).sum())
    return min(1.0, float(2.0 ** (1 - EQUAL_UNITS * equal)))
