"""Groups of rows that depend on each other: what goes by groups, and the level."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sklearn.dummy import DummyRegressor

import chsic
from chsic.inference.arrangement import arrange
from chsic.inference.batches import Strata
from chsic.inference.groups import Cells, groups_as_units, pairs_between_groups
from chsic.inference.left_out import FOLDS, LeftOut
from chsic.inference.restored import restored, restored_in_strata
from chsic.pairs import PairGraph
from chsic.pairs.graph import some_pairs
from chsic.pairs.laplacian import laplacian_times
from chsic.pairs.nearest_neighbours import nearest_on_line
from chsic.show.sentences import sample_size


def patients(seed, number=50, each=4, *, related=0.0):
    """x, y and z of patients with an effect of the patient in each."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(number), each)
    n = len(groups)
    effect_z, effect_x, effect_y = rng.normal(size=(3, number))[:, groups]
    z = 0.7 * effect_z + 0.7 * rng.normal(size=n)
    x = np.sin(z) + 0.8 * effect_x + 0.6 * rng.normal(size=n)
    y = z + 0.8 * effect_y + 0.6 * rng.normal(size=n) + related * x
    return x, y, z, groups


def test_squares_of_groups_are_those_of_their_sums():
    rng = np.random.default_rng(0)
    labels = np.concatenate([np.zeros(70, int), rng.integers(1, 20, 130), [20]])
    u, v = rng.normal(size=(len(labels), 3)), rng.normal(size=(len(labels), 2))
    groups = groups_as_units(labels, len(labels))
    expected = [((u[labels == k].T @ v[labels == k]) ** 2).sum() for k in range(len(groups))]
    np.testing.assert_allclose(Cells.of_samples(groups).squares(u, v), expected, rtol=1e-12)


@pytest.mark.parametrize("within", [False, True])
def test_squares_of_cells_are_those_of_sums_over_entries_of_the_laplacian(within):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 12, 90)
    graph = nearest_on_line(rng.permutation(90), 9)
    if not within:
        apart = labels[graph.i] != labels[graph.j]
        graph = PairGraph.from_listed(graph.i[apart], graph.j[apart], 90)
    lap = laplacian_times(graph, np.eye(90))
    u, v = rng.normal(size=(90, 5)), rng.normal(size=(90, 4))
    groups = groups_as_units(labels, 90)
    member = np.eye(12)[labels]
    blocks = np.einsum("ig,ia,ij,jb,jh->ghab", member, u, lap, v, member, optimize=True)
    squares = (blocks**2).sum(axis=(2, 3))
    cells = Cells.of(graph, groups)
    np.testing.assert_allclose(cells.squares(u, v), squares[cells.groups], rtol=1e-10)
    units = groups_as_units(labels, 5)
    halves = (squares.sum(axis=0) + squares.sum(axis=1)) / 2
    of_units = np.bincount(units.labels[groups.order[groups.bounds[:-1]]], halves)
    found = cells.in_units(units, groups, cells.squares(u, v))
    np.testing.assert_allclose(found, of_units, rtol=1e-10)


def test_noise_of_groups_is_restored():
    """With white noise e, the covariance of the restored residuals of a group is I."""
    rng = np.random.default_rng(0)
    labels = np.concatenate([np.zeros(30, int), rng.integers(1, 15, 90)])
    groups = groups_as_units(labels, 120)
    directions = np.linalg.qr(rng.normal(size=(120, 8)))[0]
    shrinkage = rng.random(8)
    fit = np.eye(120) - directions @ np.diag(shrinkage) @ directions.T
    noise = restored(fit, directions, np.diag(shrinkage**2 - 2 * shrinkage), groups)
    for k in range(len(groups)):
        of_group = noise[labels == k]
        np.testing.assert_allclose(of_group @ of_group.T, np.eye(len(of_group)), atol=1e-10)


def test_noise_of_groups_is_restored_in_strata():
    rng = np.random.default_rng(0)
    labels, strata = rng.integers(0, 20, 120), np.repeat(np.arange(3), 40)
    means = (strata[:, np.newaxis] == strata) / 40
    part = Strata(strata, np.arange(120)).whole
    noise = restored_in_strata(np.eye(120) - means, part, groups_as_units(labels, 120))
    for k in range(20):
        of_group = noise[labels == k]
        np.testing.assert_allclose(of_group @ of_group.T, np.eye(len(of_group)), atol=1e-10)


def test_units_hold_whole_groups():
    labels = np.random.default_rng(0).integers(0, 300, 2_000)
    units = groups_as_units(labels, 128)
    assert len(units) == 128
    assert sorted(units.order) == list(range(2_000))
    assert all(len(set(units.labels[labels == one])) == 1 for one in set(labels))


@pytest.mark.parametrize("alpha", [2, 12])
def test_pairs_join_groups_even_where_neighbours_are_of_one(alpha):
    labels = np.repeat(np.arange(20), 15)  # neighbours in order
    graph = pairs_between_groups(labels, alpha, lambda a: nearest_on_line(np.arange(300), a))
    assert (labels[graph.i] != labels[graph.j]).all()
    partners = np.bincount(np.concatenate([graph.i, graph.j]), minlength=300)
    assert partners.min() >= alpha / 4


def test_left_out_is_the_error_of_regressions_without_each_fold():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 30, 120)
    directions = np.linalg.qr(rng.normal(size=(120, 9)))[0]
    penalties = np.array([0.1, 1.0, 10.0])
    strengths = np.concatenate([[np.inf, np.inf], rng.exponential(size=7)])
    shrinkage = 1 / (1 + penalties[:, np.newaxis] / strengths)
    values = rng.normal(size=(120, 2))
    found = LeftOut(directions, shrinkage, penalties, labels)
    folds = groups_as_units(labels, FOLDS).labels
    expected = np.zeros(3)
    for k, penalty in enumerate(penalties):
        for fold in range(FOLDS):
            rest = folds != fold
            equations = directions[rest].T @ directions[rest] + np.diag(penalty / strengths)
            coefficients = np.linalg.solve(equations, directions[rest].T @ values[rest])
            expected[k] += ((values[~rest] - directions[~rest] @ coefficients) ** 2).sum()
    errors = found.errors(values, directions.T @ values)
    np.testing.assert_allclose(errors, expected, rtol=1e-6)


def test_groups_of_one_row_each_change_nothing():
    x, y, z, _ = patients(0)
    alone = chsic.chsic_test(x, y, z)
    assert chsic.chsic_test(x, y, z, groups=np.arange(len(x))[::-1]).pvalue == alone.pvalue


def test_labels_and_the_order_of_rows_do_not_matter():
    x, y, z, groups = patients(1, related=0.2)
    first = chsic.chsic_test(x, y, z, groups=groups)
    rows = np.random.default_rng(0).permutation(len(x))
    names = np.array([f"patient {k}" for k in groups])
    frame = pd.DataFrame({"x": x, "y": y, "z": z, "patient": names}).iloc[rows]
    second = chsic.chsic_test("x", "y", "z", data=frame, groups="patient")
    assert second.statistic == pytest.approx(first.statistic, rel=1e-6)
    labelled = chsic.chsic_test("x", "y", "z", data=frame, groups=groups[rows])
    assert labelled.pvalue == second.pvalue


@pytest.mark.levels
@pytest.mark.parametrize("kind", ["numbers", "few values", "nothing", "equal rows"])
def test_the_level_holds(kind):
    """Of 24 true nulls, six rejections at 0.05 happen once in 900 times."""
    rejected = 0
    for seed in range(24):
        x, y, z, groups = patients(seed)
        if kind == "few values":
            z = np.round(z)
        elif kind == "nothing":
            x, y, z = x - np.sin(z), y - z, None
        elif kind == "equal rows":
            x, y, z = (np.repeat(v[::4], 4) for v in (x, y, z))
        rejected += chsic.chsic_test(x, y, z, groups=groups).pvalue <= 0.05
    assert binom.sf(5, 24, 0.05) < 1 / 900
    assert rejected <= 5


def test_relations_are_seen():
    assert chsic.chsic_test(*patients(0, related=0.5)[:3], groups=patients(0)[3]).pvalue < 0.01
    x, y, z, groups = patients(0, related=0.5)
    assert chsic.hsic_test(x - np.sin(z), y - z, groups=groups).pvalue < 0.01


def test_a_large_group_is_told():
    x, y, z, groups = patients(0)
    groups[:80] = 0
    result = chsic.chsic_test(x, y, z, groups=groups)
    assert "One group has 40% of all rows" in " ".join(result.warnings)


def test_labels_may_be_anything():
    x, y, z, groups = patients(0)
    expected = chsic.chsic_test(x, y, z, groups=groups).n_groups
    for labels in (groups + 2**60, [f"p{k}" if k % 2 else k for k in groups], groups / 3):
        assert chsic.chsic_test(x, y, z, groups=labels).n_groups == expected


def test_few_groups_are_told():
    x, y, z, groups = patients(0, number=12, each=10)
    result = chsic.chsic_test(x, y, z, groups=groups)
    assert result.null == "exhaustive"
    assert "only 12 groups" in " ".join(result.warnings)
    assert result.n_groups == result.to_dict()["n_groups"] == 12
    assert "120 in 12 groups" in sample_size(result)
    assert result.pvalue >= 2.0**-11


@pytest.mark.parametrize(
    ("groups", "data", "error", "message"),
    [
        (np.zeros(200), None, ValueError, "all rows are of one group"),
        ("patient", None, TypeError, "give the data frame as well"),
        ("patent", "frame", ValueError, "there is no column 'patent'"),
        (np.arange(7), None, ValueError, "groups"),
        (np.zeros((200, 2)), None, ValueError, "one is needed"),
    ],
)
def test_wrong_groups_are_refused(groups, data, error, message):
    x, y, z, own = patients(0)
    if data:
        frame = pd.DataFrame({"x": x, "y": y, "z": z, "patient": own})
        with pytest.raises(error, match=message):
            chsic.chsic_test("x", "y", "z", data=frame, groups=groups)
        return
    with pytest.raises(error, match=message):
        chsic.chsic_test(x, y, z, groups=groups)


def test_rows_without_a_group_are_missing():
    x, y, z, groups = patients(0)
    groups = groups.astype(float)
    groups[3] = np.nan
    with pytest.raises(ValueError, match="groups: 1 of 200 samples are missing"):
        chsic.chsic_test(x, y, z, groups=groups)
    left = chsic.chsic_test(x, y, z, groups=groups, nan_policy="omit")
    assert (left.n_samples, left.n_omitted) == (199, 1)


def test_one_group_that_remains_is_refused():
    x, y, _, _ = patients(0, number=10)
    z = np.append(np.repeat(["a", "b"], 15), [f"alone {k}" for k in range(10)])
    groups = np.append(np.zeros(30, int), np.arange(1, 11))
    with pytest.raises(ValueError, match="all rows with a partner in z are of one group"):
        chsic.chsic_test(x, y, z, groups=groups)


@pytest.mark.parametrize("pairs", ["nearest", "closest", "blocks"])
def test_no_pair_joins_rows_of_one_group(pairs, monkeypatch):
    graphs = []
    monkeypatch.setattr(
        "chsic.inference.arrangement.some_pairs",
        lambda graph, *number: graphs.append(graph) or some_pairs(graph, *number),
    )
    given = []
    monkeypatch.setattr(
        "chsic.inference.compare.arrange",
        lambda own, *args, **kwargs: given.append(own) or arrange(own, *args, **kwargs),
    )
    x, y, z, groups = patients(0)
    chsic.chsic_test(x, y, np.round(z, 1), groups=groups, pairs=pairs)
    [own] = given
    assert all((own.groups[graph.i] != own.groups[graph.j]).all() for graph in graphs)


def test_a_regressor_is_fitted_on_other_groups():
    fitted = []

    class Mean(DummyRegressor):
        def fit(self, z, x):
            fitted.append({*z[:, 0]})
            return super().fit(z, x)

        def predict(self, z):
            assert not fitted[-1] & {*z[:, 0]}
            return super().predict(z)

    x, y, _, groups = patients(0)
    chsic.chsic_test(x, y, groups + 0.0, groups=groups, pairs="nearest", adjust=Mean())
    assert fitted


def test_messages_are_about_groups():
    x, y, z = np.random.default_rng(0).normal(size=(3, 60))
    labels = [None, *"abcde" * 12][:60]
    with pytest.raises(ValueError, match=r"groups: 1 of 60 .* rows out, or say what is missing"):
        chsic.chsic_test(x, y, z, groups=labels)
    with pytest.raises(ValueError, match="augment: True needs units that are near in z, which who"):
        chsic.chsic_test(x, y, z, groups=np.arange(60) // 3, augment=True)


def test_the_order_of_the_columns_of_z_does_not_matter():
    rng = np.random.default_rng(0)
    x, y, a, b = rng.normal(size=(4, 120))
    groups = np.arange(120) // 4
    pvalues = [
        chsic.chsic_test(x, y, np.column_stack(z), groups=groups).pvalue for z in ((a, b), (b, a))
    ]
    assert pvalues[0] == pytest.approx(pvalues[1], rel=1e-6)
