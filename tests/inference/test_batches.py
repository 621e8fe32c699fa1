"""Batches of rows give what all rows together give."""

import numpy as np
import pytest

import chsic
from chsic._util import arrays
from chsic.datasets import draw_scenario
from chsic.inference import batches, compare, ridge
from chsic.inference.batches import Strata
from chsic.inference.ridge import Ridge
from chsic.inference.units import units_along, units_in_space, units_in_strata
from chsic.pairs.neighbour_lists import Neighbours


def test_batches_hold_every_unit_once_and_all_its_pairs(monkeypatch):
    monkeypatch.setattr(arrays, "BLOCK_ROWS", 70)
    n = 1_000
    graph = chsic.nearest_pairs(np.arange(n, dtype=float), 12)
    units = units_along(np.arange(n), 41)
    cut = batches.cut_into_batches(graph, units)
    assert len(cut) > 10
    assert sum(len(batch.units) for batch in cut) == len(units)
    partners, own = graph.degrees, []
    for batch in cut:
        samples = np.arange(n)[batch.rows][batch.inside]
        np.testing.assert_array_equal(batch.pairs.degrees[batch.inside], partners[samples])
        assert batch.units.bounds[-1] == len(samples) <= 70
        own.append(samples)
    np.testing.assert_array_equal(np.concatenate(own), np.arange(n))


def test_batches_in_space_know_all_partners(monkeypatch):
    monkeypatch.setattr(batches, "ROWS_IN_SPACE", 70)
    rng = np.random.default_rng(0)
    z, values = rng.normal(size=(2, 500, 2))
    graph = chsic.nearest_pairs(z, 6)
    units = units_in_space(z, 33)
    whole = graph.laplacian() @ values
    for rim in (1, 2):
        cut = batches.cut_into_batches(graph, units, rim=rim)
        assert len(cut) > 5
        for batch in cut:
            lap = batch.pairs.laplacian_times(values[batch.rows])
            known = batch.rows[: len(lap)]
            np.testing.assert_allclose(lap, whole[known], atol=1e-12)
            inside = batch.rows[batch.inside]
            of_units = units.order[units.bounds[batch.first_unit] :][: len(inside)]
            np.testing.assert_array_equal(inside, of_units)
            if rim == 2:  # also those of the partners
                assert set(graph.lists.beside(inside)) <= set(known)


@pytest.mark.parametrize("sizes", [(1_000,), (3, 500, 2, 40, 40, 300, 2, 113), (2,) * 500])
def test_parts_of_strata_hold_every_sample_once(monkeypatch, sizes):
    monkeypatch.setattr(arrays, "BLOCK_ROWS", 90)
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    units = units_in_strata(labels, 30)
    strata = Strata(labels, units.order)
    assert sorted(np.concatenate([part.rows for part in strata.parts])) == list(range(1_000))
    for part in strata.parts:
        here = labels[part.rows]
        np.testing.assert_array_equal(strata.sizes[here], part.sizes[part.labels])
        whole = np.bincount(here, minlength=len(sizes))[here] == strata.sizes[here]
        assert whole.all() == (part.part_of is None)
        assert part.part_of is None or set(here) == {part.part_of}
        assert len(part.rows) <= 90
    cut = batches.cut_into_batches(chsic.complete_pairs(1_000), units, strata=strata)
    counted = np.zeros(len(units), int)
    for batch in cut:
        counted[batch.first_unit : batch.first_unit + len(batch.units)] += batch.units.sizes
    np.testing.assert_array_equal(counted, units.sizes)


def test_lists_of_partners_are_those_of_the_graph():
    rng = np.random.default_rng(1)
    nearest = rng.integers(0, 80, (80, 5))
    lists = Neighbours.of_directed(nearest)
    pairs = {(min(i, j), max(i, j)) for i, row in enumerate(nearest) for j in row if i != j}
    assert sorted(pairs) == list(zip(*(ends.tolist() for ends in lists.pairs()), strict=True))
    ranks = rng.integers(lists.n_pairs, size=20)
    for some, all_of_them in zip(lists.pairs(ranks), lists.pairs(), strict=True):
        np.testing.assert_array_equal(some, all_of_them[ranks])
    again = Neighbours.of_pairs(*lists.pairs(), 80)
    np.testing.assert_array_equal(again.partners, lists.partners)
    np.testing.assert_array_equal(again.starts, lists.starts)


def questions():
    x, y, z = draw_scenario("add", 3_000, rng=0)
    rng = np.random.default_rng(0)
    plane = np.column_stack([z, rng.normal(size=3_000)])
    yield "line", (x, y, z), {}
    yield "ties on a line", (x, y, np.where(z > 0, np.round(z, 3), z)), {}
    yield "without a regression", (x, y, z), {"adjust": "none"}
    yield "closest", (x, y, z), {"pairs": "closest", "alpha": 4}
    yield "plane", (x, y, plane), {}
    yield "plane without a regression", (x, y, plane), {"adjust": "none"}
    yield "strata", (x, y, np.round(z)), {}
    yield "many strata", (x, y, np.where(z > 0, 0, np.arange(3_000) // 4).astype(float)), {}
    yield "no z", (x, y), {}


@pytest.mark.parametrize(("samples", "settings"), [q[1:] for q in questions()],
                         ids=[q[0] for q in questions()])  # fmt: skip
def test_batches_do_not_change_the_answer(monkeypatch, samples, settings):
    whole = chsic.chsic_test(*samples, rng=0, **settings)
    monkeypatch.setattr(compare, "THREADS_FROM", 0)
    monkeypatch.setattr(arrays, "BLOCK_ROWS", 300)
    monkeypatch.setattr(batches, "ROWS_IN_SPACE", 600)
    cut = [chsic.chsic_test(*samples, rng=0, workers=w, **settings) for w in (1, 3)]
    assert cut[0].to_dict() == cut[1].to_dict()
    assert cut[0].pvalue == pytest.approx(whole.pvalue, rel=1e-6)
    assert cut[0].coefficient == pytest.approx(whole.coefficient, rel=1e-9)
    np.testing.assert_allclose(cut[0].leave_one_out, whole.leave_one_out, rtol=1e-9)


def test_fit_on_some_samples_is_nearly_that_on_all(monkeypatch):
    x, _, z = draw_scenario("oscillating", 20_000, rng=0)
    targets, z = np.column_stack([x, np.cos(x)]), z[:, np.newaxis]
    fitted = Ridge(z).fit(targets)
    whole, noise = fitted.residuals, fitted.noise
    monkeypatch.setattr(ridge, "LARGEST_FIT", 5_000)
    of_some = Ridge(z)
    fit = of_some.fit(targets[of_some.rows]).fit
    some, _ = fit.residuals(targets[:7_000], batches.Batch.at(slice(0, 7_000), z=z[:7_000]))
    spread = whole.std(axis=0)
    # Both are as far off the truth as their noise lets them be: a few hundredths.
    assert np.abs(some - whole[:7_000]).mean(axis=0) == pytest.approx(
        np.zeros(2), abs=0.05 * spread.max()
    )
    assert noise.mean() > 0.999  # which is why samples that were not fitted may be said to keep all
    assert np.all(noise <= 1)
