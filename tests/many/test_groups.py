"""Groups of rows that depend on each other, in screens, discovery and calibration."""

import json

import numpy as np
import pandas as pd
import pytest

import chsic
from chsic.data.arguments import read_columns
from chsic.data.fingerprint import fingerprint
from chsic.data.samples import read_samples
from chsic.many.donors import Donors
from chsic.many.simulation import Source
from tests.inference.test_groups import patients


@pytest.fixture(scope="module")
def frame():
    """Measurements of 30 patients, four rows of each, and the column that names them."""
    x, y, z, groups = patients(0, number=30, related=0.5)
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "patient": [f"patient {k}" for k in groups],
            "x": x,
            "y": y,
            "z": z,
            "w": np.cos(z) + rng.normal(size=len(z)),
            "ward": rng.choice(list("abc"), len(z)),
        }
    )


def with_gaps(frame):
    """A group that is missing, and a value in another row."""
    gaps = frame.copy()
    gaps.loc[7, "patient"] = None
    gaps.loc[50, "x"] = np.nan
    return gaps


def alone(frame, x, y, z, **settings):
    return chsic.chsic_test(x, y, z or None, data=frame, groups="patient", **settings)


# --- Screens --------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [["z"], ["ward"], []], ids=["a number", "a category", "nothing"])
def test_a_screen_is_what_separate_tests_give(frame, given):
    found = chsic.screen(frame, given, columns=["x", "y", "w"], groups="patient")
    assert found.n_groups == 30
    for pair in found:
        expected = alone(frame, pair.x, pair.y, given)
        assert pair.pvalue == pytest.approx(expected.pvalue, rel=1e-9)
        assert pair.statistic == pytest.approx(expected.statistic, rel=1e-9)
        assert (pair.low, pair.high) == pytest.approx(expected.confidence_interval(), rel=1e-9)
    ignoring = chsic.screen(frame, given, columns=["x", "y", "w"])
    assert ignoring.n_groups is None
    assert ignoring.pairs[0].pvalue != found.pairs[0].pvalue
    assert ", rows in 30 groups:" in repr(found)


def test_the_groups_of_a_screen_are_not_tested(frame):
    found = chsic.screen(frame, "z", groups="patient")
    assert found.names() == ["x", "y", "w", "ward"]
    assert found.skipped == {}
    labels = np.unique(frame["patient"], return_inverse=True)[1]
    unnamed = chsic.screen(frame.drop(columns="patient"), "z", groups=labels)
    assert unnamed.pairs == found.pairs
    numbers = frame[["x", "y", "z"]].assign(patient=labels).to_numpy()
    assert chsic.screen(numbers, 2, groups=3).pairs[0].pvalue == found.pairs[0].pvalue


@pytest.mark.parametrize("nan_policy", ["omit", "level"])
def test_a_screen_leaves_out_rows_without_a_group(frame, nan_policy):
    gaps = with_gaps(frame)
    with pytest.raises(ValueError, match="groups, column patient: 1 of 120"):
        chsic.screen(gaps, "z", groups="patient")
    settings = {"groups": "patient", "nan_policy": nan_policy}
    found = chsic.screen(gaps, "z", columns=["x", "y", "w"], **settings)
    assert [pair.n_samples for pair in found] == [118, 118, 119]
    for pair in found:  # those with x go alone
        expected = alone(gaps, pair.x, pair.y, "z", nan_policy="omit")
        assert pair.pvalue == pytest.approx(expected.pvalue, rel=1e-9)
        assert (pair.n_omitted, pair.warnings) == (expected.n_omitted, expected.warnings)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"given": ["z", "patient"]}, ValueError, "given: column 'patient' is named for groups as"),
        (
            {"columns": ["x", "patient"]},
            ValueError,
            "columns: column 'patient' is named for groups",
        ),
        ({"target": "patient"}, ValueError, "target: column 'patient' is named for groups as"),
        ({"groups": "patent"}, ValueError, "groups: there is no column 'patent'; did you mean"),
        ({"groups": np.zeros(120)}, ValueError, "groups: all rows are of one group"),
        ({"groups": np.arange(7)}, ValueError, "frame has 120, groups has 7"),
        ({"groups": np.ones((120, 2))}, ValueError, "groups: got 2 columns; one is needed"),
    ],
)
def test_wrong_groups_of_a_screen_are_refused(frame, settings, error, message):
    with pytest.raises(error, match=message):
        chsic.screen(frame, **{"groups": "patient", **settings})


def test_a_checkpoint_belongs_to_the_groups(frame, tmp_path):
    path, other = tmp_path / "run.jsonl", tmp_path / "other.jsonl"
    settings = {"given": "z", "columns": ["x", "y", "w"], "rng": 0}
    found = chsic.screen(frame, **settings, groups="patient", resume=path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2]))
    assert chsic.screen(frame, **settings, groups="patient", resume=path).pairs == found.pairs
    assert sorted(path.read_bytes().splitlines(keepends=True)) == sorted(lines)
    shifted = np.roll(frame["patient"], 1)
    for groups in (None, shifted):
        with pytest.raises(ValueError, match="is of a run with other data;"):
            chsic.screen(frame, **settings, groups=groups, resume=path)
    chsic.screen(frame, **settings, resume=other)
    with pytest.raises(ValueError, match="is of a run with other data;"):
        chsic.screen(frame, **settings, groups="patient", resume=other)
    parts = [read_columns(name, frame[[name]])[0] for name in "zxyw"]
    headers = [json.loads(file.read_text().splitlines()[0]) for file in (path, other)]
    header = headers[1]["chsic checkpoint"]
    assert header.keys() == headers[0]["chsic checkpoint"].keys()
    assert header["data"] == fingerprint(1, *parts)  # as ever, where there are no groups


# --- Discovery ------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [(), ("z",), ("ward",)], ids=str)
def test_discovery_is_what_separate_tests_give(frame, given):
    tests = chsic.Discovery(frame, groups="patient")
    for x, y in (("x", "y"), ("x", "w")):
        found, expected = tests.result(x, y, given), alone(frame, x, y, [*given])
        assert found.n_groups == 30
        assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-9)
        assert found.coefficient == pytest.approx(expected.coefficient, rel=1e-9)


def test_discovery_cannot_be_asked_about_groups(frame):
    tests = chsic.Discovery(frame, groups="patient")
    assert tests.names == ["x", "y", "z", "w", "ward"]
    assert repr(tests).startswith("Discovery(n_samples=120, n_groups=30, columns: x,")
    assert tests.answer(0, 1, 2) == tests.answer("x", "y", "z")
    unnamed = chsic.Discovery(frame.drop(columns="patient"), groups=frame["patient"])
    assert unnamed.answer("x", "y", "z") == tests.answer("x", "y", "z")
    assert chsic.Discovery(frame).answer("x", "y", "z") != tests.answer("x", "y", "z")
    with pytest.raises(ValueError, match="z: there is no column 'patient'"):
        tests.answer("x", "y", "patient")
    with pytest.raises(ValueError, match="data has 120, groups has 7"):
        chsic.Discovery(frame, groups=np.arange(7))


def test_discovery_leaves_out_rows_without_a_group(frame):
    gaps = with_gaps(frame)
    with pytest.raises(ValueError, match="groups, column patient: 1 of 120"):
        chsic.Discovery(gaps, groups="patient")
    tests = chsic.Discovery(gaps, groups="patient", nan_policy="omit")
    for x, n_omitted in (("x", 2), ("w", 1)):
        found, expected = tests.result(x, "y", "z"), alone(gaps, x, "y", "z", nan_policy="omit")
        assert (found.n_omitted, found.warnings) == (n_omitted, expected.warnings)
        assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-9)


# --- Calibration ----------------------------------------------------------------------------------


def strong(seed, number=50, each=4):
    """Patients whose own effects are nearly all of z, and of what z leaves of x and y."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(number), each)
    of_z, of_x, of_y = rng.normal(size=(3, number))[:, groups]
    noise = 0.3 * rng.normal(size=(3, len(groups)))
    z = 0.9 * of_z + noise[0]
    return np.sin(z) + 0.95 * of_x + noise[1], z + 0.95 * of_y + noise[2], z, groups


def likeness(values, groups):
    """Intraclass correlation of groups of equal size."""
    each = len(groups) // (groups.max() + 1)
    table = values[np.argsort(groups, kind="stable")].reshape(-1, each)
    between, within = each * table.mean(axis=1).var(ddof=1), table.var(axis=1, ddof=1).mean()
    return (between - within) / (between + (each - 1) * within)


def drawn_of(source, seed=0, effect=0.0):
    """Redrawn x and y, and what they are beside the regression."""
    drawn = source.draw(effect, np.random.default_rng(seed))
    fits = [way.fit[:, 0] * way.units[0] for way in (source.x, source.y)]
    values = [column.values for [column] in drawn]
    return *values, *(value - fit for value, fit in zip(values, fits, strict=True))


@pytest.mark.levels
def test_calibrate_holds_the_level_that_ignored_groups_break():
    x, y, z, groups = strong(1)
    settings = {"n_sim": 24, "effect_sizes": [0.7], "rng": 0}
    found = chsic.calibrate(x, y, z, groups=groups, **settings)
    # Of 24 true nulls, six rejections at 0.05 happen once in 900 times.
    assert found.rejection_rate(0.0) <= 5 / 24
    assert found.rejection_rate(0.7) > 0.5
    assert found.n_groups == 50
    assert str(found).startswith("24 data sets of 200 samples in 50 groups each, x and y redrawn")
    source = Source.of(read_samples(x, y, z, groups=groups), np.random.default_rng(0))
    ignored = [chsic.chsic_test(*drawn_of(source, seed)[:2], z).pvalue for seed in range(24)]
    assert np.mean(np.array(ignored) <= 0.05) > 6 / 24


def test_rows_of_a_group_stay_as_dependent_as_they_were():
    x, y, z, groups = strong(0, number=150)
    source = Source.of(read_samples(x, x + y, z, groups=groups), np.random.default_rng(0))
    own = (
        values - way.fit[:, 0] * way.units[0] for values, way in ((x, source.x), (x + y, source.y))
    )
    own = [likeness(values, groups) for values in own]
    draws = [drawn_of(source, seed)[2:] for seed in range(10)]
    of_draws = np.mean([[likeness(value, groups) for value in both] for both in draws], axis=0)
    assert min(own) > 0.8
    assert of_draws == pytest.approx(own, abs=0.05)
    related = [np.corrcoef(*both)[0, 1] for both in draws]  # which x and x + y are
    assert abs(np.mean(related)) < 0.1


def test_the_spread_of_groups_follows_z():
    x, y, z, groups = strong(0, number=200)
    rest = x - np.sin(z)
    source = Source.of(read_samples(z + z**2 * rest, y, z, groups=groups), np.random.default_rng(0))
    *_, drawn, _ = drawn_of(source)
    assert drawn[np.abs(z) < 0.5].std() < 0.5 * drawn[np.abs(z) > 1].std()


def test_what_is_constant_in_groups_stays_so():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(60), 3)
    sex, ward = (rng.choice(list(levels), 60)[groups] for levels in ("fm", "uvw"))
    y = rng.normal(size=60)[groups] + 0.3 * rng.normal(size=180)
    source = Source.of(read_samples(sex, y, ward, groups=groups), np.random.default_rng(0))
    drawn = [source.draw(0.0, np.random.default_rng(seed))[0][0] for seed in range(3)]
    for column in drawn:
        assert column.levels == ("f", "m")
        assert (column.values.reshape(-1, 3) == column.values[::3, np.newaxis]).all()
    assert (drawn[0].values != drawn[1].values).mean() > 0.2


def test_a_group_gets_rows_of_one_that_is_as_large():
    labels = np.repeat(np.arange(40), np.tile([1, 2, 3, 5], 10))
    labels = labels[np.random.default_rng(0).permutation(len(labels))]
    donors = Donors.of(labels)
    sizes, seen = np.bincount(labels), set()
    for seed in range(20):
        givers = donors.draw(np.random.default_rng(seed))
        for group in range(40):
            rows = givers[labels == group]
            assert len(set(labels[rows])) == 1
            assert len(set(rows)) == len(rows)  # cyclically, and none twice
            assert sizes[labels[rows[0]]] >= sizes[group]
            seen.add((group, labels[rows[0]]))
    assert len(seen) > 300


def test_a_group_that_is_larger_than_others_gets_rows_of_several():
    labels = np.concatenate([np.zeros(50, int), np.repeat(np.arange(1, 31), 3)])
    givers = [Donors.of(labels).draw(np.random.default_rng(seed)) for seed in range(20)]
    counts = [len(set(labels[rows[:50]])) for rows in givers]
    assert min(counts) >= 1
    assert np.median(counts) > 3
