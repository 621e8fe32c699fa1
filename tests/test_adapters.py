"""Adapters inside the real libraries; those not installed are skipped (``make test-adapters``)."""

import functools
import gc
import json
import pickle
import subprocess
import sys

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
    linear, _ = fci(
        data.to_numpy(), independence_test_method="fisherz", show_progress=False, verbose=False
    )
    assert edges(linear.graph) != CHAIN
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
    pvalue = causal_learn.CHSIC(values, cache_path=path)(0, 1, [2])
    assert json.loads((tmp_path / "new" / "cache.json").read_text())["0;1|2"] == pvalue
    again = causal_learn.CHSIC(values, cache_path=path)
    again.tests = None  # everything it needs is in the file
    assert again(0, 1, [2]) == pvalue
    with pytest.raises(ValueError, match="belongs to other data"):
        causal_learn.CHSIC(other, cache_path=path)


def test_causal_learn_cache_is_keyed_by_the_settings(causal_learn, data, tmp_path):
    path = tmp_path / "cache.json"
    causal_learn.CHSIC(data.to_numpy(), path, n_resamples=99, rng=3)(0, 1)
    before = path.read_text()
    causal_learn.CHSIC(data.to_numpy(), path, n_resamples=np.int64(99), rng=np.int64(3))(0, 1)
    for settings in ({"rng": 4}, {"n_resamples": 199}, {"kinds": {"0": "number"}}):
        asked = {"n_resamples": 99, "rng": 3, **settings}
        with pytest.raises(ValueError, match=r"cache_path: .*cache.json belongs to other settings"):
            causal_learn.CHSIC(data.to_numpy(), path, **asked)
    assert path.read_text() == before
    path.write_text(before.replace('"chsic"', '"fisherz"'))
    with pytest.raises(ValueError, match="belongs to another test"):
        causal_learn.CHSIC(data.to_numpy(), path, n_resamples=99, rng=3)


@pytest.mark.parametrize("text", ["", "{", "[1, 2]", "3", '{"a": 1}', "\x00"])
def test_causal_learn_cache_refuses_other_files(causal_learn, data, tmp_path, text):
    path = tmp_path / "cache.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"cache_path: .* is not a whole file of p-values"):
        causal_learn.CHSIC(data.to_numpy(), path)
    assert path.read_text() == text
    with pytest.raises(ValueError, match=r"cache_path: a \.json file is needed"):
        causal_learn.CHSIC(data.to_numpy(), tmp_path / "cache.txt")
    with pytest.raises(TypeError, match=r"cache_path: expected the name of a .json file, got 3"):
        causal_learn.CHSIC(data.to_numpy(), 3)


def test_causal_learn_cache_holds_all_pvalues_once_the_test_is_gone(causal_learn, data, tmp_path):
    from causallearn.search.ConstraintBased.PC import pc

    path = tmp_path / "cache.json"
    settings = {"indep_test": "chsic", "show_progress": False, "cache_path": path, "uc_rule": 1}
    found = pc(data.to_numpy(), n_resamples=99, **settings)
    assert json.loads(path.read_text())["method_name"] == "chsic"  # the first ones are there
    pvalues = dict(found.test.pvalue_cache)
    del found
    gc.collect()
    assert json.loads(path.read_text()) == pvalues
    assert len(pvalues) >= 3 + 6
    assert list(tmp_path.iterdir()) == [path]


def test_causal_learn_cache_is_written_when_python_ends(causal_learn, tmp_path):
    path = tmp_path / "cache.json"
    script = (
        "import numpy as np; from chsic.adapters.causal_learn import CHSIC\n"
        "values = np.random.default_rng(0).normal(size=(50, 4))\n"
        f"test = CHSIC(values, {str(path)!r}, n_resamples=99)\n"
        "[test(i, j) for i in range(4) for j in range(i)]"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
    assert len(json.loads(path.read_text())) == 3 + 6


def test_causal_learn_refuses_keywords_it_does_not_know(causal_learn, data):
    from causallearn.search.ConstraintBased.CDNOD import cdnod
    from causallearn.search.ConstraintBased.FCI import fci
    from causallearn.search.ConstraintBased.PC import pc

    values, time = data.to_numpy(), np.arange(500.0)[:, np.newaxis]
    with pytest.raises(TypeError, match="n_resample"):
        pc(values, indep_test="chsic", n_resample=99)
    with pytest.raises(TypeError, match="n_resample"):
        fci(values, independence_test_method="chsic", n_resample=99)
    with pytest.raises(TypeError, match="n_resample"):
        cdnod(values, time, indep_test="chsic", n_resample=99)
    with pytest.raises(TypeError, match="rng: expected a whole number, got Generator"):
        causal_learn.CHSIC(values, rng=np.random.default_rng(0))


def test_causal_learn_corrects_for_gaps_by_fisher_z(causal_learn, data):
    """As the page on it says: the correction of mvpc is causal-learn's own."""
    from causallearn.search.ConstraintBased.PC import pc
    from causallearn.utils.cit import MC_FisherZ

    gaps = data.to_numpy()[:200].copy()
    gaps[:20, 0] = np.nan
    settings = {"indep_test": "chsic", "nan_policy": "omit", "show_progress": False}
    found = pc(gaps, mvpc=True, n_resamples=99, **settings)
    assert isinstance(found.test, MC_FisherZ)


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
    assert pvalue == pytest.approx(alone.pvalue, abs=0.05)
    assert pvalue > 0.05
    assert tigramite.CHSIC().run_test_raw(z, y)[1] < 0.01
    with pytest.raises(ValueError, match="value: no recent test gave it"):
        tigramite.CHSIC().get_analytic_significance(0.5, 100, 3, np.array([0, 1, 2]))


@pytest.mark.parametrize(("names", "n"), [("acb", 300), ("bc", 300), ("bca", 300), ("ad", 8)])
def test_tigramite_shuffles_on_the_scale_of_the_value(tigramite, data, names, n):
    values = [data[[name]].to_numpy()[:n] for name in names]
    test = tigramite.CHSIC(significance="shuffle_test", sig_samples=199)
    value, pvalue = test.run_test_raw(*values)
    array, xyz = np.hstack(values).T, np.arange(len(names))
    again, null = test.get_shuffle_significance(array, xyz, value, return_null_dist=True)
    assert len(null) == 199
    assert pvalue == again == (1 + (null >= value).sum()) / 200
    assert value == pytest.approx(tigramite.CHSIC().get_dependence_measure(array, xyz), rel=1e-9)
    if n > 8:  # else a draw is often the data themselves, which is always as extreme
        assert abs(null.mean()) < 0.2 * null.std()
        assert (pvalue < 0.05) == (names != "acb")


def test_tigramite_signs_follow_the_seed_and_the_data_alone(tigramite, data):
    x, y, z = (data[[name]].to_numpy() for name in "acb")

    def pvalue(test, *values):
        return test.run_test_raw(*values)[1]

    first, other = tigramite.CHSIC(n_resamples=999), tigramite.CHSIC(n_resamples=999)
    alone = pvalue(first, x, y, z)
    pvalue(other, x, z)
    assert pvalue(other, x, y, z) == alone
    seeds = {pvalue(tigramite.CHSIC(n_resamples=999, seed=seed), x, y, z) for seed in range(3)}
    assert len(seeds) == 3


def test_tigramite_refuses_settings_it_cannot_follow(tigramite):
    with pytest.raises(ValueError, match="sig_blocklength: got 5, but signs are drawn for samples"):
        tigramite.CHSIC(sig_blocklength=5)
    with pytest.raises(ValueError, match="sig_samples: expected at least 19, got 5"):
        tigramite.CHSIC(significance="shuffle_test", sig_samples=5)


@pytest.mark.parametrize("significance", ["analytic", "shuffle_test"])
def test_tigramite_takes_constants(tigramite, data, significance):
    x, y, z = (data[[name]].to_numpy()[:100] for name in "acb")
    same = np.ones((100, 1))
    test = tigramite.CHSIC(significance=significance, sig_samples=99)
    assert test.run_test_raw(same, y, z) == (0, 1)
    assert test.run_test_raw(x, same) == (0, 1)
    assert test.run_test_raw(x, y, same) == pytest.approx(test.run_test_raw(x, y), abs=0.1)
    both = np.hstack([z, same])
    assert test.run_test_raw(x, y, both)[0] == test.run_test_raw(x, y, z)[0]


def test_tigramite_leaves_out_what_is_masked_or_missing(tigramite):
    from tigramite.data_processing import DataFrame

    values = lagged(200)
    values[::10, 0] = 999.0
    mask = np.zeros(values.shape, bool)
    mask[:50] = True
    frame = DataFrame(values, mask=mask, missing_flag=999.0)
    test = tigramite.CHSIC(mask_type="y", n_resamples=999)
    test.set_dataframe(frame)
    used = test._get_array([(0, -1)], [(1, 0)], [(1, -1)], tau_max=1)[0]
    assert used.shape[1] < 150
    assert not (used == 999.0).any()
    value, pvalue = test.run_test([(0, -1)], [(1, 0)], [(1, -1)], tau_max=1)
    alone = chsic.chsic_test(*used, rng=0)
    assert value == pytest.approx(alone.coefficient, rel=1e-9)
    assert pvalue < 0.01


def test_tigramite_takes_discrete_variables_for_categories(tigramite):
    from tigramite.data_processing import DataFrame

    values = lagged(200)
    values[:, 0] = np.digitize(values[:, 0], [-1, 1])
    data_type = np.zeros(values.shape, int)
    data_type[:, 0] = 1
    found = []
    for types in (None, data_type):
        test = tigramite.CHSIC(n_resamples=999)
        test.set_dataframe(DataFrame(values, data_type=types))
        found.append(test.run_test([(0, -1)], [(1, 0)], tau_max=1)[0])
    x, y = values[1:-1, 0], values[2:, 1]
    kinds = {"x": "category"}
    assert found == pytest.approx(
        [
            chsic.chsic_test(x, y, rng=0).coefficient,
            chsic.chsic_test(x, y, kinds=kinds, rng=0).coefficient,
        ],
        rel=1e-9,
    )


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


def pgmpy_edges(test, data, **settings):
    from pgmpy.causal_discovery import PC

    learner = PC(ci_test=test, show_progress=False, **settings).fit(data)
    return {frozenset(edge) for edge in learner.causal_graph_.edges()}


@pytest.mark.parametrize("rule", [None, "pvalue", "effect"])
def test_pgmpy_pc_finds_the_skeleton(pgmpy, data, rule):
    assert pgmpy_edges(pgmpy.CHSIC(data), data, orient_rule=rule) == CHAIN


@pytest.mark.parametrize("variant", ["orig", "stable"])
def test_pgmpy_pc_finds_the_skeleton_where_correlations_do_not(pgmpy, data, variant):
    assert pgmpy_edges(pgmpy.CHSIC(data), data, variant=variant) == CHAIN
    assert pgmpy_edges("pearsonr", data, variant=variant) != CHAIN


def test_pgmpy_pc_takes_names_that_are_numbers(pgmpy, data):
    numbered = data.set_axis([10, 11, 12, 13], axis=1)
    found = pgmpy_edges(pgmpy.CHSIC(numbered), numbered, variant="stable")
    assert found == {frozenset((10, 11)), frozenset((11, 12)), frozenset((12, 13))}
    coded = numbered.copy()
    coded[10] = np.digitize(coded[10], [-1, 1])
    named = pgmpy.CHSIC(coded, kinds={10: "category"})
    named.run_test(10, 11, [])
    assert (
        named.effect_size_
        == chsic.Discovery(coded, kinds={"10": "category"}).answer("10", "11").coefficient
    )
    assert named.clone().kinds == {10: "category"}


def test_pgmpy_refuses_gaps_itself(pgmpy, data):
    gaps = data.mask(np.arange(500)[:, np.newaxis] < np.array([5, 0, 0, 0]))
    test = pgmpy.CHSIC(gaps, nan_policy="omit", n_resamples=99)
    assert not test("a", "b", [])
    with pytest.raises(ValueError, match="NaN"):
        pgmpy_edges(test, gaps)


def test_pgmpy_makes_instances_for_its_checks(pgmpy):
    assert pgmpy.CHSIC.create_test_instance().run_test("a", "b", ["c"])[1] <= 1
    instances, names = pgmpy.CHSIC.create_test_instances_and_names()
    assert len(instances) == len(names) == 2


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


@pytest.mark.parametrize("text", [False, True])
def test_dowhy_falsify_graph_tells_the_right_graph_from_a_wrong_one(data, text):
    pytest.importorskip("dowhy")
    import networkx as nx
    from dowhy.gcm.falsify import FalsifyConst, falsify_graph

    words = np.where(data["a"] > 0.5, "high", np.where(data["a"] < -0.5, "low", "middle"))
    table = data.assign(a=words) if text else data

    def violations(*edges):
        found = falsify_graph(
            nx.DiGraph(edges),
            table,
            independence_test=independence_test,
            conditional_independence_test=independence_test,
            n_permutations=3,
            show_progress_bar=False,
            n_jobs=1,
        )
        return found.summary[FalsifyConst.VALIDATE_LMC][FalsifyConst.GIVEN_VIOLATIONS]

    assert violations(("a", "b"), ("b", "c"), ("c", "d")) == 0
    assert violations(("a", "c"), ("c", "b"), ("b", "d")) > 0


def test_dowhy_takes_gaps(data):
    gaps = data["b"].to_numpy().copy()
    gaps[:5] = np.nan
    with pytest.raises(ValueError, match="5 of 500"):
        independence_test(gaps, data["c"])
    test = functools.partial(independence_test, nan_policy="omit", n_resamples=99)
    assert test(gaps, data["c"]) < 0.05


def test_dowhy_refutes_structures_and_models(data):
    pytest.importorskip("dowhy")
    import networkx as nx
    from dowhy import gcm
    from dowhy.gcm.ml import create_linear_regressor, create_polynom_regressor
    from dowhy.gcm.validation import (
        RejectionResult,
        refute_causal_structure,
        refute_invertible_model,
    )

    def structure(*edges):
        return refute_causal_structure(
            nx.DiGraph(edges),
            data,
            independence_test=independence_test,
            conditional_independence_test=independence_test,
        )[0]

    assert structure(("a", "b"), ("b", "c"), ("c", "d")) is RejectionResult.NOT_REJECTED
    assert structure(("a", "c"), ("c", "b"), ("b", "d")) is RejectionResult.REJECTED

    def model(regressor):
        pair = data[["b", "c"]]  # c follows the square of b
        found = gcm.InvertibleStructuralCausalModel(nx.DiGraph([("b", "c")]))
        found.set_causal_mechanism("b", gcm.EmpiricalDistribution())
        found.set_causal_mechanism("c", gcm.AdditiveNoiseModel(regressor))
        gcm.fit(found, pair)
        return refute_invertible_model(found, pair, independence_test=independence_test)

    assert model(create_polynom_regressor(2)) is RejectionResult.NOT_REJECTED
    assert model(create_linear_regressor()) is RejectionResult.REJECTED


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


def test_gcastle_does_not_see_what_is_written_into_the_data_later(data):
    values = data.to_numpy().copy()
    original = values.copy()
    ci_test(values, 0, 1, n_resamples=99)  # keeps what it made of these values
    values[:, 2] = np.random.default_rng(0).permutation(values[:, 2])
    expected = chsic.Discovery(original, n_resamples=99).answer(1, 2)
    assert ci_test(original, 1, 2, n_resamples=99)[2] == expected.pvalue
    assert ci_test(original, 1, 2, n_resamples=99)[0] == expected.statistic


def test_gcastle_settings(data):
    values = data.to_numpy()
    values = np.column_stack([np.digitize(values[:, 0], [-1, 1]), values[:, 1:]])
    settings = {"kinds": {0: "category"}, "n_resamples": 99, "rng": np.int64(3)}
    test = pickle.loads(pickle.dumps(functools.partial(ci_test, **settings)))
    alone = chsic.Discovery(values, kinds={"0": "category"}, n_resamples=99, rng=3).answer(0, 1)
    assert test(values, 0, 1) == (alone.statistic, alone.coefficient, alone.pvalue)
    assert ci_test(values, 0, 1) != test(values, 0, 1)
    gaps = values.copy()
    gaps[:5, 1] = np.nan
    with pytest.raises(ValueError, match="column 1: 5 of 500"):
        ci_test(gaps, 0, 1)
    assert ci_test(gaps, 0, 1, nan_policy="omit", n_resamples=99)[2] < 0.05
    with pytest.raises(TypeError, match="rng: expected a whole number"):
        ci_test(values, 0, 1, rng=np.random.default_rng(0))


@pytest.mark.parametrize("variant", ["original", "stable", "parallel"])
def test_gcastle_pc_finds_the_skeleton_where_fisher_z_does_not(data, variant):
    pytest.importorskip("castle")
    from castle.algorithms import PC

    def found(test):
        learner = PC(variant=variant, ci_test=test)
        learner.learn(data.to_numpy(), **({"p_cores": 2} if variant == "parallel" else {}))
        return edges(np.asarray(learner.causal_matrix))

    assert found(functools.partial(ci_test, rng=0)) == CHAIN
    assert found("fisherz") != CHAIN


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


def test_selector_draws_signs_by_random_state():
    table, y = features(100)

    def pvalues(state):
        return selector(random_state=state, n_resamples=99).fit(table, y).pvalues_.tolist()

    assert pvalues(3) == pvalues(np.int64(3)) != pvalues(None)
    assert pvalues(np.random.RandomState(3)) == pvalues(np.random.RandomState(3))
    state = np.random.RandomState(3)
    assert pvalues(state) != pvalues(state)


def test_selector_adjusts_by_benjamini_and_hochberg_without_statsmodels(monkeypatch):
    monkeypatch.setitem(sys.modules, "statsmodels.stats.multitest", None)
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

    results = check_estimator(selector(n_resamples=99), on_skip=None, on_fail=None)
    failed = {r["check_name"]: str(r["exception"]) for r in results if r["status"] == "failed"}
    assert failed == {}
    assert len(results) > 30
