"""What a test returns: an answer, how strong, how sure, and what it rests on."""

from __future__ import annotations

import dataclasses
import importlib
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from chsic._util.validate import Array, as_number

RELATED = 0.05  # largest p-value of a relation
# Coefficient below which a relation hardly matters: about that of normal x and y with the
# correlation 0.2, whose coefficient is 0.017.
HARDLY_MATTERS = 0.02


def later(module: str, function: str, result: Any, **arguments: Any) -> Any:
    """Call a function of a module that comes after results in the flow of data."""
    return getattr(importlib.import_module(module), function)(result, **arguments)


def require_picture(what: str, known: tuple[str, ...]) -> None:
    """Raise unless a result has such a picture."""
    if what not in known:
        raise ValueError(f"what: expected one of {', '.join(map(repr, known))}, got {what!r}.")


class ConfidenceInterval(NamedTuple):
    """Lower and upper end of an interval."""

    low: float
    high: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class Member:
    """One statistic of the family that is tested jointly.

    Attributes
    ----------
    bandwidth : tuple of float
        Of the kernels of x and of y, in units of the data (of standardised columns, if several).
    augmented : bool
        Whether pairs of units are weighted by a kernel on z, or products multiplied by functions of
        several columns of z: both find dependence that changes along z.
    statistic, pvalue : float
        Its own, as if it had been the only one.
    weight : float
        Its part in the level of the family, relative to those of others.
    """

    bandwidth: tuple[float, float]
    augmented: bool
    statistic: float
    pvalue: float
    weight: float = 1.0


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Profile:
    """Where along z the dependence sits.

    Attributes
    ----------
    z : array, shape (n_units, d)
        Mean of z in each unit of neighbouring samples, in the units of the data; of shape
        (n_units, 0) if there is no z. For a category it is the code, a position in
        ``result.levels``, and NaN if a unit holds several.
    contribution : array, shape (n_units,)
        What the unit adds to the estimate of the plain statistic: they add up to it.
    """

    z: Array
    contribution: Array


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class IndependenceResult:
    """Whether x is still related to y once z is known, how strongly, and how sure that is.

    Attributes
    ----------
    statistic : float
        C-HSIC of the winning member, over the pairs and with the adjustment used: positive even
        under conditional independence.
    pvalue : float
        Probability of a family at least as extreme if x and y are independent given z. It assumes
        independent samples, or groups of them, and that pairs and adjustment leave little of z's
        influence; see `warnings`, and `chsic.calibrate` for your own design.
    estimate : float
        `statistic` less its expectation under conditional independence; may be negative.
    coefficient : float
        Strength, at most 1: 0 under conditional independence on average, 1 if y is x. It is
        comparable across sample sizes. It does not see dependences that cancel along z. It is
        taken at the middle one of `bandwidths`, whichever won, as is `profile`.
    null_distribution : array
        The winning member's estimate under each draw of random signs, or quantiles of its law.
    profile : Profile
        Where along z the dependence sits.
    n_samples, n_omitted, n_pairs : int
        Size of the data, rows left out for missing values, and number of pairs compared.
    n_effective : float or None
        As many rows of equal weight say as much about a mean (Kish), if `weights` were given: the
        squared sum of weights over the sum of their squares.
    n_groups : int or None
        Number of groups of rows that may depend on each other, or of stretches of time; None if
        rows are independent.
    stretch : float or None
        How long these stretches are, in the unit of the time (days for dates): 0 if rows turned out
        to be independent; None if no time was given.
    stretch_unit : str
        ``"days"`` if the time was of dates; empty if it was of numbers.
    within : bool
        Whether rows were compared with those of their group alone.
    names : dict
        Names of the columns of "x", "y" and "z".
    kinds : dict
        What each column was taken for, by its name: ``"number"``, ``"date"`` or ``"category"``.
    levels : dict
        Levels of each category, by its name, in the order of their codes.
    kernels : dict
        Names of the kernels of "x" and of "y".
    alpha : float
        Mean number of partners of a sample.
    unit_size : float
        Mean number of samples that share a random sign.
    bandwidths : tuple of pairs of float
        Of the kernels of x and y, for every bandwidth of the family; 1 for a kernel k(a, b) of
        one's own, which has none.
    bandwidth : pair of float
        That of the winning member.
    members : tuple of Member
        The family, each with its own p-value.
    winner : int
        Position of the most significant member.
    explained : dict
        Share of the variance of "x" and of "y" that z explains, as estimated by generalised
        cross-validation. Where it is near 1, small errors of the regression count.
    jumps : dict
        Number of regions of z where "x", and "y", were seen to jump.
    engine, pairs, adjust, null : str
        How features were computed, pairs chosen, residuals made, and where the p-value is from.
    warnings : tuple of str
        Sentences that apply to these data.
    """

    statistic: float
    pvalue: float
    estimate: float
    coefficient: float
    null_distribution: Array
    profile: Profile
    n_samples: int
    n_effective: float | None
    n_omitted: int
    names: dict[str, tuple[str, ...]]
    kinds: dict[str, str]
    levels: dict[str, tuple[str, ...]]
    kernels: dict[str, str]
    n_pairs: int
    alpha: float
    unit_size: float
    bandwidths: tuple[tuple[float, float], ...]
    bandwidth: tuple[float, float]
    members: tuple[Member, ...]
    winner: int
    explained: dict[str, float]
    jumps: dict[str, int]
    engine: str
    pairs: str
    adjust: str
    null: str
    warnings: tuple[str, ...]
    leave_one_out: Array  # coefficient without each of the folds
    null_spread: float  # standard deviation of the coefficient under conditional independence
    n_groups: int | None = None
    stretch: float | None = None
    stretch_unit: str = ""
    within: bool = False

    def __post_init__(self) -> None:
        for held in (self.null_distribution, self.leave_one_out, *vars(self.profile).values()):
            held.setflags(write=False)

    def confidence_interval(self, level: float = 0.95) -> ConfidenceInterval:
        """Return an interval for the coefficient, by leaving out one fold of samples at a time.

        Parameters
        ----------
        level : float
            Probability with which it covers the coefficient of a large sample, about.

        Returns
        -------
        ConfidenceInterval
            With fields ``low`` and ``high``. It is not symmetric: the larger the coefficient, the
            more it varies. It is meant for dependent x and y: near 0 the coefficient does not vary
            like a normal variable, and the p-value is what to look at. How often it covers was
            measured, see ``docs/calibration.md``.

        Examples
        --------
        >>> import chsic
        >>> x, y, z = chsic.datasets.draw_scenario("add", 400, rng=0)
        >>> low, high = chsic.chsic_test(x, y, z, rng=0).confidence_interval()
        >>> 0 < low < high < 1
        True
        """
        level = as_number("level", level)
        if not 0 < level < 1:
            raise ValueError(f"level: must lie between 0 and 1, got {level:g}; 0.95 is usual.")
        if not self._varies:
            return ConfidenceInterval(-1.0, 1.0)
        estimate, n_folds = self.coefficient, len(self.leave_one_out)
        a, b = self._variance_terms()
        q = float(stdtrit(n_folds - 1, (1 + level) / 2)) ** 2  # quantile of Student's t, squared
        middle, half = _within(estimate, a, b, q)
        # An estimate below zero can lie outside, in ten samples or fewer.
        low, high = min(middle - half, estimate), max(middle + half, estimate)
        return ConfidenceInterval(max(low, -1.0), min(high, 1.0))

    def equivalence(self, bound: float = HARDLY_MATTERS) -> float:
        """Return a p-value for the claim that the coefficient is below a bound.

        It is small where the data rule out that the coefficient is as large as `bound`: the
        opposite of `pvalue`, which is small where they rule out that x and y are unrelated. If
        both are large, there are too few data to tell. Like the coefficient, it does not see
        dependence that cancels along z.

        Parameters
        ----------
        bound : float
            Coefficient that would matter, between 0 and 1. Normal x and y of correlation 0.1, 0.2,
            0.3 and 0.5 have the coefficients 0.004, 0.017, 0.039 and 0.117.

        Returns
        -------
        float
            Probability of a coefficient as small as the observed one if the true one is `bound`.

        Examples
        --------
        >>> import chsic
        >>> x, y, z = chsic.datasets.draw_scenario("linear", 2_000, rng=0)  # unrelated given z
        >>> result = chsic.chsic_test(x, y, z)
        >>> result.pvalue > 0.05, result.equivalence(0.02) < 0.05
        (True, True)
        """
        bound = as_number("bound", bound)
        if not 0 < bound < 1:
            raise ValueError(f"bound: must lie between 0 and 1, got {bound:g}; try 0.02.")
        if not self._varies:
            return 1.0
        a, b = self._largest_variance_terms()
        distance = (self.coefficient - bound) / (a * bound + b) ** 0.5  # theory.md, eq. 44
        return float(stdtr(len(self.leave_one_out) - 1, distance))

    def smallest_bound(self, level: float = RELATED) -> float:
        """Return the smallest bound that the coefficient is below, by `equivalence` at a level.

        Examples
        --------
        >>> import chsic
        >>> result = chsic.chsic_test(*chsic.datasets.draw_scenario("linear", 1_000, rng=0))
        >>> round(result.equivalence(result.smallest_bound(0.05)), 6)
        0.05
        """
        level = as_number("level", level)
        if not 0 < level < 0.5:
            raise ValueError(f"level: must lie between 0 and 0.5, got {level:g}; 0.05 is usual.")
        if not self._varies:
            return 1.0
        a, b = self._largest_variance_terms()
        q = float(stdtrit(len(self.leave_one_out) - 1, level)) ** 2
        return min(sum(_within(self.coefficient, a, b, q)), 1.0)

    @property
    def verdict(self) -> str:
        """The answer in a word: ``"yes"``, ``"practically unrelated"`` or ``"undecided"``.

        Yes if `pvalue` is at most 0.05; practically unrelated if it is not, but
        ``equivalence(0.02)`` is; undecided if neither is.

        Examples
        --------
        >>> import chsic
        >>> for scenario, n in (("add", 400), ("linear", 2_000), ("linear", 60)):
        ...     print(chsic.chsic_test(*chsic.datasets.draw_scenario(scenario, n, rng=0)).verdict)
        yes
        practically unrelated
        undecided
        """
        if self.pvalue <= RELATED:
            return "yes"
        return "practically unrelated" if self.equivalence() <= RELATED else "undecided"

    @property
    def _varies(self) -> bool:
        """Whether anything shows how much the coefficient varies."""
        return len(self.leave_one_out) >= 2 and self.null_spread > 0

    def _variance_terms(self) -> tuple[float, float]:
        """Return a and b, if the coefficient varies by a theta + b where it is theta.

        It is a squared length, so that its variance grows with it; b is what it is under
        conditional independence. Both are known here, at the estimate: phi and phi_0 of theory.md,
        eqs. 42 and 43.
        """
        values = self.leave_one_out
        n_folds = len(values)
        variance = (n_folds - 1) / n_folds * float(((values - values.mean()) ** 2).sum())
        b = self.null_spread**2
        return max(variance - b, 0.0) / max(self.coefficient, self.null_spread, 1e-300), b

    def _largest_variance_terms(self) -> tuple[float, float]:
        """Return the same, with a as large as it may be.

        A coefficient that is small by chance shows too small an a. If C is its mean m plus normal
        noise of covariance S, its squared length has the variance 4 m'S m + 2 tr S^2, of which the
        last term is b, and m'S m is at most |m|^2 sqrt(tr S^2).
        """
        a, b = self._variance_terms()
        return max(a, 8**0.5 * self.null_spread), b

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the null distribution as plain numbers, strings and lists.

        Examples
        --------
        >>> import chsic
        >>> x, y, z = chsic.datasets.draw_scenario("add", 200, rng=0)
        >>> sorted(chsic.chsic_test(x, y, z, rng=0).to_dict())[:3]
        ['adjust', 'alpha', 'bandwidth']
        """
        hidden = ("null_distribution", "leave_one_out", "null_spread", "profile", "members")
        plain = {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)
            if field.name not in hidden
        }
        plain["names"] = {argument: list(names) for argument, names in self.names.items()}
        plain["levels"] = {name: list(levels) for name, levels in self.levels.items()}
        plain["bandwidth"] = list(self.bandwidth)
        plain["bandwidths"] = [list(pair) for pair in self.bandwidths]
        plain["warnings"] = list(self.warnings)
        plain["confidence_interval"] = list(self.confidence_interval())
        plain["verdict"] = self.verdict
        plain["members"] = [
            {**dataclasses.asdict(member), "bandwidth": list(member.bandwidth)}
            for member in self.members
        ]
        plain["profile"] = {
            "z": [
                [None if value != value else value for value in row]
                for row in self.profile.z.tolist()
            ],
            "contribution": self.profile.contribution.tolist(),
        }
        return plain

    def plot(self, what: str = "null_distribution", *, column: int = 0, ax: Any = None) -> Any:
        """Draw the null distribution, or the profile along z.

        Parameters
        ----------
        what : {"null_distribution", "profile"}
            As in ``chsic.plot``.
        column : int
            Which column of z the profile is drawn along.
        ax : matplotlib.axes.Axes, optional
            Where to draw; on a new figure if not given.

        Returns
        -------
        matplotlib.axes.Axes

        Examples
        --------
        >>> import chsic
        >>> x, y, z = chsic.datasets.draw_scenario("add", 100, rng=0)
        >>> chsic.chsic_test(x, y, z, rng=0).plot("profile").get_xlabel()
        'z'
        """
        require_picture(what, ("null_distribution", "profile"))
        along = {"column": column} if what == "profile" else {}
        return later("chsic.show.plot", what, self, ax=ax, **along)

    def _repr_html_(self) -> str | None:
        html: str | None = later("chsic.show.notebook", "html_of_result", self)
        return html

    def __repr__(self) -> str:
        low, high = self.confidence_interval()
        number = len(self.warnings)
        warned = f", {number} warning{'s' if number > 1 else ''}" if number else ""
        effective = self.n_effective
        weighted = "" if effective is None else f", n_effective={effective:.0f}"
        return (
            f"IndependenceResult(pvalue={self.pvalue:.3g}, coefficient={self.coefficient:z.3f} "
            f"[{low:z.3f}, {high:.3f}], n_samples={self.n_samples}{weighted}{warned})"
        )


def _within(estimate: float, a: float, b: float, q: float) -> tuple[float, float]:
    """Return middle and half width of where (estimate - theta)^2 <= q (a theta + b) (eq. 44)."""
    middle = estimate + q * a / 2
    return middle, float(np.sqrt(q * max(a * estimate + q * a**2 / 4 + b, 0.0)))
