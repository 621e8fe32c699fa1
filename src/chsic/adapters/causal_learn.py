"""causal-learn: importing this module registers the test "chsic" for pc, fci and cdnod.

>>> import chsic.adapters.causal_learn  # doctest: +SKIP
>>> from causallearn.search.ConstraintBased.PC import pc  # doctest: +SKIP
>>> graph = pc(data, indep_test="chsic", kinds={"3": "category"})  # doctest: +SKIP
"""

from __future__ import annotations

import codecs
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from causallearn.utils.cit import CIT_Base, register_ci_test

from chsic.adapters.digest import digest_of
from chsic.discovery import Discovery

NAME = "chsic"


class CHSIC(CIT_Base):
    """Conditional independence by C-HSIC, as causal-learn calls it.

    Parameters
    ----------
    data : array, shape (n_samples, n_features)
        May hold strings, as an array of objects, and NaN with ``nan_policy="omit"``.
    cache_path : str, optional
        JSON file that keeps p-values. It is tied to the bytes of the data.
    kinds : mapping, optional
        ``"number"`` or ``"category"`` for positions of columns, as text or as numbers.
    nan_policy, n_resamples, rng
        As for `chsic.Discovery`.
    """

    def __init__(
        self,
        data: np.ndarray,
        cache_path: str | None = None,
        *,
        kinds: Mapping[int | str, str] | None = None,
        nan_policy: str = "raise",
        n_resamples: int = 9999,
        rng: int | None = None,
        **_: Any,  # what pc and fci pass on to all tests
    ) -> None:
        super().__init__(data)
        named = {str(column): kind for column, kind in (kinds or {}).items()}
        self.tests = Discovery(
            data, kinds=named, nan_policy=nan_policy, n_resamples=n_resamples, rng=rng
        )
        settings = json.dumps([sorted(named.items()), nan_policy, n_resamples, rng])
        self._use_cache(cache_path, digest_of(data))
        self.check_cache_method_consistent(NAME, hashlib.sha256(settings.encode()).hexdigest())

    def _use_cache(self, path: str | None, data_hash: str) -> None:
        """Load p-values of the same data; causal-learn itself hashes an abbreviation of them."""
        self.data_hash, self.cache_path = data_hash, path
        self.pvalue_cache: dict[str, Any] = {"data_hash": data_hash}
        if path is None:
            return
        if not path.endswith(".json"):
            raise ValueError(f"cache_path: a .json file is needed, got {path!r}.")
        if os.path.exists(path):
            with codecs.open(path, "r", "utf-8") as file:
                self.pvalue_cache = json.load(file)
            if self.pvalue_cache["data_hash"] != data_hash:
                raise ValueError(f"cache_path: {path} belongs to other data; name another file.")
        elif os.path.dirname(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)

    def get_formatted_XYZ_and_cachekey(  # noqa: N802
        self, X: Any, Y: Any, condition_set: Iterable[int] | None
    ) -> tuple[list[int], list[int], list[int], str]:
        """Take several columns for X and Y, which causal-learn allows for its KCI only."""
        self.method = "kci"
        try:
            formatted: tuple[list[int], list[int], list[int], str]
            formatted = super().get_formatted_XYZ_and_cachekey(X, Y, condition_set)
        finally:
            self.method = NAME
        return formatted

    def __call__(self, X: Any, Y: Any, condition_set: Iterable[int] | None = None) -> float:
        """Return the p-value of X and Y being independent given columns.

        Parameters
        ----------
        X, Y : int or iterable of int
            Columns.
        condition_set : iterable of int, optional
            Columns that are known.

        Returns
        -------
        float
        """
        x, y, z, key = self.get_formatted_XYZ_and_cachekey(X, Y, condition_set)
        if key not in self.pvalue_cache:
            self.pvalue_cache[key] = self.tests.answer(x, y, z).pvalue
        pvalue: float = self.pvalue_cache[key]
        return pvalue


register_ci_test(NAME, CHSIC)
