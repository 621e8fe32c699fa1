"""Rows that stand for more or fewer rows of a population."""

import numpy as np
import pytest
from scipy.stats import binomtest

import chsic
from chsic._util import arrays
from chsic.data.weights import effective_number
from chsic.inference import batches
from chsic.inference.groups import Cells, groups_as_units
from chsic.inference.pair_weights import PairWeights, in_regressions
from chsic.inference.restored import restored_in_strata
from chsic.inference.ridge import Ridge
from chsic.pairs.blocks import complete_in_blocks
from chsic.pairs.neighbour_lists import Neighbours

N = 160


def data(kind, n=N, seed=0):
    rng = np.random.default_rng(seed)
    e, h, s = rng.normal(size=(3, n))
    z = {
        "a line": s,
        "a plane": np.column_stack([s, rng.normal(size=n)]),
        "few values": np.round(s),
        "categories": np.array(list("abc"))[np.digitize(s, [-0.5, 0.5])],
        "nothing": None,
    }[kind]
    return np.sin(2 * s) + e, s + h + 0.2 * e, z


KINDS = ["a line", "a plane", "few values", "categories", "nothing"]


def answer(result):
    told = result.to_dict()
    for changed in ("n_samples", "n_effective", "n_groups"):
        told.pop(changed)
    return told


def whole_numbers(n=N):
    return np.random.default_rng(1).integers(1, 5, n)


@pytest.mark.parametrize("kind", KINDS)
def test_equal_weights_are_none(kind):
    x, y, z = data(kind)
    without = chsic.chsic_test(x, y, z)
    for weights in (np.ones(N), np.full(N, 7), [0.1] * N):
        given = chsic.chsic_test(x, y, z, weights=weights)
        assert given.to_dict() == without.to_dict()
    assert without.n_effective is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("each", [1, 4])
def test_a_row_of_weight_three_is_three_of_its_group(kind, each):
    x, y, z = data(kind)
    groups, weights = np.arange(N) // each, whole_numbers()
    given = chsic.chsic_test(x, y, z, groups=groups, weights=weights)
    often = [None if of is None else np.repeat(of, weights, axis=0) for of in (x, y, z)]
    repeated = chsic.chsic_test(*often, groups=np.repeat(groups, weights))
    assert answer(given) == answer(repeated)
    if kind != "few values":  # where some row has no partner
        assert (given.n_samples, repeated.n_samples) == (N, weights.sum())
        assert repeated.n_groups == groups[-1] + 1
    assert repeated.n_effective is None
    if each == 1:  # groups of one row are none
        alone = chsic.chsic_test(x, y, z, weights=weights)
        assert alone.to_dict() == given.to_dict()


def test_repeated_rows_may_have_weights():
    x, y, z = data("a line")
    times, own = whole_numbers(), np.random.default_rng(2).uniform(0.5, 2, N)
    many = [np.repeat(of, times) for of in (x, y, z, np.arange(N), own)]
    repeated = chsic.chsic_test(*many[:3], groups=many[3], weights=many[4])
    given = chsic.chsic_test(x, y, z, weights=times * own)
    assert repeated.pvalue == pytest.approx(given.pvalue, rel=1e-9)
    assert repeated.n_effective == pytest.approx(effective_number(times * own))


def test_rows_that_are_equal_by_chance_stay_apart():
    """Without groups, and between groups, equal rows are independent ones."""
    x, y, z = np.random.default_rng(0).integers(0, 2, (3, 200))
    assert chsic.chsic_test(x, y, z).n_groups is None
    groups = np.arange(200) // 2
    assert chsic.chsic_test(x, y, z, groups=groups).n_samples == 200


@pytest.mark.parametrize("kind", KINDS)
def test_only_ratios_count_and_rows_without_weight_do_not(kind):
    x, y, z = data(kind)
    weights = np.random.default_rng(2).uniform(0.5, 3, N)
    result = chsic.chsic_test(x, y, z, weights=weights)
    larger = chsic.chsic_test(x, y, z, weights=weights * 1e6)
    assert larger.pvalue == pytest.approx(result.pvalue, rel=1e-6)
    with_zeros = np.append(weights, [0.0, 0.0])
    more = [None if of is None else np.concatenate([of, of[:2]]) for of in (x, y, z)]
    dropped = chsic.chsic_test(*more, weights=with_zeros)
    assert dropped.to_dict() == result.to_dict()
    if kind != "few values":  # where some row has no partner
        assert result.n_effective == pytest.approx(weights.sum() ** 2 / (weights**2).sum())


@pytest.mark.parametrize("kind", KINDS)
def test_weights_near_one_change_little(kind):
    x, y, z = data(kind, 400)
    weights = 1 + 1e-7 * np.random.default_rng(0).random(400)
    near, without = chsic.chsic_test(x, y, z, weights=weights), chsic.chsic_test(x, y, z)
    # Penalties are chosen by rows that are left out, and not by (9) of theory.md.
    assert near.coefficient == pytest.approx(without.coefficient, rel=0.05, abs=1e-4)
    if kind not in ("few values", "categories", "nothing"):  # where permutations need equal ones
        assert np.log(near.pvalue) == pytest.approx(np.log(without.pvalue), rel=0.05)


@pytest.mark.parametrize("kind", ["a line", "few values", "categories", "nothing"])
def test_weights_are_those_of_the_rows_wherever_these_stand(kind):
    n = 400
    x, y, z = data(kind, n)
    weights = np.random.default_rng(2).uniform(0.5, 3, n)
    order = np.random.default_rng(3).permutation(n)
    frame = {"x": x[order], "y": y[order], "weight": weights[order]}
    if z is not None:
        frame["z"] = z[order]
    of_z = None if z is None else "z"
    shuffled = chsic.chsic_test("x", "y", of_z, data=frame, weights="weight")
    result = chsic.chsic_test(x, y, z, weights=weights)
    assert shuffled.pvalue == pytest.approx(result.pvalue, rel=0.01)  # landmarks are others


@pytest.mark.parametrize(
    ("weights", "error", "text"),
    [
        (np.r_[-1.0, np.ones(N - 1)], ValueError, "weights: row 0 has the weight -1"),
        (np.r_[np.ones(N - 1), np.inf], ValueError, f"weights: row {N - 1} has an infinite"),
        (np.zeros(N), ValueError, "weights: no row has a weight above zero"),
        (np.r_[1.0, np.zeros(N - 1)], ValueError, "weights: 1 of 160 rows have a weight above 0"),
        (np.r_[1e-300, np.ones(N - 1)], ValueError, "weights: from 1e-300 to 1, they are too far"),
        (["a"] * N, TypeError, "weights: 'weights' has text"),
        (np.ones(N - 1), ValueError, "weights"),
        (np.ones((N, 2)), ValueError, "weights: got 2 columns"),
        ("weight", TypeError, "weights: got the name 'weight'"),
        (np.r_[np.nan, np.ones(N - 1)], ValueError, "weights: 1 of 160 samples are missing"),
    ],
)
def test_errors_name_the_argument(weights, error, text):
    with pytest.raises(error, match=text):
        chsic.chsic_test(*data("a line"), weights=weights)


def test_rows_of_unknown_weight_are_left_out():
    x, y, z = data("a line")
    weights = np.random.default_rng(2).uniform(0.5, 3, N)
    weights[:5] = np.nan
    omitted = chsic.chsic_test(x, y, z, weights=weights, nan_policy="omit")
    assert (omitted.n_samples, omitted.n_omitted) == (N - 5, 5)
    assert omitted.pvalue == chsic.chsic_test(x[5:], y[5:], z[5:], weights=weights[5:]).pvalue


def graphs():
    rng = np.random.default_rng(0)
    line, plane = np.sort(rng.normal(size=60)), rng.normal(size=(60, 2))
    yield "runs", chsic.nearest_pairs(line, 6)
    yield "lists", chsic.nearest_pairs(plane, 5)
    yield "closest", chsic.closest_pairs(line, 4)
    yield "complete", chsic.complete_pairs(60)
    yield "blocks", complete_in_blocks(np.arange(60) // 7)


@pytest.mark.parametrize(("name", "graph"), list(graphs()))
@pytest.mark.parametrize("shared", [False, True])
def test_pairs_have_their_weights(name, graph, shared):
    rng = np.random.default_rng(1)
    rows, values, divisors = rng.uniform(0.2, 3, 60), rng.normal(size=(60, 4)), rng.random(60) + 1
    weights = PairWeights.of(rows, graph, shared=shared)
    lap = np.zeros((60, 60))
    of_pairs = weights.between(graph.i, graph.j)
    if not shared:
        np.testing.assert_allclose(of_pairs, rows[graph.i] * rows[graph.j])
    lap[graph.i, graph.j] = lap[graph.j, graph.i] = -of_pairs
    np.fill_diagonal(lap, -lap.sum(axis=1))
    np.testing.assert_allclose(weights.degrees, np.diag(lap), rtol=1e-12)
    np.testing.assert_allclose(weights.lap_lengths, np.linalg.norm(lap, axis=1), rtol=1e-12)
    np.testing.assert_allclose(weights.laplacian_times(graph, values), lap @ values, atol=1e-11)
    squares = (lap**2 / np.outer(divisors, divisors)).sum()
    assert weights.squares_over(graph, divisors) == pytest.approx(squares)
    assert weights.total == pytest.approx(of_pairs.sum())
    groups = groups_as_units(rng.integers(0, 9, 60), 60)
    cells, v = Cells.of(graph, groups, weights), rng.normal(size=(60, 3))
    expected = [
        np.linalg.norm(values[groups.labels == g].T @ lap[np.ix_(groups.labels == g,
                       groups.labels == h)] @ v[groups.labels == h]) ** 2
        for g, h in zip(*cells.groups, strict=True)
    ]  # fmt: skip
    np.testing.assert_allclose(cells.squares(values, v), expected, atol=1e-9)


def test_pairs_of_a_row_share_its_weight():
    """Where weights follow z, they sum up to about what the row weighs, times its partners."""
    z = np.sort(np.random.default_rng(0).normal(size=2_000))
    rows, graph = np.exp(z), chsic.nearest_pairs(z, 20)
    shared = PairWeights.of(rows, graph, shared=True)
    inside = slice(200, 1_800)
    np.testing.assert_allclose(shared.degrees[inside] / 20, rows[inside], rtol=0.1)


@pytest.mark.parametrize("d", [1, 3])
def test_a_regression_with_weights_is_that_of_least_weighted_squares(d):
    rng = np.random.default_rng(0)
    z, weights = rng.normal(size=(90, d)), rng.uniform(0.2, 3, 90)
    fitted = Ridge(z).weighted(weights).fit(np.eye(90))  # residuals of these are I - S
    leaves = fitted.residuals
    np.testing.assert_allclose(fitted.noise, (leaves**2).sum(axis=1), atol=1e-9)
    # S is a projection where nothing is penalised: the line is explained as it is,
    line = np.column_stack([np.ones(90), z])
    np.testing.assert_allclose(leaves @ line, 0, atol=1e-8)
    # and S of weighted least squares is symmetric once it is multiplied by the weights.
    weighed = weights[:, np.newaxis] * (np.eye(90) - leaves)
    np.testing.assert_allclose(weighed, weighed.T, atol=1e-9)
    # Where penalties matter little, three rows of weight 1 are one row of weight 3.
    x = np.sin(z.sum(axis=1, keepdims=True)) + 0.3 * rng.normal(size=(90, 1))
    fit = Ridge(z).weighted(weights).fit(x).residuals
    assert abs((weights @ fit).item()) < 1e-9


def test_noise_of_weighted_groups_is_restored():
    """With white noise e, the covariance of the restored residuals of a group is I."""
    rng = np.random.default_rng(0)
    labels, weights = rng.integers(0, 25, 90), rng.uniform(0.2, 3, 90)
    ridge = Ridge(rng.normal(size=(90, 1))).weighted(weights)
    fitted, groups = ridge.fit(np.eye(90)), groups_as_units(labels, 90)
    batch = batches.Batch.at(slice(0, 90), z=ridge._columns, groups=groups, fit_weights=weights)
    residuals, noise = fitted.fit.residuals(np.eye(90), batch)
    np.testing.assert_allclose(residuals, fitted.residuals, atol=1e-9)
    np.testing.assert_allclose(noise, fitted.noise, atol=1e-9)
    restored = fitted.fit.restored(residuals, batch)
    for k in range(25):
        own = restored[labels == k]
        np.testing.assert_allclose(own @ own.T, np.eye(len(own)), atol=1e-8)


def test_the_mean_of_a_group_in_a_stratum_has_its_noise_back():
    rng = np.random.default_rng(0)
    labels, weights = rng.integers(0, 10, 60), rng.uniform(0.2, 3, 60)
    strata = batches.Strata(np.repeat([0, 1], 30), np.arange(60), weights)
    rows = strata.whole
    total = rows.of_rows[1]
    same = strata.labels[:, np.newaxis] == strata.labels
    residuals = np.eye(60) - same * weights / total[:, np.newaxis]
    restored = restored_in_strata(residuals, rows, groups_as_units(labels, 60))
    for k in range(10):
        for stratum in (0, 1):
            here = (labels == k) & (strata.labels == stratum)
            if here.any():
                mean = weights[here] @ restored[here]
                assert (mean**2).sum() == pytest.approx((weights[here] ** 2).sum())


@pytest.mark.levels
def test_the_centre_is_the_mean_of_the_statistic_where_samples_are_exchangeable():
    """Weights that have nothing to do with x and y: the mean over permutations of y is zero."""
    rng = np.random.default_rng(0)
    x, y, weights = rng.normal(size=30), rng.normal(size=30), rng.uniform(0.2, 3, 30)
    estimates = [
        chsic.hsic_test(x, rng.permutation(y), weights=weights, bandwidth=1.0).estimate
        for _ in range(400)
    ]
    assert abs(np.mean(estimates)) < 2.5 * np.std(estimates) / 20


@pytest.mark.parametrize("kind", ["a line", "a plane", "few values", "nothing"])
def test_batches_give_what_all_rows_give(monkeypatch, kind):
    x, y, z = data(kind, 900)
    weights = np.random.default_rng(2).uniform(0.2, 3, 900)
    whole = chsic.chsic_test(x, y, z, weights=weights)
    monkeypatch.setattr(arrays, "BLOCK_ROWS", 100)
    monkeypatch.setattr(batches, "ROWS_IN_SPACE", 300)
    cut = chsic.chsic_test(x, y, z, weights=weights)
    assert cut.pvalue == pytest.approx(whole.pvalue, rel=1e-8)
    assert cut.coefficient == pytest.approx(whole.coefficient, rel=1e-9)


@pytest.mark.parametrize("settings", [
    {"pairs": "closest", "alpha": 4}, {"pairs": "blocks"}, {"adjust": "none"},
    {"augment": True}, {"null": "signs", "n_resamples": 199}, {"kernel": "laplace"},
])  # fmt: skip
def test_settings_go_with_weights(settings):
    x, y, z = data("a line")
    result = chsic.chsic_test(x, y, z, weights=whole_numbers(), **settings)
    assert 0 < result.pvalue < 1


def test_a_regressor_takes_weights_or_is_refused():
    linear = pytest.importorskip("sklearn.linear_model").LinearRegression
    neighbours = pytest.importorskip("sklearn.neighbors").KNeighborsRegressor()
    x, y, z = data("a line")
    weights, seen = whole_numbers(), []

    class Spied(linear):
        def fit(self, X, y, sample_weight=None):
            seen.append((X[:, 0], sample_weight))
            return super().fit(X, y, sample_weight)

    chsic.chsic_test(x, y, z, weights=weights, adjust=Spied(), rng=0)
    expected = in_regressions(weights.astype(float))[np.argsort(z)]
    places = np.sort((z - z.mean()) / z.std(ddof=1))
    for of_z, given in seen:
        rows = np.searchsorted(places, of_z - 1e-9)
        np.testing.assert_allclose(given, expected[rows])
    assert len(seen) > 10
    with pytest.raises(ValueError, match="adjust: fit of KNeighborsRegressor takes no sample_we"):
        chsic.chsic_test(x, y, z, weights=weights, adjust=neighbours)


def test_stretches_of_time_keep_the_weights():
    x, y, z = data("a line")
    weights, time = whole_numbers(), np.arange(N)
    known = chsic.chsic_test(x, y, z, weights=weights, time=time, stretch=8)
    labels = chsic.chsic_test(x, y, z, weights=weights, groups=time // 8)
    assert known.pvalue == labels.pvalue
    assert known.n_effective == labels.n_effective
    automatic = chsic.chsic_test(x, y, z, weights=weights, time=time)
    assert automatic.n_effective == known.n_effective


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("heavy", [1, 3])
def test_few_heavy_rows_are_no_evidence(kind, heavy):
    """Nor do heavy rows give their noise to their neighbours, by a regression that follows it."""
    pvalues = []
    for seed in range(8):
        x, y = np.random.default_rng(seed).normal(size=(2, N))
        weights = np.where(np.arange(N) < heavy, 1e5, 1.0)
        result = chsic.chsic_test(x, y, data(kind, seed=seed)[2], weights=weights)
        pvalues.append(result.pvalue)
        assert any(text.startswith("Weights are so unequal") for text in result.warnings)
    assert min(pvalues) > 0.005


def selected(n, rng, *, related=0.0, kind="line"):
    """Draw rows of a population with a probability that depends on x and y, and give its inverse.

    Among the rows drawn, x and y are related: who is in although x is low has a high y.
    """
    of_z, e, h = rng.normal(size=(3, 8 * n))
    z = np.round(of_z) if kind == "strata" else of_z
    x, y = np.sin(z) + e, z + h + related * e
    probability = 0.05 + 0.9 / (1 + np.exp(-1.5 * (x + y)))
    drawn = np.flatnonzero(rng.random(8 * n) < probability / 4)
    return x[drawn], y[drawn], None if kind == "none" else z[drawn], 1 / probability[drawn]


@pytest.mark.levels
@pytest.mark.parametrize("kind", ["line", "strata"])
def test_selection_relates_rows_but_not_the_population(kind):
    ignored, known = [], []
    for seed in range(60):
        x, y, z, weights = selected(400, np.random.default_rng(seed), kind=kind)
        known.append(chsic.chsic_test(x, y, z, weights=weights).pvalue <= 0.05)
        if seed < 20:
            ignored.append(chsic.chsic_test(x, y, z).pvalue <= 0.05)
    assert np.mean(ignored) > 0.3
    assert binomtest(int(sum(known)), 60, 0.05, alternative="greater").pvalue > 0.01


@pytest.mark.levels
def test_the_coefficient_is_that_of_the_population():
    """Rows with a large x are drawn more often, and depend on each other more closely."""
    rng = np.random.default_rng(0)

    def draw(n):
        z, e, h = rng.normal(size=(3, n))
        return z + e, z + np.where(e > 0, e, 0) + h, z

    x, y, z = draw(60_000)
    population = chsic.chsic_test(x, y, z).coefficient
    ignored, known, covered = [], [], []
    for _ in range(25):
        x, y, z = draw(6_000)
        probability = 1 / (1 + np.exp(-2 * (x - z)))
        drawn = rng.random(6_000) < probability
        sample = [of[drawn] for of in (x, y, z)]
        ignored.append(chsic.chsic_test(*sample).coefficient)
        result = chsic.chsic_test(*sample, weights=1 / probability[drawn])
        known.append(result.coefficient)
        low, high = result.confidence_interval()
        covered.append(low <= population <= high)
    error = np.std(known) / 5
    assert abs(np.mean(known) - population) < 3 * error + 0.02 * population
    assert abs(np.mean(ignored) - population) > 5 * error
    assert sum(covered) >= 20


def test_an_unneighbourly_row_has_no_pair():
    lists = Neighbours.of_pairs(np.array([0, 1]), np.array([1, 2]), 4)
    graph = chsic.PairGraph.from_lists(lists)
    weights = PairWeights.of(np.array([1.0, 2.0, 1.0, 5.0]), graph, shared=True)
    assert weights.degrees[3] == weights.lap_lengths[3] == 0
