"""scikit-learn: choose the features that still matter for y once confounders are known."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from chsic._util.validate import MIN_SAMPLES, as_count, as_number
from chsic.data.arguments import read_columns
from chsic.data.sampling import is_name, require_labels
from chsic.data.weights import require_weights
from chsic.many.discovery import Discovery
from chsic.many.multiple_testing import benjamini_hochberg

TARGETS = ("auto", "number", "category")


class ConditionalDependenceSelector(SelectorMixin, BaseEstimator):
    """Rank and select features by their dependence on y, given confounders.

    Parameters
    ----------
    given : int, str, iterable of those or mask, optional
        Columns of X that are confounders: positions, names in a data frame, or a boolean for each
        column. They are always selected.
    n_features_to_select : int, optional
        How many of the others to select, the strongest; all that are significant if not given.
    level : float
        Largest p-value, adjusted by Benjamini and Hochberg, of a feature that is significant.
    categories : int, str, iterable of those or mask, optional
        Columns of X whose numbers are names, besides those whose type in a pandas data frame says
        so.
    target : {"auto", "number", "category"}
        What y is. ``"auto"``: text, booleans and categorical types are categories; numbers are
        numbers, whole ones too, as they may be counts or ranks.
    stretch : float or "auto"
        For how long rows depend on each other, if `fit` gets their `time`, as for
        `chsic.chsic_test`.
    within : bool
        Compare rows with those of their own group alone, as for `chsic.chsic_test`.
    n_resamples : int
        Number of draws of signs for a feature, where they are drawn.
    random_state : int or numpy.random.RandomState, optional
        As other selectors have it; the p-values do not depend on it.

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
        given: int | str | Iterable[int | str] | None = None,
        *,
        n_features_to_select: int | None = None,
        level: float = 0.05,
        categories: int | str | Iterable[int | str] | None = None,
        target: str = "auto",
        stretch: float | str = "auto",
        within: bool = False,
        n_resamples: int = 9999,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.given = given
        self.n_features_to_select = n_features_to_select
        self.level = level
        self.categories = categories
        self.target = target
        self.stretch = stretch
        self.within = within
        self.n_resamples = n_resamples
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any, groups: Any = None, time: Any = None, sample_weight: Any = None
    ) -> ConditionalDependenceSelector:
        """Test every feature.

        Parameters
        ----------
        X : array_like, shape (n_samples, n_features)
            Features and confounders.
        y : array_like, shape (n_samples,)
            Numbers, or classes.
        groups : array_like, shape (n_samples,), optional
            Which group each row belongs to, as for `chsic.chsic_test`. Where metadata are routed,
            ``set_fit_request(groups=True)`` asks for them.
        time : array_like, shape (n_samples,), or "rows", optional
            When each row was observed, as for `chsic.chsic_test`; routed like `groups`.
        sample_weight : array_like, shape (n_samples,), optional
            How many rows of the population each row stands for, as the weights of
            `chsic.chsic_test`; routed like `groups`. A row of weight 2 is no two rows, unless these
            are of one group.

        Returns
        -------
        ConditionalDependenceSelector
        """
        self._require_settings()
        require_labels(groups, time)
        _require_weights(sample_weight)
        of_rows = {"groups": groups, "time": time, "sample_weight": sample_weight}
        for argument, values in of_rows.items():
            _require_complete(argument, values)
        named = _categories_by_type(X)
        y_is_named = self.target == "category" or (self.target == "auto" and _is_categorical(y))
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=MIN_SAMPLES,
                             y_numeric=False)  # fmt: skip
        known = self._positions("given", self.given)
        named += self._positions("categories", self.categories)
        kinds = {_called(k): "category" for k in named}
        if y_is_named:
            kinds["y"] = "category"
        columns = {**{_called(k): column for k, column in enumerate(X.T)},
                   "y": _as_numbers(y) if self.target == "number" else y}  # fmt: skip
        tests = Discovery(columns, kinds=kinds, groups=groups, time=time, stretch=self.stretch,
                          within=self.within, weights=sample_weight, n_resamples=self.n_resamples,
                          rng=_seed(self.random_state))  # fmt: skip
        self.pvalues_ = np.full(X.shape[1], np.nan)
        self.scores_ = np.full(X.shape[1], np.nan)
        tested = [k for k in range(X.shape[1]) if k not in known]
        for k in tested:
            answer = tests.answer(_called(k), "y", [_called(z) for z in known])
            self.pvalues_[k], self.scores_[k] = answer.pvalue, answer.coefficient
        self.adjusted_pvalues_ = np.full(X.shape[1], np.nan)
        self.adjusted_pvalues_[tested] = benjamini_hochberg(self.pvalues_[tested])
        self._known = known
        return self

    def _require_settings(self) -> None:
        if self.target not in TARGETS:
            known = ", ".join(map(repr, TARGETS))
            raise ValueError(f"target: expected one of {known}, got {self.target!r}.")
        if self.n_features_to_select is not None:
            as_count("n_features_to_select", self.n_features_to_select, minimum=1)
        if not 0 < as_number("level", self.level) < 1:
            raise ValueError(f"level: expected a number between 0 and 1, got {self.level}.")

    def _positions(self, argument: str, columns: Any) -> list[int]:
        """Return positions of columns, whichever way they are given."""
        if columns is None:
            return []
        if isinstance(columns, str | bytes | numbers.Number):
            columns = [columns]
        try:
            if isinstance(columns, Iterator):
                raise TypeError  # it would be empty when fitted again
            several = list(columns)
        except TypeError:
            raise TypeError(
                f"{argument}: expected positions or names of columns of X, or a boolean for each, "
                f"got {columns!r}; write them as a list."
            ) from None
        if several and all(isinstance(one, bool | np.bool_) for one in several):
            if len(several) != self.n_features_in_:
                raise ValueError(
                    f"{argument}: got {len(several)} booleans for {self.n_features_in_} columns of "
                    "X; give one for each, or positions."
                )
            several = np.flatnonzero(several).tolist()
        return sorted({place for one in several for place in self._places_of(argument, one)})

    def _places_of(self, argument: str, column: Any) -> list[int]:
        if isinstance(column, str):
            names = getattr(self, "feature_names_in_", None)
            if names is None:
                raise ValueError(
                    f"{argument}: columns of X have no names, got {column!r}; give its position, "
                    "or a data frame whose names are all text."
                )
            if column not in names:
                raise ValueError(f"{argument}: X has no column {column!r}.")
            return [int(place) for place in np.flatnonzero(names == column)]
        place = as_count(argument, column, minimum=0)
        if place >= self.n_features_in_:
            raise ValueError(
                f"{argument}: X has no column {place}; they are counted from 0 to "
                f"{self.n_features_in_ - 1}."
            )
        return [place]

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


def _called(position: int) -> str:
    """Name a column of X the same way whether or not it has a name, as names seed its signs."""
    return f"X[:, {position}]"


def _is_categorical(values: Any) -> bool:
    """Tell whether values are of pandas' categorical type, which arrays have no trace of."""
    return getattr(getattr(values, "dtype", None), "name", None) == "category"


def _categories_by_type(X: Any) -> list[int]:
    """Return positions of columns that are categories or booleans in pandas."""
    if not (hasattr(X, "iloc") and hasattr(X, "columns")):
        return []
    places = []
    for k, (name, dtype) in enumerate(zip(X.columns, X.dtypes, strict=True)):
        if dtype.name == "category" and dtype.categories.dtype.kind not in "biuf":
            raise ValueError(
                f"X: column {name!r} has categories of text, and scikit-learn's selectors need "
                "numbers; encode it with OrdinalEncoder, and name it in categories."
            )
        if dtype.name in ("category", "bool", "boolean"):
            places.append(k)
    return places


def _as_numbers(y: np.ndarray) -> np.ndarray:
    try:
        return y.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"y: expected numbers for target='number' ({error}); use target='category' for names."
        ) from None


def _require_complete(argument: str, values: Any) -> None:
    columns = [] if values is None or is_name(values) else read_columns(argument, values)
    missing = sum(int(column.missing.sum()) for column in columns)
    if missing:
        own = ", or give each a group of its own" if argument == "groups" else ""
        raise ValueError(
            f"{argument}: {missing} of {len(columns[0].values)} rows have none; leave those rows "
            f"out of X, y and {argument}{own}."
        )


def _require_weights(sample_weight: Any) -> None:
    """Raise unless these can be weights, which scikit-learn has another name for."""
    if sample_weight is None:
        return
    try:
        require_labels(None, weights=sample_weight)
        for column in read_columns("weights", sample_weight):
            require_weights(column)
    except (TypeError, ValueError) as error:
        raise type(error)(str(error).replace("weights", "sample_weight")) from None


def _seed(random_state: Any) -> int | None:
    if random_state is None:
        return None
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    return as_count("random_state", random_state, minimum=0)
