"""The adapter for dowhy inside the real library (``make test-adapters``)."""

import functools

import numpy as np
import pytest

import chsic
from chsic.adapters.dowhy import independence_test
from tests.adapters.cases import in_fives, unequal

# Warnings of other libraries about themselves are not ours to mend.
pytestmark = pytest.mark.filterwarnings("ignore")


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


def test_dowhy_takes_groups(data):
    a, b, c = (data[name].to_numpy() for name in "abc")
    expected = chsic.chsic_test(a, c, b, groups=in_fives()).pvalue
    test = functools.partial(independence_test, groups=in_fives())
    assert test(a, c, b) == pytest.approx(expected, rel=1e-9)
    assert independence_test(a, c, b) != test(a, c, b)
    with pytest.raises(TypeError, match="groups: got the name 'shop', but all columns are"):
        independence_test(a, c, b, groups="shop")


@pytest.mark.parametrize(
    "way", [{"time": "rows", "stretch": 5}, {"groups": in_fives(), "within": True}]
)
def test_dowhy_takes_time_and_compares_inside_groups(data, way):
    a, b, c = (data[name].to_numpy() for name in "abc")
    expected = chsic.chsic_test(a, c, b, **way).pvalue
    assert independence_test(a, c, b, **way) == pytest.approx(expected, rel=1e-9)


def test_dowhy_takes_weights(data):
    a, b, c = (data[name].to_numpy() for name in "abc")
    expected = chsic.chsic_test(a, c, b, weights=unequal()).pvalue
    assert independence_test(a, c, b, weights=unequal()) == pytest.approx(expected, rel=1e-9)
    assert independence_test(a, c, b, weights=np.ones(500)) == independence_test(a, c, b)
    assert independence_test(a, c, b) != expected
    with pytest.raises(TypeError, match="weights: got the name 'weight', but all columns are"):
        independence_test(a, c, b, weights="weight")
