"""The observed estimate among those of random signs."""

from __future__ import annotations

import dataclasses

import numpy as np

from chsic._util.validate import Array, Index
from chsic.inference.result import IndependenceResult
from chsic.show.sentences import given, names_of, pvalue

BINS = 60


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class NullPicture:
    """A histogram of the null distribution, and the observed estimate.

    Attributes
    ----------
    title, caption : str
        Plain text.
    edges : array, shape (n_bins + 1,)
        Of the bins, increasing.
    counts, counts_beyond : array of int, shape (n_bins,)
        Draws or quantiles in each bin, and those of them at least as large as the estimate.
    estimate : float
        The observed one.
    draws_label, beyond_label, estimate_label : str
        What the bars and the line are.
    x_label, y_label : str
        Of the axes.
    """

    title: str = "If nothing were related"
    caption: str
    edges: Array
    counts: Index
    counts_beyond: Index
    estimate: float
    draws_label: str
    beyond_label: str
    estimate_label: str
    x_label: str = "estimate"
    y_label: str = "number"


def null_picture(result: IndependenceResult) -> NullPicture:
    """Count the draws in bins.

    Examples
    --------
    >>> import chsic
    >>> from chsic.show.pictures.null import null_picture
    >>> result = chsic.chsic_test(*chsic.datasets.draw_scenario("add", 200, rng=0), rng=0)
    >>> picture = null_picture(result)
    >>> int(picture.counts.sum()) == len(result.null_distribution)
    True
    """
    draws, estimate = result.null_distribution, result.estimate
    beyond = draws[draws >= estimate]
    counts, edges = np.histogram(draws, bins=BINS)
    x, y = names_of(result, "x"), names_of(result, "y")
    # A law is shown by its quantiles, each of which has the same probability.
    shown = f"{len(draws)} {'quantiles' if result.null == 'pearson3' else 'draws'}"
    return NullPicture(
        caption=f"{shown} of the estimate under random signs, which is how it would vary if {x} "
        f"and {y} were unrelated{given(result.names['z'])}, and the observed one. The p-value "
        "counts several bandwidths at once, so it is a little larger than the share to the right.",
        edges=edges,
        counts=counts,
        counts_beyond=np.histogram(beyond, bins=edges)[0],
        estimate=estimate,
        draws_label=f"{shown} under random signs",
        beyond_label=f"{len(beyond)} as large or larger",
        estimate_label=f"observed, p = {pvalue(result.pvalue)}",
    )
