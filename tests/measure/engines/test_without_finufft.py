"""The library without finufft, whose wheels contain FFTW: slower, and the same values."""

import json
import subprocess
import sys
from importlib import resources

import numpy as np
import pytest

import chsic
from chsic.kernels import KERNELS
from chsic.measure.engines.choose import choose


@pytest.fixture
def without(monkeypatch):
    monkeypatch.setitem(sys.modules, "finufft", None)  # so that importing it fails


def measures(**settings):
    """HSIC and C-HSIC of so many samples that the Fourier engine would be chosen."""
    x, y, z = chsic.datasets.m_plus(1_000, 10.0, rng=0)
    return np.array([chsic.hsic(x, y, **settings), chsic.chsic(x, y, z, **settings)])


def test_values_are_the_same_within_the_accuracy_asked_for(monkeypatch):
    with_it = measures()
    monkeypatch.setitem(sys.modules, "finufft", None)
    without_it, exact = measures(), measures(engine="dense")
    assert not np.array_equal(without_it, with_it)  # by another engine
    assert without_it == pytest.approx(with_it, rel=1e-6)
    assert without_it == pytest.approx(exact, rel=1e-6)


@pytest.mark.usefixtures("without")
def test_what_features_miss_is_computed_exactly():
    """Outliers, for which the Fourier engine would hand over to the dense one as well."""
    x, y = np.random.default_rng(0).standard_cauchy(size=(2, 1_500)) ** 3
    assert chsic.explain(x, y).engine == "features"
    assert chsic.hsic(x, y, bandwidth=0.1) == chsic.hsic(x, y, bandwidth=0.1, engine="dense")


def test_explain_says_why_it_is_not_fourier(monkeypatch):
    x, y = np.zeros((2, 1_000))
    x[0] = y[0] = 1.0
    assert chsic.explain(x, y).engine == "fourier"
    monkeypatch.setitem(sys.modules, "finufft", None)
    choice = chsic.explain(x, y)
    assert choice.engine == "features"
    assert choice.reason.startswith("finufft is not installed, which the Fourier engine needs;")


def test_only_the_choice_of_the_fourier_engine_depends_on_it(monkeypatch):
    cases = [
        {"n_samples": n, "d_x": d, "d_y": 1, "kernel": kernel, "tol": tol}
        for n in (100, 350, 1_000, 5_000, 10**6)
        for d in (1, 2)
        for kernel in KERNELS.values()
        for tol in (1e-6, 1e-12)
    ]
    with_it = [choose(**case) for case in cases]
    monkeypatch.setitem(sys.modules, "finufft", None)
    for case, before in zip(cases, with_it, strict=True):
        after = choose(**case)
        assert after.engine == {"fourier": "features"}.get(before.engine, before.engine)
        assert before == after or before.engine == "fourier"
    assert any(choice.engine == "fourier" for choice in with_it)


@pytest.mark.usefixtures("without")
def test_who_asks_for_the_fourier_engine_is_told_what_is_missing():
    message = "engine: 'fourier' needs finufft, which is not installed; pip install finufft, or use"
    with pytest.raises(ImportError, match=message):
        measures(engine="fourier")


WITHOUT = """
import json, sys
sys.modules["finufft"] = None
import chsic
from chsic.show.run import run
day = chsic.datasets.summer()
x, y, z = day["ice_cream"], day["rescues"], day["temperature"]
pvalue = chsic.chsic_test(x, y, z, rng=0).pvalue
print(json.dumps([chsic.explain(x, y).engine, chsic.hsic(x, y), chsic.chsic(x, y, z), pvalue]))
sys.argv = ["chsic", "measure", sys.argv[1], "--x", "ice_cream", "--y", "rescues",
            "--given", "temperature", "--controls", "2", "--json"]
run()
"""


def test_everything_else_works_and_imports_without_it():
    """In a process that never had it."""
    day = chsic.datasets.summer()
    x, y, z = day["ice_cream"], day["rescues"], day["temperature"]
    with resources.as_file(resources.files("chsic.datasets") / "summer.csv") as example:
        done = subprocess.run(
            [sys.executable, "-c", WITHOUT, str(example)],
            capture_output=True,
            text=True,
            check=True,
        )
    first, _, rest = done.stdout.partition("\n")
    engine, hsic, conditional, pvalue = json.loads(first)
    assert engine == "features"
    assert hsic == pytest.approx(chsic.hsic(x, y), rel=1e-6)
    assert conditional == pytest.approx(chsic.chsic(x, y, z), rel=1e-6)
    assert pvalue == chsic.chsic_test(x, y, z, rng=0).pvalue
    assert json.loads(rest)["chsic"] == pytest.approx(conditional, rel=1e-6)
