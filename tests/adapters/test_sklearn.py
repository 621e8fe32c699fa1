"""The adapter for scikit-learn inside the real library (``make test-adapters``)."""

import numpy as np
import pandas as pd
import pytest

import chsic

# Warnings of other libraries about themselves are not ours to mend.
pytestmark = pytest.mark.filterwarnings("ignore")


def selector(**settings):
    from chsic.adapters.sklearn import ConditionalDependenceSelector

    return ConditionalDependenceSelector(**settings)


def features(n=300, seed=0):
    """y follows z and the square of a; b follows z only, c nothing."""
    rng = np.random.default_rng(seed)
    z, a, b, c = rng.normal(size=(4, n))
    y = np.sin(2 * z) + a**2 + 0.3 * rng.normal(size=n)
    return pd.DataFrame({"z": z, "a": z + a, "b": z + b, "c": c}), y


def test_selector_keeps_what_matters_given_confounders():
    table, y = features()
    fitted = selector(given=["z"]).fit(table, y)
    assert fitted.get_feature_names_out().tolist() == ["z", "a"]
    assert fitted.transform(table).shape == (300, 2)
    assert np.isnan(fitted.pvalues_[0])
    assert np.nanargmax(fitted.scores_) == 1
    assert selector(given=[0], n_features_to_select=2).fit(table, y).get_support().sum() == 3
    assert selector().fit(table, y).get_support()[0]
    classes = np.where(y > np.median(y), "high", "low")
    assert selector(given=["z"]).fit(table, classes).get_support()[1]


@pytest.mark.parametrize(
    "given",
    [
        0,
        np.int64(0),
        "z",
        [0],
        np.array([0]),
        pd.Index(["z"]),
        {"z"},
        [True, False, False, False],
        np.array([True, False, False, False]),
    ],
)
def test_selector_takes_confounders_however_they_are_named(given):
    table, y = features(200)
    fitted = selector(given=given, n_resamples=99).fit(table, y)
    assert np.isnan(fitted.pvalues_).tolist() == [True, False, False, False]


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (["q"], ValueError, "given: X has no column 'q'"),
        ("age", ValueError, "given: X has no column 'age'"),
        ([9], ValueError, "given: X has no column 9; they are counted from 0 to 3"),
        ([-1], ValueError, "given: expected at least 0, got -1"),
        ([0.0], TypeError, "given: expected a whole number, got 0.0"),
        ([True, False], ValueError, "given: got 2 booleans for 4 columns"),
        ([True, 2], TypeError, "given: expected a whole number, got True"),
        (slice(2), TypeError, "given: expected positions or names"),
        (iter([0]), TypeError, "given: expected positions or names"),
        (np.array(0), TypeError, "given: expected positions or names"),
    ],
)
def test_selector_refuses_confounders_that_x_does_not_have(given, error, message):
    table, y = features(50)
    with pytest.raises(error, match=message):
        selector(given=given).fit(table, y)


def test_selector_has_no_names_in_an_array():
    table, y = features(50)
    with pytest.raises(ValueError, match="given: columns of X have no names, got 'z'"):
        selector(given="z").fit(table.to_numpy(), y)
    with pytest.raises(ValueError, match="categories: X has no column 5"):
        selector(categories=5).fit(table, y)


def test_selector_takes_whole_numbers_for_numbers_unless_told_otherwise():
    from sklearn.datasets import load_diabetes

    table, y = features(200)
    counts = np.round(10 * y)
    assert len(np.unique(counts)) < 100

    def scores(y, **settings):
        return selector(n_resamples=99, **settings).fit(table, y).scores_

    assert np.array_equal(scores(counts), scores(counts.astype(int)))
    assert np.array_equal(scores(counts), scores(counts, target="number"))
    classes = np.digitize(y, np.quantile(y, [0.25, 0.5, 0.75]))
    named = scores(classes, target="category")
    assert not np.array_equal(scores(classes), named)
    assert np.array_equal(scores(pd.Series(classes, dtype="category")), named)
    assert np.array_equal(scores(np.array(list("abcd"))[classes]), named)
    assert np.array_equal(scores(y > 0), scores(np.where(y > 0, "b", "a")))
    X, y = load_diabetes(return_X_y=True)  # whose y has 214 values, all of them whole
    assert selector(n_resamples=99).fit(X, y).get_support()[2]
    with pytest.raises(ValueError, match="y: expected numbers for target='number'"):
        selector(target="number").fit(table, np.where(table["a"] > 0, "b", "a"))
    with pytest.raises(ValueError, match=r"^y: 214 categories"):
        selector(target="category").fit(X, y)


def test_selector_takes_columns_for_categories_by_their_type():
    table, y = features(200)
    codes = np.digitize(table["a"], [-1, 1])

    def scores(values, **settings):
        return selector(n_resamples=99, **settings).fit(table.assign(a=values), y).scores_

    named = scores(codes, categories="a")
    assert not np.array_equal(scores(codes), named)
    assert np.array_equal(scores(pd.Categorical(codes)), named)
    typed = table.assign(a=pd.Categorical(codes), c=table["c"] > 0)
    fitted = selector(given="z", n_resamples=99).fit(typed, y)
    assert fitted.transform(typed).shape == (200, fitted.get_support().sum())
    asked = selector(given="z", categories=["a", "c"], n_resamples=99)
    assert np.array_equal(fitted.scores_, asked.fit(typed.astype(float), y).scores_, equal_nan=True)
    with pytest.raises(ValueError, match="X: column 'a' has categories of text"):
        scores(pd.Categorical(np.array(["low", "middle", "high"])[codes]))
    with pytest.raises(ValueError, match="X contains NaN"):
        scores(pd.Categorical(codes, categories=[0, 1]))


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"n_features_to_select": 0}, ValueError, "n_features_to_select: expected at least 1"),
        ({"n_features_to_select": 1.5}, TypeError, "n_features_to_select: expected a whole"),
        ({"level": 0}, ValueError, "level: expected a number between 0 and 1, got 0"),
        ({"level": "5%"}, TypeError, "level: expected a number"),
        ({"target": "class"}, ValueError, "target: expected one of 'auto', .* got 'class'"),
        ({"random_state": -1}, ValueError, "random_state: expected at least 0, got -1"),
        ({"random_state": "x"}, TypeError, "random_state: expected a whole number, got 'x'"),
    ],
)
def test_selector_checks_its_settings(settings, error, message):
    table, y = features(50)
    with pytest.raises(error, match=message):
        selector(**settings).fit(table, y)


def test_no_random_state_decides_what_is_selected():
    table, y = features(100)

    def pvalues(state):
        return selector(random_state=state).fit(table, y).pvalues_.tolist()

    assert pvalues(3) == pvalues(np.random.RandomState(4)) == pvalues(None)


def test_selector_adjusts_by_benjamini_and_hochberg():
    table, y = features(200)
    fitted = selector(n_resamples=99).fit(table, y)
    order = np.argsort(fitted.pvalues_)
    scaled = fitted.pvalues_[order] * 4 / np.arange(1, 5)
    by_hand = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1)
    np.testing.assert_allclose(fitted.adjusted_pvalues_[order], by_hand)
    assert selector(given=range(4)).fit(table, y).get_support().all()


def test_selector_in_a_grid_search_with_frames_as_output():
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures

    table, y = features(200)
    chosen = selector(given="z", n_resamples=99).set_output(transform="pandas")
    assert list(chosen.fit_transform(table, y)) == ["z", "a"]
    steps = make_pipeline(chosen, PolynomialFeatures(2), LinearRegression())
    name = "conditionaldependenceselector__given"
    search = GridSearchCV(steps, {name: [None, "z", [0, 3]]}, cv=2, error_score="raise")
    assert list(search.fit(table, y).best_estimator_[0].get_feature_names_out())[:2] == ["z", "a"]


def test_selector_in_a_pipeline():
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures

    table, y = features()
    steps = make_pipeline(selector(given=[0]), PolynomialFeatures(2), LinearRegression())
    assert cross_val_score(steps, table, y, cv=3).mean() > 0.5


def test_selector_passes_scikit_learn_checks():
    from sklearn.utils.estimator_checks import check_estimator

    # Two rows are more than one that weighs twice as much, as they are independent.
    other = {"check_sample_weight_equivalence_on_dense_data": "weights do not count rows"}
    results = check_estimator(
        selector(n_resamples=99), on_skip=None, on_fail=None, expected_failed_checks=other
    )
    failed = {r["check_name"]: str(r["exception"]) for r in results if r["status"] == "failed"}
    assert failed == {}
    assert len(results) > 30


def test_selector_takes_groups():
    table, y = features()
    groups = np.arange(300) // 5
    fitted = selector(given="z").fit(table, y, groups=groups)
    expected = chsic.chsic_test(table["a"], y, table["z"], groups=groups).pvalue
    assert fitted.pvalues_[1] == pytest.approx(expected, rel=1e-6)
    assert selector(given="z").fit(table, y).pvalues_[1] != fitted.pvalues_[1]
    named = pd.Series([f"patient {k}" for k in groups], index=table.index[::-1])
    assert selector(given="z").fit(table, y, groups=named).pvalues_[1] == fitted.pvalues_[1]
    with pytest.raises(TypeError, match="groups: got the name 'patient'"):
        selector().fit(table, y, groups="patient")
    with pytest.raises(ValueError, match="groups: 1 of 300 rows have none; leave"):
        selector().fit(table, y, groups=np.where(groups + np.arange(300), groups, np.nan))
    with pytest.raises(ValueError, match="data has 300, groups has 7"):
        selector().fit(table, y, groups=np.arange(7))


def test_selector_takes_time_and_compares_inside_groups():
    from sklearn.base import clone

    table, y = features()
    days = pd.date_range("2024-01-01", periods=300)
    groups = np.arange(300) // 5
    for settings, of_rows in (
        ({"stretch": 6}, {"time": days}),
        ({}, {"time": "rows"}),
        ({"within": True}, {"groups": groups}),
    ):
        fitted = clone(selector(given="z", **settings)).fit(table, y, **of_rows)
        expected = chsic.chsic_test(table["a"], y, table["z"], **settings, **of_rows).pvalue
        assert fitted.pvalues_[1] == pytest.approx(expected, rel=1e-6)
    with pytest.raises(TypeError, match="time: got the name 'day'"):
        selector().fit(table, y, time="day")
    with pytest.raises(ValueError, match="time: 1 of 300 rows have none; leave those rows out"):
        selector().fit(table, y, time=days.where(days != days[3]))


def test_groups_reach_the_selector_as_scikit_learn_routes_them():
    import sklearn
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import GroupKFold, cross_validate
    from sklearn.pipeline import make_pipeline

    table, y = features(200)
    groups = np.arange(200) // 5
    expected = selector(given="z").fit(table, y, groups=groups).pvalues_
    steps = make_pipeline(selector(given="z"), LinearRegression())
    steps.fit(table, y, conditionaldependenceselector__groups=groups)
    assert np.array_equal(steps[0].pvalues_, expected, equal_nan=True)
    with sklearn.config_context(enable_metadata_routing=True):
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError):
            steps.fit(table, y, groups=groups)
        asked = make_pipeline(selector(given="z").set_fit_request(groups=True), LinearRegression())
        assert np.array_equal(
            asked.fit(table, y, groups=groups)[0].pvalues_, expected, equal_nan=True
        )
        found = cross_validate(
            asked, table, y, cv=GroupKFold(2), params={"groups": groups}, return_estimator=True
        )
    rows, _ = next(GroupKFold(2).split(table, y, groups))
    by_hand = selector(given="z").fit(table.iloc[rows], y[rows], groups=groups[rows]).pvalues_
    assert np.array_equal(found["estimator"][0][0].pvalues_, by_hand, equal_nan=True)


def test_selector_takes_weights():
    table, y = features()
    weights = 1.0 + np.arange(300) % 7
    fitted = selector(given="z").fit(table, y, sample_weight=weights)
    expected = chsic.chsic_test(table["a"], y, table["z"], weights=weights).pvalue
    assert fitted.pvalues_[1] == pytest.approx(expected, rel=1e-6)
    none = selector(given="z").fit(table, y).pvalues_
    equal = selector(given="z").fit(table, y, sample_weight=np.full(300, 2)).pvalues_
    assert np.array_equal(equal, none, equal_nan=True)
    assert none[1] != fitted.pvalues_[1]


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        ("weight", TypeError, "sample_weight: got the name 'weight', but all columns"),
        (
            ["heavy"] * 300,
            TypeError,
            "sample_weight: 'sample_weight' has text or categories; numbers are",
        ),
        (-np.ones(300), ValueError, "sample_weight: row 0 has the weight -1; none may be neg"),
        (np.zeros(300), ValueError, "sample_weight: no row has a weight above zero; leave sam"),
        ([np.inf] + [1.0] * 299, ValueError, "sample_weight: row 0 has an infinite weight"),
        ([np.nan] + [1.0] * 299, ValueError, "sample_weight: 1 of 300 rows have none; leave"),
        (np.ones(7), ValueError, "data has 300, weights has 7"),
    ],
)
def test_selector_refuses_bad_weights(weights, error, message):
    table, y = features()
    with pytest.raises(error, match=message):
        selector().fit(table, y, sample_weight=weights)


def test_weights_reach_the_selector_as_scikit_learn_routes_them():
    import sklearn
    from sklearn.linear_model import LinearRegression
    from sklearn.pipeline import make_pipeline

    table, y = features(200)
    weights = 1.0 + np.arange(200) % 7
    expected = selector(given="z").fit(table, y, sample_weight=weights).pvalues_
    with sklearn.config_context(enable_metadata_routing=True):
        asked = selector(given="z").set_fit_request(sample_weight=True)
        steps = make_pipeline(asked, LinearRegression().set_fit_request(sample_weight=False))
        found = steps.fit(table, y, sample_weight=weights)[0].pvalues_
    assert np.array_equal(found, expected, equal_nan=True)
