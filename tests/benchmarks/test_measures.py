"""The measures of ``benchmarks.measures`` against literal formulas and known limits."""

import csv
import dataclasses
import itertools
import json

import numpy as np
import pytest
from benchmarks.measures import __main__ as command
from benchmarks.measures import (
    kernel,
    matched,
    neighbours,
    picture,
    pruned,
    registry,
    report,
    settings,
    summary,
    trials,
)
from scipy.spatial.distance import cdist
from scipy.stats import chi2_contingency, iqr, ks_2samp

import chsic


def sample(n, d=1, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, d)) * np.arange(1, d + 1)
    x = z[:, 0] + rng.normal(size=n)
    return x, x * z[:, -1] + rng.normal(size=n), z[:, 0] if d == 1 else z


def literal_gram(values):
    columns = np.reshape(values, (len(values), -1))
    distances = cdist(*[columns / columns.std(axis=0, ddof=1)] * 2)
    width = np.median(distances[distances > 0])
    return np.exp(-(distances**2) / (2 * width**2))


# --- C-HSIC ---------------------------------------------------------------------------------------


def literal_debiased(x, y, z, alpha):
    """The mean of [Kb] [Qb] / 4 over ordered pairs of pairs that share no sample."""
    graph = chsic.closest_pairs(z, alpha)
    matrices = [
        np.exp(-((np.subtract.outer(v, v) / (v.std(ddof=1) * len(v) ** -0.2)) ** 2)) for v in (x, y)
    ]
    products = []
    for (i, j), (k, l) in itertools.permutations(zip(graph.i, graph.j, strict=True), 2):
        if len({i, j, k, l}) == 4:
            products.append(np.prod([m[i, k] + m[j, l] - m[i, l] - m[j, k] for m in matrices]) / 4)
    return np.mean(products)


@pytest.mark.parametrize("alpha", [1, 4])
def test_debiased_and_coefficient_are_their_direct_sums(alpha):
    x, y, z = sample(25)
    d_xy, d_xx, d_yy = (literal_debiased(*pair, z, alpha) for pair in ((x, y), (x, x), (y, y)))
    assert pruned.debiased(x, y, z, alpha=alpha) == pytest.approx(d_xy, rel=1e-10)
    expected = d_xy / np.sqrt(d_xx * d_yy)
    assert pruned.coefficient(x, y, z, alpha=alpha) == pytest.approx(expected, rel=1e-10)


def test_coefficient_of_x_with_itself_is_one():
    x, _, z = sample(60)
    assert pruned.coefficient(x, x, z) == pytest.approx(1)


def test_median_bandwidths_are_those_of_different_values():
    x, y, z = sample(60)
    assert pruned.raw(x, y, z, bandwidth="median") == chsic.chsic(x, y, z, bandwidth="median")
    binary = (x > 0).astype(float)
    h = float(np.median([abs(a - b) for a, b in itertools.combinations(y, 2)]))
    expected = chsic.chsic(binary, y, z, bandwidth=(1.0, h))
    assert pruned.raw(binary, y, z, bandwidth="median") == pytest.approx(expected, rel=1e-12)


# --- Kernel matrices ------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 3])
def test_conditional_nocco_is_the_trace_of_its_paper(d):
    x, y, z = sample(30, d)
    n, ridge = 30, 1e-2
    centring = np.eye(n) - np.full((n, n), 1 / n)

    def normalised(gram):
        g = centring @ gram @ centring
        return g @ np.linalg.inv(g + n * ridge * np.eye(n))

    k_x, k_y, k_z = map(literal_gram, (x, y, z))
    r_x, r_y, r_z = normalised(k_x * k_z), normalised(k_y * k_z), normalised(k_z)
    expected = np.trace(r_y @ r_x - 2 * r_y @ r_x @ r_z + r_y @ r_z @ r_x @ r_z)
    assert kernel.conditional_nocco(x, y, z, ridge=ridge) == pytest.approx(expected, rel=1e-9)
    marginal = np.trace(normalised(k_y) @ normalised(k_x))
    assert kernel.nocco(x, y, z, ridge=ridge) == pytest.approx(marginal, rel=1e-9)


def test_hscic_is_the_distance_of_embeddings():
    """|| mu_XY|z - mu_X|z (x) mu_Y|z ||^2, summed over the features of both samples."""
    x, y, z = sample(20, d=2)
    n, ridge = 20, 1e-2
    k_x, k_y, k_z = map(literal_gram, (x, y, z))
    # Features whose inner products are the kernel values.
    u, v = (vectors * np.sqrt(np.maximum(values, 0))
            for values, vectors in map(np.linalg.eigh, (k_x, k_y)))  # fmt: skip
    squares = []
    for column in range(n):
        w = np.linalg.inv(k_z + n * ridge * np.eye(n)) @ k_z[:, column]
        joint = np.einsum("k,ka,kb->ab", w, u, v)
        squares.append(((joint - np.outer(w @ u, w @ v)) ** 2).sum())
    assert kernel.hscic(x, y, z, ridge=ridge) == pytest.approx(np.mean(squares), rel=1e-6)


def test_hscic_of_a_z_that_says_nothing_is_hsic():
    """Two far groups with the same x and y: each is its own HSIC, here with 1/n^2."""
    x, y, _ = sample(40)
    z = np.repeat([0.0, 1.0], 40)
    centring = np.eye(40) - 1 / 40
    x_gram, y_gram = (literal_gram(np.tile(v, 2))[:40, :40] for v in (x, y))
    expected = np.trace(centring @ x_gram @ centring @ y_gram) / 40**2
    value = kernel.hscic(np.tile(x, 2), np.tile(y, 2), z, ridge=1e-9)
    assert value == pytest.approx(expected, rel=1e-5)


def literal_conditional_dcor(x, y, z):
    """Wang et al. (2015): four samples at a time, weighted by K_H(z_i - z_u), for every u."""
    n = len(z)
    weights = np.exp(-0.5 * (np.subtract.outer(z, z) / (z.std(ddof=1) * n**-0.2)) ** 2)
    a, b = (np.abs(np.subtract.outer(v, v)) for v in (x, y))
    i, j, k, l = np.array(list(itertools.product(range(n), repeat=4))).T

    def covariance(a, b, w):
        def term(m, i, j, k, l):
            return m[i, j] + m[k, l] - m[i, k] - m[j, l]

        orders = ((i, j, k, l), (i, j, l, k), (i, l, k, j))
        symmetric = sum(term(a, *order) * term(b, *order) for order in orders)
        return (w[i] * w[j] * w[k] * w[l] * symmetric).sum() / (12 * w.sum() ** 4)

    return np.mean(
        [covariance(a, b, w) / np.sqrt(covariance(a, a, w) * covariance(b, b, w)) for w in weights]
    )


def test_conditional_dcor_is_the_sum_over_four_samples():
    x, y, z = sample(9)
    expected = literal_conditional_dcor(x, y, z)
    assert kernel.conditional_dcor(x, y, z) == pytest.approx(expected, rel=1e-9)


def test_conditional_dcor_of_x_with_itself_is_one():
    x, _, z = sample(50, d=2)
    assert kernel.conditional_dcor(x, -3 * x, z) == pytest.approx(1)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # hyppo imports from old places of SciPy
def test_conditional_dcor_is_that_of_hyppo():
    found = command.beside_hyppo(sizes=[30])
    if found is None:
        pytest.skip("hyppo is not installed")
    assert found[0]["relative_difference"] < 1e-10


# --- Nearest neighbours ---------------------------------------------------------------------------


def literal_nearest(values):
    columns = np.reshape(values, (len(values), -1))
    scaled = columns / columns.std(axis=0, ddof=1)
    return [
        min(
            (j for j in range(len(scaled)) if j != i), key=lambda j: np.linalg.norm(row - scaled[j])
        )
        for i, row in enumerate(scaled)
    ]


@pytest.mark.parametrize("d", [1, 2])
def test_kpc_and_t_n_are_loops_over_samples(d):
    x, y, z = sample(40, d)
    in_z, in_both = literal_nearest(z), literal_nearest(np.column_stack([x, z]))
    width = np.median([abs(a - b) for a, b in itertools.combinations(y, 2)])
    rank = [sum(other <= value for other in y) for value in y]
    kpc = t_n = kpc_most = t_n_most = 0.0
    for i in range(40):
        alike = [np.exp(-((y[i] - y[j]) ** 2) / (2 * width**2)) for j in (in_z[i], in_both[i])]
        kpc, kpc_most = kpc + alike[1] - alike[0], kpc_most + 1 - alike[0]
        lower = [min(rank[i], rank[j]) for j in (in_z[i], in_both[i])]
        t_n, t_n_most = t_n + lower[1] - lower[0], t_n_most + rank[i] - lower[0]
    assert neighbours.kpc(x, y, z) == pytest.approx(kpc / kpc_most)
    assert neighbours.azadkia_chatterjee(x, y, z) == pytest.approx(t_n / t_n_most)


@pytest.mark.parametrize("measure", [neighbours.kpc, neighbours.azadkia_chatterjee])
def test_kpc_and_t_n_reach_zero_and_one(measure):
    rng = np.random.default_rng(0)
    x, z, noise = rng.uniform(size=(3, 2000))
    assert measure(x, z + noise, z) == pytest.approx(0, abs=0.06)
    assert measure(x, (x + z) % 1, z) > 0.9


def test_neighbours_among_equals_are_drawn_at_random():
    z = np.repeat([0.0, 1.0], 200)
    nearest = neighbours._nearest(z)[:, 0]
    assert np.all(z[nearest] == z)
    assert np.all(nearest != np.arange(400))
    assert len(np.unique(nearest)) > 200  # about 400 (1 - 1/e) = 253
    five = neighbours._nearest(np.random.default_rng(0).normal(size=(50, 2)), 5)
    assert [len(set(row)) for row in five.tolist()] == [5] * 50


# --- Separation, settings and the command ---------------------------------------------------------


def test_auc_counts_pairs_in_the_right_order():
    rng = np.random.default_rng(0)
    null, alternative = rng.integers(0, 5, 30), rng.integers(1, 6, 20)
    pairs = [(a > b) + (a == b) / 2 for a in alternative for b in null]
    assert summary.auc(null, alternative)[0] == pytest.approx(np.mean(pairs))
    assert summary.auc([0.0, 1.0], [2.0, 3.0]) == (1, 0)


def test_auc_error_is_the_spread_over_repetitions():
    rng = np.random.default_rng(1)
    found = [summary.auc(rng.normal(size=60), rng.normal(0.5, 1, 60)) for _ in range(400)]
    areas, errors = np.array(found).T
    assert np.mean(errors) == pytest.approx(areas.std(), rel=0.1)


def test_pairs_are_of_independent_and_dependent_data():
    asked = [*settings.along_gamma(), *settings.along_size(), *settings.scenarios()]
    for pair in [*asked, *map(settings.with_matched, settings.shown())]:
        assert pair.null.independent
        assert not pair.alternative.independent
    for pair in map(settings.between_nulls, settings.shown()):
        assert pair.null.independent
        assert pair.alternative.independent
    for pair in settings.all_pairs():
        for setting in (pair.null, pair.alternative):
            x, y, z = settings.draw(setting, np.random.default_rng(0))
            assert len(x) == len(y) == len(z) == setting.n
            assert np.reshape(z, (setting.n, -1)).shape[1] == setting.d


def within_z(values, z):
    """What is left of the values when the mean of ten neighbours in z is taken off.

    Only where z is dense: far out neighbours differ in z, and so do their x and y.
    """
    order = np.argsort(z)
    groups = values[order].reshape(-1, 10)
    return (groups - groups.mean(axis=1, keepdims=True)).ravel()[abs(z[order]) < 2]


def both(name):
    """Many samples of a scenario, as it is and matched."""
    return [
        settings.draw(
            settings.Setting(scenario=name, matched=m, n=20_000), np.random.default_rng(0)
        )
        for m in (False, True)
    ]


@pytest.mark.parametrize("name", ["add", "tails", "local", "pnl-shared", "counts-shared"])
def test_matched_scenarios_lose_the_dependence_and_nothing_else(name):
    drawn = both(name)
    # In units that rare values do not move, as columns are divided by their standard deviations.
    x, y = (
        [within_z(getattr(s, column), s.z) / iqr(getattr(s, column)) for s in drawn]
        for column in "xy"
    )
    error = 20_000**-0.5
    assert np.corrcoef(x[0], y[0])[0, 1] > 7 * error
    assert np.corrcoef(x[1], y[1])[0, 1] == pytest.approx(0, abs=4 * error)
    for before, after in (x, y):
        assert np.std(after) == pytest.approx(np.std(before), rel=0.03)


def test_matched_m_minus_has_the_margins_of_m_minus():
    """Without noise |x| is b and |y| is c, tied by z = b - c in M- and by nothing here."""
    gamma = 1e12
    x, y, z = matched.m_minus(20_000, gamma, np.random.default_rng(0))
    b, c = abs(x) / gamma**0.5, abs(y) / gamma**0.5
    middle = (np.maximum(0, z) + np.minimum(3**0.5, 3**0.5 + z)) / 2  # E[b | z], and c = b - z
    assert np.corrcoef(b - middle, c - (middle - z))[0, 1] == pytest.approx(0, abs=0.03)
    true = chsic.datasets.m_minus(20_000, gamma, rng=1)
    for mine, theirs in ((c, abs(true.y) / gamma**0.5), (b, abs(true.x) / gamma**0.5)):
        assert ks_2samp(mine, theirs).pvalue > 0.001
    assert ks_2samp(c + z, abs(true.y) / gamma**0.5 + true.z).pvalue > 0.001


def test_matched_classes_are_independent_within_levels():
    true, free = both("levels")
    for level in range(3):
        counts = [
            np.histogram2d(s.x[s.z == level], s.y[s.z == level], bins=3)[0] for s in (true, free)
        ]
        dependent, independent = (chi2_contingency(table).pvalue for table in counts)
        assert dependent < 1e-10 < 0.001 < independent
        for axis in (0, 1):
            assert chi2_contingency([table.sum(axis=axis) for table in counts]).pvalue > 0.001


def test_matched_circles_and_signs_are_independent_given_z():
    error = 20_000**-0.5
    squares = [np.corrcoef(within_z(s.x, s.z) ** 2, within_z(s.y, s.z) ** 2)[0, 1]
               for s in both("circle")]  # fmt: skip
    assert squares[0] < -7 * error
    assert squares[1] == pytest.approx(0, abs=4 * error)
    products = [np.mean(s.x * s.y * np.sign(s.z)) for s in both("cancel")]
    assert products[0] == pytest.approx(0.4, abs=4 * error)
    assert products[1] == pytest.approx(0, abs=4 * error)


def test_a_scenario_that_does_not_begin_with_z_has_no_matched_null(monkeypatch):
    late = dataclasses.replace(chsic.datasets.SCENARIOS["heavy"], draw=late_z)
    monkeypatch.setitem(matched.SCENARIOS, "heavy", late)
    with pytest.raises(ValueError, match="heavy: z is not the first"):
        matched.draw_scenario("heavy", 50, 1, np.random.default_rng(0))


def late_z(n, d, rng):
    e, z = rng.standard_normal(n), rng.standard_normal(n)
    return chsic.datasets.Sample(e, e, z)


def test_a_stopped_run_goes_on_where_it_was(tmp_path):
    pair = settings.reference()
    calls = []

    def first(x, y, z):
        calls.append(len(x))
        return x[0]

    work = {s: {"first": first} for s in (pair.null, pair.alternative)}
    kept = tmp_path / "unfinished.json"
    trials.run({pair.null: work[pair.null]}, 3, 0, kept)
    resumed = trials.run(work, 3, 0, kept)
    assert len(calls) == 6
    at_once = trials.run(work, 3, 0, tmp_path / "another.json")
    for setting in work:
        assert resumed[setting]["first"].values == at_once[setting]["first"].values
    calls.clear()
    trials.run(work, 3, 1, kept)
    assert len(calls) == 6, "another seed starts afresh"


def test_a_value_that_is_not_a_number_stops_the_run(tmp_path):
    with pytest.raises(ValueError, match=r"broken is nan on M\+"):
        trials.measure(settings.reference().null, {"broken": lambda x, y, z: np.nan}, 2, 0)


def test_the_command_writes_every_result(tmp_path, monkeypatch, capsys):
    """With measures that cost nothing, of few settings: the path from trials to files is tested."""
    few = settings.scenarios()[::9]
    for module in (settings, report, trials):
        monkeypatch.setattr(module, "scenarios", lambda: few)
    monkeypatch.setattr(settings, "GAMMAS_DB", (0.0, 10.0))
    monkeypatch.setattr(picture, "MEASURES", ["HSIC", "C-HSIC"])
    cheap = {name: lambda x, y, z: float(x @ y) / len(x) for name in registry.MEASURES}
    variants = dict.fromkeys(registry.VARIANTS, cheap["HSIC"])
    monkeypatch.setattr(trials, "MEASURES", cheap)
    monkeypatch.setattr(trials, "VARIANTS", variants)
    monkeypatch.setattr(command, "beside_hyppo", lambda: None)
    command.main(["--trials", "2", "--out", str(tmp_path)])
    names = ["measures.csv", "measures.json", "measures.md", "measures.png"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    with (tmp_path / "measures.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["measure"] for row in rows} == {*registry.MEASURES, *registry.VARIANTS}
    assert all((row["auc"] == "") == (row["null"] == "") for row in rows)
    assert all(row["auc"] for row in rows if row["truth"] == "H1")
    assert json.loads((tmp_path / "measures.json").read_text())["trials"] == 2
    written = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    command.main(["--redraw", "--out", str(tmp_path)])
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == written
    assert "| M+ / M-, 10 dB, L = 100 |" in (tmp_path / "measures.md").read_text(encoding="utf-8")


def test_one_trial_is_refused(capsys):
    with pytest.raises(SystemExit):
        command.main(["--trials", "1"])
    assert "at least 2" in capsys.readouterr().err
