"""From two prepared variables to the result of their test."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from chsic._util.validate import Array, Index
from chsic.data.samples import Samples, about_omitted
from chsic.inference.design import Design
from chsic.inference.family import Family, compute_family
from chsic.inference.grams import FitEffects, UnitGrams
from chsic.inference.null import LOOKS, JointNull, joint_null
from chsic.inference.outcome import nothing_left, outcome_of
from chsic.inference.pieces import Piece, cut_into_pieces
from chsic.inference.prepare import Left
from chsic.inference.result import IndependenceResult
from chsic.inference.smallest import by_units, table_probability
from chsic.pairs.graph import some_pairs
from chsic.pairs.joint_variation import differ_in_both, vary_together

MISSED_MUCH = 0.1
SEEN = 1_000  # pairs
SMALL = 0.1  # p-values that may be smaller than they can be
NEVER_TOGETHER = (
    "x and y never vary together given z: in every pair of samples that is compared, one of them "
    "is the same, so that nothing can be said of their relation."
)
# Draws after which a p-value may be clearly large, where many are asked for: most of them are.
LOOKS_OF_MANY = (199, 999)


@dataclasses.dataclass(frozen=True, eq=False)
class Inference:
    """What all tests of one design share.

    Attributes
    ----------
    design : Design
        What z decided.
    pieces : sequence of Piece
        Rows that are worked on together.
    effects : FitEffects
        What fits do to sums over pairs.
    kernels : list of array or None
        Weights between units that members of the family have: none, or a kernel on z.
    some_pairs : pair of arrays of int
        Pairs that show at once whether x and y vary together, if they often do.
    null : str
        How p-values are found.
    n_resamples : int
        Largest number of draws of signs.
    looks : sequence of int
        Numbers of draws after which it may be clear that a p-value is large.
    """

    design: Design
    pieces: Sequence[Piece]
    effects: FitEffects
    kernels: list[Array | None]
    some_pairs: tuple[Index, Index]
    null: str
    n_resamples: int
    looks: Sequence[int]

    @classmethod
    def of(
        cls,
        design: Design,
        augment: bool | str = "auto",
        null: str = "auto",
        n_resamples: int = 9999,
        looks: Sequence[int] = LOOKS,
    ) -> Inference:
        """Make what tests of a design share."""
        return cls(
            design,
            cut_into_pieces(
                design.graph,
                design.units,
                design.strata,
                rim=2 if design.adjust == "none" else 1,
            ),
            FitEffects(design.graph),
            _kernels(design, augment),
            some_pairs(design.graph, SEEN),
            null,
            n_resamples,
            looks,
        )

    def compare(
        self, x: Left, y: Left, samples: Samples, rng: np.random.Generator, workers: int = 1
    ) -> IndependenceResult:
        """Test what z left of x and y, which are made from `samples`."""
        found = [*about_omitted(samples.n_omitted), *x.found, *y.found]
        if x.prepared is None or y.prepared is None:
            return nothing_left(self.design, samples, found)
        if not self._vary_together(x.columns, y.columns):
            return nothing_left(self.design, samples, [*found, NEVER_TOGETHER])
        family = compute_family(x.prepared, y.prepared, self.pieces, self.effects, workers)
        grams = self._members(family)
        compared = joint_null(
            [gram.centred for gram in grams],
            [gram.null for gram in grams],
            method=self.null,
            n_resamples=self.n_resamples,
            looks=self.looks,
            rng=rng,
        )
        compared = compared.at_least(self._smallest(x, y, family, compared))
        known = [*found, *_about_family(family)]
        return outcome_of(self.design, family, self.kernels, grams, compared, samples, known)

    def _vary_together(self, x: Array, y: Array) -> bool:
        seen = differ_in_both(x, y, *self.some_pairs)
        return seen or vary_together(self.design.graph, x, y)

    def _smallest(self, x: Left, y: Left, family: Family, compared: JointNull) -> list[float]:
        """Return the smallest p-value that the data can support, for each member."""
        if self.design.strata is None:
            of_scales = [by_units(scale.grams.null) for scale in family.scales]
        elif compared.pvalue > SMALL:
            of_scales = [0.0] * len(family.scales)
        else:
            labels = self.design.strata.labels
            of_scales = [table_probability(labels, x.codes, y.codes)] * len(family.scales)
        return [smallest for smallest in of_scales for _ in self.kernels]

    def _members(self, family: Family) -> list[UnitGrams]:
        """Return Gram matrices of the members: every scale with every kernel on z."""
        sizes = self.design.units.sizes
        return [
            scale.grams.weighted(kernel, sizes, 1.0 if kernel is None else self.design.centre_on_z)
            for scale in family.scales
            for kernel in self.kernels
        ]


def _kernels(design: Design, augment: bool | str) -> list[Array | None]:
    if augment is False or design.kernel_on_z is None:
        return [None]
    return [design.kernel_on_z] if augment is True else [None, design.kernel_on_z]


def _about_family(family: Family) -> list[str]:
    found = []
    if family.of_x.centred <= 0 or family.of_y.centred <= 0:
        found.append("The samples are too few for a coefficient: it is given as 0 in [-1, 1].")
    if family.missed > MISSED_MUCH:
        found.append(
            "The kernels of x or y at their narrowest bandwidth are described by features only in "
            "part, so fine structure may be missed."
        )
    return found
