"""Where x and y never vary together given z, nothing is said of their relation."""

import dataclasses
import json

import numpy as np
import pytest

import chsic
from chsic.data.cleaning import without_rounding
from chsic.pairs.joint_variation import vary_together

NEVER = "x and y never vary together given z"


def disjoint(kind, n=200, seed=0):
    """x varies for one half of z and y for the other."""
    rng = np.random.default_rng(seed)
    z = np.arange(n) % 2 if kind == "strata" else np.linspace(-1, 1, n)
    low = z < 0.5 if kind == "strata" else z < -0.2
    high = ~low if kind == "strata" else z > 0.2
    x = np.where(low, rng.integers(0, 2, n), 0)
    y = np.where(high, rng.integers(0, 2, n), 0)
    return x, y, z


def settings():
    yield "strata", {}
    yield "strata", {"adjust": "none"}
    for pairs in ("nearest", "closest", "blocks"):
        yield "line", {"pairs": pairs, "adjust": "none"}
        yield "line", {"pairs": pairs}
    yield "line", {"pairs": chsic.closest_pairs(np.linspace(-1, 1, 200), 3), "adjust": "none"}


@pytest.mark.parametrize(("kind", "chosen"), list(settings()))
def test_rounding_is_no_evidence(kind, chosen):
    found = chsic.chsic_test(*disjoint(kind), rng=0, **chosen)
    assert found.pvalue == 1
    assert found.coefficient == found.statistic == found.estimate == 0
    assert any(NEVER in sentence for sentence in found.warnings)
    assert found.confidence_interval() == (-1, 1)
    assert repr(found)
    json.dumps(found.to_dict(), allow_nan=False)


def test_numbers_that_vary_in_disjoint_ranges_of_z():
    rng = np.random.default_rng(1)
    z = rng.integers(0, 6, 300).astype(float)
    x, y = np.where(z < 3, rng.normal(size=300), 7), np.where(z < 3, -3, rng.normal(size=300))
    found = chsic.chsic_test(x, y, z, rng=0)
    assert found.pvalue == 1
    assert NEVER in found.warnings[0]


def test_rounding_within_strata_is_no_variation():
    """x is 0.3 in all rows of a stratum, but for what sums of tenths leave in the last bit."""
    rng = np.random.default_rng(0)
    z = np.repeat([0.0, 1.0], 100)
    noise = np.array([0.1 + 0.2, 0.3])[rng.integers(0, 2, 200)]
    x = np.where(z == 0, rng.normal(size=200), noise)
    y = np.where(z == 1, (noise > 0.3) * 1.0, 5.0)
    assert chsic.chsic_test(x, y, z, rng=0).pvalue == 1
    assert chsic.chsic_test(noise, y, z, rng=0).pvalue == 1


@pytest.mark.levels
@pytest.mark.parametrize("as_text", [True, False])
def test_rare_independent_binaries(as_text):
    """At a true 0.05, more than 20 of 200 come up in 1 of 1,000 cases; 53 of 236 were rejected."""
    rng = np.random.default_rng(5)
    rejected = tests = 0
    while tests < 200:
        n, levels = rng.integers(20, 201), rng.integers(4, 21)
        x, y = (rng.random((2, n)) < rng.choice([0.02, 0.05, 0.1])).astype(float)
        z = rng.integers(0, levels, n)
        if np.ptp(x) and np.ptp(y):
            z = z.astype(str).astype(object) if as_text else z
            found = chsic.chsic_test(x, y, z, n_resamples=199, rng=0)
            assert found.pvalue > 1e-4
            assert np.isfinite(found.confidence_interval()).all()
            rejected, tests = rejected + (found.pvalue <= 0.05), tests + 1
    assert rejected <= 20


def test_screen_tells_pairs_that_never_vary_together():
    x, y, z = disjoint("strata")
    noise = np.random.default_rng(0).normal(size=200)
    found = chsic.screen({"x": x, "y": y, "noise": noise, "z": z}, "z", rng=0)
    [pair] = [pair for pair in found if {pair.x, pair.y} == {"x", "y"}]
    assert pair.pvalue == 1
    assert (pair.low, pair.high) == (-1, 1)
    assert NEVER in pair.warnings[0]
    assert NEVER in chsic.Discovery({"x": x, "y": y, "z": z}).answer("x", "y", "z").warnings[0]


def literal(graph, x, y):
    return any(x[i] != x[j] and y[i] != y[j] for i, j in zip(graph.i, graph.j, strict=True))


def test_vary_together_is_what_every_pair_shows():
    rng = np.random.default_rng(2)
    seen = set()
    for _ in range(300):
        n = int(rng.integers(4, 12))
        z = np.round(rng.normal(size=n), 1)
        x, y = (rng.random((2, n)) < 0.25).astype(float)
        graphs = [
            chsic.closest_pairs(z + np.arange(n) * 1e-3, 1.5, rng=rng),
            chsic.nearest_pairs(z + np.arange(n) * 1e-3, 2, rng=rng),
            chsic.nearest_pairs(rng.normal(size=(n, 2)), 2, rng=rng),
            chsic.block_pairs(rng.normal(size=n), 3, rng=rng),
            chsic.complete_pairs(n),
        ]
        for graph in graphs:
            found = vary_together(graph, x[:, np.newaxis], y[:, np.newaxis])
            assert found == literal(graph, x, y)
            seen.add(found)
    assert seen == {True, False}


def test_numbers_apart_by_rounding_become_equal_and_no_others():
    apart = np.array([0.1 + 0.2, 0.3, 0.3 * (1 + 1e-12), -0.3, 0.0, 5e-324, 1e17, 1e17 + 16])
    equal = without_rounding(apart)
    assert equal[0] == equal[1]
    np.testing.assert_array_equal(equal[2:], apart[2:])
    lattice = 1e15 + np.arange(30) * 0.125  # all neighbours are one unit in the last place apart
    np.testing.assert_array_equal(without_rounding(lattice), lattice)


def test_an_interval_of_which_signs_show_nothing_is_wide():
    """A division by the spread that signs show overflowed."""
    found = chsic.chsic_test(*np.random.default_rng(0).normal(size=(3, 50)), rng=0)
    blind = dataclasses.replace(found, coefficient=-0.001, null_spread=0.0)
    assert blind.confidence_interval() == (-1, 1)
    assert repr(blind)
