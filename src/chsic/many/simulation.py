"""Data like the user's own, in which x and y are independent given z, or related as much as asked.

Values of x and of y are redrawn given z: what a regression on z explains is kept, and residuals
come from samples near in z.

What the regression misses would become noise that way, and the test look sound where it is not.
Where the samples next to a sample foretell both x and y better than the regression does, they are
therefore exchanged with those of the samples next to it alone: data are as rough as they were.

Rows of one group depend on each other by their ranks: where a residual is among those of similar z,
or among all of them in units of the spread that they have there. Whole groups give their ranks to
others, x and y to different ones, and values are read off at the z of who gets them. If groups have
levels of their own, which is what `within` says, these are kept beside the regression.

Weights stay with the z of their rows, and are those of the regression.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from chsic._util.names import listed
from chsic._util.validate import Index
from chsic.data.arguments import Columns
from chsic.data.column import Column
from chsic.data.samples import Samples
from chsic.inference.arrangement import arrange
from chsic.inference.clusters import Clusters
from chsic.inference.given import Given
from chsic.inference.settings import Settings
from chsic.many.donors import Donors
from chsic.many.exchange import Exchange
from chsic.many.redrawn import Redrawn, in_units, is_discrete


@dataclasses.dataclass(frozen=True, eq=False)
class Source:
    """Makes data sets in which x and y depend on z as in the user's own.

    Attributes
    ----------
    samples : Samples
        Those of the user that can be compared.
    x, y : Redrawn
        What values are redrawn from.
    exchange : Exchange or None
        Takes their place if the regression missed something of both x and y.
    missed : tuple of str
        Which of "x" and "y" neighbours foretell better than the regression.
    donors : Donors or None
        Which groups get ranks of which, if rows of one group depend on each other.
    """

    samples: Samples
    x: Redrawn
    y: Redrawn
    exchange: Exchange | None = None
    missed: tuple[str, ...] = ()
    donors: Donors | None = None

    @classmethod
    def of(cls, samples: Samples, rng: np.random.Generator) -> Source:
        """Learn from samples how x and y depend on z."""
        given = Given.of(samples.z, Settings(), ordered=False, sampling=samples.sampling)
        samples = samples if given.rows is None else samples.rows(given.rows)
        z = given.confounder
        assert z is not None
        values = [in_units(columns)[0] for columns in (samples.x, samples.y)]
        arranged = arrange(given, len(samples), given.learn(values), rng)
        groups = samples.sampling.groups
        clusters = None if groups is None else Clusters(groups, given.within, given.weights)
        if given.within and not given.in_strata:
            _require_levels(x=samples.x, y=samples.y)
        x, y = (
            Redrawn.of(columns, adjustment, z, given.in_strata, half, clusters)
            for columns, adjustment, half in zip(
                (samples.x, samples.y),
                arranged.adjustments_of(2),
                _halves(len(samples), groups, rng),
                strict=True,
            )
        )
        if groups is not None:
            return cls(samples, x, y, donors=Donors.of(groups))
        if not given.uses_ridge:
            return cls(samples, x, y)
        exchange = Exchange.of(samples, arranged)
        missed = tuple(a for a, way in (("x", exchange.x), ("y", exchange.y)) if way.is_rough)
        return cls(samples, x, y, exchange if len(missed) == 2 else None, missed)

    def draw(self, effect: float, rng: np.random.Generator) -> tuple[list[Column], list[Column]]:
        """Redraw x and y given z; in a share `effect` of the samples, y ranks as high as x."""
        n = len(self.samples)
        x, y = self.x, self.y
        if self.exchange is not None:
            x, y, ranks_of_x, ranks_of_y = self.exchange.draw(rng)
        elif self.donors is not None:
            ranks_of_x, ranks_of_y = (
                way.own_ranks(rng, self.donors.groups)[self.donors.draw(rng)] for way in (x, y)
            )
        else:
            ranks_of_x, ranks_of_y = rng.random((2, n))
        coupled = rng.random(n) < effect
        ranks_of_y[coupled] = ranks_of_x[coupled]
        return x.at(ranks_of_x), y.at(ranks_of_y)


def _require_levels(**arguments: Columns) -> None:
    """Raise unless groups have levels of x and y, which residuals are added to.

    Values that repeat are drawn as they are, so that levels of groups would be lost; a test that
    rejected a quarter of true nulls of two such variables looked sound.
    """
    for argument, columns in arguments.items():
        if is_discrete(columns, in_units(columns)[0]):
            raise ValueError(
                f"{argument}: {listed(column.name for column in columns)} has few values, and how "
                "they differ from group to group cannot be simulated; leave within out, or give a "
                "z of categories."
            )


def _halves(n: int, groups: Index | None, rng: np.random.Generator) -> list[Index]:
    """Deal samples out in two halves, of whole groups."""
    if groups is None:
        return np.array_split(rng.permutation(n), 2)
    first = rng.permutation(int(groups.max()) + 1) % 2
    return [np.flatnonzero(first[groups] == half) for half in (0, 1)]
