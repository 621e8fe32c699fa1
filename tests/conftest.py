"""What several test files share: kernels written out by hand, distances, a command, a browser."""

import os
import shutil
import signal
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

ARTEFACTS = Path(os.environ.get("CHSIC_TEST_ARTEFACTS", "test-artefacts"))  # pictures to look at
CHROMIUM = shutil.which("chromium")

# kappa of differences s, one bandwidth per column, written independently of chsic.kernels.
LITERAL_KERNELS = {
    "gaussian": lambda r: np.exp(-(r**2)),
    "laplace": lambda r: np.exp(-r),
    "cauchy": lambda r: 1 / (1 + r**2),
    "matern32": lambda r: (1 + r) * np.exp(-r),
    "categorical": lambda r: np.where(r == 0, 1.0, 0.0),
}


@pytest.fixture
def interrupts_heeded():
    """Here and in processes that are started: a shell's background ignores Ctrl-C for all."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def command(monkeypatch, capfd):
    """Run the command line in this process: exit status, standard output, standard error."""
    from chsic.show.command_line.entry_point import run  # which needs typer

    handler = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)

    def run_command(*arguments):
        monkeypatch.setattr(sys, "argv", ["chsic", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            run()
        return left.value.code, *capfd.readouterr()

    yield run_command
    signal.signal(signal.SIGINT, handler)


def literal_kappa(name, bandwidth):
    """Return kappa as `chsic.paper` takes it: a function of differences, (..., ) or (..., d)."""
    h = np.atleast_1d(bandwidth)

    def kappa(s):
        if s.ndim == 2:
            return LITERAL_KERNELS[name](np.abs(s) / h[0])
        return LITERAL_KERNELS[name](np.sqrt(((s / h) ** 2).sum(axis=-1)))

    return kappa


def paper_bandwidth(x):
    return np.std(x, axis=0, ddof=1) * len(x) ** (-1 / 5)


def brute_force_distances(z):
    """All i < j and their distances: absolute, or Euclidean on standardised columns."""
    i, j = np.triu_indices(len(z), k=1)
    if z.ndim == 1:
        return i, j, np.abs(z[i] - z[j])
    scaled = (z[i] - z[j]) / np.std(z, axis=0, ddof=1)
    return i, j, np.sqrt((scaled**2).sum(axis=1))


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        yield started
        started.close()
