"""Numbers as they are compared: without differences of rounding, outliers clipped or compressed.

0.1 + 0.2 is not 0.3 in double precision. Where a column would otherwise be constant, such
differences are all there is: they would set the bandwidth, and a test would be one of rounding.

Outliers are fill values such as 9.97e36 or -9999, typing errors, heavy tails. One of them is enough
to make a standard deviation or a straight line its own. Beside it all other values of a confounder
would look equal, and nothing would be conditioned on.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chsic._util.validate import Array

ROUNDING = 4 * np.finfo(np.float64).eps  # what a few operations may be off by, relative
ROUNDING_SAMPLE = 2**14  # numbers that are looked at: what is rarer decides nothing
FAR = 20.0  # robust deviations from the median: normal data do not reach that
VERY_FAR = 100.0  # beyond which distances grow with the logarithm only
DEVIATION_SAMPLE = 10_000  # values whose deviations are looked at
MOST_OF_VARIANCE = 0.5  # of one sample
NORMAL_MEDIAN = 0.6744897501960817  # median of |v| for a standard normal variable


def without_rounding(values: Array) -> Array:
    """Return `values` with those made equal that a few operations may have moved apart.

    Whole numbers are exact, and numbers that fill a wide range in such steps stay as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.data.cleaning import without_rounding
    >>> len(set(without_rounding(np.array([0.1 + 0.2, 0.3, 5.0])).tolist()))
    2
    """
    some = np.sort(values[:: 1 + len(values) // ROUNDING_SAMPLE])
    if not _differs_by_rounding(some).any():
        return values
    ordered = np.sort(values)
    close = (ordered[1:] == ordered[:-1]) | _differs_by_rounding(ordered)
    starts = np.flatnonzero(np.append(True, ~close))
    widths = ordered[np.append(starts[1:], len(ordered)) - 1] - ordered[starts]
    narrow = widths <= ROUNDING * np.abs(ordered[starts])
    run = np.searchsorted(ordered[starts], values, side="right") - 1
    equal: Array = np.where(narrow[run], ordered[starts][run], values)
    return equal


def _differs_by_rounding(ordered: Array) -> NDArray[np.bool_]:
    """Tell which numbers differ from the one before by rounding alone; whole numbers never do."""
    gaps = np.diff(ordered)
    close: NDArray[np.bool_] = (gaps > 0) & (gaps <= ROUNDING * np.abs(ordered[1:]))
    near = np.flatnonzero(close)
    whole = ordered[near] == np.floor(ordered[near])
    close[near] = ~(whole & (ordered[near + 1] == np.floor(ordered[near + 1])))
    return close


def robust_deviation(deviations: Array) -> float:
    """Return what a standard deviation would be without outliers.

    It is the median absolute deviation of the values that are not equal to the median: of rare
    events, how far off they are. `deviations` are those from the median; 0 if there are none.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.data.cleaning import robust_deviation
    >>> values = np.append(np.random.default_rng(0).normal(size=9_999), 1e37)
    >>> round(robust_deviation(values - np.median(values)), 1)
    1.0
    """
    some = np.abs(deviations[:: 1 + len(deviations) // DEVIATION_SAMPLE])
    if not some.any():
        some = np.abs(deviations)
    some = some[some > 0]
    return float(np.median(some)) / NORMAL_MEDIAN if len(some) else 0.0


def clip_limits(deviations: Array) -> Array:
    """Return for columns of deviations from the median how far off a regression follows them.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.data.cleaning import clip_limits
    >>> clip_limits(np.array([[-1.0], [0.0], [1.0], [9.97e36]])).round(1)
    array([29.7])
    """
    return np.array([FAR * robust_deviation(column) for column in deviations.T])


def clip_outliers(deviations: Array, limits: Array) -> Array:
    """Clip columns of deviations from the median, each at its limit.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.data.cleaning import clip_outliers
    >>> clip_outliers(np.array([[-1.0], [0.0], [9.97e36]]), np.array([20.0])).ravel()
    array([-1.,  0., 20.])
    """
    reach = np.maximum(deviations.max(axis=0), -deviations.min(axis=0))
    return np.clip(deviations, -limits, limits) if np.any(reach > limits) else deviations


def compress_outliers(values: Array) -> Array:
    """Return values in standard deviations, which grow with the logarithm beyond `VERY_FAR`.

    Their order stays, and outliers stay far from all others.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.data.cleaning import compress_outliers
    >>> compress_outliers(np.array([1.0, -100.0, 9.97e36])).round().astype(int)
    array([   1, -100, 8159])
    """
    if max(values.max(), -values.min()) <= VERY_FAR:
        return values
    sizes = np.maximum(np.abs(values), VERY_FAR)
    inside = np.copysign(VERY_FAR * (1 + np.log(sizes / VERY_FAR)), values)
    return np.where(sizes > VERY_FAR, inside, values)


def count_far_values(values: Array) -> tuple[int, float]:
    """Return how many values, in standard deviations from the median, are very far off.

    Also the share of the variance that one of them has.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.data.cleaning import count_far_values
    >>> count_far_values(np.append(np.zeros(99), 200.0))[0]
    1
    """
    far = int(np.count_nonzero(np.abs(values) > VERY_FAR))
    squares = (values - values.mean()) ** 2
    total = float(squares.sum())
    return far, float(squares.max()) / total if total > 0 else 0.0


def has_far_values(values: Array) -> bool:
    """Tell whether values, in standard deviations from the median, may not be meant.

    Some are very far off, or one alone has most of the variance.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.data.cleaning import has_far_values
    >>> has_far_values(np.random.default_rng(0).normal(size=100))
    False
    """
    number, share = count_far_values(values)
    return number > 0 or share > MOST_OF_VARIANCE
