"""The adapter for causal-learn inside the real library (``make test-adapters``)."""

import gc
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest

import chsic
from tests.adapters.cases import CHAIN, edges, in_fives, unequal

# Warnings of other libraries about themselves are not ours to mend.
pytestmark = pytest.mark.filterwarnings("ignore")


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


def test_causal_learn_fci_and_cdnod_find_the_skeleton(causal_learn, data):
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


def pvalues_in(path):
    """The p-values in a checkpoint, by columns."""
    lines = map(json.loads, path.read_text().splitlines()[1:])
    return {line["columns"]: line["pvalue"] for line in lines}


def test_causal_learn_cache_is_keyed_by_the_bytes(causal_learn, tmp_path):
    values = np.random.default_rng(0).normal(size=(400, 4))
    other = values.copy()
    other[200, 2] += 1e-9  # in the part that str(data) leaves out
    assert str(values) == str(other)
    path = tmp_path / "new" / "cache.jsonl"
    pvalue = causal_learn.CHSIC(values, cache_path=str(path))(0, 1, [2])
    assert pvalues_in(path) == {"0;1|2": pvalue}
    again = causal_learn.CHSIC(values, cache_path=path)
    again.tests = None  # everything it needs is in the file
    assert again(0, 1, [2]) == pvalue
    with pytest.raises(ValueError, match="is of a run with other data;"):
        causal_learn.CHSIC(other, cache_path=path)


def test_causal_learn_cache_is_keyed_by_the_settings(causal_learn, data, tmp_path):
    path = tmp_path / "cache.jsonl"
    causal_learn.CHSIC(data.to_numpy(), path, n_resamples=99, rng=3)(0, 1)
    before = path.read_text()
    causal_learn.CHSIC(data.to_numpy(), path, n_resamples=np.int64(99), rng=np.int64(3))(0, 1)
    for settings in ({"rng": 4}, {"n_resamples": 199}, {"kinds": {"0": "number"}}):
        asked = {"n_resamples": 99, "rng": 3, **settings}
        with pytest.raises(ValueError, match=r"cache_path: .* is of a run with other settings"):
            causal_learn.CHSIC(data.to_numpy(), path, **asked)
    assert path.read_text() == before


@pytest.mark.parametrize("text", ["{]", "[1, 2]", "3", '{"a": 1}', "\x00"])
def test_causal_learn_cache_refuses_other_files(causal_learn, data, tmp_path, text):
    path = tmp_path / "cache.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"cache_path: .* is not a checkpoint of chsic"):
        causal_learn.CHSIC(data.to_numpy(), path)
    assert path.read_text() == text
    with pytest.raises(TypeError, match=r"cache_path: expected the name of a file, got 3"):
        causal_learn.CHSIC(data.to_numpy(), 3)


def test_causal_learn_cache_holds_all_pvalues_once_the_test_is_gone(causal_learn, data, tmp_path):
    from causallearn.search.ConstraintBased.PC import pc

    path = tmp_path / "cache.jsonl"
    settings = {"indep_test": "chsic", "show_progress": False, "cache_path": path, "uc_rule": 1}
    found = pc(data.to_numpy(), n_resamples=99, **settings)
    assert pvalues_in(path)  # the first ones are there
    pvalues = dict(found.test.pvalue_cache)
    assert pickle.loads(pickle.dumps(found.test)).pvalue_cache == pvalues
    del found
    gc.collect()
    assert pvalues_in(path) == pvalues
    assert len(pvalues) >= 6
    assert list(tmp_path.iterdir()) == [path]


def test_causal_learn_cache_is_written_when_python_ends(causal_learn, tmp_path):
    path = tmp_path / "cache.jsonl"
    script = (
        "import numpy as np; from chsic.adapters.causal_learn import CHSIC\n"
        "values = np.random.default_rng(0).normal(size=(50, 4))\n"
        f"test = CHSIC(values, {str(path)!r}, n_resamples=99)\n"
        "[test(i, j) for i in range(4) for j in range(i)]"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
    assert len(pvalues_in(path)) == 6


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


def test_causal_learn_takes_groups(causal_learn, data, tmp_path):
    from causallearn.search.ConstraintBased.PC import pc

    values, labels, path = data.to_numpy(), in_fives(), tmp_path / "cache.jsonl"
    expected = chsic.Discovery(values, groups=labels).answer(0, 2, 1).pvalue
    assert causal_learn.CHSIC(values, path, groups=labels)(0, 2, [1]) == expected
    assert causal_learn.CHSIC(values)(0, 2, [1]) != expected
    assert causal_learn.CHSIC(values, path, groups=labels.copy())(0, 2, [1]) == expected
    for groups in (None, labels // 2):
        with pytest.raises(ValueError, match="is of a run with other data;"):
            causal_learn.CHSIC(values, path, groups=groups)
    with pytest.raises(TypeError, match="groups: got the name 3, but all columns are variables"):
        causal_learn.CHSIC(values, groups=3)
    found = pc(values, indep_test="chsic", show_progress=False, groups=labels)
    assert edges(found.G.graph) == CHAIN


def test_causal_learn_takes_time_and_compares_inside_groups(causal_learn, data, tmp_path):
    values, labels, path = data.to_numpy(), in_fives(), tmp_path / "cache.jsonl"
    for way in (
        {"time": "rows", "stretch": 5},
        {"time": np.arange(500.0)},
        {"groups": labels, "within": True},
    ):
        expected = chsic.Discovery(values, **way).answer(0, 2, 1).pvalue
        assert causal_learn.CHSIC(values, **way)(0, 2, [1]) == expected
    causal_learn.CHSIC(values, path, groups=labels, within=True)(0, 2, [1])
    for way, differs in (({"groups": labels}, "settings"), ({"time": labels}, "data")):
        with pytest.raises(ValueError, match=f"is of a run with other {differs}"):
            causal_learn.CHSIC(values, path, **way)
    with pytest.raises(TypeError, match="time: got the name 3, but all columns are variables"):
        causal_learn.CHSIC(values, time=3)


def test_causal_learn_takes_weights(causal_learn, data, tmp_path):
    values, weights, path = data.to_numpy(), unequal(), tmp_path / "cache.jsonl"
    expected = chsic.Discovery(values, weights=weights).answer(0, 2, 1).pvalue
    assert causal_learn.CHSIC(values, path, weights=weights)(0, 2, [1]) == expected
    assert causal_learn.CHSIC(values)(0, 2, [1]) != expected
    assert causal_learn.CHSIC(values, path, weights=weights.copy())(0, 2, [1]) == expected
    for others in (None, weights[::-1]):
        with pytest.raises(ValueError, match="is of a run with other data;"):
            causal_learn.CHSIC(values, path, weights=others)
    with pytest.raises(TypeError, match="weights: got the name 3, but all columns are variables"):
        causal_learn.CHSIC(values, weights=3)
