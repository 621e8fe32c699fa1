"""Where the regression of one variable misses something, few neighbours are compared with it."""

import numpy as np
import pandas as pd
import pytest

import chsic


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(1)
    z, (e, h) = rng.random(80), rng.normal(size=(2, 80))
    return pd.DataFrame({"z": z, "a": 5 * z % 1 + 0.05 * e, "b": z + h, "c": rng.normal(size=80)})


@pytest.mark.parametrize(("x", "y", "few"), [("a", "b", True), ("a", "c", True), ("b", "c", False)])
def test_all_ways_to_ask_compare_the_same_pairs(frame, x, y, few):
    alone = chsic.chsic_test(x, y, "z", data=frame)
    assert (alone.alpha < 5) == few
    found = {(pair.x, pair.y): pair for pair in chsic.screen(frame, ["z"])}[x, y]
    assert found.pvalue == pytest.approx(alone.pvalue, rel=1e-6)
    assert found.coefficient == pytest.approx(alone.coefficient, rel=1e-6)
    discovery = chsic.Discovery(frame)
    for columns in ("ab", "bc", "ac"):
        discovery.answer(*columns, "z")
    answer = discovery.answer(x, y, "z")
    assert answer.pvalue == pytest.approx(alone.pvalue, rel=1e-6)
    assert answer.coefficient == pytest.approx(alone.coefficient, rel=1e-6)


def test_the_range_of_alphas_is_looked_at_from_there(frame):
    middle = chsic.sensitivity("a", "b", "z", data=frame, alphas=[4], bandwidths=[0.6, 1.2, 5])
    assert {point.alpha for point in middle.along_bandwidth} == {4.0}
