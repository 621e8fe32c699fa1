"""pgmpy: a test that PC takes, with p-value and effect size.

>>> from pgmpy.causal_discovery import PC  # doctest: +SKIP
>>> from chsic.adapters.pgmpy import CHSIC  # doctest: +SKIP
>>> PC(ci_test=CHSIC(data)).fit(data)  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from pgmpy.ci_tests._base import _BaseCITest, _CITestResult

from chsic.many.discovery import Discovery


class CHSIC(_BaseCITest):
    """Conditional independence by C-HSIC, as pgmpy calls it.

    Parameters
    ----------
    data : pandas.DataFrame
        Numbers and categories, mixed.
    use_cache : bool
        Keep results of pgmpy's own; work inside is shared in any case.
    kinds : mapping, optional
        ``"number"`` or ``"category"`` for names of columns.
    nan_policy : {"raise", "omit", "level"}
        As for `chsic.chsic_test`. pgmpy's PC itself refuses data with NaN, so that it matters only
        where the test is called without it.
    n_resamples : int
        Number of draws of signs, where they are drawn.
    rng : int, optional
        Seed of the signs.
    groups : array_like, series, or name of a column of `data`, optional
        Which group each row belongs to, as for `chsic.chsic_test`. PC takes all columns of the data
        that it is given for variables, so give it those without the one that is named.
    time : array_like, series, or name of a column of `data`; or "rows", optional
        When each row was observed, as for `chsic.chsic_test`.
    stretch, within
        As for `chsic.chsic_test`.
    weights : array_like, series, or name of a column of `data`, optional
        How many rows of the population each row stands for, as for `chsic.chsic_test`; a column
        that is named is no variable, as for `groups`.

    Attributes
    ----------
    statistic_, p_value_, effect_size_ : float
        Of the last test; the effect size is the coefficient, 0 if independent and 1 if the same.
    """

    _tags = {  # noqa: RUF012
        "name": "chsic",
        "data_types": ("continuous", "discrete", "mixed"),
        "default_for": None,
        "requires_data": True,
        "is_symmetric": True,
    }

    def __init__(
        self,
        data: pd.DataFrame,
        use_cache: bool = True,
        kinds: Mapping[Any, str] | None = None,
        nan_policy: str = "raise",
        n_resamples: int = 9999,
        rng: int | None = None,
        groups: Any = None,
        time: Any = None,
        stretch: float | str = "auto",
        within: bool = False,
        weights: Any = None,
    ) -> None:
        self.data, self.kinds, self.nan_policy = data, kinds, nan_policy
        self.n_resamples, self.rng, self.groups = n_resamples, rng, groups
        self.time, self.stretch, self.within = time, stretch, within
        self.weights = weights
        self._tests = Discovery(
            data,
            kinds={str(column): kind for column, kind in (kinds or {}).items()},
            nan_policy=nan_policy,
            groups=groups,
            time=time,
            stretch=stretch,
            within=within,
            weights=weights,
            n_resamples=n_resamples,
            rng=rng,
        )
        super().__init__(use_cache=use_cache)

    def _compute_result(self, X: Any, Y: Any, Z: Any) -> _CITestResult:
        answer = self._tests.answer(str(X), str(Y), [str(name) for name in Z])
        return _CITestResult(answer.statistic, answer.pvalue, answer.coefficient)

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:
        """Return settings that ``create_test_instance`` makes a test of."""
        values = np.random.default_rng(0).normal(size=(50, 3))
        frame = pd.DataFrame(values, columns=["a", "b", "c"])
        return [{"data": frame}, {"data": frame, "n_resamples": 99, "rng": 1}]
