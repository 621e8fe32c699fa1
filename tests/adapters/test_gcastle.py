"""The adapter for gcastle inside the real library (``make test-adapters``)."""

import functools
import pickle

import numpy as np
import pytest

import chsic
from chsic.adapters.gcastle import ci_test
from tests.adapters.cases import CHAIN, edges, in_fives, unequal

# Warnings of other libraries about themselves are not ours to mend.
pytestmark = pytest.mark.filterwarnings("ignore")


def test_gcastle_callable_gives_the_answer_of_discovery(data):
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


def test_gcastle_settings_reach_the_test(data):
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


def test_gcastle_takes_groups(data):
    values, labels = data.to_numpy(), in_fives()
    expected = chsic.Discovery(values, groups=labels).answer(0, 2, 1)
    test = functools.partial(ci_test, groups=labels)
    assert test(values, 0, 2, [1])[2] == expected.pvalue
    assert ci_test(values, 0, 2, [1])[2] != expected.pvalue
    assert ci_test(values, 0, 2, [1], groups=[f"shop {k}" for k in labels])[2] == expected.pvalue
    with pytest.raises(TypeError, match="groups: got the name 3, but all columns are variables"):
        ci_test(values, 0, 2, groups=3)


@pytest.mark.parametrize(
    "way", [{"time": "rows"}, {"time": np.arange(500), "stretch": 5}, {"groups": in_fives()}]
)
def test_gcastle_takes_time_and_compares_inside_groups(data, way):
    values = data.to_numpy()
    for more in [{}, {"within": True}] if "groups" in way else [{}]:
        expected = chsic.Discovery(values, **way, **more).answer(0, 2, 1)
        assert ci_test(values, 0, 2, [1], **way, **more)[2] == expected.pvalue


def test_gcastle_takes_weights(data):
    values, weights = data.to_numpy(), unequal()
    expected = chsic.Discovery(values, weights=weights).answer(0, 2, 1)
    assert functools.partial(ci_test, weights=weights)(values, 0, 2, [1])[2] == expected.pvalue
    assert ci_test(values, 0, 2, [1], weights=weights[::-1])[2] != expected.pvalue
    assert ci_test(values, 0, 2, [1], weights=list(weights))[2] == expected.pvalue
    none = ci_test(values, 0, 2, [1])
    assert ci_test(values, 0, 2, [1], weights=np.ones(500)) == none != expected
    with pytest.raises(TypeError, match="weights: got the name 3, but all columns are variables"):
        ci_test(values, 0, 2, weights=3)
    with pytest.raises(ValueError, match="weights: row 0 has the weight -1; none may be negative"):
        ci_test(values, 0, 2, weights=-weights)
