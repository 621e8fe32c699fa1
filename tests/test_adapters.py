"""Adapters inside the real libraries; those not installed are skipped (``make test-adapters``)."""

import json

import numpy as np
import pandas as pd
import pytest

import chsic
from chsic.adapters.dowhy import independence_test
from chsic.adapters.gcastle import ci_test

# Warnings of other libraries about themselves are not ours to mend.
pytestmark = pytest.mark.filterwarnings("ignore")

CHAIN = {frozenset("ab"), frozenset("bc"), frozenset("cd")}


def chain(n=500, seed=0):
    """a -> b -> c -> d, of which b -> c and c -> d have no correlation to show for it."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(4, n))
    a = noise[0]
    b = np.tanh(2 * a) + 0.5 * noise[1]
    c = b**2 + 0.5 * noise[2]
    d = 2 * np.cos(2 * c) + 0.5 * noise[3]
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": d})


@pytest.fixture(scope="module")
def data():
    return chain()


def edges(matrix):
    names = "abcd"
    return {
        frozenset((names[i], names[j]))
        for i, j in zip(*np.nonzero(np.asarray(matrix)), strict=True)
        if i < 4 and j < 4
    }


# --- causal-learn ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def causal_learn():
    pytest.importorskip("causallearn")
    import chsic.adapters.causal_learn as adapter

    return adapter


def test_causal_learn_pc_finds_the_skeleton_where_fisher_z_does_not(causal_learn, data):
    from causallearn.search.ConstraintBased.PC import pc

    found = pc(data.to_numpy(), indep_test="chsic", show_progress=False)
    assert edges(found.G.graph) == CHAIN
    linear = pc(data.to_numpy(), indep_test="fisherz", show_progress=False)
    assert edges(linear.G.graph) != CHAIN


def test_causal_learn_fci_and_cdnod(causal_learn, data):
    from causallearn.search.ConstraintBased.CDNOD import cdnod
    from causallearn.search.ConstraintBased.FCI import fci

    graph, _ = fci(
        data.to_numpy(), independence_test_method="chsic", show_progress=False, verbose=False
    )
    assert edges(graph.graph) == CHAIN
    time = np.arange(len(data), dtype=float)[:, np.newaxis]
    assert edges(cdnod(data.to_numpy(), time, indep_test="chsic").G.graph) == CHAIN


def test_causal_learn_takes_several_columns_categories_and_gaps(causal_learn, data):
    values = data.to_numpy()
    test = causal_learn.CHSIC(values)
    assert test([0, 1], 2) == test(2, [1, 0]) < 0.01
    assert test(0, 2, [1]) == chsic.Discovery(values).answer(0, 2, 1).pvalue
    mixed = values.astype(object)
    mixed[:, 0] = np.where(values[:, 0] > 0, "high", "low")
    assert causal_learn.CHSIC(mixed)(0, 1) < 0.01
    gaps = values.copy()
    gaps[:5, 0] = np.nan
    with pytest.raises(ValueError, match="column 0: 5 of 500"):
        causal_learn.CHSIC(gaps)
    assert causal_learn.CHSIC(gaps, nan_policy="omit")(0, 1) < 0.01
    constant = np.column_stack([values, np.ones(500)])
    assert causal_learn.CHSIC(constant)(0, 4) == 1


def test_causal_learn_cache_is_keyed_by_the_bytes(causal_learn, tmp_path):
    values = np.random.default_rng(0).normal(size=(400, 4))
    other = values.copy()
    other[200, 2] += 1e-9  # in the part that str(data) leaves out
    assert str(values) == str(other)
    path = str(tmp_path / "new" / "cache.json")
    test = causal_learn.CHSIC(values, cache_path=path)
    pvalue = test(0, 1, [2])
    test.SAVE_CACHE_CYCLE_SECONDS = -1
    test(0, 1)
    assert json.loads((tmp_path / "new" / "cache.json").read_text())["0;1|2"] == pvalue
    again = causal_learn.CHSIC(values, cache_path=path)
    again.tests = None  # everything it needs is in the file
    assert again(0, 1, [2]) == pvalue
    with pytest.raises(ValueError, match="belongs to other data"):
        causal_learn.CHSIC(other, cache_path=path)


# --- tigramite ------------------------------------------------------------------------------------


def lagged(n=400, seed=0):
    """y follows the square of x one step before; w follows y."""
    rng = np.random.default_rng(seed)
    x, y, w = rng.normal(size=(3, n))
    for t in range(1, n):
        y[t] += x[t - 1] ** 2
        w[t] += 1.5 * np.sin(2 * y[t - 1])
    return np.column_stack([x, y, w])


@pytest.fixture(scope="module")
def tigramite():
    pytest.importorskip("tigramite")
    import chsic.adapters.tigramite as adapter

    return adapter


def test_tigramite_raw_tests(tigramite, data):
    x, y, z = (data[[name]].to_numpy() for name in "acb")
    alone = chsic.chsic_test(x, y, z, rng=0)
    value, pvalue = tigramite.CHSIC().run_test_raw(x, y, z)
    assert value == pytest.approx(alone.coefficient, rel=1e-9)
    assert pvalue == alone.pvalue > 0.05
    shuffled = tigramite.CHSIC(significance="shuffle_test", sig_samples=199)
    assert shuffled.run_test_raw(x, y, z)[1] == pytest.approx(pvalue, abs=0.1)
    assert shuffled.run_test_raw(x, y)[1] == pytest.approx(1 / 200)
    array, xyz = np.vstack([x.T, y.T, z.T]), np.array([0, 1, 2])
    _, null = shuffled.get_shuffle_significance(array, xyz, value, return_null_dist=True)
    assert len(null) == 199
    with pytest.raises(ValueError, match="value: no recent test gave it"):
        tigramite.CHSIC().get_analytic_significance(0.5, 100, 3, xyz)


@pytest.mark.parametrize("method", ["run_pcmci", "run_pcmciplus"])
def test_tigramite_finds_lagged_links(tigramite, method):
    from tigramite.data_processing import DataFrame
    from tigramite.independence_tests.parcorr import ParCorr
    from tigramite.pcmci import PCMCI

    def links(test):
        engine = PCMCI(dataframe=DataFrame(lagged()), cond_ind_test=test, verbosity=0)
        graph = getattr(engine, method)(tau_max=1, pc_alpha=0.01)["graph"]
        return {(int(i), int(j)) for i, j, lag in np.argwhere(graph != "") if lag == 1 and i != j}

    if method == "run_pcmci":
        assert {(0, 1), (1, 2)} <= links(tigramite.CHSIC())
    else:
        assert links(tigramite.CHSIC()) == {(0, 1), (1, 2)}
    assert (0, 1) not in links(ParCorr())


# --- pgmpy ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pgmpy():
    pytest.importorskip("pgmpy")
    import chsic.adapters.pgmpy as adapter

    return adapter


@pytest.mark.parametrize("rule", [None, "pvalue", "effect"])
def test_pgmpy_pc_finds_the_skeleton(pgmpy, data, rule):
    from pgmpy.causal_discovery import PC

    learner = PC(ci_test=pgmpy.CHSIC(data), orient_rule=rule, show_progress=False).fit(data)
    assert {frozenset(edge) for edge in learner.causal_graph_.edges()} == CHAIN


def test_pgmpy_tells_pvalue_and_effect_size(pgmpy, data):
    test = pgmpy.CHSIC(data)
    assert test("a", "c", ["b"])
    assert not test("b", "c", [])
    answer = chsic.Discovery(data).answer("b", "c")
    assert (test.statistic_, test.p_value_, test.effect_size_) == (
        answer.statistic,
        answer.pvalue,
        answer.coefficient,
    )
    mixed = data.assign(a=pd.cut(data["a"], 3, labels=list("uvw")))
    assert not pgmpy.CHSIC(mixed)("a", "b", [])
    assert test.clone().n_resamples == 9999


# --- dowhy ----------------------------------------------------------------------------------------


def test_dowhy_callable_takes_any_arrays(data):
    a, b, c = (data[name].to_numpy() for name in "abc")
    assert independence_test(a, c, b) > 0.05
    assert independence_test(b, c) < 0.01
    assert independence_test(b[:, np.newaxis], c, np.column_stack([a, a**2])) < 0.01
    words = np.where(b > 0.5, "high", np.where(b < -0.5, "low", "middle")).astype(object)
    assert independence_test(words, c) < 0.01
    assert independence_test(np.ones(500), c) == 1


def test_dowhy_falsify_graph_tells_the_right_graph_from_a_wrong_one(data):
    pytest.importorskip("dowhy")
    import networkx as nx
    from dowhy.gcm.falsify import FalsifyConst, falsify_graph

    def violations(*edges):
        found = falsify_graph(
            nx.DiGraph(edges),
            data,
            independence_test=independence_test,
            conditional_independence_test=independence_test,
            n_permutations=5,
            show_progress_bar=False,
            n_jobs=1,
        )
        return found.summary[FalsifyConst.VALIDATE_LMC][FalsifyConst.GIVEN_VIOLATIONS]

    assert violations(("a", "b"), ("b", "c"), ("c", "d")) == 0
    assert violations(("a", "c"), ("c", "b"), ("b", "d")) > 0


# --- gcastle --------------------------------------------------------------------------------------


def test_gcastle_callable(data):
    values = data.to_numpy()
    answer = chsic.Discovery(values).answer(0, 2, 1)
    assert ci_test(values, 0, 2, [1]) == (answer.statistic, answer.coefficient, answer.pvalue)


def test_gcastle_tells_objects_apart_by_their_values(data):
    """The bytes of an array of objects are addresses, which other values may get."""
    mixed = data.to_numpy().astype(object)
    mixed[:, 0] = np.where(data["a"] > 0, "high", "low")
    first = ci_test(mixed, 0, 1)
    shuffled = mixed.copy()
    shuffled[:, 0] = np.random.default_rng(0).permutation(mixed[:, 0])
    assert ci_test(shuffled, 0, 1) != first
    assert ci_test(mixed.copy(), 0, 1) == first


def test_gcastle_pc_finds_the_skeleton(data):
    pytest.importorskip("castle")
    from castle.algorithms import PC

    learner = PC(variant="stable", ci_test=ci_test)
    learner.learn(data.to_numpy())
    assert edges(np.asarray(learner.causal_matrix)) == CHAIN


# --- scikit-learn ---------------------------------------------------------------------------------


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
    with pytest.raises(ValueError, match="X has no column 'q'"):
        selector(given=["q"]).fit(table, y)
    with pytest.raises(ValueError, match="X has no column 9"):
        selector(given=[9]).fit(table, y)


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

    results = check_estimator(selector(n_resamples=99), on_skip=None, on_fail=None)
    failed = {r["check_name"]: str(r["exception"]) for r in results if r["status"] == "failed"}
    assert failed == {}
    assert len(results) > 30
