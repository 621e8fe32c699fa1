"""From Gram matrices and their null to a result that people read."""

from __future__ import annotations

from typing import Any

import numpy as np

from chsic._util.validate import Array, Index
from chsic.data.samples import Samples
from chsic.inference.design import Design
from chsic.inference.family import Family
from chsic.inference.grams import UnitGrams
from chsic.inference.null import JointNull, Law
from chsic.inference.result import IndependenceResult, Member, Profile


def _coefficient(
    between: UnitGrams, of_x: UnitGrams, of_y: UnitGrams, sizes: Index
) -> tuple[float, Array, float]:
    """Return D(x, y) / sqrt(D(x, x) D(y, y)), also without each of the units, and its null spread.

    The last is its standard deviation under conditional independence.
    """

    def without(grams: UnitGrams) -> Array:
        sums = grams.observed.sum(axis=1) + grams.observed.sum(axis=0)
        left: Array = grams.centred - (sums - np.diag(grams.observed) - grams.centre)
        return left

    d_xx, d_yy = of_x.centred, of_y.centred
    if d_xx <= 0 or d_yy <= 0:
        return 0.0, np.empty(0), 1.0  # too few samples to see x or y vary given z
    squares = np.maximum(without(of_x), 1e-6 * d_xx) * np.maximum(without(of_y), 1e-6 * d_yy)
    scale = (d_xx * d_yy) ** 0.5
    spread = Law.of(between.weighted(None, sizes).null).scale / scale
    return (
        float(np.clip(between.centred / scale, -1, 1)),
        np.clip(without(between) / np.sqrt(squares), -1, 1),
        min(spread, 1.0),
    )


def outcome_of(
    design: Design,
    family: Family,
    kernels: list[Array | None],
    grams: list[UnitGrams],
    compared: JointNull,
    samples: Samples,
    found: list[str],
) -> IndependenceResult:
    """Put together what a test found: `grams` and `compared` are those of the family's members."""
    scale = 4.0 * design.graph.n_pairs**2
    bandwidths = tuple(one.bandwidth for one in family.scales)
    of_member = [(pair, kernel is not None) for pair in bandwidths for kernel in kernels]
    members = tuple(
        Member(bandwidth=pair, augmented=augmented, statistic=gram.statistic / scale, pvalue=p)
        for (pair, augmented), gram, p in zip(
            of_member, grams, compared.member_pvalues, strict=True
        )
    )
    between = family.scales[family.middle].grams
    coefficient, without, spread = _coefficient(
        between, family.of_x, family.of_y, design.units.sizes
    )
    symmetric = (between.observed.sum(axis=1) + between.observed.sum(axis=0)) / 2
    winner = compared.winner
    return IndependenceResult(
        statistic=members[winner].statistic,
        pvalue=compared.pvalue,
        estimate=grams[winner].centred / scale,
        coefficient=coefficient,
        null_distribution=compared.draws / scale,
        profile=Profile(z=design.z_of_units, contribution=(symmetric - between.centre) / scale),
        **_circumstances(design, samples, found),
        bandwidths=bandwidths,
        bandwidth=members[winner].bandwidth,
        members=members,
        winner=winner,
        engine="features",
        null=compared.method,
        leave_one_out=without,
        null_spread=spread,
    )


def nothing_left(design: Design, samples: Samples, found: list[str]) -> IndependenceResult:
    """Say that x or y is a function of z: there is nothing to test."""
    return IndependenceResult(
        statistic=0.0,
        pvalue=1.0,
        estimate=0.0,
        coefficient=0.0,
        null_distribution=np.zeros(1),
        profile=Profile(z=design.z_of_units, contribution=np.zeros(len(design.units))),
        **_circumstances(design, samples, found),
        bandwidths=(),
        bandwidth=(0.0, 0.0),
        members=(),
        winner=-1,
        engine="none",
        null="none",
        leave_one_out=np.empty(0),
        null_spread=1.0,
    )


def _circumstances(design: Design, samples: Samples, found: list[str]) -> dict[str, Any]:
    """Return what a result tells of the data and the settings, whatever was found."""
    given = {"x": samples.x, "y": samples.y, "z": samples.z}
    n_samples, n_pairs = len(samples), design.graph.n_pairs
    return {
        "n_samples": n_samples,
        "n_omitted": samples.n_omitted,
        "names": {a: tuple(column.name for column in of) for a, of in given.items()},
        "kinds": samples.kinds,
        "levels": {
            column.name: column.levels
            for of in given.values()
            for column in of
            if column.kind == "category"
        },
        "n_pairs": n_pairs,
        "alpha": 2 * n_pairs / n_samples,
        "block_size": n_samples / len(design.units),
        "pairs": design.pairs,
        "adjust": design.adjust,
        "warnings": (*found, *design.warnings),
    }
