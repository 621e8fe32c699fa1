"""Values far off: fill values such as 9.97e36 or -9999, typing errors, heavy tails.

One of them is enough to make a standard deviation or a straight line its own. Beside it all other
values of a confounder would look equal, and nothing would be conditioned on.
"""

from __future__ import annotations

import numpy as np

from chsic._util.validate import Array

FAR = 20.0  # typical deviations from the median: normal data do not reach that
VERY_FAR = 100.0  # beyond which distances grow with the logarithm only
SEEN = 10_000  # values whose deviations are typical
MOST_OF_VARIANCE = 0.5  # of one sample
NORMAL = 0.6744897501960817  # median of |v| for a standard normal variable


def typical_deviation(deviations: Array) -> float:
    """Return what a standard deviation would be without values far off.

    It is the median absolute deviation of the values that are not equal to the median: of rare
    events, how far off they are. `deviations` are those from the median; 0 if there are none.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.data.outliers import typical_deviation
    >>> values = np.append(np.random.default_rng(0).normal(size=9_999), 1e37)
    >>> round(typical_deviation(values - np.median(values)), 1)
    1.0
    """
    some = np.abs(deviations[:: 1 + len(deviations) // SEEN])
    if not some.any():
        some = np.abs(deviations)
    some = some[some > 0]
    return float(np.median(some)) / NORMAL if len(some) else 0.0


def clip_limits(deviations: Array) -> Array:
    """Return for columns of deviations from the median how far off a regression follows them.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.data.outliers import clip_limits
    >>> clip_limits(np.array([[-1.0], [0.0], [1.0], [9.97e36]])).round(1)
    array([29.7])
    """
    return np.array([FAR * typical_deviation(column) for column in deviations.T])


def clipped(deviations: Array, limits: Array) -> Array:
    """Return columns of deviations from the median, none of them beyond its limit.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.data.outliers import clipped
    >>> clipped(np.array([[-1.0], [0.0], [9.97e36]]), np.array([20.0])).ravel()
    array([-1.,  0., 20.])
    """
    reach = np.maximum(deviations.max(axis=0), -deviations.min(axis=0))
    return np.clip(deviations, -limits, limits) if np.any(reach > limits) else deviations


def drawn_in(values: Array) -> Array:
    """Return values in standard deviations, those very far off by their logarithms.

    Their order stays, and they stay far from all others.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.data.outliers import drawn_in
    >>> drawn_in(np.array([1.0, -100.0, 9.97e36])).round().astype(int)
    array([   1, -100, 8159])
    """
    if max(values.max(), -values.min()) <= VERY_FAR:
        return values
    sizes = np.maximum(np.abs(values), VERY_FAR)
    inside = np.copysign(VERY_FAR * (1 + np.log(sizes / VERY_FAR)), values)
    return np.where(sizes > VERY_FAR, inside, values)


def about_far_values(values: Array) -> str | None:
    """Say if values, in standard deviations from the median, are far off: very far, or one alone.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.data.outliers import about_far_values
    >>> about_far_values(np.random.default_rng(0).normal(size=100))
    >>> print(about_far_values(np.append(np.zeros(99), 200.0)))
    1 value is more than 100 standard deviations ...
    """
    far = int(np.count_nonzero(np.abs(values) > VERY_FAR))
    if far:
        return (
            f"{far} value{'s are' if far > 1 else ' is'} more than {VERY_FAR:g} standard "
            "deviations of the others away from their median; if that stands for a missing value, "
            "leave it out, and else give the logarithm or the ranks."
        )
    squares = (values - values.mean()) ** 2
    total = float(squares.sum())
    largest = float(squares.max()) / total if total > 0 else 0.0
    if largest <= MOST_OF_VARIANCE:
        return None
    return (
        f"one sample has {largest:.0%} of the variance; if it is not a mistake, give the logarithm "
        "or the ranks instead."
    )
