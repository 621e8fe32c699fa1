"""Random frames of all kinds: every outcome is a result, or an error that says what to do."""

import datetime
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import chsic

LOOKED_AT = ("pvalue", "coefficient", "statistic")


def numbers(n):
    wild = st.one_of(
        st.floats(allow_nan=False, allow_infinity=False, width=64),
        st.sampled_from([0.0, -0.0, 1e-308, 1e308, 1e9, float("inf"), float("nan")]),
    )
    return st.one_of(
        st.lists(st.floats(-10, 10), min_size=n, max_size=n),
        st.lists(st.integers(0, 3).map(float), min_size=n, max_size=n),
        st.lists(wild, min_size=n, max_size=n),
        st.just([3.0] * n),
    )


def columns(n):
    return st.one_of(
        numbers(n),
        numbers(n),
        st.lists(st.integers(-(2**40), 2**40), min_size=n, max_size=n),
        st.lists(st.booleans(), min_size=n, max_size=n),
        st.lists(st.sampled_from(["u", "v", "", "ü", None]), min_size=n, max_size=n),
        st.lists(st.text(max_size=4), min_size=n, max_size=n),
        st.lists(
            st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2100, 1, 1)),
            min_size=n,
            max_size=n,
        ),
        st.lists(st.one_of(st.none(), st.floats(-1, 1)), min_size=n, max_size=n),
    )


@st.composite
def frames(draw):
    n = draw(st.sampled_from([0, 1, 3, 4, 5, 12, 40]))
    names = draw(
        st.lists(
            st.text(min_size=0, max_size=6).filter(lambda name: name == name.strip()),
            min_size=3,
            max_size=5,
            unique=True,
        )
    )
    made = {name: draw(columns(n)) for name in names}
    if draw(st.booleans()) and n:
        made[names[1]] = list(made[names[0]])  # a duplicate
    try:
        return draw(st.sampled_from([pd.DataFrame, pl.DataFrame]))(made)
    except OverflowError:
        return pd.DataFrame(made)


def result_or_error(outcome):
    try:
        return list(outcome()), None
    except (ValueError, TypeError) as error:
        return [], error


def is_explained(error):
    """Our own errors name what is wrong with what; those of libraries do not."""
    text = str(error)
    return len(text) > 20 and ("; " in text or ". " in text or text.endswith("."))


@settings(
    max_examples=40,  # the attack has more, see benchmarks/attack
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(frame=frames(), policy=st.sampled_from(["raise", "omit", "level"]))
def test_every_outcome_is_a_result_or_an_error_that_explains(frame, policy):
    x, y, *z = frame.columns
    outcomes = (
        lambda: [chsic.chsic_test(frame[x], frame[y], frame[z], nan_policy=policy,
                                  n_resamples=99, rng=0)],
        lambda: chsic.screen(frame, z, nan_policy=policy, n_resamples=99, rng=0),
        lambda: chsic.screen(frame, target=str(x), nan_policy=policy, n_resamples=99, rng=0),
    )  # fmt: skip
    for outcome in outcomes:
        results, error = result_or_error(outcome)
        assert error is None or is_explained(error), repr(error)
        for result in results:
            assert 0 < result.pvalue <= 1
            assert all(math.isfinite(getattr(result, name)) for name in LOOKED_AT)


@pytest.mark.parametrize("n", [0, 1])
def test_hardly_any_rows_are_refused(n):
    empty = pd.DataFrame(np.zeros((n, 3)), columns=list("xyz"))
    with pytest.raises(ValueError, match="at least 4 are needed"):
        chsic.chsic_test(empty["x"], empty["y"], empty["z"])
    with pytest.raises(ValueError, match=f"{n} of {n} rows can be used, at least 4 are needed"):
        chsic.screen(empty, "z")
