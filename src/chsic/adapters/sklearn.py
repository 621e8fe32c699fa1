"""scikit-learn: choose the features that still matter for y once confounders are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from chsic._validate import MIN_SAMPLES
from chsic.discovery import Discovery
from chsic.screened import adjusted_pvalues


class ConditionalDependenceSelector(SelectorMixin, BaseEstimator):
    """Rank and select features by their dependence on y, given confounders.

    Parameters
    ----------
    given : sequence of int or str, optional
        Columns of X that are confounders, by position or, for data frames, by name. They are kept.
    n_features_to_select : int, optional
        How many of the others to keep, the strongest; all that are significant if not given.
    level : float
        Largest p-value, adjusted by Benjamini and Hochberg, of a feature that is significant.
    categories : sequence of int or str, optional
        Columns of X whose numbers are names.
    n_resamples : int
        Largest number of draws of signs for a feature.
    random_state : int, optional
        Seed of the signs; None with a fixed one.

    Attributes
    ----------
    pvalues_, adjusted_pvalues_, scores_ : array, shape (n_features,)
        p-values and coefficients, 0 if independent and 1 if the same; NaN for confounders.
    n_features_in_ : int
        Number of columns of X.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.adapters.sklearn import ConditionalDependenceSelector
    >>> rng = np.random.default_rng(0)
    >>> z, a, b = rng.normal(size=(3, 300))
    >>> X = np.column_stack([z, z + a, z + b])  # y follows z and a
    >>> y = np.sin(2 * z) + a**2 + 0.3 * rng.normal(size=300)
    >>> ConditionalDependenceSelector(given=[0]).fit(X, y).get_support().tolist()
    [True, True, False]
    """

    def __init__(
        self,
        given: Sequence[int | str] | None = None,
        *,
        n_features_to_select: int | None = None,
        level: float = 0.05,
        categories: Sequence[int | str] | None = None,
        n_resamples: int = 9999,
        random_state: int | None = None,
    ) -> None:
        self.given = given
        self.n_features_to_select = n_features_to_select
        self.level = level
        self.categories = categories
        self.n_resamples = n_resamples
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> ConditionalDependenceSelector:
        """Test every feature.

        Parameters
        ----------
        X : array_like, shape (n_samples, n_features)
            Features and confounders.
        y : array_like, shape (n_samples,)
            Numbers, or classes.

        Returns
        -------
        ConditionalDependenceSelector
        """
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=MIN_SAMPLES,
                             y_numeric=False)  # fmt: skip
        known = self._positions(self.given)
        kinds = {str(k): "category" for k in self._positions(self.categories)}
        target = str(X.shape[1])
        if type_of_target(y) in ("binary", "multiclass"):
            kinds[target] = "category"
        columns = {**{str(k): column for k, column in enumerate(X.T)}, target: y}
        tests = Discovery(columns, kinds=kinds, n_resamples=self.n_resamples,
                          rng=self.random_state)  # fmt: skip
        self.pvalues_ = np.full(X.shape[1], np.nan)
        self.scores_ = np.full(X.shape[1], np.nan)
        tested = [k for k in range(X.shape[1]) if k not in known]
        for k in tested:
            answer = tests.answer(str(k), target, [str(z) for z in known])
            self.pvalues_[k], self.scores_[k] = answer.pvalue, answer.coefficient
        self.adjusted_pvalues_ = np.full(X.shape[1], np.nan)
        self.adjusted_pvalues_[tested] = adjusted_pvalues(self.pvalues_[tested].tolist())
        self._known = known
        return self

    def _positions(self, columns: Sequence[int | str] | None) -> list[int]:
        names = getattr(self, "feature_names_in_", None)
        places = []
        for column in columns or ():
            if isinstance(column, str):
                if names is None or column not in names:
                    raise ValueError(f"given and categories: X has no column {column!r}.")
                places.append(int(np.flatnonzero(names == column)[0]))
            elif 0 <= column < self.n_features_in_:
                places.append(int(column))
            else:
                raise ValueError(
                    f"given and categories: X has no column {column}; they are counted from 0 to "
                    f"{self.n_features_in_ - 1}."
                )
        return places

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        if self.n_features_to_select is None:
            with np.errstate(invalid="ignore"):
                support = self.adjusted_pvalues_ <= self.level
        else:
            strength = np.where(np.isnan(self.scores_), -np.inf, self.scores_)
            strongest = np.lexsort((np.nan_to_num(self.pvalues_, nan=1.0), -strength))
            support = np.zeros(len(strength), bool)
            support[strongest[: self.n_features_to_select]] = True
            support &= ~np.isnan(self.scores_)
        support[self._known] = True
        return support

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
