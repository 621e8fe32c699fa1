"""The measures: HSIC (eq. 6) and C-HSIC (eq. 18)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from chsic._util.validate import Array, RNGLike, as_generator, as_tolerance
from chsic.data.arguments import Data, indicators
from chsic.data.samples import Samples, read_samples
from chsic.kernels import Function, Kernel, as_kernel
from chsic.kernels.bandwidth import Bandwidth, in_bandwidths, require_several
from chsic.measure.engines.choose import Choice, choose, compute
from chsic.pairs import PairGraph, complete_pairs, random_pairs
from chsic.pairs.closest import closest_rows
from chsic.pairs.graph import require_pairs

PAIRS = ("closest", "random", "complete")


def hsic(
    x: Data,
    y: Data,
    /,
    *,
    data: Data = None,
    kernel: str | Kernel | Function = "gaussian",
    bandwidth: Bandwidth | list[Bandwidth] = "paper",
    engine: str = "auto",
    tol: float = 1e-6,
    nan_policy: str = "raise",
    kinds: Mapping[str, str] | None = None,
    workers: int = 1,
) -> Any:
    r"""Hilbert-Schmidt independence criterion: how strongly x and y depend on each other.

    .. math:: \mathrm{HSIC} = \frac{1}{(L-1)^2} \operatorname{tr}(P K P Q)

    with K and Q the kernel matrices of x and y and P the centring matrix (paper eq. 6).

    Parameters
    ----------
    x, y : array_like, shape (n,) or (n, d), or names of columns of `data`
        Samples; row l of both belongs to the same observation.
    data : data frame, mapping or array, optional
        Where the columns are that x and y name.
    kernel : {"gaussian", "laplace", "cauchy", "matern32", "categorical"}, Kernel or callable
        kappa(s), s the distance of two samples in units of the bandwidth h. The Gaussian kernel
        is kappa(s / h) = exp(-(s / h)^2), without a factor 1/2. A callable takes an array of
        distances s / h >= 0 and returns as many numbers. ``"categorical"`` is 1 for equal samples
        and 0 for others, for category codes.
    bandwidth : {"paper", "median"}, float, tuple, or list of them
        The h of kappa(s / h) = exp(-(s / h)^2). ``"paper"`` is sigma_hat L^(-1/5) for each
        column, sigma_hat the standard deviation with n - 1; ``"median"`` the median distance
        between samples (of standardised columns, if several, and then of 4,000 rows at the most);
        a number holds for every column; a tuple gives a rule or a number for x and another for y;
        a list gives several values, one for each of its bandwidths.
        Far below the distances between samples the kernel sees no two of them as alike, and the
        value says nothing about the data.
    engine : {"auto", "dense", "fourier", "exponential", "features"}
        How the value is computed. ``"dense"`` is exact, for any kernel, in time n^2.
        ``"fourier"`` is near-linear, for x and y of one column and a kernel whose spectrum is
        known. ``"exponential"`` is near-linear and exact, for x and y of one column and the
        kernels ``"laplace"`` and ``"matern32"``, whose spectra fall slowly. ``"features"`` is
        linear, for any data, but where kernels have no short description it falls back to random
        features and an error of some percent.
        `explain` tells what ``"auto"`` chooses. Where finufft is not installed it takes
        ``"features"`` in place of ``"fourier"``: the same value within `tol`, in more time.
    tol : float
        Largest relative error of the value, by the engine's own estimate; ``"dense"`` makes none.
        An `AccuracyWarning` tells when it could not be kept.
    nan_policy : {"raise", "omit", "level"}
        ``"omit"`` drops rows with a missing value. ``"level"`` does so for numbers, and makes
        missing a level of a category.
    kinds : mapping, optional
        ``"number"`` or ``"category"`` for names of columns, where their type does not say it.
    workers : int
        Threads. The value does not depend on it.

    Returns
    -------
    float, or array of floats for a list of bandwidths
        At least 0, up to rounding.

    Notes
    -----
    With a characteristic kernel, such as all named ones, HSIC tends to 0 as n grows at a fixed
    bandwidth only if x and y are independent. At finite n it is *positive even under
    independence*, by about 1/n, and with ``bandwidth="paper"`` it shrinks as n grows. So values
    can be compared at equal n and bandwidth, and a small value is not by itself evidence of
    independence.

    Examples
    --------
    >>> import numpy as np, chsic
    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.normal(size=(2, 500))
    >>> round(chsic.hsic(x, x**2 + 0.1 * noise), 4)
    0.0487
    >>> round(chsic.hsic(x, noise), 4)
    0.0015
    """
    samples = read_samples(x, y, None, data=data, nan_policy=nan_policy, kinds=kinds)
    graph = complete_pairs(len(samples))
    return _values(samples, graph, kernel, bandwidth, engine, tol, workers)


def chsic(
    x: Data,
    y: Data,
    /,
    z: Data,
    *,
    data: Data = None,
    alpha: float = 4,
    pairs: str | PairGraph = "closest",
    kernel: str | Kernel | Function = "gaussian",
    bandwidth: Bandwidth | list[Bandwidth] = "paper",
    engine: str = "auto",
    tol: float = 1e-6,
    nan_policy: str = "raise",
    kinds: Mapping[str, str] | None = None,
    workers: int = 1,
    rng: RNGLike | None = None,
) -> Any:
    r"""Conditional HSIC: how strongly x and y still depend on each other once z is known.

    HSIC computed on the differences of those samples whose z are close, so that what z explains
    cancels; no matrix is inverted. Over the K kept pairs, with Lap the Laplacian of their graph,

    .. math:: \text{C-HSIC}_\alpha
        = \frac{1}{4K^2} \operatorname{tr}(\breve K \breve Q)
        = \frac{1}{4K^2} \operatorname{tr}(\mathrm{Lap}\, K\, \mathrm{Lap}\, Q)

    (paper eq. 18, and the same number in Laplacian form).

    Parameters
    ----------
    x, y : array_like, shape (n,) or (n, d), or names of columns of `data`
        Samples; row l of x, y and z belongs to the same observation.
    z : array_like, shape (n,) or (n, d), or names of columns of `data`
        The confounder: what x and y may have in common. Several columns are compared by
        Euclidean distance after dividing each by its standard deviation.
    data : data frame, mapping or array, optional
        Where the columns are that x, y and z name.
    alpha : float
        Mean number of partners of a sample, 1 <= alpha <= n - 1; K = floor(n alpha / 2) pairs
        are kept (eq. 13). Small values condition strictly and vary more; n - 1 keeps all pairs,
        which is HSIC. Not used when `pairs` is ``"complete"`` or a `PairGraph`.
    pairs : {"closest", "random", "complete"} or PairGraph
        ``"closest"``: the pairs closest in z. ``"random"``: pairs that ignore z, the paper's
        control, a noisier HSIC. ``"complete"``: all pairs, exactly HSIC.
    kernel : {"gaussian", "laplace", "cauchy", "matern32", "categorical"}, Kernel or callable
        kappa(s), s the distance of two samples in units of the bandwidth h. The Gaussian kernel
        is kappa(s / h) = exp(-(s / h)^2), without a factor 1/2. A callable takes an array of
        distances s / h >= 0 and returns as many numbers. ``"categorical"`` is 1 for equal samples
        and 0 for others, for category codes.
    bandwidth : {"paper", "median"}, float, tuple, or list of them
        The h of kappa(s / h) = exp(-(s / h)^2). ``"paper"`` is sigma_hat L^(-1/5) for each
        column, sigma_hat the standard deviation with n - 1; ``"median"`` the median distance
        between samples (of standardised columns, if several, and then of 4,000 rows at the most);
        a number holds for every column; a tuple gives a rule or a number for x and another for y;
        a list gives several values, one for each of its bandwidths.
        Far below the distances between samples the kernel sees no two of them as alike, and the
        value says nothing about the data.
    engine : {"auto", "dense", "fourier", "exponential", "features"}
        How the value is computed. ``"dense"`` is exact, for any kernel, in time n^2.
        ``"fourier"`` is near-linear, for x and y of one column and a kernel whose spectrum is
        known. ``"exponential"`` is near-linear and exact, for x and y of one column and the
        kernels ``"laplace"`` and ``"matern32"``, whose spectra fall slowly. ``"features"`` is
        linear, for any data, but where kernels have no short description it falls back to random
        features and an error of some percent.
        `explain` tells what ``"auto"`` chooses. Where finufft is not installed it takes
        ``"features"`` in place of ``"fourier"``: the same value within `tol`, in more time.
    tol : float
        Largest relative error of the value, by the engine's own estimate; ``"dense"`` makes none.
        An `AccuracyWarning` tells when it could not be kept.
    nan_policy : {"raise", "omit", "level"}
        ``"omit"`` drops rows with a missing value. ``"level"`` does so for numbers, and makes
        missing a level of a category.
    kinds : mapping, optional
        ``"number"`` or ``"category"`` for names of columns, where their type does not say it.
    workers : int
        Threads. The value does not depend on it.
    rng : None, int or numpy.random.Generator
        Draws the pairs of ``pairs="random"`` (None: afresh in every call), and decides between
        pairs tied in z for ``"closest"`` (None: with a fixed seed, see `closest_pairs`).

    Returns
    -------
    float, or array of floats for a list of bandwidths
        At least 0, up to rounding.

    Notes
    -----
    What zero means: C-HSIC tends to 0 when x and y are independent given z, but not only then.
    Dependences that cancel when averaged over z (x and y related positively for some z and
    negatively for others) give 0 as well. At finite n the value is positive even under
    conditional independence, dense regions of z count more than sparse ones (z is weighted by
    the square of its density), and with ``bandwidth="paper"`` the value shrinks as n grows. So
    compare values at equal n, alpha and bandwidth; `pairs` = ``"random"`` shows what the same
    number of pairs gives without conditioning.

    Examples
    --------
    In the paper's model M+ x and y depend on each other only through z; in M- they are
    independent until z is known.

    >>> import chsic
    >>> for model in (chsic.datasets.m_plus, chsic.datasets.m_minus):
    ...     x, y, z = model(1000, gamma=10.0, rng=0)
    ...     print(f"HSIC {chsic.hsic(x, y):.4f}, C-HSIC {chsic.chsic(x, y, z):.4f}")
    HSIC 0.0070, C-HSIC 0.0006
    HSIC 0.0008, C-HSIC 0.0032
    """
    samples = read_samples(x, y, z, data=data, nan_policy=nan_policy, kinds=kinds)
    if rng is not None:
        rng = as_generator(rng)
    graph = _choose_pairs(indicators(samples.z)[0], alpha, pairs, rng)
    return _values(samples, graph, kernel, bandwidth, engine, tol, workers)


def _values(
    samples: Samples,
    graph: PairGraph,
    kernel: str | Kernel | Function,
    bandwidth: Bandwidth | list[Bandwidth],
    engine: str,
    tol: float,
    workers: int,
) -> float | Array:
    """Return C-HSIC over the pairs, or several values for a list of bandwidths."""
    x, y = indicators(samples.x)[0], indicators(samples.y)[0]
    kappa = as_kernel(kernel)
    if not isinstance(bandwidth, list):
        return compute(*in_bandwidths(x, y, bandwidth), graph, kappa, engine, tol, workers)
    require_several(bandwidth)
    values = np.empty(len(bandwidth))
    for k, one in enumerate(bandwidth):
        values[k] = compute(*in_bandwidths(x, y, one), graph, kappa, engine, tol, workers)
    return values


def explain(
    x: Data,
    y: Data,
    /,
    *,
    data: Data = None,
    kernel: str | Kernel | Function = "gaussian",
    tol: float = 1e-6,
) -> Choice:
    """Tell which engine `hsic` and `chsic` choose for such data, and why.

    The choice is the same in every call, but not in every environment: without finufft there is no
    Fourier engine, and the reason says so.

    Parameters
    ----------
    x, y : array_like, shape (n,) or (n, d), or names of columns of `data`
        Samples; only their sizes matter.
    data, kernel, tol
        As for `chsic`.

    Returns
    -------
    Choice
        With fields ``engine`` and ``reason``.

    Examples
    --------
    >>> import numpy as np, chsic
    >>> x, y = np.random.default_rng(0).normal(size=(2, 100))
    >>> chsic.explain(x, y).reason
    '100 samples are fewer than the 300 from which Fourier is faster; ...'
    """
    samples = read_samples(x, y, None, data=data)
    x_columns, y_columns = (indicators(of)[0] for of in (samples.x, samples.y))
    return choose(
        n_samples=len(samples),
        d_x=x_columns.shape[1],
        d_y=y_columns.shape[1],
        kernel=as_kernel(kernel),
        tol=as_tolerance(tol),
    )


def _choose_pairs(z: Array, alpha: float, pairs: str | PairGraph, rng: RNGLike | None) -> PairGraph:
    n = len(z)
    require_pairs(pairs, PAIRS, n)
    if isinstance(pairs, PairGraph):
        return pairs
    if pairs == "complete":
        return complete_pairs(n)
    if pairs == "random":
        return random_pairs(n, alpha, rng)
    return closest_rows(z, alpha, rng)
