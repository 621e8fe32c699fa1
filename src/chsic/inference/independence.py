"""Test whether x is still related to y once z is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chsic._util.parallel import blas_on_one_thread
from chsic._util.validate import RNGLike, as_count, as_generator
from chsic.data.arguments import Data
from chsic.data.samples import read_samples
from chsic.inference.compare import run_test
from chsic.inference.planning import TOL, Bandwidths
from chsic.inference.result import IndependenceResult
from chsic.inference.settings import Settings
from chsic.kernels.of_samples import KernelLike
from chsic.pairs import PairGraph


@blas_on_one_thread()
def chsic_test(
    x: Data,
    y: Data,
    /,
    z: Data = None,
    *,
    data: Data = None,
    pairs: str | PairGraph = "auto",
    block_size: int | str = "auto",
    unit_size: int | str = "auto",
    kernel: KernelLike | tuple[KernelLike, KernelLike] = "gaussian",
    bandwidth: Bandwidths = "auto",
    adjust: Any = "auto",
    augment: bool | str = "auto",
    alpha: float | str = "auto",
    null: str = "auto",
    n_resamples: int = 9999,
    tol: float = TOL,
    nan_policy: str = "raise",
    kinds: Mapping[str, str] | None = None,
    groups: Data = None,
    time: Data = None,
    stretch: float | str = "auto",
    within: bool = False,
    weights: Data = None,
    workers: int = 1,
    rng: RNGLike | None = None,
) -> IndependenceResult:
    """Test conditional independence of x and y given z.

    Residuals of x and y given z (`adjust`) are compared over pairs of samples close in z (`pairs`,
    `alpha`) with kernels of several bandwidths at once, and the p-value comes from random signs of
    the samples' contributions (`null`): a wild bootstrap.

    Parameters
    ----------
    x, y : array_like, series or data frame, of n rows; or names of columns of `data`
        Samples; row l of x, y and z belongs to the same observation. Columns are numbers (dates
        are, too) or categories (text, booleans, categorical types). An index is not looked at.
    z : array_like, series or data frame, optional; or names of columns of `data`
        The confounder. Without it, independence of x and y is tested. Samples of different
        categories are never paired.
    data : data frame, mapping or array, optional
        Where the columns are that x, y and z name.
    pairs : {"auto", "nearest", "closest", "blocks", "strata"} or PairGraph
        ``"nearest"``: neighbours in z, the same number for every sample. ``"closest"``: the
        paper's, the closest of all pairs. ``"blocks"``: all pairs inside disjoint blocks of
        neighbours. ``"strata"``: all pairs with equal z, for a z of few values. ``"auto"``:
        strata if most samples share their z with at least two others, and neither `alpha` nor
        `adjust` asks for something else; else nearest.
    block_size : int or "auto"
        Samples in a block, for ``pairs="blocks"`` alone; 8 by default.
    unit_size : int or "auto"
        Samples that share a random sign. ``"auto"``: one for up to 128 samples, and n / 128 for
        more.
    kernel : {"gaussian", "laplace", "cauchy", "matern32", "categorical"}, Kernel, callable or pair
        Of x and of y, as a tuple of two if they differ. By name, `Kernel` and callables of one
        argument are those of `chsic.chsic`: kappa(s), s a distance in bandwidths. A callable of two
        arguments is k(a, b), a kernel of the samples themselves, which may be text: for samples of
        shapes (m, d) and (p, d), numbers or objects, it returns their m x p values. It sees them as
        they were given, and z is taken off its features alone. It has no bandwidth, and goes with
        each of the other's. ``"categorical"`` is of this kind: 1 for equal samples, else 0.
    bandwidth : "auto", rule, float, pair, or list of them
        The h of kernels kappa(s / h) of x and y after adjustment, exp(-(s / h)^2) by default.
        ``"auto"``: 0.6, 1.2 and 5 times the median distance between samples that differ, tested
        jointly. Rules, numbers (in the unit of x and y) and tuples (for x, for y) are those of
        `chsic.chsic`; a list of them is tested jointly, and the coefficient is that at the middle
        one of the list.
    adjust : {"auto", "none", "ridge"} or scikit-learn regressor
        How residuals of x, y and their features given z are made. ``"ridge"``: kernel ridge
        regression with penalty and width by generalised cross-validation, in a metric of z that
        follows the directions along which x and y change. A regressor is cross-fitted in five
        folds. ``"auto"``: ridge, and none for strata.
    augment : {"auto", True, False}
        Whether statistics are tested that find dependence that changes along z, as they weight by a
        kernel on z or, with several columns of z, multiply by functions of them. ``True``: only
        those with a narrow kernel, for what changes fast. ``"auto"``: these and others, jointly.
    alpha : float or "auto"
        Number of neighbours a sample is paired with, on a line rounded to half as many on each
        side; for ``"closest"`` the mean number of partners. (A sample is also the neighbour of
        others, and has fewer at the ends of a line; ``result.alpha`` is the mean number.)
        ``"auto"``: a quarter of the samples, between 12 and 48, for one column of z, or 4 if
        neighbours show that the regression of x or of y missed something; 24 for several columns.
        Not for ``"blocks"``, ``"strata"`` and a `PairGraph`.
    null : {"auto", "signs", "exhaustive", "pearson3"}
        Where the p-value comes from: random signs of units, which are samples or, at large n,
        neighbouring samples. ``"signs"``: n_resamples draws of them. ``"exhaustive"``: all there
        are, for at most 20 units. ``"pearson3"``: no draws, but a law with the same three moments,
        and the same correlations between statistics. ``"auto"``: exhaustive if that is no more
        than n_resamples; draws, always the same ones, if a few units outweigh all others; else
        Pearson III. Nothing in ``"auto"`` depends on `rng`.
    n_resamples : int
        Number of draws of signs, 19 to 10^7, where they are drawn.
    tol : float
        Kernels of x and y are computed by up to 64 features; those may miss this share of the
        kernel's trace, 1e-14 to 0.1. The test is valid for any: features that miss something are a
        kernel as well.
    nan_policy : {"raise", "omit", "level"}
        ``"omit"`` drops rows with a missing value in x, y or z. ``"level"`` does so for numbers,
        and makes missing a level of a category.
    kinds : mapping, optional
        ``"number"`` or ``"category"`` for names of columns (or "x", "y", "z"), where the type of
        the data does not say it: ``kinds={"ward": "category"}`` for wards that have numbers.
    groups : array_like, series, or name of a column of `data`, optional
        Which group each row belongs to: its patient, shop or sensor. Rows of one group may depend
        on each other in any way, those of different groups not. Random signs, the jackknife and
        cross-validation go by whole groups, and only rows of different groups are compared. With
        `time`, a group is a series.
    time : array_like, series, or name of a column of `data`; or "rows", optional
        When each row was observed, as numbers or dates; ``"rows"`` for the order of the rows. Rows
        may depend on each other, the less the longer ago: stretches of time are groups then.
    stretch : float or "auto"
        How long a stretch is, in the unit of `time` (days for dates). ``"auto"``: as long as the
        autocorrelations of the residuals of x, times those of y, ask for; the result tells.
    within : bool
        Compare rows with those of their own group alone, and subtract a level of each group, so
        that whatever is constant in a group cancels (fixed effects): is y related to x inside a
        patient, whatever else makes patients differ?
    weights : array_like, series, or name of a column of `data`, optional
        How many rows of the population each row stands for, up to a factor: survey weights, or one
        over the probability that the row was drawn. Test, coefficient and interval are then about
        the population, in which x and y may be unrelated although selection relates them in the
        rows. Weights are taken as known; very unequal ones leave few rows that count, see
        ``result.n_effective``. Rows that are equal in one of the `groups` are one row whose weights
        add up.
    workers : int
        Threads, of which one is used below 50,000 samples, where more would be slower. The result
        does not depend on it.
    rng : None, int or numpy.random.Generator
        Draws what ``null="signs"`` and a regressor in `adjust` draw. With default settings the
        result does not depend on it.

    Returns
    -------
    IndependenceResult

    Notes
    -----
    The null hypothesis is that x and y are independent given z. The p-value assumes independent
    samples, or groups of them, or stretches of a time series whose law does not change; and that
    pairs and adjustment together leave nothing of z's influence that matters: it is exact for no
    finite sample. `chsic.calibrate` shows how far off it is for a design like
    yours. Measured levels and powers are in ``docs/calibration.md``.

    Examples
    --------
    Ice cream and rescues both rise with the temperature, and nothing else relates them; ice cream
    and lemonade are sold to the same visitors.

    >>> import chsic
    >>> day = chsic.datasets.summer()
    >>> chsic.chsic_test("ice_cream", "rescues", data=day, rng=0).pvalue < 0.001
    True
    >>> chsic.chsic_test("ice_cream", "rescues", "temperature", data=day, rng=0).pvalue > 0.05
    True
    >>> chsic.chsic_test("ice_cream", "lemonade", "temperature", data=day, rng=0).pvalue < 0.01
    True

    Arrays do as well, with or without names:

    >>> x, y, z = day["ice_cream"], day["lemonade"], day["temperature"]
    >>> chsic.chsic_test(x, y, z=z, rng=0).pvalue < 0.01
    True

    Texts are compared by a kernel that knows which of them are alike: here, by their letters.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> words = np.array(["".join(rng.choice(list("abc"), 9)) for _ in range(200)])
    >>> def by_letters(a, b):
    ...     of_a, of_b = ([[s.count(c) for c in "abc"] for s in rows[:, 0]] for rows in (a, b))
    ...     return np.array(of_a) @ np.array(of_b).T
    >>> y = np.char.count(words, "a") + rng.normal(size=200)
    >>> chsic.chsic_test(words, y, kernel=(by_letters, "gaussian")).pvalue < 0.01
    True

    Two unrelated series with a memory: rows that follow each other are alike.

    >>> x, y = np.cumsum(rng.normal(size=(2, 600)), axis=1)
    >>> x, y = x[10:] - x[:-10], y[10:] - y[:-10]
    >>> chsic.chsic_test(x, y).pvalue < 0.01, chsic.chsic_test(x, y, time="rows").pvalue > 0.05
    (True, True)
    """
    settings = Settings.of(
        pairs=pairs,
        block_size=block_size,
        unit_size=unit_size,
        kernel=kernel,
        bandwidth=bandwidth,
        adjust=adjust,
        augment=augment,
        alpha=alpha,
        null=null,
        n_resamples=n_resamples,
        tol=tol,
    )
    workers = as_count("workers", workers, minimum=1)
    generator = as_generator(rng)
    samples = read_samples(
        x, y, z, data=data, nan_policy=nan_policy, kinds=kinds, any_levels=settings.own_rows,
        groups=groups, time=time, stretch=stretch, within=within, weights=weights,
    )  # fmt: skip
    return run_test(samples, settings, generator, workers)


@blas_on_one_thread()
def hsic_test(
    x: Data,
    y: Data,
    /,
    *,
    data: Data = None,
    unit_size: int | str = "auto",
    kernel: KernelLike | tuple[KernelLike, KernelLike] = "gaussian",
    bandwidth: Bandwidths = "auto",
    null: str = "auto",
    n_resamples: int = 9999,
    tol: float = TOL,
    nan_policy: str = "raise",
    kinds: Mapping[str, str] | None = None,
    groups: Data = None,
    time: Data = None,
    stretch: float | str = "auto",
    within: bool = False,
    weights: Data = None,
    workers: int = 1,
    rng: RNGLike | None = None,
) -> IndependenceResult:
    """Test independence of x and y: `chsic_test` without z.

    Parameters
    ----------
    x, y : array_like, shape (n,) or (n, d), or names of columns of `data`
        Samples; row l of x and y belongs to the same observation.
    data, unit_size, kernel, bandwidth, null, n_resamples, tol, nan_policy, kinds
        As for `chsic_test`.
    groups, time, stretch, within, weights, workers, rng
        As for `chsic_test`.

    Returns
    -------
    IndependenceResult

    Examples
    --------
    >>> import numpy as np, chsic
    >>> x, noise = np.random.default_rng(0).normal(size=(2, 200))
    >>> chsic.hsic_test(x, noise, rng=0).pvalue > 0.05
    True
    >>> chsic.hsic_test(x, x**2 + noise, rng=0).pvalue < 0.01
    True
    """
    settings = Settings.of(
        unit_size=unit_size,
        kernel=kernel,
        bandwidth=bandwidth,
        null=null,
        n_resamples=n_resamples,
        tol=tol,
    )
    workers = as_count("workers", workers, minimum=1)
    generator = as_generator(rng)
    samples = read_samples(
        x, y, None, data=data, nan_policy=nan_policy, kinds=kinds, any_levels=settings.own_rows,
        groups=groups, time=time, stretch=stretch, within=within, weights=weights,
    )  # fmt: skip
    return run_test(samples, settings, generator, workers)
