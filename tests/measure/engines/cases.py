"""Data, graphs and tolerances on which engines are compared."""

import numpy as np

import chsic
from chsic.measure.engines.choose import CANCELLED


def columns(kind, rng, n):
    """One column of data of some nasty kind."""
    return {
        "normal": lambda: rng.normal(size=n),
        "heavy tails": lambda: rng.standard_t(1.5, n),
        "clusters": lambda: rng.choice([0.0, 1.0, 50.0], n) + 1e-3 * rng.normal(size=n),
        "offset": lambda: 1e9 + rng.normal(size=n),
        "tiny": lambda: 1e-200 * rng.normal(size=n),
        "repeated": lambda: rng.choice(rng.normal(size=10), n),
        "binary": lambda: np.resize([0.0, 1.0], n)[rng.permutation(n)],
        "counts": lambda: rng.poisson(3.0, n).astype(float),
        "outlier": lambda: np.append(rng.normal(size=n - 1), 1e6),
    }[kind]()


KINDS = [
    "normal",
    "heavy tails",
    "clusters",
    "offset",
    "tiny",
    "repeated",
    "binary",
    "counts",
    "outlier",
]


def graph_of(kind, z, rng):
    n = len(z)
    return {
        "closest 1": lambda: chsic.closest_pairs(z, 1),
        "closest 4": lambda: chsic.closest_pairs(z, 4),
        "closest 20": lambda: chsic.closest_pairs(z, 20),
        "random": lambda: chsic.random_pairs(n, 4, rng),
        "complete": lambda: chsic.complete_pairs(n),
    }[kind]()


GRAPHS = ["closest 1", "closest 4", "closest 20", "random", "complete"]


def uncancelled(graph):
    """C-HSIC if nothing cancelled: that of K = Q = I."""
    trace, squares = graph.laplacian_traces()
    return squares / trace**2


def agree(value, exact, graph, tol):
    """Equal to `tol`, relative to the value or to 1e-8 of what it is without cancelling."""
    floor = CANCELLED * uncancelled(graph)
    rounding = 1e-14 * uncancelled(graph)  # of the kernel values of the dense engine itself
    return abs(value - exact) <= tol * max(exact, floor) + rounding
