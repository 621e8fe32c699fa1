"""All functions take their data and settings in the same way."""

import inspect
import re
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import chsic

README = Path(__file__).parents[2] / "README.md"


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    e, h, z = rng.normal(size=(3, 120))
    group = rng.choice(list("uvw"), 120)
    return pd.DataFrame({"dose": z + e, "pain": z + h + 0.3 * e, "age": z, "ward": group})


def measured(x, y, z, **settings):
    return {
        "hsic": chsic.hsic(x, y, **settings),
        "chsic": chsic.chsic(x, y, z=z, **settings),
        "hsic_test": chsic.hsic_test(x, y, n_resamples=99, rng=0, **settings).to_dict(),
        "chsic_test": chsic.chsic_test(x, y, z=z, n_resamples=99, rng=0, **settings).to_dict(),
        "sensitivity": chsic.sensitivity(
            x, y, z=z, alphas=[4], bandwidths=[1.2], n_resamples=99, rng=0, **settings
        ),
        "calibrate": chsic.calibrate(
            x, y, z=z, n_sim=3, effect_sizes=[0.5], n_resamples=99, rng=0, **settings
        ),
        "explain": chsic.explain(x, y, **settings),
    }


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, dict])
def test_names_of_columns_stand_for_columns(frame, make):
    columns = (
        {name: frame[name].to_numpy() for name in of} for of in (["dose"], ["pain"], ["age"])
    )
    by_name = measured("dose", ["pain"], "age", data=make(frame.to_dict("list")))
    assert by_name == measured(*columns)


def test_several_columns_and_positions(frame):
    both = chsic.chsic_test("dose", "pain", ["age", "ward"], data=frame, n_resamples=99, rng=0)
    assert both.names == {"x": ("dose",), "y": ("pain",), "z": ("age", "ward")}
    again = chsic.chsic_test("dose", "pain", frame.columns[2:], data=frame, n_resamples=99, rng=0)
    assert again.to_dict() == both.to_dict()
    alone = chsic.chsic_test("dose", "pain", [], data=frame, n_resamples=99, rng=0)
    assert alone.names["z"] == ()
    numbers = frame[["dose", "pain", "age"]].to_numpy()
    by_place = chsic.chsic_test(0, 1, 2, data=numbers, n_resamples=99, rng=0)
    assert by_place.pvalue == chsic.chsic_test(*numbers.T, n_resamples=99, rng=0).pvalue


def test_a_report_takes_names_of_columns(frame, tmp_path):
    result = chsic.write_report(
        tmp_path / "a.html", "dose", "pain", "age", data=frame, n_resamples=99, rng=0
    )
    assert result.names["z"] == ("age",)
    left, _ = chsic.plot.differences("dose", "pain", z="age", data=frame)
    assert left.get_xlabel() == "dose"


@pytest.mark.parametrize(
    ("x", "data", "error", "message"),
    [
        (
            "dose",
            None,
            TypeError,
            "x: got the name 'dose'; give the data frame as well",
        ),
        ("dosis", "frame", ValueError, "x: there is no column 'dosis'; did you mean 'dose'"),
        ([], "frame", ValueError, "x: no column was named"),
        (["dose", "dose"], "frame", ValueError, "x: column 'dose' is named more than once"),
        (
            np.zeros(9),
            "frame",
            TypeError,
            "x: expected the name of a column",
        ),
        ("dose", 3, TypeError, "data: expected a data frame"),
    ],
)
def test_wrong_names_are_refused(frame, x, data, error, message):
    with pytest.raises(error, match=re.escape(message)):
        chsic.chsic_test(x, "pain", "age", data=frame if isinstance(data, str) else data)


def test_a_tuple_of_bandwidths_is_for_x_and_y_and_a_list_is_several(frame):
    x, y, z = frame["dose"], frame["pain"], frame["age"]
    several = chsic.chsic(x, y, z, bandwidth=[0.5, (0.5, 2.0), "median"])
    one_by_one = [chsic.chsic(x, y, z, bandwidth=h) for h in (0.5, (0.5, 2.0), "median")]
    assert several.tolist() == one_by_one
    assert isinstance(one_by_one[0], float)
    result = chsic.chsic_test(x, y, z, bandwidth=[0.5, (0.5, 2.0)], n_resamples=99, rng=0)
    np.testing.assert_allclose(result.bandwidths, [(0.5, 0.5), (0.5, 2.0)])
    for function in (chsic.hsic, chsic.hsic_test):
        with pytest.raises(ValueError, match="bandwidth: the list is empty"):
            function(x, y, bandwidth=[])
        with pytest.raises(ValueError, match=r"bandwidth: a tuple is \(for x, for y\), got 3"):
            function(x, y, bandwidth=(1.0, 2.0, 3.0))


def test_block_size_is_for_blocks_and_unit_size_for_signs(frame):
    x, y, z = frame["dose"], frame["pain"], frame["age"]
    assert chsic.chsic_test(x, y, z, unit_size=6, n_resamples=99, rng=0).unit_size == 6
    blocks = chsic.chsic_test(x, y, z, pairs="blocks", block_size=6, n_resamples=99, rng=0)
    assert blocks.alpha == pytest.approx(5)
    with pytest.raises(ValueError, match="block_size: is for pairs='blocks', but pairs are"):
        chsic.chsic_test(x, y, z, block_size=6)


def test_no_function_hides_its_settings():
    for name in set(chsic.__all__) - {"AccuracyWarning"}:
        public = getattr(chsic, name)
        methods = [f for _, f in inspect.getmembers(public, inspect.isfunction)]
        for function in [public, *methods] if inspect.isclass(public) else [public]:
            if callable(function) and not function.__name__.startswith("_"):
                kinds = [p.kind for p in inspect.signature(function).parameters.values()]
                assert inspect.Parameter.VAR_KEYWORD not in kinds, f"{name}: {function}"


def test_what_the_readme_shows_is_public():
    shown = set(re.findall(r"\bchsic\.([a-z_]+)\b", README.read_text(encoding="utf-8")))
    files = {"csv", "html", "py"}
    assert shown - files <= {*chsic.__all__, "measure"}
