"""P-values adjusted for the number of tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from chsic._util.validate import Array


def benjamini_hochberg(pvalues: ArrayLike) -> Array:
    r"""Return p-values adjusted for the false discovery rate.

    Of the tests whose adjusted p-value is at most q, a share q at most is rejected by chance, on
    average, if the tests are independent or positively dependent.

    Parameters
    ----------
    pvalues : array_like, shape (m,)
        From 0 to 1.

    Returns
    -------
    array, shape (m,)
        With p-values sorted, :math:`\min_{j \ge i} \min(1, p_{(j)} m / j)`.

    References
    ----------
    Y. Benjamini and Y. Hochberg, "Controlling the False Discovery Rate", Journal of the Royal
    Statistical Society B 57, 1995.

    Examples
    --------
    >>> from chsic.many.multiple_testing import benjamini_hochberg
    >>> benjamini_hochberg([0.01, 0.02, 0.03, 0.5]).round(3).tolist()
    [0.04, 0.04, 0.04, 0.5]
    """
    from scipy.stats import false_discovery_control  # slow to load

    p = np.asarray(pvalues, dtype=np.float64)
    adjusted: Array = false_discovery_control(p) if len(p) else p
    return adjusted


def holm(pvalues: ArrayLike) -> Array:
    r"""Return p-values adjusted for the family-wise error rate, however tests depend.

    The probability that any true null has an adjusted p-value of at most q is at most q.

    Parameters
    ----------
    pvalues : array_like, shape (m,)
        From 0 to 1.

    Returns
    -------
    array, shape (m,)
        With p-values sorted, :math:`\max_{j \le i} \min(1, (m - j + 1) p_{(j)})`.

    References
    ----------
    S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of
    Statistics 6, 1979.

    Examples
    --------
    >>> from chsic.many.multiple_testing import holm
    >>> holm([0.01, 0.02, 0.03, 0.5]).round(3).tolist()
    [0.04, 0.06, 0.06, 0.5]
    """
    p = np.asarray(pvalues, dtype=np.float64)
    order = np.argsort(p)
    adjusted = np.empty(len(p))
    adjusted[order] = np.maximum.accumulate(np.minimum(1, np.arange(len(p), 0, -1) * p[order]))
    return adjusted
