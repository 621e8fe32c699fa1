"""Kernels of the test: by name, of a distance, or of the samples themselves, such as texts."""

import json

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.metrics.pairwise import rbf_kernel

import chsic
from chsic.kernels import KERNELS, Kernel

LETTERS = np.array(list("ACGT"))
SEEDS = 60


def texts(n, g, c, rng):
    """Strings of 40 letters, with shares of G and of C."""
    shares = np.cumsum([(1 - g - c) / 2, c, g], axis=0).T
    codes = (rng.random((n, 40, 1)) > shares[:, np.newaxis]).sum(axis=2)
    return ["".join(LETTERS[row]) for row in codes]


def counts(strings, k):
    codes = np.array([[*string] for string in strings])[:, :, np.newaxis] == LETTERS
    codes = codes.argmax(axis=2)
    words = sum(codes[:, i : codes.shape[1] - k + 1 + i] * 4**i for i in range(k))
    made = np.zeros((len(strings), 4**k))
    np.add.at(made, (np.arange(len(strings))[:, np.newaxis], words), 1.0)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def spectrum(a, b, k=3):
    """Cosines between how often words of k letters occur (Leslie, Eskin and Noble 2002)."""
    return counts(a[:, 0], k) @ counts(b[:, 0], k).T


def hellinger(a, b):
    """exp(-d^2 / h^2) of Hellinger's distance between probability vectors."""
    return np.exp(-(2 - 2 * np.sqrt(a) @ np.sqrt(b).T) / 0.25)


def sequences(seed, z_matters, related):
    """Strings whose share of G and C together follows z, and y that may follow C among these."""
    rng = np.random.default_rng(seed)
    z, hidden, noise = rng.normal(size=(3, 200))
    both = 0.5 + 0.25 * np.tanh(z) * z_matters
    share = 0.5 + 0.3 * np.tanh(hidden)
    y = z_matters * (z + 0.3 * np.sin(3 * z)) + noise + 0.5 * hidden * related
    return texts(200, both * share, both * (1 - share), rng), y, z if z_matters else None


def probabilities(seed, z_matters, related):
    """Dirichlet vectors whose mean follows z, and y that may follow their last probability."""
    rng = np.random.default_rng(seed)
    z, hidden, noise = rng.normal(size=(3, 200))
    seen = z_matters * z
    mean = np.exp(np.stack([seen, -seen / 2, np.sin(2 * seen), 0.8 * hidden], axis=1))
    x = rng.gamma(8 * mean / mean.sum(axis=1, keepdims=True)) + 1e-12
    y = z_matters * (z + 0.3 * np.sin(3 * z)) + noise + 0.5 * hidden * related
    return x / x.sum(axis=1, keepdims=True), y, z if z_matters else None


def line(n=150, seed=0):
    rng = np.random.default_rng(seed)
    z, e, h = rng.normal(size=(3, n))
    return z + e, z + e**2 + h, z


def test_gaussian_is_the_default():
    x, y, z = line()
    named = chsic.chsic_test(x, y, z, kernel="gaussian").to_dict()
    pair = chsic.chsic_test(x, y, z, kernel=(KERNELS["gaussian"], "gaussian")).to_dict()
    assert named == pair == chsic.chsic_test(x, y, z).to_dict()
    assert chsic.hsic_test(x, y, kernel="gaussian").pvalue == chsic.hsic_test(x, y).pvalue


def test_kernel_of_samples_is_the_named_one():
    """Without z nothing else differs: the landmarks are in another order."""
    x, y, _ = line()

    def gaussian(a, b):  # with the name of ours, and other values
        return np.exp(-((a - b.T) ** 2))

    named = chsic.hsic_test(x, y, bandwidth=1.0)
    for kernel in (gaussian, (gaussian, "gaussian"), ("gaussian", gaussian)):
        bandwidth = 1.0 if isinstance(kernel, tuple) else "auto"
        found = chsic.hsic_test(x, y, kernel=kernel, bandwidth=bandwidth)
        assert found.pvalue == pytest.approx(named.pvalue, rel=0.02)
        assert found.coefficient == pytest.approx(named.coefficient, rel=1e-3)
        assert found.statistic == pytest.approx(named.statistic, rel=1e-3)


@pytest.mark.parametrize("name", ["laplace", "cauchy", "matern32"])
def test_names(name):
    x, y, z = line()
    named = chsic.chsic_test(x, y, z, kernel=name)
    own = chsic.chsic_test(x, y, z, kernel=lambda s: 3 * KERNELS[name].kappa(s))
    assert named.pvalue < 0.01
    # kappa(0) = 3 changes nothing.
    assert own.pvalue == pytest.approx(named.pvalue, rel=1e-6)
    default = chsic.chsic_test(x, y, z)
    assert named.bandwidths == default.bandwidths
    assert named.pvalue != default.pvalue
    found = chsic.chsic_test(
        x, y, z, kernel=name, pairs="closest", alpha=6, adjust="none", augment=False, bandwidth=0.8
    )
    value = chsic.chsic(x, y, z, alpha=6, bandwidth=0.8, kernel=name)
    assert found.statistic == pytest.approx(value, rel=0.05)


def test_a_pair_is_for_x_and_for_y():
    x, y, z = line()
    both = [chsic.chsic_test(x, y, z, kernel=kernel) for kernel in ("laplace", "gaussian")]
    mixed = chsic.chsic_test(x, y, z, kernel=("laplace", "gaussian"))
    swapped = chsic.chsic_test(y, x, z, kernel=("gaussian", "laplace"))
    assert mixed.pvalue not in [one.pvalue for one in both]
    assert mixed.pvalue == pytest.approx(swapped.pvalue, rel=1e-6)


def test_one_kernel_goes_with_all_bandwidths_of_the_other():
    x, y, z = line()
    one = chsic.chsic_test(x, y, z, kernel=(rbf_kernel, "gaussian"))
    assert [h for h, _ in one.bandwidths] == [1.0, 1.0, 1.0]
    assert len(one.members) == 4
    assert one.kernels == {"x": "rbf_kernel", "y": "gaussian"}
    assert one.bandwidths[0][1] == chsic.chsic_test(x, y, z).bandwidths[0][1]
    both = chsic.chsic_test(x, y, z, kernel=rbf_kernel)
    assert [member.augmented for member in both.members] == [True, True]
    given = chsic.chsic_test(x, y, z, kernel=(rbf_kernel, "gaussian"), bandwidth=[(1, 2), (1, 3)])
    assert given.bandwidths == ((1.0, 2.0), (1.0, 3.0))
    json.dumps(both.to_dict(), allow_nan=False)


def test_kernels_see_samples_as_they_were_given():
    seen = []

    def looking(a, b):
        seen.append(a)
        return (a[:, :1] == b[:, 0]) + a[:, 1:].astype(float) @ b[:, 1:].T.astype(float)

    rng = np.random.default_rng(0)
    columns = {"ward": rng.choice(["north", "south"], 80), "dose": rng.integers(100, 200, 80)}
    data = columns | {"y": rng.normal(size=80)}
    chsic.hsic_test(["ward", "dose"], "y", data=data, kernel=(looking, "gaussian"))
    rows = {tuple(row) for a in seen for row in a}
    assert rows == set(zip(columns["ward"].tolist(), columns["dose"].astype(float), strict=True))


def test_large_n_asks_for_each_value_once():
    """A kernel of texts is slow: cost is linear in the number of different ones."""
    asked = []

    def overlap(a, b):
        asked.append(len(a))
        return np.array([[len(set(s) & set(t)) for t in b[:, 0]] for s in a[:, 0]])

    rng = np.random.default_rng(0)
    words = np.array(["".join(rng.choice(list("abcdefgh"), 5)) for _ in range(500)])
    which = rng.integers(500, size=6_000)
    score = np.array([word.count("a") for word in words])
    y = score[which] + rng.normal(size=6_000)
    found = chsic.hsic_test(words[which], y, kernel=(overlap, "gaussian"))
    assert found.pvalue < 1e-6
    assert sum(asked) < 1_000


def test_a_matrix_that_is_known():
    """Positions as samples, and a kernel that looks them up."""
    x, y, z = line()
    matrix = rbf_kernel(x[:, np.newaxis])

    def look_up(a, b):
        return matrix[np.ix_(a[:, 0].astype(int), b[:, 0].astype(int))]

    found = chsic.chsic_test(np.arange(150), y, z, kernel=(look_up, "gaussian"))
    direct = chsic.chsic_test(x, y, z, kernel=(rbf_kernel, "gaussian"))
    assert found.pvalue == pytest.approx(direct.pvalue, rel=0.05)


def test_categorical_compares_values_not_residuals():
    rng = np.random.default_rng(0)
    z = rng.normal(size=200)
    x = np.round(z + rng.normal(size=200))
    y = x + z + 0.5 * rng.normal(size=200)
    assert chsic.chsic_test(x, y, z, kernel=("categorical", "gaussian")).pvalue < 1e-6
    with pytest.raises(
        ValueError, match=r"kernel: by categorical\(a, b\), a sample of x is like 0"
    ):
        chsic.chsic_test(y, x, z, kernel="categorical")


def test_several_columns_of_z_and_strata():
    x, y, z = sequences(0, True, True)
    wide = np.column_stack([z, np.random.default_rng(1).normal(size=(200, 2))])
    for given in (wide, np.round(z), np.where(z > 0, "warm", "cold")):
        related = chsic.chsic_test(x, y, given, kernel=(spectrum, "gaussian"))
        assert related.pvalue < 0.05
        assert 0 < related.explained["x"] < 0.5


def test_function_of_z():
    _, y, z = line()
    with_caution = chsic.chsic_test(np.round(z), y, np.round(z), kernel=(rbf_kernel, "gaussian"))
    assert with_caution.pvalue == 1
    assert "x is a function of z" in with_caution.warnings[0]


@pytest.mark.levels
@pytest.mark.parametrize("draw", [sequences, probabilities])
@pytest.mark.parametrize("z_matters", [True, False])
def test_level_and_power(draw, z_matters):
    kernel = (spectrum if draw is sequences else hellinger, "gaussian")

    def pvalues(seeds, related):
        drawn = (draw(seed, z_matters, related) for seed in seeds)
        return np.array([chsic.chsic_test(*samples, kernel=kernel).pvalue for samples in drawn])

    rejected = (pvalues(range(100, 100 + SEEDS), False) <= 0.05).sum()
    assert rejected <= binom.ppf(0.999, SEEDS, 0.05)
    assert (pvalues(range(8), True) <= 0.05).sum() >= 6  # without power no level is a proof


def test_texts_that_differ_need_a_kernel():
    x, y, z = sequences(0, True, False)
    with pytest.raises(ValueError, match="200 categories"):
        chsic.chsic_test(x, y, z)
    with pytest.raises(ValueError, match="200 categories"):
        chsic.chsic_test(y, x, z, kernel=(rbf_kernel, "gaussian"))


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (lambda a, b: np.ones(len(a)), r"gave shape \(150,\)"),
        (lambda a, b: np.ones((len(a), len(b)), complex), "complex128"),
        (lambda a, b: np.log(a) @ b.T, "gave NaN or infinity, first for '-"),
        (lambda a, b: a - b.T, "not symmetric on x"),
        (lambda a, b: -a @ b.T, "not positive semi-definite on x"),
        (lambda a, b: np.tanh(a @ b.T - 2), "not positive semi-definite on x"),
        (lambda s: 1.0 * (s < 0.5), r"<lambda>\(s\) is not positive semi-definite on x"),
        (lambda a, b: np.ones((len(a), len(b))), "same for all samples of x"),
        (lambda a, b: np.exp(-((a - b.T) ** 2) * 1e9), "there is nothing to compare"),
        (
            lambda a, b: np.exp(-((a - b.T) ** 2) / np.var(a)),
            "other values for the same samples of x",
        ),
        ("box", "unknown name 'box'"),
        (("gaussian",) * 3, "a tuple is"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_errors(kernel, message):
    with pytest.raises(ValueError, match=rf"kernel: .*{message}"):
        chsic.chsic_test(*line(), kernel=kernel)


def test_more_errors():
    x, y, z = line()
    with pytest.raises(TypeError, match="kernel: expected a name"):
        chsic.chsic_test(x, y, z, kernel=3)
    with pytest.raises(ValueError, match="bandwidth: got 2, but rbf_kernel and rbf_kernel"):
        chsic.chsic_test(x, y, z, kernel=rbf_kernel, bandwidth=2)


def test_a_kernel_with_our_name_is_not_ours():
    """Values of kernels were those of the Gaussian, if a function was called so."""

    def gaussian(s):
        return 1 / (1 + s * s)

    x, y, _ = line(400)
    for own in (gaussian, Kernel(name="gaussian", kappa=gaussian)):
        test = chsic.hsic_test(x, y, kernel=own)
        assert test.pvalue == pytest.approx(chsic.hsic_test(x, y, kernel="cauchy").pvalue)
        assert test.kernels["x"] == "own gaussian"
        for engine in ("auto", "features"):
            value = chsic.hsic(x, y, kernel="cauchy", engine=engine)
            assert chsic.hsic(x, y, kernel=own, engine=engine) == pytest.approx(value, rel=1e-4)


def test_a_kernel_of_samples_has_an_interaction_with_several_columns():
    x, y, z = chsic.datasets.draw_scenario("sign", 200, 2, rng=0)

    def rbf(a, b):
        return np.exp(-((a - b.T) ** 2) / 2)

    result = chsic.chsic_test(x, y, z, kernel=(rbf, "gaussian"))
    assert [member.augmented for member in result.members] == [False, False, True, False, True]
    assert result.pvalue < 0.05
