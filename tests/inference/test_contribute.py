"""What rows contribute against loops over samples, and units that hold every sample once."""

import numpy as np
import pytest

import chsic
from chsic.inference.adjustment import NoAdjustment
from chsic.inference.batches import Batch
from chsic.inference.contribute import _adjusted, _unadjusted, product_sums
from chsic.inference.decide import unit_grams, unit_scale
from chsic.inference.fit_effects import FitEffects
from chsic.inference.plan import FitEffect
from chsic.inference.ridge import Ridge
from chsic.inference.units import Units, interleave, units_in_space, units_in_strata


def whole(graph, units=None):
    """All samples as one batch."""
    n = graph.n_samples
    units = Units(np.arange(n), np.arange(n + 1)) if units is None else units
    return Batch(slice(0, n), None, graph, slice(0, n), units, interleave(units.order, 7))


def test_grams_are_the_literal_sums():
    """observed, null and centre against loops over samples."""
    rng = np.random.default_rng(2)
    n = 12
    u, v, z = rng.normal(size=(n, 3)), rng.normal(size=(n, 2)), rng.normal(size=n)
    graph = chsic.nearest_pairs(z, 4)
    units = Units(rng.permutation(n), np.array([0, 3, 4, 8, 12]))
    noise_x, noise_y = rng.uniform(0.5, 1, (2, n))
    batch = whole(graph, units)
    x, y = (_adjusted(f, noise, batch) for f, noise in ((u, noise_x), (v, noise_y)))
    weights = np.ones((4, 4))
    effect = FitEffect(0.9, 0.8, 0.7)
    grams = unit_grams(product_sums(x, y, batch, batch.units), effect)
    lap, partners = graph.laplacian().toarray(), graph.degrees
    contributions, products, centre = [], [], []
    for a, b in zip(units.bounds[:-1], units.bounds[1:], strict=True):
        c, p, t = np.zeros((3, 2)), np.zeros((3, 2)), 0.0
        for i in units.order[a:b]:
            w = (lap[i] ** 2).sum() / (noise_x[i] * noise_y[i])
            c += (
                sum(lap[i, j] * (np.outer(u[i], v[j]) + np.outer(u[j], v[i])) for j in range(n)) / 2
            )
            p += np.sqrt(w) * np.outer(u[i], v[i])
            t += w * (u[i] @ u[i]) * (v[i] @ v[i])
        contributions.append(c.ravel())
        products.append(p.ravel())
        centre.append(t)
    # What differences over pairs show of the variance, over what samples alone do.
    ratio = effect.of_both / (effect.of_x * effect.of_y)
    for values, noise in ((u, noise_x), (v, noise_y)):
        over_pairs = sum(
            ((values[i] - values[j]) ** 2).sum() for i, j in zip(graph.i, graph.j, strict=True)
        )
        ratio *= over_pairs / sum(partners[i] * values[i] @ values[i] / noise[i] for i in range(n))
    assert (lap**2).sum(axis=1) == pytest.approx(partners**2 + partners)
    np.testing.assert_allclose(grams.observed, np.array(contributions) @ np.array(contributions).T)
    # Products of partners, which are larger here than those of samples with themselves.
    lengths_x, lengths_y = (u**2).sum(axis=1) / noise_x, (v**2).sum(axis=1) / noise_y
    of_partners = sum(
        lengths_x[i] * lengths_y[j] for i in range(n) for j in range(n) if lap[i, j] == -1
    )
    wider = of_partners / (partners * lengths_x * lengths_y).sum()
    assert wider > 1
    np.testing.assert_allclose(
        grams.null, wider * ratio * np.array(products) @ np.array(products).T
    )
    np.testing.assert_allclose(grams.centre, ratio * np.array(centre))
    total = np.einsum("ij,ia,jb->ab", lap, u, v)
    assert grams.statistic == pytest.approx((total**2).sum())
    # All ordered pairs of different samples against those of different units.
    sizes = units.sizes
    scale = np.sqrt((n**2 - n) / (n**2 - (sizes**2).sum()))
    for kernel in (None, weights):
        assert unit_scale(kernel, sizes, sizes.sum()) == pytest.approx(scale)
        np.testing.assert_allclose(grams.weighted(kernel, scale, 1.0).null, scale * grams.null)


@pytest.mark.parametrize("adjusted", [False, True])
def test_the_null_is_never_narrower_for_what_partners_show(adjusted):
    """x and y are far off in the same samples: their own products are larger than partners'."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=40)
    u = rng.normal(size=(40, 1)) * (1 + 5 * (rng.random((40, 1)) < 0.2))
    graph = chsic.nearest_pairs(z, 6)
    batch = whole(graph)
    x = _adjusted(u, np.ones(40), batch) if adjusted else _unadjusted(u, batch, np.zeros(1))
    np.testing.assert_allclose(x.lap_lengths, graph.laplacian() @ x.lengths)
    sums = product_sums(x, x, batch, batch.units)
    assert sums.over_pairs[1] < sums.over_pairs[0]
    null = unit_grams(sums, FitEffect()).null
    spreads = sums.spreads[:, 0].prod() / sums.spreads[:, 1].prod()
    np.testing.assert_allclose(null, spreads * sums.products @ sums.products.T)


def test_unadjusted_residuals_are_differences_to_partners():
    rng = np.random.default_rng(3)
    u, z = rng.normal(size=(10, 2)), rng.normal(size=10)
    graph = chsic.nearest_pairs(z, 4)
    batch = whole(graph)
    centred, noise = NoAdjustment(10).fit(u.__getitem__).fit.residuals(u, batch)
    assert noise is None
    made = _unadjusted(centred, batch, np.zeros(2))
    for i in range(10):
        partners = [*graph.j[graph.i == i], *graph.i[graph.j == i]]
        np.testing.assert_allclose(made.alone[i], u[i] - u[partners].mean(axis=0), atol=1e-12)
        assert made.noise[i] == pytest.approx(1 + 1 / len(partners))


def test_units_hold_every_sample_once():
    rng = np.random.default_rng(4)
    strata = rng.integers(0, 5, 203)
    for units in (units_in_space(rng.normal(size=(203, 3)), 40), units_in_strata(strata, 40)):
        assert sorted(units.order) == list(range(203))
        assert units.bounds[0] == 0
        assert units.bounds[-1] == 203
        assert units.sizes.min() >= 1
    for a, b in zip(units.bounds[:-1], units.bounds[1:], strict=True):
        assert len(set(strata[units.order[a:b]])) == 1


def test_folds_hold_samples_from_everywhere_once():
    order = np.random.default_rng(4).permutation(203)
    place = np.argsort(order)
    folds = interleave(order, 40)
    assert sorted(folds.order) == list(range(203))
    for a, b in zip(folds.bounds[:-1], folds.bounds[1:], strict=True):
        places = np.sort(place[folds.order[a:b]])
        assert set(np.diff(places)) == {40}
    # Folds of two parts of the order, the second of which has fewer samples than there are folds.
    first, second = interleave(order[:190], 40), interleave(order[190:], 40, first=190)
    for fold in range(40):
        joined = [part.order[part.bounds[fold] : part.bounds[fold + 1]] for part in (first, second)]
        whole = folds.order[folds.bounds[fold] : folds.bounds[fold + 1]]
        assert sorted(np.concatenate(joined)) == sorted(whole)


def test_fit_effect_is_that_of_the_matrices():
    """tr(Lap A_x), tr(Lap A_y) and tr(Lap A_x Lap A_y), A = (I - S)^2."""
    rng = np.random.default_rng(5)
    n = 60
    z = rng.normal(size=(n, 2))
    graph = chsic.nearest_pairs(z, 6)
    lap, ridge = graph.laplacian().toarray(), Ridge(z)
    targets = [np.column_stack([np.sin(3 * z[:, 0]), rng.normal(size=n)]), rng.normal(size=(n, 1))]
    fits = [ridge.fit(columns) for columns in targets]
    squares = []
    for fitted in fits:
        directions = fitted.directions.values
        square = np.eye(n) + directions @ np.diag(fitted.fit.spent) @ directions.T
        np.testing.assert_allclose(np.diag(square), fitted.noise, atol=1e-9)
        squares.append(square)
    a, b = squares
    effect = effect_of(graph, *fits)
    assert effect.of_x == pytest.approx(np.trace(lap @ a) / np.trace(lap))
    assert effect.of_y == pytest.approx(np.trace(lap @ b) / np.trace(lap))
    assert effect.of_both == pytest.approx(np.trace(lap @ a @ lap @ b) / np.trace(lap @ lap))
    unfitted = NoAdjustment(n).fit(targets[0].__getitem__)
    assert effect_of(graph, unfitted, unfitted) == FitEffect(1, 1, 1)


def effect_of(graph, x, y):
    [effect] = FitEffects(graph).of([(x, y)])
    return effect


def test_fit_effect_is_what_noise_does():
    """The mean over draws of noise of what the effect says."""
    rng = np.random.default_rng(6)
    n = 40
    z = rng.normal(size=(n, 3))
    graph = chsic.nearest_pairs(z, 8)
    lap, fitted = graph.laplacian().toarray(), Ridge(z).fit(rng.normal(size=(n, 1)))
    directions = fitted.directions.values
    remainder = np.eye(n) - directions @ np.diag(fitted.fit.shrinkage) @ directions.T
    n_draws = 100_000
    x, y = (remainder @ rng.normal(size=(n, n_draws)) for _ in range(2))
    statistics = (x * (lap @ y)).sum(axis=0) ** 2
    effect = effect_of(graph, fitted, fitted)
    expected = effect.of_both * (lap**2).sum()
    assert effect.of_both < 0.95  # four times what chance allows below
    assert statistics.mean() == pytest.approx(expected, abs=4 * statistics.std() / n_draws**0.5)
