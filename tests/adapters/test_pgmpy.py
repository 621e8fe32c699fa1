"""The adapter for pgmpy inside the real library (``make test-adapters``)."""

import numpy as np
import pandas as pd
import pytest

import chsic
from tests.adapters.cases import CHAIN, in_fives, unequal

# Warnings of other libraries about themselves are not ours to mend.
pytestmark = pytest.mark.filterwarnings("ignore")


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


def test_pgmpy_takes_groups(pgmpy, data):
    shops = data.assign(shop=in_fives())
    test = pgmpy.CHSIC(shops, groups="shop")
    test("a", "c", ["b"])
    assert test.p_value_ == chsic.Discovery(data, groups=in_fives()).answer("a", "c", "b").pvalue
    assert test.p_value_ != chsic.Discovery(data).answer("a", "c", "b").pvalue
    assert test.clone().groups == "shop"
    for way in ({"groups": "shop", "within": True}, {"time": "rows", "stretch": 5}):
        test = pgmpy.CHSIC(shops, **way)
        test("a", "c", ["b"])
        assert test.p_value_ == chsic.Discovery(shops, **way).answer("a", "c", "b").pvalue
        assert {name: getattr(test.clone(), name) for name in way} == way
    assert pgmpy_edges(test, data, variant="stable") == CHAIN


def test_pgmpy_takes_weights(pgmpy, data):
    weighted = data.assign(weight=unequal())
    test = pgmpy.CHSIC(weighted, weights="weight")
    test("a", "c", ["b"])
    assert test.p_value_ == chsic.Discovery(data, weights=unequal()).answer("a", "c", "b").pvalue
    assert test.p_value_ != chsic.Discovery(data).answer("a", "c", "b").pvalue
    assert test.clone().weights == "weight"
