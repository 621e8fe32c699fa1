"""The adapter for tigramite inside the real library (``make test-adapters``)."""

import numpy as np
import pytest

import chsic
from tests.inference.test_stretches import with_memory

# Warnings of other libraries about themselves are not ours to mend.
pytestmark = pytest.mark.filterwarnings("ignore")


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


def test_tigramite_raw_tests_are_chsic_test(tigramite, data):
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

    first, other = (tigramite.CHSIC(significance="shuffle_test") for _ in range(2))
    alone = pvalue(first, x, y, z)
    pvalue(other, x, z)
    assert pvalue(other, x, y, z) == alone
    by_signs = [tigramite.CHSIC(significance="shuffle_test", seed=seed) for seed in range(3)]
    assert len({pvalue(test, x, y, z) for test in by_signs}) > 1
    analytic = [tigramite.CHSIC(seed=seed) for seed in range(3)]
    assert len({pvalue(test, x, y, z) for test in analytic}) == 1


def test_tigramite_refuses_settings_it_cannot_follow(tigramite):
    with pytest.raises(ValueError, match="sig_blocklength: expected at least 1, got 0"):
        tigramite.CHSIC(sig_blocklength=0)
    with pytest.raises(ValueError, match="sig_samples: expected at least 19, got 5"):
        tigramite.CHSIC(significance="shuffle_test", sig_samples=5)


def test_tigramite_draws_signs_of_stretches_of_time(tigramite):
    x, y, z = with_memory(0)
    array, xyz = np.stack([x, y, z]), np.arange(3)
    for length, settings in (
        (None, {"time": "rows"}),
        (20, {"time": "rows", "stretch": 20}),
        (1, {}),
    ):
        alone = chsic.chsic_test(x, y, z, **settings)
        test = tigramite.CHSIC(sig_blocklength=length)
        value = test.get_dependence_measure(array, xyz)
        assert value == pytest.approx(alone.coefficient, rel=1e-9)
        pvalue = test.get_analytic_significance(value, 400, 3, xyz)
        assert pvalue == pytest.approx(alone.pvalue, rel=1e-9)
    # Sums of ten steps have a memory, so that signs of samples are too sure of what they see.
    walks = np.cumsum(np.random.default_rng(0).normal(size=(2, 400)), axis=1)
    x, y = (walks[:, 10:] - walks[:, :-10])[:, :, np.newaxis]
    for significance in ("analytic", "shuffle_test"):
        tests = [tigramite.CHSIC(significance, sig_blocklength=b) for b in (1, None)]
        ignored, pvalue = (test.run_test_raw(x, y)[1] for test in tests)
        assert ignored < pvalue


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


def spied(tigramite, monkeypatch):
    """What is told of rows in every test."""
    seen = []
    read = tigramite.read_samples

    def read_samples(*columns, **settings):
        seen.append(settings)
        return read(*columns, **settings)

    monkeypatch.setattr(tigramite, "read_samples", read_samples)
    return seen


def test_tigramite_takes_data_sets_for_series_of_their_own(tigramite, monkeypatch):
    from tigramite.data_processing import DataFrame

    lengths = (60, 90, 50)
    sets = {key: lagged(n, seed=key) for key, n in enumerate(lengths)}
    test = tigramite.CHSIC()
    test.set_dataframe(DataFrame(sets, analysis_mode="multiple"))
    seen = spied(tigramite, monkeypatch)
    value, pvalue = test.run_test([(0, -1)], [(1, 0)], [(2, -1)], tau_max=2)
    series = np.repeat([0, 1, 2], [n - 4 for n in lengths])  # two times tau_max is cut off
    np.testing.assert_array_equal(seen[0]["groups"], series)
    time = np.concatenate([np.arange(n - 4) for n in lengths])
    np.testing.assert_array_equal(seen[0]["time"], time)
    x, y, z = (
        np.concatenate([data[4 - lag : len(data) - lag, k] for data in sets.values()])
        for k, lag in ((0, 1), (1, 0), (2, 1))
    )
    alone = chsic.chsic_test(x, y, z, groups=series, time=time)
    assert (value, pvalue) == pytest.approx((alone.coefficient, alone.pvalue), rel=1e-9)
    independent = tigramite.CHSIC(sig_blocklength=1)
    independent.set_dataframe(test.dataframe)
    independent.run_test([(0, -1)], [(1, 0)], [(2, -1)], tau_max=2)
    assert (seen[-1]["groups"], seen[-1]["time"]) == (None, None)


def test_tigramite_knows_when_samples_are_that_it_leaves_out(tigramite, monkeypatch):
    from tigramite.data_processing import DataFrame

    data = lagged(80)
    data[30, 1] = 999.0
    mask = np.zeros(data.shape, bool)
    mask[50:60] = True
    test = tigramite.CHSIC(mask_type="y")
    test.set_dataframe(DataFrame(data, mask=mask, missing_flag=999.0))
    seen = spied(tigramite, monkeypatch)
    test.run_test([(0, -1)], [(1, 0)], [], tau_max=1)
    gone = {0, 1, 30, *range(50, 60)}
    kept = np.array([t for t in range(80) if t not in gone], dtype=float)
    assert seen[0]["groups"] is None
    np.testing.assert_array_equal(seen[0]["time"], kept - kept[0])


def test_tigramite_slides_windows(tigramite):
    from tigramite.data_processing import DataFrame
    from tigramite.pcmci import PCMCI

    search = PCMCI(DataFrame(lagged(240)), tigramite.CHSIC(), verbosity=0)
    found = search.run_sliding_window_of(
        method="run_pcmci", method_args={"tau_max": 1, "pc_alpha": 0.05}, window_step=100,
        window_length=100,
    )  # fmt: skip
    graphs = found["window_results"]["graph"]
    assert len(graphs) == 2
    assert all(graph[0, 1, 1] == "-->" for graph in graphs)
