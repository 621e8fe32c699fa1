"""Translation-invariant kernels kappa and their windows G (paper eq. 5).

The argument s of ``kappa`` is a distance in units of the bandwidth h, so the Gaussian kernel is
kappa(s / h) = exp(-(s / h)^2): the paper's convention, without the factor 1/2 that other
libraries put in the exponent. For samples of several columns s is the Euclidean length of the
difference, each column divided by its own bandwidth; all kernels here are positive definite in any
number of columns.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import erfc

from chsic._util.validate import Array, as_number

Function: TypeAlias = Callable[[Array], Array]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Kernel:
    """A kernel that depends on the distance of two samples only.

    Attributes
    ----------
    name : str
        What it is called in arguments and messages.
    kappa : callable
        kappa(s) for an array of distances s >= 0 in units of the bandwidth, with kappa(0) = 1.
    spectrum : callable or None
        G^2(f) for bandwidth 1 and scalar samples, the inverse Fourier transform of kappa
        (eq. 5); None where it is not known.
    tail : callable or None
        The integral of G^2 beyond the frequencies -f and f: what a sum that stops there misses.
    slope : float or None
        The c of kappa(s) = (1 + c s) exp(-s), if it is of that kind.
    frequencies : callable or None
        ``frequencies(rng, size, d)`` draws `size` angular frequencies w of d columns for which
        the mean of cos(w s) over w is kappa(abs(s)).

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.kernels.kernel import KERNELS
    >>> float(KERNELS["gaussian"].kappa(np.array(2.0))) == float(np.exp(-4.0))
    True
    """

    name: str
    kappa: Function
    spectrum: Function | None = None
    tail: Function | None = None
    slope: float | None = None
    frequencies: Callable[[np.random.Generator, int, int], Array] | None = None

    def __reduce__(self) -> tuple[Callable[..., Kernel], tuple[object, ...]]:
        """Send a kernel of ours to other processes by its name, as its functions have none."""
        if KERNELS.get(self.name) is self:
            return _named, (self.name,)
        values = tuple(getattr(self, field.name) for field in dataclasses.fields(self))
        return _from_values, values

    def matrix(self, a: Array, b: Array) -> Array:
        """Return kappa between all rows of `a` and of `b`, both in units of the bandwidth."""
        return self.kappa(cdist(a, b))

    def window(self, bandwidth: float) -> Function:
        """Return the window G of the steering vectors (eq. 1) for kappa(s / bandwidth).

        Parameters
        ----------
        bandwidth : float
            The h of kappa(s / h); for the Gaussian kernel kappa = exp(-(s / h)^2).

        Returns
        -------
        callable
            G(f) = sqrt(h G1^2(h f)), with G1^2 the `spectrum`. It is even and has unit L2 norm.

        Examples
        --------
        >>> import numpy as np
        >>> from chsic.kernels.kernel import KERNELS
        >>> G = KERNELS["gaussian"].window(0.5)
        >>> f, step = np.linspace(-20, 20, 40_001, retstep=True)
        >>> round(float(np.sum(G(f) ** 2) * step), 6)
        1.0
        """
        if self.spectrum is None:
            raise ValueError(
                f"kernel: the window G of {self.name!r} is not known; use one of "
                f"{_names(k for k in KERNELS.values() if k.spectrum)}, "
                "or a Kernel with its spectrum."
            )
        spectrum, h = self.spectrum, as_number("bandwidth", bandwidth)
        if h <= 0:
            raise ValueError(f"bandwidth: must be positive, got {h:g}.")
        return lambda f: np.sqrt(h * spectrum(h * np.asarray(f, dtype=float)))


GAUSSIAN = Kernel(
    name="gaussian",
    kappa=lambda s: np.exp(-(s * s)),
    spectrum=lambda f: np.sqrt(np.pi) * np.exp(-((np.pi * f) ** 2)),
    tail=lambda f: erfc(np.pi * f),
    frequencies=lambda rng, size, d: np.sqrt(2) * rng.standard_normal((size, d)),
)
LAPLACE = Kernel(
    name="laplace",
    kappa=lambda s: np.exp(-s),
    spectrum=lambda f: 2 / (1 + (2 * np.pi * f) ** 2),
    tail=lambda f: 2 / np.pi * np.arctan2(1, 2 * np.pi * f),
    slope=0.0,
    frequencies=lambda rng, size, d: (
        rng.standard_normal((size, d)) / np.sqrt(rng.chisquare(1, (size, 1)))
    ),
)
CAUCHY = Kernel(
    name="cauchy",
    kappa=lambda s: 1 / (1 + s * s),
    spectrum=lambda f: np.pi * np.exp(-2 * np.pi * np.abs(f)),
    tail=lambda f: np.exp(-2 * np.pi * f),
    frequencies=lambda rng, size, d: (
        rng.standard_normal((size, d)) * np.sqrt(2 * rng.exponential(size=(size, 1)))
    ),
)
MATERN32 = Kernel(
    name="matern32",
    kappa=lambda s: (1 + s) * np.exp(-s),
    spectrum=lambda f: 4 / (1 + (2 * np.pi * f) ** 2) ** 2,
    tail=lambda f: 2 / np.pi * (np.arctan2(1, w := 2 * np.pi * f) - w / (1 + w * w)),
    slope=1.0,
    frequencies=lambda rng, size, d: (
        rng.standard_normal((size, d)) / np.sqrt(rng.chisquare(3, (size, 1)))
    ),
)
# For categories: alike if equal, else not. It has no spectrum, and its bandwidth does not matter.
CATEGORICAL = Kernel(name="categorical", kappa=lambda s: (s == 0).astype(np.float64))
KERNELS = {kernel.name: kernel for kernel in (GAUSSIAN, LAPLACE, CAUCHY, MATERN32, CATEGORICAL)}


def _named(name: str) -> Kernel:
    return KERNELS[name]


def _from_values(*values: Any) -> Kernel:
    names = (field.name for field in dataclasses.fields(Kernel))
    return Kernel(**dict(zip(names, values, strict=True)))


def as_kernel(kernel: str | Kernel | Function) -> Kernel:
    """Return the kernel of that name, or wrap a user's own kappa(s) with checks on what it gives.

    Examples
    --------
    >>> from chsic.kernels.kernel import as_kernel
    >>> as_kernel("laplace").name
    'laplace'
    >>> as_kernel("box")
    Traceback (most recent call last):
        ...
    ValueError: kernel: unknown name 'box'; known are 'gaussian', 'laplace', 'cauchy', 'matern32',
    'categorical', or give a function kappa(s).
    """
    if isinstance(kernel, Kernel):
        if kernel in KERNELS.values():
            return kernel
        kappa = _checked(kernel.kappa, kernel.name)
        return dataclasses.replace(kernel, name=_own(kernel.name), kappa=kappa)
    if isinstance(kernel, str):
        if kernel not in KERNELS:
            raise ValueError(
                f"kernel: unknown name {kernel!r}; known are {_names(KERNELS.values())}, "
                "or give a function kappa(s)."
            )
        return KERNELS[kernel]
    if callable(kernel):
        name = getattr(kernel, "__name__", type(kernel).__name__)
        return Kernel(name=_own(name), kappa=_checked(kernel, name))
    raise TypeError(
        f"kernel: expected a name ({_names(KERNELS.values())}), a function kappa(s) or a Kernel, "
        f"got {kernel!r}."
    )


def _own(name: str) -> str:
    """Name a kernel of the user's, so that it is not taken for ours: engines go by names."""
    return f"own {name}" if name in KERNELS else name


def _checked(kappa: Function, name: str) -> Function:
    def checked(s: Array) -> Array:
        values = np.asarray(kappa(s))
        if values.shape != s.shape or values.dtype.kind not in "biuf":
            raise ValueError(
                f"kernel: {name}(s) must give one real number for each distance; for s of shape "
                f"{s.shape} it gave shape {values.shape} and dtype {values.dtype}."
            )
        if not np.all(np.isfinite(values)):
            raise ValueError(
                f"kernel: {name}(s) gave NaN or infinity, first at distance "
                f"{s[~np.isfinite(values)].flat[0]:g} (in bandwidths); it must be finite for all "
                "s >= 0."
            )
        return values.astype(np.float64)

    return checked


def _names(kernels: Iterable[Kernel]) -> str:
    return ", ".join(repr(kernel.name) for kernel in kernels)
