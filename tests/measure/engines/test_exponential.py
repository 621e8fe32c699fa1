"""The exponential engine: exact sums for kernels with a kink."""

import numpy as np
import pytest

import chsic
from chsic.kernels import KERNELS
from chsic.kernels.bandwidth import in_bandwidths
from chsic.measure.engines import exponential
from chsic.measure.engines.choose import c_hsic
from tests.measure.engines.cases import GRAPHS, agree, columns, graph_of


@pytest.mark.parametrize("kernel", ["laplace", "matern32"])
@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("kinds", [("normal", "heavy tails"), ("clusters", "offset"),
                                   ("repeated", "outlier"), ("counts", "tiny")])  # fmt: skip
def test_exponential_sums_are_exact(kernel, graph, kinds):
    rng = np.random.default_rng(2)
    x, y, z = (columns(kind, rng, 333) for kind in (*kinds, "normal"))
    pairs = graph_of(graph, z, rng)
    settings = {"pairs": pairs, "kernel": kernel}
    exact = chsic.chsic(x, y, z, engine="dense", **settings)
    scaled = in_bandwidths(x[:, None], y[:, None], "paper")
    value, error = c_hsic(exponential.exponential_sums(*scaled, pairs, KERNELS[kernel]))
    assert agree(value, exact, pairs, error)
    if "outlier" not in kinds:  # beside which others are equal, and all but rounding cancels
        assert error < 1e-9
        value = chsic.chsic(x, y, z, engine="exponential", **settings)
        assert value == pytest.approx(exact, rel=1e-9)


def test_exponential_sums_by_hand():
    rng = np.random.default_rng(3)
    x, y, w = rng.normal(size=(3, 50)) * [[4.0], [9.0], [1.0]]
    x[:10] = x[10:20]  # ties
    for kernel in (KERNELS["laplace"], KERNELS["matern32"]):
        k, q = (kernel.kappa(np.abs(a[:, None] - a)) for a in (x, y))
        assert exponential.pair_sum(x, y, w, kernel.slope) == pytest.approx(
            w @ (k * q) @ w, rel=1e-12
        )
        np.testing.assert_allclose(exponential.row_sums(x, kernel.slope), k.sum(axis=1), rtol=1e-12)


def test_exponential_refuses_what_it_is_not_made_for(monkeypatch):
    x, y, z = chsic.datasets.m_minus(100, 10.0, 0)
    with pytest.raises(ValueError, match="is for 'laplace' and 'matern32', got 'gaussian'"):
        chsic.hsic(x, y, engine="exponential")
    with pytest.raises(ValueError, match="one column, got 2 and 1"):
        chsic.hsic(np.column_stack([x, z]), y, engine="exponential", kernel="laplace")
    spread = np.arange(100) * 10.0  # no gap is long, but the range is
    with pytest.raises(ValueError, match="reach over 990 bandwidths"):
        chsic.hsic(spread, y, engine="exponential", kernel="laplace", bandwidth=1.0)
    monkeypatch.setattr(exponential, "LARGEST_LIST", 100)
    with pytest.raises(ValueError, match="lists 500 entries of the Laplacian"):
        chsic.chsic(x, y, z, engine="exponential", kernel="laplace")
