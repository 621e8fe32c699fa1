"""Where the near-linear engines for one column end, and how outliers are moved inside."""

from __future__ import annotations

import numpy as np

from chsic._util.validate import Array


class EngineLimitError(ValueError):
    """The data or the kernel need more than an engine can hold."""


def condense(x: Array, reach: float) -> Array:
    """Shorten gaps between samples that no kernel value bridges.

    Samples farther apart than the reach of kappa are unrelated however far apart they are, so an
    outlier may be moved near without changing any kernel value by more than the accuracy.
    """
    order = np.argsort(x)
    gaps = np.minimum(np.diff(x[order]), reach)
    positions = np.empty_like(x)
    positions[order] = np.concatenate([[0.0], np.cumsum(gaps)])
    return positions
