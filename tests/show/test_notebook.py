"""How results look in a notebook."""

import numpy as np
import pandas as pd
import pytest

import chsic

NASTY = "<script>alert(1)</script>"


def test_html_tells_the_answer_and_escapes_names():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=[NASTY, "b", "c"])
    result = chsic.chsic_test(frame[NASTY], frame["b"], frame["c"], rng=0)
    screened = chsic.screen(frame, "c", rng=0)
    along = chsic.sensitivity(
        frame[NASTY], frame["b"], frame["c"], alphas=[4], bandwidths=[1.2], rng=0
    )
    for shown in (result._repr_html_(), screened._repr_html_(), along._repr_html_()):
        assert "<table>" in shown
        assert "<script" not in shown
    assert f"p = {result.pvalue:.2g}" in result._repr_html_()
    assert "&lt;script&gt;" in screened._repr_html_()


def test_plots_from_results_and_errors():
    x, y, z = chsic.datasets.draw_scenario("add", 100, rng=0)
    result = chsic.chsic_test(x, y, z, rng=0)
    assert result.plot().get_xlabel() == "estimate"
    assert result.plot("profile", column=0).get_xlabel() == "z"
    with pytest.raises(ValueError, match="what: expected one of 'null_distribution', 'profile'"):
        result.plot("heat_map")
