"""Plan, contribute, merge, decide: a plan is small, and rows need nothing else to contribute."""

import gc
import pickle
import weakref

import array_api_strict
import numpy as np
import pytest

import chsic
from chsic._util import arrays
from chsic._util.parallel import blas_on_one_thread
from chsic.data.samples import read_samples
from chsic.inference import batches
from chsic.inference.arrangement import arrange
from chsic.inference.compare import make_plan, remember, rows_of
from chsic.inference.contribute import Rows, VariableRows, contribute
from chsic.inference.decide import decide
from chsic.inference.given import Given
from chsic.inference.planning import plan_variable
from chsic.inference.settings import Settings
from chsic.inference.sums import merge

N = 700


def data(n=N):
    rng = np.random.default_rng(0)
    e, h, z, w = rng.normal(size=(4, n))
    x, y = np.sin(z) + e, z + h + 0.2 * e
    yield "line", (x, y, z), {}
    yield "line, no regression", (x, y, z), {"adjust": "none"}
    yield "closest", (x, y, z), {"pairs": "closest", "alpha": 4.0}
    yield "plane", (x, y, np.column_stack([z, w])), {}
    yield "strata", (x, y, np.round(z)), {}
    yield "no z", (x, y, None), {}
    yield "category", (np.array(list("abcd"))[np.digitize(x, [-1, 0, 1])], y, z), {}
    yield "two columns of x", (np.column_stack([x, w]), y, z), {}


CASES = {name: (samples, settings) for name, samples, settings in data()}


@blas_on_one_thread()
def planned(samples, settings):
    """A plan, and everything that it was made from."""
    settings, rng = Settings(**settings), np.random.default_rng(0)
    samples = read_samples(*samples)
    given = Given.of(samples.z, settings)
    variables = [given.variable("x", samples.x), given.variable("y", samples.y)]
    arrangement = arrange(given, len(samples), given.learn([v.clipped for v in variables]), rng)
    adjustments = arrangement.adjustments_of(2)
    x, y = (
        plan_variable(
            name, variable, columns, adjustment, arrangement.graph, arrangement.z_names,
            interactions=given.has_interactions,
        )
        for name, variable, columns, adjustment in zip(
            "xy", variables, (samples.x, samples.y), adjustments, strict=True
        )
    )  # fmt: skip
    plan = make_plan(arrangement, settings, x, y, samples)
    return plan, arrangement, (x, y), variables, rng


@pytest.fixture(params=CASES)
def case(request):
    return planned(*CASES[request.param])


def assert_same(sums, others):
    for ours, theirs in zip(
        (*sums.between, sums.in_folds, sums.of_x, sums.of_y),
        (*others.between, others.in_folds, others.of_x, others.of_y),
        strict=True,
    ):  # fmt: skip
        for field in ("contributions", "products", "centre", "spreads", "over_pairs"):
            a, b = getattr(ours, field), getattr(theirs, field)
            if a is not None:
                np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9 * np.abs(b).max())


def test_a_plan_is_small_whatever_the_number_of_samples():
    sizes = {}
    for n in (500, 4_000):
        for name, samples, settings in data(n):
            sizes[name, n] = len(pickle.dumps(planned(samples, settings)[0]))
    for name in CASES:
        assert sizes[name, 4_000] < 1.5 * sizes[name, 500]
        assert sizes[name, 4_000] < 2e6


def test_rows_need_nothing_but_the_plan(case):
    """What planning has computed on the way saves time, and changes nothing."""
    plan, arrangement, (x, y), variables, _ = case
    sent = pickle.loads(pickle.dumps(plan))
    [batch] = arrangement.batches
    known = contribute(plan, Rows(batch, rows_of(x, batch), rows_of(y, batch)))
    values = [
        own.standardised(variable, batch)[batch.rows] if own.fit is None
        else own.standardised(variable, batch)
        for own, variable in zip((sent.x, sent.y), variables, strict=True)
    ]  # fmt: skip
    rows = [
        VariableRows(one, variable.columns[batch.rows])
        for one, variable in zip(values, variables, strict=True)
    ]
    assert_same(contribute(sent, Rows(batch, *rows)), known)


@pytest.mark.parametrize("namespace", ["read-only", "strict"])
def test_rows_may_be_arrays_of_any_namespace(case, namespace):
    plan, arrangement, (x, y), _, _ = case
    [batch] = arrangement.batches

    def converted(array):
        if namespace == "strict":
            return array_api_strict.asarray(array)
        array = array.copy()
        array.setflags(write=False)
        return array

    z = None if batch.z is None else converted(batch.z)
    other = batches.Batch(batch.rows, z, batch.pairs, batch.inside, batch.units, batch.folds)
    values = [
        VariableRows(converted(v.standardised[batch.rows]), converted(v.columns[batch.rows]))
        for v in (x, y)
    ]
    expected = contribute(plan, Rows(batch, rows_of(x, batch), rows_of(y, batch)))
    assert_same(contribute(plan, Rows(other, *values)), expected)


@pytest.mark.parametrize("name", ["line", "plane", "strata", "no z", "line, no regression"])
def test_sums_merge_in_any_order_and_grouping(monkeypatch, name):
    monkeypatch.setattr(arrays, "BLOCK_ROWS", 150)
    monkeypatch.setattr(batches, "ROWS_IN_SPACE", 200)
    plan, arrangement, (x, y), _, _ = planned(*CASES[name])
    parts = [
        contribute(plan, Rows(batch, rows_of(x, batch), rows_of(y, batch)))
        for batch in arrangement.batches
    ]
    assert len(parts) > 3
    whole = merge(parts)
    assert_same(merge(parts[::-1]), whole)
    assert_same(merge([merge(parts[2:]), merge(parts[:2])]), whole)
    assert_same(merge([merge([parts[0], parts[-1]]), *parts[1:-1]]), whole)
    results = [decide(plan, sums, np.random.default_rng(1)) for sums in (whole, merge(parts[::-1]))]
    assert results[0].pvalue == pytest.approx(results[1].pvalue, rel=1e-6)


@pytest.mark.parametrize("name", CASES)
@blas_on_one_thread()  # as the test itself, or the last bits may differ
def test_the_four_steps_are_the_test(name):
    samples, settings = CASES[name]
    plan, arrangement, (x, y), _, rng = planned(samples, settings)
    sums = merge(
        contribute(plan, Rows(batch, rows_of(x, batch), rows_of(y, batch)))
        for batch in arrangement.batches
    )
    made = decide(plan, sums, rng)
    asked = chsic.chsic_test(*samples, rng=0, **settings)
    assert made.pvalue == asked.pvalue
    assert made.coefficient == asked.coefficient
    assert made.statistic == asked.statistic


def test_a_cross_fitted_regressor_has_no_residuals_of_other_rows():
    from sklearn.linear_model import LinearRegression

    (x, y, z), _ = CASES["line"]
    plan, arrangement, variables, _, _ = planned((x, y, z), {"adjust": LinearRegression()})
    [batch] = arrangement.batches
    other = [VariableRows(v.standardised) for v in variables]
    with pytest.raises(ValueError, match="adjust: LinearRegression was cross-fitted"):
        contribute(plan, Rows(batch, *other))


def test_nothing_of_a_finished_test_waits_for_the_garbage_collector():
    """Directions of a regression take n x 65 numbers: a cycle would keep those of many tests."""
    gc.disable()
    try:
        arrangement = planned(*CASES["line"])[1]
        effects, batches_ = weakref.ref(arrangement.effects), weakref.ref(arrangement.batches[0])
        del arrangement
        assert effects() is None
        assert batches_() is None
    finally:
        gc.enable()


def test_a_variable_weighs_what_it_remembers():
    _, arrangement, (x, _), _, _ = planned(*CASES["line"])
    known = remember(x, arrangement)
    held = [one for rows in known.known.values() for one in rows.residuals]
    arrays = sum(one.features.nbytes + one.lap.nbytes + one.weighted.nbytes for one in held)
    assert known.nbytes >= x.nbytes + arrays
