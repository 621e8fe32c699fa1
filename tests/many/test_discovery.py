"""Tests of one data set from shared work: the answers of separate tests, in any order."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

import chsic


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    n = 250
    z, w = rng.normal(size=(2, n))
    a, b, c = rng.normal(size=(3, n))
    return pd.DataFrame(
        {
            "z": z,
            "w": w,
            "a": np.sin(2 * z) + w + a,
            "b": np.cos(2 * z) - w + b + 0.7 * a**2,
            "c": z + c,
            "group": rng.choice(list("uvw"), n),
        }
    )


GIVEN = [(), ("z",), ("z", "w"), ("group",), ("z", "group"), ("z", "w", "c")]


@pytest.mark.parametrize("given", GIVEN, ids=str)
def test_is_what_separate_tests_give(frame, given):
    tests = chsic.Discovery(frame)
    z = frame[list(given)] if given else None
    for x, y in (("a", "b"), ("a", "c"), ("b", "c")):
        if {x, y} & set(given):
            continue
        found = tests.answer(x, y, given)
        alone = chsic.chsic_test(frame[x], frame[y], z, rng=1)
        # Units of strata, and the few ties of neighbours in space, are drawn.
        assert found.statistic == pytest.approx(alone.statistic, rel=1e-6)
        assert found.coefficient == pytest.approx(alone.coefficient, rel=1e-6, abs=1e-3)
        assert found.pvalue == pytest.approx(alone.pvalue, abs=0.06)


def test_answers_do_not_depend_on_what_was_asked_before(frame):
    first, second = chsic.Discovery(frame), chsic.Discovery(frame)
    asked = [(x, y, z) for x, y in (("a", "b"), ("a", "c")) for z in GIVEN if "c" not in z]
    answers = [first.answer(*question) for question in asked]
    assert [second.answer(*question) for question in reversed(asked)] == answers[::-1]
    assert [first.answer(y, x, z) for x, y, z in asked] == answers
    assert [first.answer(x, y, z[::-1]) for x, y, z in asked] == answers


def test_bounded_memory_gives_the_same(frame, monkeypatch):
    whole = chsic.Discovery(frame).answer("a", "b", ["z", "w"])
    monkeypatch.setattr("chsic.many.discovery.CACHE_BYTES", 1)
    small = chsic.Discovery(frame)
    for z in GIVEN:
        small.answer("a", "b", z)
    assert small.answer("a", "b", ["z", "w"]) == whole
    assert small._cache.weight == 0


def test_work_is_shared(frame, monkeypatch):
    """One regression of a column on a set, however many partners it has."""
    import chsic.many.discovery

    counted = []
    original = chsic.many.discovery.plan_variable
    monkeypatch.setattr(
        chsic.many.discovery,
        "plan_variable",
        lambda name, *rest, **more: counted.append(name) or original(name, *rest, **more),
    )
    tests = chsic.Discovery(frame)
    for x, y in (("a", "b"), ("a", "c"), ("b", "c"), ("b", "a")):
        tests.answer(x, y, "z")
    assert sorted(counted) == ["a", "b", "c"]


def test_copies_share_work_and_other_processes_get_the_data(frame):
    tests = chsic.Discovery(frame)
    answer = tests.answer("a", "b", "z")
    assert copy.deepcopy({"tests": tests})["tests"] is tests
    sent = pickle.loads(pickle.dumps(tests))
    assert len(sent._answers) == 0
    assert sent.answer("a", "b", "z") == answer


def test_columns_may_be_several_and_named_by_position(frame):
    tests = chsic.Discovery(frame)
    assert tests.names == list(frame)
    both = tests.answer(["a", "c"], "b", "z")
    assert both == tests.answer([4, 2], 3, 0)
    alone = chsic.chsic_test(frame[["a", "c"]], frame["b"], frame["z"], rng=1)
    assert both.coefficient == pytest.approx(alone.coefficient, rel=1e-6)
    assert tests.result("a", "b", "z").names == {"x": ("a",), "y": ("b",), "z": ("z",)}


def test_constant_columns_depend_on_nothing(frame):
    tests = chsic.Discovery(frame.assign(one=1.0))
    assert tests.answer("a", "one", "z") == chsic.Answer(0.0, 1.0, 0.0)
    assert tests.answer("a", "b", ["z", "one"]) == tests.answer("a", "b", "z")
    with pytest.raises(ValueError, match="y: all columns are constant"):
        tests.result("a", "one")


def test_columns_that_gaps_make_constant_depend_on_nothing(frame):
    gaps = frame.assign(k=0.0)
    gaps.loc[:19, "a"] = np.nan
    gaps.loc[:19, "k"] = 1.0
    tests = chsic.Discovery(gaps, nan_policy="omit")
    assert tests.answer("a", "k") == chsic.Answer(0.0, 1.0, 0.0)
    assert tests.answer("a", "b", ["z", "k"]).pvalue == tests.answer("a", "b", "z").pvalue
    assert tests.answer("b", "k").pvalue < 1


def test_shared_work_is_bounded_in_bytes(frame, monkeypatch):
    from chsic._util.cache import nbytes_of

    monkeypatch.setattr("chsic.many.discovery.CACHE_BYTES", 2_000_000)
    tests = chsic.Discovery(frame)
    for z in GIVEN[:3]:
        for x, y in (("a", "b"), ("a", "c"), ("b", "c")):
            tests.answer(x, y, z)
    assert 500_000 < tests._cache._values.currsize <= 2_000_000
    # Values may have grown since they were last asked for.
    assert sum(map(nbytes_of, tests._cache._values.values())) <= 1.5 * 2_000_000


def test_writing_into_the_data_changes_nothing():
    rng = np.random.default_rng(0)
    data = rng.normal(size=(200, 3))
    data[:, 2] += data[:, 1]
    first = chsic.Discovery(data.copy()).answer(1, 2)
    tests = chsic.Discovery(data)
    data[:] = rng.normal(size=data.shape)
    assert tests.answer(1, 2) == first


def test_results_do_not_depend_on_the_order_of_x_and_y(frame):
    tests = chsic.Discovery(frame)
    assert tests.result("c", "a", "z").pvalue == tests.result("a", "c", "z").pvalue


def test_warnings_reach_the_answer(frame):
    rng = np.random.default_rng(0)
    tests = chsic.Discovery(rng.normal(size=(30, 12)))
    assert "do not trust" in tests.answer(0, 1, range(2, 12)).warnings[0]


def test_a_confounder_may_have_many_levels():
    rng = np.random.default_rng(0)
    data = {"x": rng.normal(size=600), "y": rng.normal(size=600), "z": rng.permutation(600) // 4}
    tests = chsic.Discovery(data, kinds={"z": "category"})
    assert 0 < tests.answer("x", "y", "z").pvalue <= 1
    with pytest.raises(ValueError, match="150 categories"):
        tests.answer("x", "z")


def test_questions_that_cannot_be_asked_are_refused(frame):
    tests = chsic.Discovery(frame)
    assert repr(tests) == "Discovery(n_samples=250, columns: z, w, a, b, c, group)"
    with pytest.raises(ValueError, match="x: no column was named"):
        tests.answer([], "b")
    with pytest.raises(TypeError, match="z: expected the position or name of a column"):
        tests.answer("a", "b", None)
    with pytest.raises(ValueError, match="same number of samples is needed"):
        chsic.Discovery({"a": np.arange(9.0), "b": np.arange(9.0), "z": np.arange(8.0)})
    with pytest.raises(ValueError, match="there are no columns"):
        chsic.Discovery(np.empty((10, 0)))
    with pytest.raises(ValueError, match="samples are needed, got 0"):
        chsic.Discovery(np.empty((0, 3)))
    with pytest.raises(ValueError, match="n_resamples: expected at most 10,000,000, got"):
        chsic.Discovery(frame, n_resamples=10**7 + 1)


def test_gaps_are_refused_or_left_out_of_each_question(frame):
    gaps = frame.copy()
    gaps.loc[:9, "a"] = np.nan
    with pytest.raises(ValueError, match="column a: 10 of 250"):
        chsic.Discovery(gaps)
    tests = chsic.Discovery(gaps, nan_policy="omit")
    assert tests.result("a", "b", "z").n_omitted == 10
    assert tests.answer("b", "c", "z") == chsic.Discovery(frame).answer("b", "c", "z")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("a", "q"), "y: there is no column 'q'"),
        (("a", 17), "y: there is no column 17; they are counted from 0 to 5"),
        (("a", "a"), "column 'a' is in two of them"),
        (("a", "b", ["b"]), "column 'b' is in two of them"),
    ],
)
def test_bad_questions_are_refused(frame, arguments, message):
    with pytest.raises(ValueError, match=message):
        chsic.Discovery(frame).answer(*arguments)
