"""Memory stays bounded: nothing of size L x L, and nothing of size K_max, is ever held."""

import json
import platform
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import chsic

pytestmark = pytest.mark.no_cover


def peak_bytes(function):
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_dense_engine_holds_tiles_only():
    """L = 20,000: one matrix would take 3.2 GB."""
    x, y, z = chsic.datasets.m_minus(20_000, 10.0, 0)
    assert peak_bytes(lambda: chsic.chsic(x, y, z)) < 200e6


@pytest.mark.parametrize("kernel", ["gaussian", np.cos])
def test_hsic_and_complete_pairs_hold_tiles_only(kernel):
    x, y, z = chsic.datasets.m_minus(6_000, 10.0, 0)
    assert peak_bytes(lambda: chsic.hsic(x, y, kernel=kernel)) < 60e6
    assert peak_bytes(lambda: chsic.chsic(x, y, z, pairs="complete", kernel=kernel)) < 60e6


def test_pair_with_many_partners_is_bounded_too():
    """A hub paired with everyone: its row of Lap K needs all of K, one tile at a time."""
    x, y, z = chsic.datasets.m_minus(6_000, 10.0, 0)
    hub = chsic.PairGraph(np.zeros(5_999, dtype=int), np.arange(1, 6_000), 6_000)
    assert peak_bytes(lambda: chsic.chsic(x, y, z, pairs=hub)) < 200e6


def test_pair_selection_holds_a_few_arrays():
    """A million samples, two million pairs: arrays of L + K numbers take 24 MB each."""
    z = np.random.default_rng(0).normal(size=10**6)
    assert peak_bytes(lambda: chsic.closest_pairs(z, 4)) < 8 * 24e6


@pytest.mark.parametrize(
    ("kind", "most"), [("none", 80e6), ("values", 80e6), ("line", 140e6), ("plane", 280e6)]
)
def test_a_test_does_not_hold_features_of_all_samples(kind, most):
    """At 100,000 samples they took 240 MB without z; `keep_freed_memory` takes 32 MB of these."""
    n = 100_000
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, n))
    z = {
        "none": lambda: None,
        "values": lambda: rng.integers(0, 10, n).astype(float),
        "line": lambda: rng.normal(size=n),
        "plane": lambda: rng.normal(size=(n, 2)),
    }[kind]()
    assert peak_bytes(lambda: chsic.chsic_test(x, y, z, n_resamples=19, rng=0)) < most


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="of this C library alone")
def test_freed_memory_is_kept():
    code = """if True:
        import resource
        import numpy as np
        from chsic._util.malloc import keep_freed_memory

        def fresh_pages():
            before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
            held = [np.ones(2**18) for _ in range(10)]  # 2 MB each
            return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

        print(min(fresh_pages() for _ in range(3)))
        keep_freed_memory()
        fresh_pages()
        print(min(fresh_pages() for _ in range(3)))
    """
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    without, reused = map(int, run.stdout.split())
    assert reused < without / 10


def test_a_benchmark_defends_the_memory_that_is_not_given_back():
    """Below a gain of three percent, `chsic._util.malloc` would have to go."""
    results = Path(__file__).parents[2] / "benchmarks" / "results" / "malloc.json"
    rows = json.loads(results.read_text())["tests"]
    assert [row["n"] for row in rows] == [1_000, 10_000]
    assert all(row["with over without"] < 0.97 for row in rows)
