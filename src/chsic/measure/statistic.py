"""From terms to the numbers people read."""

from __future__ import annotations

from chsic.measure.terms import Terms


def c_hsic(terms: Terms) -> float:
    """C-HSIC, eq. 18: tr(Lap K Lap Q) / (4 K^2), which is HSIC (eq. 6) when all pairs are kept."""
    return float(terms.gram.sum()) / (4 * int(terms.n_pairs.sum()) ** 2)
