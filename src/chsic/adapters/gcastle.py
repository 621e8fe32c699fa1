"""gcastle: the callable that its PC takes.

>>> from castle.algorithms import PC  # doctest: +SKIP
>>> from chsic.adapters.gcastle import ci_test  # doctest: +SKIP
>>> PC(variant="stable", ci_test=ci_test).learn(data)  # doctest: +SKIP
>>> PC(ci_test=functools.partial(ci_test, kinds={"3": "category"}))  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from chsic._util.cache import Cache
from chsic._util.validate import as_count
from chsic.data.fingerprint import fingerprint
from chsic.data.sampling import require_labels
from chsic.many.discovery import Discovery

MOST_DATA = 2  # data sets, with settings, whose shared work stays in memory

_tests: Cache[Discovery] = Cache(MOST_DATA)


def ci_test(
    data: Any,
    x: int,
    y: int,
    z: Sequence[int] = (),
    *,
    kinds: Mapping[int | str, str] | None = None,
    nan_policy: str = "raise",
    n_resamples: int = 9999,
    rng: int | None = None,
    groups: Any = None,
    time: Any = None,
    stretch: float | str = "auto",
    within: bool = False,
    weights: Any = None,
) -> tuple[float, float, float]:
    """Test columns x and y of `data` given columns z.

    ``functools.partial`` makes a test with other settings, which other processes can be sent.

    Parameters
    ----------
    data : array, shape (n, d)
        Work on the same values is shared between calls.
    x, y : int
        Columns.
    z : sequence of int
        Columns that are known.
    kinds : mapping, optional
        ``"number"`` or ``"category"`` for positions of columns, as text or as numbers.
    nan_policy, n_resamples
        As for `chsic.Discovery`.
    rng : int, optional
        Seed of the signs.
    groups : array_like, optional
        Which group each row belongs to, as for `chsic.chsic_test`: a label for each row.
    time : array_like or "rows", optional
        When each row was observed, or that rows are in the order of time, as for
        `chsic.chsic_test`.
    stretch, within
        As for `chsic.chsic_test`.
    weights : array_like, optional
        How many rows of the population each row stands for, as for `chsic.chsic_test`: a number
        for each row.

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
    require_labels(groups, time, weights)
    array, labels = np.asarray(data), None if groups is None else np.asarray(groups)
    known_weights = None if weights is None else np.asarray(weights)
    times = time if time is None or isinstance(time, str) else np.asarray(time)
    named = {str(column): kind for column, kind in (kinds or {}).items()}
    seed = None if rng is None else as_count("rng", rng, minimum=0)
    settings = (sorted(named.items()), nan_policy, n_resamples, seed, stretch, within)

    def make() -> Discovery:
        return Discovery(
            array,
            kinds=named,
            nan_policy=nan_policy,
            groups=labels,
            time=times,
            stretch=stretch,
            within=within,
            weights=known_weights,
            n_resamples=n_resamples,
            rng=seed,
        )

    key = fingerprint(array, labels, times, known_weights, settings)
    tests = _tests.get(key, make)
    answer = tests.answer(int(x), int(y), [int(column) for column in z])
    return answer.statistic, answer.coefficient, answer.pvalue
