"""causal-learn: importing this module registers the test "chsic" for pc, fci and cdnod.

>>> import chsic.adapters.causal_learn  # doctest: +SKIP
>>> from causallearn.search.ConstraintBased.PC import pc  # doctest: +SKIP
>>> graph = pc(data, indep_test="chsic", kinds={"3": "category"})  # doctest: +SKIP
"""

from __future__ import annotations

import importlib.metadata
import itertools
import os
import weakref
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from causallearn.utils.cit import CIT_Base, register_ci_test

from chsic._util.validate import as_count
from chsic.adapters.pvalue_checkpoint import PValueCheckpoint
from chsic.data.fingerprint import fingerprint
from chsic.data.sampling import require_labels
from chsic.many.discovery import Discovery

NAME = "chsic"


class CHSIC(CIT_Base):
    """Conditional independence by C-HSIC, as causal-learn calls it.

    Parameters
    ----------
    data : array, shape (n_samples, n_features)
        May hold strings, as an array of objects, and NaN with ``nan_policy="omit"``.
    cache_path : str or path, optional
        A checkpoint: a file of JSON lines with the p-values so far, which belongs to the data and
        the settings.
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
    """

    def __init__(
        self,
        data: np.ndarray,
        cache_path: str | os.PathLike[str] | None = None,
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
    ) -> None:
        super().__init__(data)
        require_labels(groups, time, weights)
        named = {str(column): kind for column, kind in (kinds or {}).items()}
        seed = None if rng is None else as_count("rng", rng, minimum=0)  # which a file can name
        self.tests = Discovery(
            data,
            kinds=named,
            nan_policy=nan_policy,
            groups=groups,
            time=time,
            stretch=stretch,
            within=within,
            weights=weights,
            n_resamples=n_resamples,
            rng=seed,
        )
        # causal-learn itself hashes an abbreviation of the data.
        given = {"groups": groups, "time": time, "weights": weights}
        labels = [(name, np.asarray(of)) for name, of in given.items() if of is not None]
        self.data_hash = fingerprint(data, *itertools.chain.from_iterable(labels))
        self.method, self.cache_path = NAME, cache_path
        self.pvalue_cache: dict[str, float] = {}
        self._checkpoint: PValueCheckpoint | None = None
        if cache_path is not None:
            about_rows = () if (stretch, within) == ("auto", False) else (stretch, within)
            settings = (sorted(named.items()), nan_policy, int(n_resamples), seed, *about_rows)
            header = {
                "version": importlib.metadata.version("chsic"),
                "data": self.data_hash,
                "settings": fingerprint(settings),
            }
            self._checkpoint = PValueCheckpoint(cache_path, header)
            self.pvalue_cache = self._checkpoint.pvalues
            weakref.finalize(self, self._checkpoint.save)  # also when Python ends

    def __deepcopy__(self, memo: object) -> CHSIC:
        return self  # as causal-learn copies graphs with their test; p-values are for all of them

    def save_to_local_cache(self) -> None:
        """Save p-values from time to time; causal-learn's own waits for half a minute."""
        if self._checkpoint is not None:
            self._checkpoint.save_at_times()

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
            self.save_to_local_cache()
        return self.pvalue_cache[key]


register_ci_test(NAME, CHSIC)
