"""Bad input: an error that names the argument, says what arrived, and what to do."""

import numpy as np
import pytest

import chsic
from chsic.kernels import Kernel
from chsic.measure.comparison import compare
from chsic.measure.figure1 import simulate

rng = np.random.default_rng(0)
X, Y, Z = rng.normal(size=(3, 20))


def replaced(values, index, value):
    copy = values.copy()
    copy[index] = value
    return copy


BAD_SAMPLES = [
    (X[:-1], ValueError, r"x has 19, y has 20"),
    (X[:3], ValueError, r"has 3"),
    ([], ValueError, r"has 0"),
    (3.0, ValueError, r"shape \(\)"),
    (X.reshape(5, 2, 2), ValueError, r"shape \(5, 2, 2\)"),
    (np.empty((20, 0)), ValueError, r"shape \(20, 0\)"),
    ([[1, 2], [3]], ValueError, r"rectangular"),
    (replaced(X, 4, np.nan), ValueError, r"1 of 20 samples are missing; use nan_policy='omit'"),
    (replaced(X, 7, -np.inf), ValueError, r"first at row 7"),
    (["a"] * 20, ValueError, r"every value is 'a'"),
    (["a", 1.5] * 10, TypeError, r"expected numbers, got 'a' at row 0; .*'category'"),
    (np.array([None] * 20), ValueError, r"20 of 20 samples are missing"),
    (np.ma.array(X, mask=np.arange(20) < 3), ValueError, r"3 of 20 samples are missing"),
    ([10**400 + k for k in range(20)], ValueError, r"overflow"),
    (2**62 + np.arange(20), ValueError, r"in double precision"),
    (X + 1j, TypeError, r"complex"),
    (np.full(20, 2.5), ValueError, r"every value is 2.5.*bandwidth of zero"),
    (np.column_stack([Y, np.zeros(20)]), ValueError, r"column .\[1\]: every value is 0"),
    (X / np.abs(X).max() * 1.7e308, ValueError, r"overflow"),
]


@pytest.mark.parametrize(("bad", "error", "message"), BAD_SAMPLES)
def test_bad_x_is_refused(bad, error, message):
    with pytest.raises(error, match=message) as caught:
        chsic.hsic(bad, Y)
    assert "x" in str(caught.value).split(":")[0]
    with pytest.raises(error, match=message):
        chsic.chsic(bad, Y, Z)


@pytest.mark.parametrize(("bad", "error", "message"), BAD_SAMPLES)
def test_bad_y_and_z_are_refused(bad, error, message):
    message = message.replace("x has 19, y has 20", "19")
    with pytest.raises(error, match=message) as caught:
        chsic.chsic(X, bad, Z)
    assert "y" in str(caught.value).split(":")[0]
    with pytest.raises(error, match=message) as caught:
        chsic.chsic(X, Y, bad)
    assert "z" in str(caught.value).split(":")[0]


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"alpha": 0.5}, ValueError, r"alpha: must lie between 1 and n - 1 = 19.*got 0.5"),
        ({"alpha": 20}, ValueError, r"alpha: .*got 20"),
        ({"alpha": np.nan}, ValueError, r"alpha: expected a finite number"),
        ({"alpha": 10**400}, ValueError, r"alpha: expected a finite number"),
        ({"alpha": "4"}, TypeError, r"alpha: expected a number, got '4'"),
        ({"alpha": True}, TypeError, r"alpha: expected a number"),
        ({"pairs": "nearest"}, ValueError, r"pairs: .*'closest', 'random', 'complete'"),
        ({"pairs": None}, ValueError, r"pairs: unknown choice None"),
        ({"pairs": chsic.complete_pairs(5)}, ValueError, r"pairs: .*5 samples.*have 20"),
        ({"kernel": "box"}, ValueError, r"kernel: .*'gaussian', 'laplace', 'cauchy', 'matern32'"),
        ({"kernel": 3}, TypeError, r"kernel: expected"),
        ({"kernel": lambda s: s / 0 * np.nan}, ValueError, r"kernel: .*NaN"),
        ({"kernel": Kernel(name="u", kappa=lambda s: s * np.nan)}, ValueError, r"u\(s\) gave NaN"),
        ({"kernel": lambda s: s.sum()}, ValueError, r"kernel: .*shape \(\)"),
        ({"kernel": lambda s: s + 0j}, ValueError, r"kernel: .*complex"),
        ({"bandwidth": "silverman"}, ValueError, r"bandwidth: .*'paper', 'median'"),
        ({"bandwidth": 0}, ValueError, r"bandwidth: must be positive, got 0"),
        ({"bandwidth": -1.0}, ValueError, r"bandwidth: must be positive, got -1"),
        ({"bandwidth": np.inf}, ValueError, r"bandwidth: expected a finite"),
        ({"bandwidth": 1e9}, ValueError, r"bandwidth: .*constant up to rounding"),
        ({"bandwidth": 1e-309}, ValueError, r"bandwidth: .*too small"),
        ({"bandwidth": (1, 2, 3)}, ValueError, r"bandwidth: a tuple is \(for x, for y\), got 3"),
        ({"bandwidth": None}, TypeError, r"bandwidth: expected a number"),
        ({"engine": "gpu"}, ValueError, r"engine: .*'auto', 'dense'"),
        ({"rng": "seed"}, TypeError, r"rng: expected"),
        ({"rng": "seed", "pairs": "random"}, TypeError, r"rng: expected"),
        ({"rng": -1, "pairs": "random"}, TypeError, r"rng: expected"),
        ({"rng": True, "pairs": "random"}, TypeError, r"rng: expected"),
        (
            {"rng": np.random.RandomState(0), "pairs": "random"},
            TypeError,
            r"rng: expected",
        ),
    ],
)
def test_bad_settings_are_refused(settings, error, message):
    with np.errstate(all="ignore"), pytest.raises(error, match=message):
        chsic.chsic(X, Y, Z, **settings)


def test_median_bandwidth_of_mostly_equal_values_is_refused():
    x = replaced(np.zeros(20), 0, 1.0)
    with pytest.raises(ValueError, match=r"bandwidth: the median distance .* x is zero"):
        chsic.hsic(x, Y, bandwidth="median")
    assert chsic.hsic(x, Y, bandwidth="paper") > 0


@pytest.mark.parametrize(
    ("i", "j", "n", "error", "message"),
    [
        ([0], [1, 2], 5, ValueError, "same length"),
        ([], [], 5, ValueError, "at least one pair"),
        ([0, 1], [1, 1], 5, ValueError, "sample 1 is paired with itself"),
        ([0, 1], [1, 0], 5, ValueError, r"pair \(0, 1\) is listed more than once"),
        ([0], [5], 5, ValueError, "j: must lie between 0 and n_samples - 1 = 4"),
        ([-1], [2], 5, ValueError, "i: must lie"),
        ([0.0], [1], 5, TypeError, "i: expected a 1-D array of whole numbers"),
        ([[0]], [[1]], 5, TypeError, "i: expected a 1-D array"),
        ([[0], [1, 2]], [1], 5, ValueError, "i: .*different lengths"),
        ([0], [1], 10**20, ValueError, "n_samples: at most"),
        ([0], [1], 3, ValueError, "n_samples: expected at least 4"),
        ([0], [1], 5.0, TypeError, "n_samples: expected a whole number"),
    ],
)
def test_bad_pair_graphs_are_refused(i, j, n, error, message):
    with pytest.raises(error, match=message):
        chsic.PairGraph(i, j, n)


@pytest.mark.parametrize("model", [chsic.datasets.m_plus, chsic.datasets.m_minus])
def test_bad_arguments_of_models_are_refused(model):
    with pytest.raises(ValueError, match=r"gamma: .*negative"):
        model(10, -3.0)
    with pytest.raises(TypeError, match="gamma: expected a number"):
        model(10, "10 dB")
    with pytest.raises(ValueError, match="n: expected at least 4"):
        model(3, 1.0)
    with pytest.raises(TypeError, match="n: expected a whole number"):
        model(10.0, 1.0)


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([0, 0, 1], "one for each of the 4 samples"),
        ([0, 1, 1, 1], r"the pair \(0, 1\) joins block 0 with block 1"),
        ([0, 0, 2, 2], "block 1 is empty"),
        ([0, 0, 9, 9], "blocks: must lie between 0 and"),
    ],
)
def test_bad_blocks_are_refused(blocks, message):
    with pytest.raises(ValueError, match=message):
        chsic.PairGraph([0], [1], 4, blocks=blocks)


@pytest.mark.parametrize("kernel", sorted(chsic.kernels.KERNELS))
def test_values_too_large_for_their_bandwidth_are_refused(kernel):
    with pytest.raises(ValueError, match="bandwidth: 1 is too small for x"):
        chsic.hsic(X * 1e200, Y, bandwidth=1.0, kernel=kernel)


def test_an_outlier_beside_which_all_distances_vanish_is_refused():
    z = np.column_stack([Z, Y])
    z[3] = 1e200
    with pytest.raises(ValueError, match="z: some values are so large"):
        chsic.chsic(X, Y, z)


def test_bad_counts_are_refused():
    for make in (chsic.complete_pairs, lambda n: chsic.random_pairs(n, 1)):
        with pytest.raises(ValueError, match="n: expected at least 4, got 3"):
            make(3)
    with pytest.raises(ValueError, match="alpha:"):
        chsic.random_pairs(10, 10)
    with pytest.raises(ValueError, match="trials: expected at least 2"):
        simulate(trials=1)
    with pytest.raises(ValueError, match="workers: expected at least 1"):
        simulate(workers=0)
    with pytest.raises(ValueError, match="n_controls: expected at least 1"):
        compare(X, Y, Z, n_controls=0)


def test_a_kernel_without_a_known_window_is_refused():
    kernel = chsic.kernels.as_kernel(lambda s: np.exp(-s))
    with pytest.raises(ValueError, match="window G of '<lambda>' is not known; use one of 'gauss"):
        kernel.window(1.0)
    for h in (0, -1.0):
        with pytest.raises(ValueError, match="bandwidth: must be positive"):
            chsic.kernels.KERNELS["gaussian"].window(h)


@pytest.mark.parametrize(
    ("values", "what"),
    [([np.inf], "infinite"), ([np.nan], "missing or NaN"), ([np.inf, np.nan], "NaN or infinite")],
)
def test_values_that_are_not_finite_are_called_what_they_are(values, what):
    z = np.random.default_rng(0).normal(size=20)
    z[: len(values)] = values
    with pytest.raises(ValueError, match=f"z: {len(values)} of 20 samples are .*{what} "):
        chsic.closest_pairs(z, 4)
