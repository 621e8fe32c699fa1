"""dowhy.gcm: callables for falsify_graph, evaluate_causal_model and others.

>>> from dowhy.gcm.falsify import falsify_graph  # doctest: +SKIP
>>> from chsic.adapters.dowhy import independence_test  # doctest: +SKIP
>>> falsify_graph(graph, data, independence_test=independence_test,
...               conditional_independence_test=independence_test)  # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any

import numpy as np

from chsic.data.sampling import require_labels
from chsic.many.discovery import Discovery


def independence_test(
    X: Any,
    Y: Any,
    Z: Any = None,
    *,
    nan_policy: str = "raise",
    n_resamples: int = 9999,
    rng: int | None = None,
    groups: Any = None,
    time: Any = None,
    stretch: float | str = "auto",
    within: bool = False,
    weights: Any = None,
) -> float:
    """Return the p-value of X and Y being independent, given Z if there is one.

    All rows are used: nothing is drawn from them silently. ``functools.partial`` makes a test with
    other settings.

    Parameters
    ----------
    X, Y, Z : array, shape (n,) or (n, d)
        Of numbers, or of objects: strings are categories. dowhy hands over values without names or
        types, so numbers that are names have to be made text in the data frame.
    nan_policy, n_resamples, rng
        As for `chsic.Discovery`.
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
    float
        1 if X or Y is constant.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.adapters.dowhy import independence_test
    >>> rng = np.random.default_rng(0)
    >>> z, e, h = rng.normal(size=(3, 300))
    >>> independence_test(z + e, z + h) < 0.01, independence_test(z + e, z + h, z) > 0.05
    (True, True)
    """
    require_labels(groups, time, weights)
    parts = {"X": X, "Y": Y} if Z is None else {"X": X, "Y": Y, "Z": Z}
    columns: dict[str, Any] = {}
    places: dict[str, list[str]] = {"Z": []}
    for argument, values in parts.items():
        array = np.asarray(values)
        array = array.reshape(len(array), -1)
        places[argument] = [f"{argument}[{k}]" for k in range(array.shape[1])]
        columns.update(zip(places[argument], array.T, strict=True))
    tests = Discovery(
        columns, nan_policy=nan_policy, groups=groups, time=time, stretch=stretch, within=within,
        weights=weights, n_resamples=n_resamples, rng=rng,
    )  # fmt: skip
    return tests.answer(places["X"], places["Y"], places["Z"]).pvalue
