"""How results look in a notebook."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import chsic

NASTY = "<script>alert(1)</script>"
TEMPLATE = "{{ 7 * 7 }} {% raw %} {# #}"


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


def test_names_are_no_templates():
    x, y, z = np.random.default_rng(0).normal(size=(3, 60))
    shown = chsic.chsic_test({TEMPLATE: x}, {"y": y}, {"z": z}, rng=0)._repr_html_()
    assert f"Is {TEMPLATE} still related to y once z is known?" in shown


def test_without_jinja2_notebooks_show_the_repr():
    """As IPython does for None."""
    code = (
        "import sys; sys.modules['jinja2'] = None; import chsic\n"
        "x, y, z = chsic.datasets.draw_scenario('add', 100, rng=0)\n"
        "print(chsic.chsic_test(x, y, z, n_resamples=99, rng=0)._repr_html_(),\n"
        "      chsic.screen({'x': x, 'y': y}, n_resamples=99, rng=0)._repr_html_(),\n"
        "      chsic.sensitivity(x, y, z, alphas=[4], bandwidths=[1], rng=0)._repr_html_())\n"
        "try:\n"
        "    chsic.write_report('report.html', x, y, z)\n"
        "except ImportError as error:\n"
        "    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "None None None",
        "a report needs jinja2; install 'chsic[report]'.",
    ]


def test_plots_from_results_and_errors():
    x, y, z = chsic.datasets.draw_scenario("add", 100, rng=0)
    result = chsic.chsic_test(x, y, z, rng=0)
    assert result.plot().get_xlabel() == "estimate"
    assert result.plot("profile", column=0).get_xlabel() == "z"
    with pytest.raises(ValueError, match="what: expected one of 'null_distribution', 'profile'"):
        result.plot("heat_map")
