"""What a test returns: an answer, how strong, how sure, and what it rests on."""

from __future__ import annotations

import dataclasses
import importlib
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from chsic._util.validate import Array, as_number


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
        Whether pairs of units are weighted by a kernel on z, which finds dependence that changes
        its sign along z.
    statistic, pvalue : float
        Its own, as if it had been the only one.
    """

    bandwidth: tuple[float, float]
    augmented: bool
    statistic: float
    pvalue: float


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
        independent samples, and that pairs and adjustment leave little of z's influence; see
        `warnings`, and `chsic.calibrate` for your own design.
    estimate : float
        `statistic` less its expectation under conditional independence; may be negative.
    coefficient : float
        Strength, at most 1: 0 under conditional independence on average, 1 if y is x. It is
        comparable across sample sizes. It does not see dependences that cancel along z. It is
        taken at the middle one of `bandwidths`, whichever won, as is `profile`.
    null_distribution : array
        The winning member's estimate under each draw of random signs.
    profile : Profile
        Where along z the dependence sits.
    n_samples, n_omitted, n_pairs : int
        Size of the data, rows left out for missing values, and number of pairs compared.
    names : dict
        Names of the columns of "x", "y" and "z".
    kinds : dict
        What each column was taken for, by its name: ``"number"``, ``"date"`` or ``"category"``.
    levels : dict
        Levels of each category, by its name, in the order of their codes.
    alpha : float
        Mean number of partners of a sample.
    unit_size : float
        Mean number of samples that share a random sign.
    bandwidths : tuple of pairs of float
        Of the kernels of x and y, for every bandwidth of the family.
    bandwidth : pair of float
        That of the winning member.
    members : tuple of Member
        The family, each with its own p-value.
    winner : int
        Position of the most significant member.
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
    n_omitted: int
    names: dict[str, tuple[str, ...]]
    kinds: dict[str, str]
    levels: dict[str, tuple[str, ...]]
    n_pairs: int
    alpha: float
    unit_size: float
    bandwidths: tuple[tuple[float, float], ...]
    bandwidth: tuple[float, float]
    members: tuple[Member, ...]
    winner: int
    engine: str
    pairs: str
    adjust: str
    null: str
    warnings: tuple[str, ...]
    leave_one_out: Array  # coefficient without each of the units
    null_spread: float  # standard deviation of the coefficient under conditional independence

    def __post_init__(self) -> None:
        for held in (self.null_distribution, self.leave_one_out, *vars(self.profile).values()):
            held.setflags(write=False)

    def confidence_interval(self, level: float = 0.95) -> ConfidenceInterval:
        """Return an interval for the coefficient, by leaving out one unit at a time.

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
        values = self.leave_one_out
        n_units = len(values)
        if n_units < 2 or self.null_spread == 0:
            return ConfidenceInterval(-1.0, 1.0)  # nothing shows how much it varies
        # The coefficient is a squared length, so that its variance grows with it: a theta + b, b
        # what it is under conditional independence. Both are known here, at the estimate
        # (theory.md, eqs. 42 and 43, a and b being phi and phi_0).
        estimate, b = self.coefficient, self.null_spread**2
        variance = (n_units - 1) / n_units * float(((values - values.mean()) ** 2).sum())
        a = max(variance - b, 0.0) / max(estimate, self.null_spread, 1e-300)
        q = float(stdtrit(n_units - 1, (1 + level) / 2)) ** 2  # quantile of Student's t, squared
        # Where (estimate - theta)^2 = q (a theta + b): theory.md, eq. 44.
        middle = estimate + q * a / 2
        half = float(np.sqrt(q * max(a * estimate + q * a**2 / 4 + b, 0.0)))
        # An estimate below zero can lie outside, in ten samples or fewer.
        low, high = min(middle - half, estimate), max(middle + half, estimate)
        return ConfidenceInterval(max(low, -1.0), min(high, 1.0))

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
        return (
            f"IndependenceResult(pvalue={self.pvalue:.3g}, coefficient={self.coefficient:z.3f} "
            f"[{low:z.3f}, {high:.3f}], n_samples={self.n_samples}{warned})"
        )
