"""Gram matrices of the units against loops over samples, and units that hold every sample once."""

import numpy as np
import pytest

import chsic
from chsic.adjust import Unadjusted
from chsic.grams import residuals_alone, share_of, unit_grams
from chsic.pairs.entries import degrees
from chsic.units import Units, units_in_space, units_in_strata


def test_grams_are_the_literal_sums():
    """observed, null and centre against loops over samples."""
    rng = np.random.default_rng(2)
    n = 12
    u, v, z = rng.normal(size=(n, 3)), rng.normal(size=(n, 2)), rng.normal(size=n)
    graph = chsic.nearest_pairs(z, 4)
    units = Units(rng.permutation(n), np.array([0, 3, 4, 8, 12]))
    left_x, left_y = rng.uniform(0.5, 1, (2, n))
    x, y = (residuals_alone(f, left, graph) for f, left in ((u, left_x), (v, left_y)))
    weights = np.ones((4, 4))
    grams = unit_grams([share_of(x, y, units)])
    lap, partners = graph.laplacian().toarray(), degrees(graph)
    contributions, products, centre = [], [], []
    for a, b in zip(units.bounds[:-1], units.bounds[1:], strict=True):
        c, p, t = np.zeros((3, 2)), np.zeros((3, 2)), 0.0
        for i in units.order[a:b]:
            w = (lap[i] ** 2).sum() / (left_x[i] * left_y[i])
            c += (
                sum(lap[i, j] * (np.outer(u[i], v[j]) + np.outer(u[j], v[i])) for j in range(n)) / 2
            )
            p += np.sqrt(w) * np.outer(u[i], v[i])
            t += w * (u[i] @ u[i]) * (v[i] @ v[i])
        contributions.append(c.ravel())
        products.append(p.ravel())
        centre.append(t)
    # What differences over pairs show of the variance, over what samples alone do.
    ratio = 1.0
    for values, left in ((u, left_x), (v, left_y)):
        over_pairs = sum(
            ((values[i] - values[j]) ** 2).sum() for i, j in zip(graph.i, graph.j, strict=True)
        )
        ratio *= over_pairs / sum(partners[i] * values[i] @ values[i] / left[i] for i in range(n))
    assert (lap**2).sum(axis=1) == pytest.approx(partners**2 + partners)
    np.testing.assert_allclose(grams.observed, np.array(contributions) @ np.array(contributions).T)
    np.testing.assert_allclose(grams.null, ratio * np.array(products) @ np.array(products).T)
    np.testing.assert_allclose(grams.centre, ratio * np.array(centre))
    total = np.einsum("ij,ia,jb->ab", lap, u, v)
    assert grams.statistic == pytest.approx((total**2).sum())
    # All ordered pairs of different samples against those of different units.
    sizes = units.sizes
    scale = np.sqrt((n**2 - n) / (n**2 - (sizes**2).sum()))
    np.testing.assert_allclose(grams.weighted(None, sizes).null, scale * grams.null)
    np.testing.assert_allclose(grams.weighted(weights, sizes).null, scale * grams.null)


def test_unadjusted_residuals_are_differences_to_partners():
    rng = np.random.default_rng(3)
    u, z = rng.normal(size=(10, 2)), rng.normal(size=10)
    graph = chsic.nearest_pairs(z, 4)
    made = residuals_alone(*Unadjusted().fit(u.__getitem__)(slice(None)), graph)
    for i in range(10):
        partners = [*graph.j[graph.i == i], *graph.i[graph.j == i]]
        np.testing.assert_allclose(made.alone[i], u[i] - u[partners].mean(axis=0), atol=1e-12)
        assert made.left[i] == pytest.approx(1 + 1 / len(partners))


def test_units_hold_every_sample_once():
    rng = np.random.default_rng(4)
    strata = rng.integers(0, 5, 203)
    for units in (units_in_space(rng.normal(size=(203, 3)), 40), units_in_strata(strata, 40, rng)):
        assert sorted(units.order) == list(range(203))
        assert units.bounds[0] == 0
        assert units.bounds[-1] == 203
        assert units.sizes.min() >= 1
    for a, b in zip(units.bounds[:-1], units.bounds[1:], strict=True):
        assert len(set(strata[units.order[a:b]])) == 1
