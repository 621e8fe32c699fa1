"""A chain of causes on which the adapters are tried."""

import numpy as np
import pandas as pd

CHAIN = {frozenset("ab"), frozenset("bc"), frozenset("cd")}


def chain(n=500, seed=0):
    """a -> b -> c -> d, of which b -> c and c -> d have no correlation to show for it."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(4, n))
    a = noise[0]
    b = np.tanh(2 * a) + 0.5 * noise[1]
    c = b**2 + 0.5 * noise[2]
    d = 2 * np.cos(2 * c) + 0.5 * noise[3]
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": d})


def in_fives(n=500):
    """Labels of groups of five rows."""
    return np.arange(n) // 5


def edges(matrix):
    names = "abcd"
    return {
        frozenset((names[i], names[j]))
        for i, j in zip(*np.nonzero(np.asarray(matrix)), strict=True)
        if i < 4 and j < 4
    }


def unequal(n=500):
    """Weights of rows, which differ much."""
    return 1.0 + np.arange(n) % 7
