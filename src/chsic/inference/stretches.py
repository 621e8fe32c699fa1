"""Stretches of time: rows that follow each other depend on each other, the less the longer ago.

Under the null hypothesis the products of residuals of x and y follow each other as closely as those
of x do, times those of y. A stretch is long enough that what one has in common with the next hardly
matters, and is a group of its own (theory.md, section 14).
"""

from __future__ import annotations

import dataclasses

import numpy as np

from chsic._util.arrays import numbered
from chsic._util.validate import Array, Index
from chsic.data.samples import Samples
from chsic.data.sampling import Sampling, Stretches
from chsic.inference.given import Given
from chsic.inference.learner import describe
from chsic.inference.settings import Settings
from chsic.inference.units import Units

MOST_ROWS = 20_000  # whose residuals are looked at, in windows
WINDOWS = 10
FEWEST_STRETCHES = 10
# A variance is best known with shorter stretches than a test needs to keep its level (Sun, Phillips
# and Jin 2008). With memory .9 and 400 samples the rule alone gives 18: stretches of 15, 20 and 30
# rejected .10, .06 and .05 of 175 true nulls (`benchmarks/dependence.py`), and found .54, .57 and
# .48 of 150 relations.
LONGER = 1.5
SHORTEST = 1.5  # unit of time, below which rows are independent
INSIGNIFICANT = 2.0  # standard deviations of an autocorrelation
IN_A_ROW = 5  # lags without an autocorrelation, behind which there is none
MOST_OFFSETS = 1_000  # rows between two of which products are taken
MOST_STRETCHES = 1e9
TIE = 1e-6  # of a stretch
LASTING = 2.5  # standard errors of a level that series have, each its own
LASTING_SHARE = 0.1  # of the variance of a series that it adds


@dataclasses.dataclass(frozen=True, eq=False)
class Clock:
    """When rows were observed.

    Attributes
    ----------
    order : array of int
        Rows, series by series, each in the order of time.
    series : array of int
        Series of the rows in this order.
    times : array
        Their times.
    unit : float
        Median distance of one time to the next.
    """

    order: Index
    series: Index
    times: Array
    unit: float

    @classmethod
    def of(cls, times: Array, series: Index | None) -> Clock:
        """Sort rows, or say that all have the same time."""
        labels = np.zeros(len(times), np.intp) if series is None else series
        if not np.isfinite(times).all():
            raise ValueError("time: some times are infinite; leave their rows out, or mend them.")
        order = np.lexsort([times, labels])
        times, labels = times[order], labels[order]
        steps = np.diff(times)[np.diff(labels) == 0]
        steps = steps[steps > 0]
        if not len(steps):
            raise ValueError(
                "time: all rows of a series have the same time, so that there is nothing to tell "
                "how long they depend on each other; use groups."
            )
        return cls(order, labels, times, float(np.median(steps)))

    @property
    def repeats(self) -> bool:
        """Whether several rows of a series have the same time."""
        return bool(np.any((np.diff(self.times) == 0) & (np.diff(self.series) == 0)))

    @property
    def duration(self) -> float:
        """How long all series last together, in units."""
        starts = np.flatnonzero(np.diff(self.series, prepend=-1))
        ends = np.append(starts[1:], len(self.times)) - 1
        return float((self.times[ends] - self.times[starts]).sum()) / self.unit + len(starts)

    def windows(self) -> Clock:
        """Return some rows that follow each other, from everywhere, if there are many."""
        n = len(self.order)
        if n <= MOST_ROWS:
            return self
        size = MOST_ROWS // WINDOWS
        starts = np.linspace(0, n - size, WINDOWS).astype(np.intp)
        rows = (starts[:, np.newaxis] + np.arange(size)).ravel()
        window = np.repeat(np.arange(WINDOWS), size)
        series = window * (int(self.series.max()) + 1) + self.series[rows]
        return Clock(self.order[rows], series, self.times[rows], self.unit)

    def stretches(self, length: float) -> Index:
        """Return the stretch of every row, of about the same length, in the order of the user."""
        starts = np.flatnonzero(np.diff(self.series, prepend=-1))
        number = np.cumsum(np.diff(self.series, prepend=-1) > 0) - 1
        ends = np.append(starts[1:], len(self.times)) - 1
        lasts = self.times[ends] - self.times[starts] + self.unit
        parts = np.maximum(np.round(lasts / length), 1.0)
        since = self.times - self.times[starts][number]
        if not parts.max() < MOST_STRETCHES:
            raise ValueError(
                "time: steps from one time to the next differ too much to cut it into stretches; "
                "check it for times far off, or give stretch."
            )
        # Rounding shall not put a time into the stretch before it.
        part = np.floor(since * (parts / lasts)[number] + TIE).astype(np.intp)
        labels = np.empty(len(part), np.intp)
        labels[self.order] = number * (int(parts.max()) + 1) + part
        return labels

    def autocorrelations(self, features: Array) -> Array:
        """Return those of some features together, at 0, 1, 2, ... units of time.

        Rows of the same time are averaged, as it is their sums that stretches are made of.
        """
        u, series, times = self._at_each_time(features - features.mean(axis=0))
        place = np.round((times - times[0]) / self.unit)
        longest = int(len(u) ** 0.5) + IN_A_ROW
        sums, counts = np.zeros(longest + 1), np.zeros(longest + 1)
        for offset in range(1, min(MOST_OFFSETS, len(u))):
            lags = place[offset:] - place[:-offset]
            near = (lags <= longest) & (lags >= 0) & (series[offset:] == series[:-offset])
            if not near.any():
                break
            products = np.einsum("ij,ij->i", u[offset:], u[:-offset])[near]
            at = lags[near].astype(np.intp)
            sums += np.bincount(at, products, minlength=longest + 1)
            counts += np.bincount(at, minlength=longest + 1)
        square = np.einsum("ij,ij->", u, u) / len(u)
        known = counts > 0
        known[0] = True
        sums[0], counts[0] = square, 1.0
        lags = np.arange(longest + 1)
        means = np.divide(sums, counts, where=known, out=np.zeros(longest + 1))
        autocorrelations: Array = np.interp(lags, lags[known], means[known] / max(square, 1e-300))
        return autocorrelations

    def level(self, features: Array, apart: float) -> tuple[float, float]:
        """Return what rows of a series that are `apart` have in common, and its score.

        As a share of their squares, and in standard errors over series.
        """
        u, series, times = self._at_each_time(features - features.mean(axis=0))
        squares = np.einsum("ij,ij->i", u, u)
        sizes = np.bincount(series)
        sums = np.stack([np.bincount(series, column) for column in u.T], axis=1)
        pairs = (sizes * (sizes - 1.0)) / 2
        products = (np.einsum("ij,ij->i", sums, sums) - np.bincount(series, squares)) / 2
        for offset in range(1, min(MOST_OFFSETS, len(u))):
            same = series[offset:] == series[:-offset]
            near = same & (times[offset:] - times[:-offset] < apart * self.unit)
            if not near.any():
                break
            of = series[offset:][near]
            own = np.einsum("ij,ij->i", u[offset:], u[:-offset])[near]
            products -= np.bincount(of, own, minlength=len(sizes))
            pairs -= np.bincount(of, minlength=len(sizes))
        error = float(np.sqrt((products**2).sum()))
        if not (error > 0 and pairs.sum() > 0):
            return 0.0, 0.0
        return float(products.sum() / pairs.sum() / squares.mean()), float(products.sum()) / error

    def _at_each_time(self, values: Array) -> tuple[Array, Index, Array]:
        """Return means of values at every time of a series, its series and its times."""
        ordered = values[self.order]
        if not self.repeats:
            return ordered, self.series, self.times
        changes = (np.diff(self.times) != 0) | (np.diff(self.series) != 0)
        starts = np.flatnonzero(np.append(True, changes))
        sizes = np.diff(np.append(starts, len(ordered)))
        means = np.add.reduceat(ordered, starts, axis=0) / sizes[:, np.newaxis]
        return means, self.series[starts], self.times[starts]


def stretch_length(of_x: Array, of_y: Array, duration: float) -> float:
    """Return how many units of time a stretch has, from autocorrelations of x and of y.

    Those of the products are their products. They are looked at as far as both x and y have some
    that are more than chance: products of two small ones may add up to much.

    The bias of a variance that is made of stretches falls with their length, and its own variance
    rises: the rule balances them (Politis and White 2004, Patton, Politis and White 2009;
    theory.md, eq. 53). For a test they are longer. Stretches of 1 mean that rows are independent.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.inference.stretches import stretch_length
    >>> memory = 0.9 ** np.arange(60.0)
    >>> round(stretch_length(memory, memory, 1_000.0), 1)
    47.7
    >>> stretch_length(memory, 0.0 ** np.arange(60.0), 1_000.0)
    1.0
    """
    products = of_x * of_y
    bound = INSIGNIFICANT * (np.log10(max(duration, 10.0)) / duration) ** 0.5
    small = np.minimum(np.abs(of_x), np.abs(of_y))[1:] < bound
    in_a_row = np.convolve(small, np.ones(IN_A_ROW), mode="valid") == IN_A_ROW
    last = int(np.argmax(in_a_row)) if in_a_row.any() else len(small) // 2
    most = min(2 * last, len(products) - 1)
    if most == 0:
        return 1.0
    lags = np.arange(1, most + 1)
    window = np.minimum(1.0, 2 * (1 - lags / (most + 1)))
    weighted = window * products[1 : most + 1]
    spectrum = 1 + 2 * float(weighted.sum())
    if spectrum <= 0:
        return 1.0
    slope = 2 * float((lags * weighted).sum())
    return max(1.0, LONGER * float((1.5 * (slope / spectrum) ** 2 * duration) ** (1 / 3)))


def in_stretches(samples: Samples, settings: Settings) -> Samples:
    """Return samples whose groups are stretches of time, if they have times.

    There are no groups if rows turn out to be independent.

    Parameters
    ----------
    samples : Samples
        Their groups are series, each with a time of its own.
    settings : Settings
        Those of the test.
    """
    sampling = samples.sampling
    if sampling.time is None:
        return samples
    if sampling.stretch is not None:
        return dataclasses.replace(samples, sampling=in_given_stretches(sampling))
    clock = Clock.of(sampling.time, sampling.groups)
    longest = clock.duration / FEWEST_STRETCHES
    length, lasts = _length(samples, settings, clock)
    if lasts:  # no stretch is long enough, but series are
        whole = float(np.ptp(sampling.time)) + clock.unit
        stretches = Stretches(whole, is_cut=False, unit=sampling.unit)
        known = dataclasses.replace(sampling, time=None, stretches=stretches).complete()
        return dataclasses.replace(samples, sampling=known)
    known = _cut(sampling, clock, min(length, longest), is_cut=length > longest)
    return dataclasses.replace(samples, sampling=known)


def in_given_stretches(sampling: Sampling) -> Sampling:
    """Return what is known of rows with stretches for groups, if the user says how long they are.

    All pairs of columns share such stretches.
    """
    if sampling.time is None or sampling.stretch is None:
        return sampling
    clock = Clock.of(sampling.time, sampling.groups)
    return _cut(sampling, clock, sampling.stretch / clock.unit)


def _cut(sampling: Sampling, clock: Clock, length: float, *, is_cut: bool = False) -> Sampling:
    """Cut time into stretches of some units of it; not if rows are independent."""
    unit, timeless = sampling.unit, dataclasses.replace(sampling, groups=None, time=None)
    if length < SHORTEST and not clock.repeats:
        return dataclasses.replace(timeless, stretches=Stretches(0.0, is_cut=False, unit=unit))
    length = max(length, 1.0) * clock.unit
    stretches = clock.stretches(length)
    # Whole series are independent, however long rows of one depend on each other.
    is_cut = is_cut and int(numbered(stretches).max()) > int(clock.series.max())
    cut = Stretches(length, is_cut, unit)
    return dataclasses.replace(timeless, groups=stretches, stretches=cut).complete()


def _length(samples: Samples, settings: Settings, clock: Clock) -> tuple[float, bool]:
    """Return the length of a stretch in units of time, and whether series have lasting levels.

    First that of x and y as they are, which what z explains of them makes longer: a regression that
    is cross-validated by such stretches does not follow noise. Then that of what it leaves.
    """
    window = clock.windows()
    rows = np.sort(window.order)
    if len(rows) < len(samples):
        samples = samples.rows(rows)
        window = dataclasses.replace(window, order=np.searchsorted(rows, window.order))
    alone, duration = Given.of([], Settings()), clock.duration
    both = zip("xy", (samples.x, samples.y), settings.kernels, strict=True)
    x, y = (alone.variable(*of) for of in both)
    # Columns are what a wide kernel sees; squares may have a memory where they have none.
    of_x, of_y = ([one.clipped, describe(one), one.clipped**2] for one in (x, y))

    def length(of_x: list[Array], of_y: list[Array]) -> float:
        lengths = []
        for u, v in zip(of_x, of_y, strict=True):
            both = window.autocorrelations(u), window.autocorrelations(v)
            lengths.append(stretch_length(*both, duration))
        return max(lengths)

    first = length(of_x, of_y)
    lasts = _lasts(window, of_x, of_y, first)
    if (first < SHORTEST and not lasts) or not samples.z:
        return first, lasts
    first = min(first, duration / FEWEST_STRETCHES)
    stretches = Sampling(window.stretches(first * window.unit)).complete()
    if lasts:
        stretches = dataclasses.replace(samples.sampling, time=None).complete()
    given = Given.of(samples.z, Settings(), ordered=False, sampling=stretches)
    left_x, left_y = ([_residuals(own, given) for own in of] for of in (of_x, of_y))
    second = length(left_x, left_y)
    return second, _lasts(window, left_x, left_y, second)


def _lasts(window: Clock, of_x: list[Array], of_y: list[Array], length: float) -> bool:
    """Whether x and y have levels that differ from series to series as long as they last."""
    n_series = int(window.series.max()) + 1
    if n_series < FEWEST_STRETCHES:
        return False
    apart, each = 2 * length, len(window.times) / n_series
    for u, v in zip(of_x, of_y, strict=True):
        (of_u, score_u), (of_v, score_v) = window.level(u, apart), window.level(v, apart)
        if min(score_u, score_v) > LASTING and each * of_u * of_v > LASTING_SHARE:
            return True
    return False


def _residuals(features: Array, given: Given) -> Array:
    """Return what z does not explain of features; zero where a sample has no partner."""
    rows = slice(None) if given.rows is None else given.rows
    own, residuals = features[rows], np.zeros_like(features)
    if given.learner is None:
        assert given.confounder is not None
        strata = Units.of(given.confounder.strata)
        residuals[rows] = own - strata.means(own)[strata.labels]
    else:
        fitted = given.learner.learn(own, are_features=True).ridge.fit(own)
        assert fitted.residuals is not None
        residuals[rows] = fitted.residuals
    return residuals
