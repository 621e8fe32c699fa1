"""gcastle: the callable that its PC takes.

>>> from castle.algorithms import PC  # doctest: +SKIP
>>> from chsic.adapters.gcastle import ci_test  # doctest: +SKIP
>>> PC(variant="stable", ci_test=ci_test).learn(data)  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from chsic.adapters.digest import digest_of
from chsic.discovery import Discovery
from chsic.kept import Kept

MOST_DATA = 2  # data sets whose work is kept

_tests: Kept[Discovery] = Kept(MOST_DATA)


def ci_test(data: Any, x: int, y: int, z: Sequence[int] = ()) -> tuple[float, float, float]:
    """Test columns x and y of `data` given columns z.

    Parameters
    ----------
    data : array, shape (n, d)
        Work on the same bytes is shared between calls.
    x, y : int
        Columns.
    z : sequence of int
        Columns that are known.

    Returns
    -------
    statistic, coefficient, pvalue : float

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.adapters.gcastle import ci_test
    >>> rng = np.random.default_rng(0)
    >>> z, e, h = rng.normal(size=(3, 300))
    >>> data = np.column_stack([z + e, z + h, z])
    >>> ci_test(data, 0, 1)[2] < 0.01, ci_test(data, 0, 1, [2])[2] > 0.05
    (True, True)
    """
    array = np.asarray(data)
    tests = _tests.of(digest_of(array), lambda: Discovery(array))
    answer = tests.answer(int(x), int(y), [int(column) for column in z])
    return answer.statistic, answer.coefficient, answer.pvalue
