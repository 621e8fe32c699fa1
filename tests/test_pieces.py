"""Pieces of rows give what all rows together give."""

import numpy as np
import pytest

import chsic
from chsic import independence, pieces, smooth
from chsic.datasets import draw_scenario
from chsic.smooth import Smoother
from chsic.units import units_along


def test_pieces_hold_every_unit_once_and_all_its_pairs(monkeypatch):
    monkeypatch.setattr(pieces, "ROWS", 70)
    n = 1_000
    graph = chsic.nearest_pairs(np.arange(n, dtype=float), 12)
    units = units_along(np.arange(n), 41)
    cut = pieces.cut_into_pieces(graph, units)
    assert len(cut) > 10
    assert sum(len(piece.units) for piece in cut) == len(units)
    partners, own = graph.degrees, []
    for piece in cut:
        rows = np.arange(n)[piece.rows][piece.inside]
        np.testing.assert_array_equal(piece.graph.degrees[piece.inside], partners[rows])
        assert piece.units.bounds[-1] == len(rows) <= 70
        own.append(rows)
    np.testing.assert_array_equal(np.concatenate(own), np.arange(n))


@pytest.mark.parametrize("ties", [False, True])
def test_pieces_do_not_change_the_answer(monkeypatch, ties):
    x, y, z = draw_scenario("add", 3_000, rng=0)
    if ties:
        z = np.where(z > 0, np.round(z, 3), z)
    whole = chsic.chsic_test(x, y, z, rng=0)
    monkeypatch.setattr(independence, "THREADS_FROM", 0)
    monkeypatch.setattr(pieces, "ROWS", 300)
    cut = [chsic.chsic_test(x, y, z, rng=0, workers=workers) for workers in (1, 3)]
    assert cut[0].to_dict() == cut[1].to_dict()
    assert cut[0].pvalue == pytest.approx(whole.pvalue, rel=1e-6)
    assert cut[0].coefficient == pytest.approx(whole.coefficient, rel=1e-9)
    np.testing.assert_allclose(cut[0].leave_one_out, whole.leave_one_out, rtol=1e-9)


def test_fit_on_some_samples_is_nearly_that_on_all(monkeypatch):
    x, _, z = draw_scenario("oscillating", 20_000, rng=0)
    targets, z = np.column_stack([x, np.cos(x)]), z[:, np.newaxis]
    whole, left = Smoother(z).fit(targets.__getitem__).rows(slice(None))
    monkeypatch.setattr(smooth, "FITTED", 5_000)
    some, _ = Smoother(z).fit(targets.__getitem__).rows(slice(0, 7_000))
    spread = whole.std(axis=0)
    # Both are as far off the truth as their noise lets them be: a few hundredths.
    assert np.abs(some - whole[:7_000]).mean(axis=0) == pytest.approx(
        np.zeros(2), abs=0.05 * spread.max()
    )
    assert left.mean() > 0.999  # which is why samples that were not fitted may be said to keep all
    assert np.all(left <= 1)
