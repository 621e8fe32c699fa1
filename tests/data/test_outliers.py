"""Fill values, typing errors and heavy tails: what is far off does not decide."""

import numpy as np
import pandas as pd
import pytest

import chsic
from chsic.data.cleaning import clip_limits, clip_outliers, compress_outliers, robust_deviation

FILL = 9.969209968386869e36


@pytest.mark.parametrize("kind", ["category", "number and category", "strata", "graph"])
@pytest.mark.parametrize("value", [FILL, -FILL])
def test_a_row_that_is_not_used_changes_nothing(kind, value):
    """Its category stands alone; a fill value in it turned p = 2e-32 into 1."""
    rng = np.random.default_rng(0)
    n = 120
    z = rng.normal(size=n)
    group = rng.choice(["u", "v", "w"], n)
    x = z + rng.normal(size=n)
    y = z + x + 0.3 * rng.normal(size=n)

    def table(last):
        x_, y_, z_ = np.append(x, last), np.append(y, last), np.append(z, last)
        alone = np.append(group, "alone")
        if kind == "graph":
            return x_, y_, np.append(z, 0.0)
        if kind == "strata":
            return x_, y_, np.append(np.round(z), 99.0)
        if kind == "category":
            return x_, y_, alone
        return x_, y_, pd.DataFrame({"z": z_, "group": alone})

    graph = chsic.nearest_pairs(z, 8)
    pairs = chsic.PairGraph(graph.i, graph.j, n + 1) if kind == "graph" else "auto"
    plain, filled = (chsic.chsic_test(*table(v), pairs=pairs, rng=0) for v in (0.5, value))
    assert filled.to_dict() == plain.to_dict()
    assert filled.pvalue < 1e-6
    assert filled.n_samples == n
    assert any("not used" in sentence for sentence in filled.warnings)
    if kind == "graph":
        return
    frames = [
        {"x": x, "y": y, **(z if isinstance(z, pd.DataFrame) else {"z": z})}
        for x, y, z in (table(0.5), table(value))
    ]
    given = [name for name in frames[0] if name not in ("x", "y")]
    lines = [chsic.screen(frame, given, rng=0).rows() for frame in frames]
    assert lines[0] == lines[1]
    answers = [chsic.Discovery(frame).answer("x", "y", given) for frame in frames]
    assert answers[0] == answers[1]


def test_too_few_rows_that_can_be_compared_are_refused():
    z = [f"zip {k}" for k in range(20)] + ["shared"] * 3
    x, y = np.random.default_rng(0).normal(size=(2, 23))
    with pytest.raises(ValueError, match="20 of 23 samples share the categories of z with no"):
        chsic.chsic_test(x, y, z)


def test_a_constant_among_the_rows_that_can_be_compared_depends_on_nothing():
    rng = np.random.default_rng(0)
    z = np.array(["u"] * 20 + ["v"] * 20 + ["alone"])
    x = np.append(np.zeros(40), 1.0)
    found = chsic.chsic_test(x, rng.normal(size=41), z, rng=0)
    assert found.pvalue == 1
    assert found.coefficient == 0


@pytest.mark.parametrize("fill", [FILL, -9999.0, 1e300])
@pytest.mark.parametrize("kind", ["line", "plane", "mixed"])
def test_a_fill_value_in_z_does_not_hide_the_others(kind, fill):
    """x and y follow z, and 58 of 60 true nulls had p < 1e-4 on a plane."""
    pvalues = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        a, b = rng.normal(size=(2, 200))
        x, y = np.sin(2 * a) + 0.5 * rng.normal(size=(2, 200))
        a[:2] = fill
        z = {
            "line": a,
            "plane": np.column_stack([a, b]),
            "mixed": pd.DataFrame({"a": a, "c": np.where(b > 0, "u", "v")}),
        }[kind]
        found = chsic.chsic_test(x, y, z, n_resamples=199, rng=seed)
        pvalues.append(found.pvalue)
        told = [s for s in found.warnings if "standard deviations of the others away" in s]
        assert len(told) == 1
        assert ": 2 values are" in told[0]
    assert min(pvalues) > 1e-3
    assert np.median(pvalues) > 0.2


def test_fill_values_of_x_and_y_do_not_bend_their_regressions():
    """Beside a fit that follows them, all other values would be functions of z."""
    pvalues = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        z = rng.random((140, 2))
        x, y = rng.normal(size=(2, 140)) + z[:, 0]
        x[rng.random(140) < 0.04], y[rng.random(140) < 0.04] = FILL, -FILL
        pvalues.append(chsic.chsic_test(x, y, z, n_resamples=199, rng=seed).pvalue)
    assert min(pvalues) > 1e-3


def test_dependence_is_found_beside_fill_values():
    rng = np.random.default_rng(0)
    z, x = rng.normal(size=(2, 300))
    y = x + z + 0.5 * rng.normal(size=300)
    x[5], y[9], z[11] = FILL, -9999, FILL
    assert chsic.chsic_test(x, y, z, rng=0).pvalue < 1e-4


def test_values_within_reach_are_left_alone():
    values = np.random.default_rng(0).normal(size=(500, 2))
    assert clip_outliers(values, clip_limits(values)) is values
    assert compress_outliers(values) is values
    assert robust_deviation(values[:, 0]) == pytest.approx(1, abs=0.1)
    events = (np.arange(500) == 3).astype(float)[:, np.newaxis]
    assert clip_outliers(events, clip_limits(events)) is events
    far = np.array([0.0, 1.0, 150.0, 1e300, -1e308])
    inside = compress_outliers(far)
    assert list(np.argsort(inside)) == list(np.argsort(far))
    assert np.abs(inside).max() < 1e5
    np.testing.assert_array_equal(inside[:2], far[:2])
