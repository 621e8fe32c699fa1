"""Fourier engine: near-linear and to any accuracy, for scalar x and y and a known spectrum.

In the paper's feature space U Lap V^H is a two-dimensional Fourier sum over the non-zero entries of
the Laplacian, sum_ij Lap_ij exp(j (k x_i + l y_j)): a non-uniform fast Fourier transform of type 1.

The frequencies are those of the paper's steering vectors (eq. 1), m / T, |m| <= M: their inner
products are the kernel made periodic with period T, without its frequencies above M / T. Both
errors fall fast once T exceeds the range of the data by the reach of kappa, and M / T the reach of
G. Where kappa falls too slowly for that, as 1 / (1 + s^2) does, what its copies add is subtracted:
it is smooth on the range of the data, so that few frequencies describe it.
"""

from __future__ import annotations

import dataclasses
import importlib
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chsic._util.parallel import Unforked, in_order
from chsic._util.validate import Array, Index
from chsic.kernels import Kernel
from chsic.measure.engines.limits import EngineLimitError, condense
from chsic.pairs import PairGraph

PIECE = 2**20  # entries of one transform; fixed, so that workers do not change the sums
SMALLEST_EPS = 1e-15
SINGLE_FROM = 1e-4  # accuracy from which transforms in single precision do, and are faster
MEANS_FROM = 32  # pairs for each sample from which complete blocks are done by their means
LARGEST_MODE = 2**11  # in each of x and y: 0.3 GB of values, 1 GB while they are transformed
CONDENSE_ABOVE = 2**9  # modes from which it pays to look for gaps in the data
CORRECTED_ABOVE = 2**8  # modes from which it pays to subtract what copies of kappa add
CORRECTED_PERIOD = 3.0  # ranges of the data, if what copies of kappa add is subtracted
CORRECTED_MODES = 48  # frequencies that describe it
COPIES = 2_000  # of kappa that are added up one by one; the rest is a constant

_transforming = Unforked()  # FFTW and OpenMP have a lock each for all threads

Complex = NDArray[np.complex128]
Entries = tuple[Index | slice, Index | slice, Array]  # rows, columns and values


def transforms() -> Any:
    """Return the library of transforms, or say how to go on without it."""
    try:
        return importlib.import_module("finufft")
    except ImportError as error:
        raise ImportError(
            "engine: 'fourier' needs finufft, which is not installed; pip install finufft, or use "
            "engine='auto', which then takes 'features'.",
            name="finufft",
        ) from error


def can_transform() -> bool:
    """Tell whether the library of transforms is installed."""
    try:
        transforms()
    except ImportError:
        return False
    return True


@dataclasses.dataclass(frozen=True, eq=False)
class FourierSums:
    """sum_ij Lap_ij exp(j (k x_i + l y_j)) at the frequencies k, l of a grid, over some pairs.

    Each pair adds its own terms, so that shards of the pairs of one data set, on one grid, add up.
    """

    coefficients: Complex  # (k > 0, l != 0)
    noise: float  # mean square error of one of them
    spectra: tuple[Array, Array]  # weights of the frequencies of x and of y
    kernel_error: float  # of kernel values, of x and y together
    lap_trace: int
    lap_squares: float
    improvable: bool = True

    def __add__(self, other: FourierSums) -> FourierSums:
        if not all(map(np.array_equal, self.spectra, other.spectra)):
            raise ValueError("shards: Fourier sums add up on one grid only; fit it once.")
        return FourierSums(
            self.coefficients + other.coefficients,
            self.noise + other.noise,
            self.spectra,
            self.kernel_error,
            self.lap_trace + other.lap_trace,
            self.lap_squares + other.lap_squares,
        )

    def trace(self) -> tuple[float, float]:
        """Return tr(Lap K Lap Q), the weighted sum of |C|^2, and an estimate of its error."""
        of_x, of_y = self.spectra
        weights = 2 * np.outer(of_x[1:], np.concatenate([of_y[:0:-1], of_y[1:]]))
        power = self.coefficients.real**2 + self.coefficients.imag**2
        value = float(np.vdot(weights, power))
        # d|C|^2 = 2 <dC, C> + |dC|^2, the errors dC being white noise in frequency.
        spread = 2 * np.sqrt(self.noise * np.vdot(weights**2, power))
        spread += self.noise * np.abs(weights).sum()
        # An error of the kernels acts most on the terms nothing cancels in.
        return value, 3 * float(spread) + self.kernel_error * self.lap_squares


def fourier_sums(
    x: Array, y: Array, graph: PairGraph, kernel: Kernel, accuracy: float, workers: int = 1
) -> FourierSums:
    """Fit a grid to samples in bandwidths, of one column each, and add up all pairs on it."""
    transforms()  # raises if finufft is missing, before anything is computed
    return sums_on_grid(graph, fit_grid(x, y, kernel, accuracy), workers)


def sums_on_grid(
    graph: PairGraph, grid: Grid, workers: int = 1, degrees: Index | None = None
) -> FourierSums:
    """Transform the Laplacian of a graph on the samples that the grid was fitted to.

    If the graph is a shard of another one, `degrees` are those of the whole.
    """
    order, graph = graph.relabelled()
    traces = graph.laplacian_traces(None if degrees is None else degrees[order])
    x, y = grid.x.angles[order], grid.y.angles[order]
    by_means = graph.is_complete or (
        graph.is_complete_in_blocks and graph.n_pairs > MEANS_FROM * graph.n_samples
    )
    pieces = (
        _diagonal((graph.degrees + 1).astype(np.float64))
        if by_means
        else graph.laplacian_entries(PIECE)
    )
    total = np.zeros(grid.half_shape, dtype=np.complex128)
    noise = 0.0
    for modes in _transform(pieces, x, y, grid, workers):
        total += grid.half(modes)
        noise += grid.eps**2 * float(np.mean(np.abs(modes) ** 2))
    if by_means:  # Lap_b = n_b I - 11'
        total -= _products_of_sums(graph, x, y, grid)
    spectra, kernel_error = (grid.x.weights, grid.y.weights), grid.x.accuracy + grid.y.accuracy
    return FourierSums(total, noise, spectra, kernel_error, *traces)


def _diagonal(values: Array) -> Iterator[Entries]:
    for start in range(0, len(values), PIECE):
        samples = slice(start, start + PIECE)
        yield samples, samples, values[samples]


def _transform(
    pieces: Iterable[Entries], x: Array, y: Array, grid: Grid, workers: int
) -> Iterator[Complex]:
    """Transform every piece on a single thread, as several for one small transform cost more."""
    finufft = transforms()
    single = grid.eps >= SINGLE_FROM
    kind = np.dtype(np.complex64 if single else np.complex128)
    real = np.float32 if single else np.float64
    angles_x, angles_y = (angles.astype(real, copy=False) for angles in (x, y))
    plans: list[Any] = []  # those that no thread is using

    def transform(piece: Entries) -> Complex:
        rows, columns, values = piece
        points = angles_x[rows], angles_y[columns]
        with _transforming.work():
            try:
                plan = plans.pop()
            except IndexError:
                plan = finufft.Plan(
                    1, grid.shape, eps=grid.eps, isign=1, nthreads=1, dtype=kind.name
                )
            plan.setpts(*points)
            modes: NDArray[Any] = plan.execute(values.astype(kind))
            plans.append(plan)
        return modes.astype(np.complex128)

    try:
        yield from in_order(transform, pieces, workers)
    finally:
        with _transforming.work():
            plans.clear()


def _products_of_sums(graph: PairGraph, x: Array, y: Array, grid: Grid) -> Complex:
    """Complete blocks: transform 11', the outer product of the sums of u and of v in a block."""
    ends = np.array([graph.n_samples])
    if graph.n_blocks > 1:
        order = np.argsort(graph.blocks, kind="stable")
        x, y, ends = x[order], y[order], np.cumsum(np.bincount(graph.blocks))
    total = np.zeros(grid.half_shape, dtype=np.complex128)
    for start, end in itertools.pairwise([0, *ends.tolist()]):
        ones = np.ones(end - start, dtype=np.complex128)
        with _transforming.work():
            u, v = (
                transforms().nufft1d1(angles[start:end], ones, n, eps=grid.eps, isign=1, nthreads=1)
                for angles, n in zip((x, y), grid.shape, strict=True)
            )
        total += grid.half(np.outer(u, v))
    return total


@dataclasses.dataclass(frozen=True, eq=False)
class Grid:
    """The frequencies that all shards of a data set share."""

    x: Axis
    y: Axis
    eps: float  # relative accuracy of the transforms

    @property
    def shape(self) -> tuple[int, int]:
        """Number of frequencies, negative ones included, of x and of y."""
        return 2 * self.x.n_modes + 1, 2 * self.y.n_modes + 1

    @property
    def half_shape(self) -> tuple[int, int]:
        """Number of frequencies that `half` returns."""
        return self.x.n_modes, 2 * self.y.n_modes

    def half(self, modes: Complex) -> Complex:
        """Return k > 0 and l != 0: k < 0 gives conjugates, and for k l = 0 Lap makes them 0."""
        m = self.y.n_modes
        positive = modes[self.x.n_modes + 1 :]
        return np.concatenate([positive[:, :m], positive[:, m + 1 :]], axis=1)


def fit_grid(x: Array, y: Array, kernel: Kernel, eps: float) -> Grid:
    """Choose frequencies for samples in bandwidths, of one column each."""
    eps = max(eps, SMALLEST_EPS)
    of_x, of_y = (fit_axis(values[:, 0], kernel, eps / 8) for values in (x, y))
    return Grid(of_x, of_y, eps)


@dataclasses.dataclass(frozen=True, eq=False)
class Axis:
    """One variable on its frequencies.

    Attributes
    ----------
    angles : array, shape (n,)
        2 pi x / T, so that frequency m is exp(j m angle).
    weights : array, shape (M + 1,)
        G^2(m / T) / T for m = 0, ..., M, less what subtracts copies of kappa: a few of them may
        then be negative.
    accuracy : float
        Largest error of the kernel, up to a constant, which a Laplacian does not see.
    """

    angles: Array
    weights: Array
    accuracy: float

    @property
    def n_modes(self) -> int:
        """The highest frequency M."""
        return len(self.weights) - 1


def fit_axis(x: Array, kernel: Kernel, accuracy: float) -> Axis:
    """Choose period and frequencies for samples `x`, in bandwidths, so that kappa is that exact."""
    if kernel.spectrum is None or kernel.tail is None:
        raise ValueError(
            f"kernel: the spectrum of {kernel.name!r} is not known, so engine='fourier' cannot be "
            "used; use engine='dense'."
        )
    spectrum, tail = kernel.spectrum, kernel.tail
    highest = _smallest(lambda f: float(tail(np.array(f))) <= accuracy)
    positions, period = x - x.min(), _period(float(np.ptp(x)), kernel, accuracy)
    if highest * period > CONDENSE_ABOVE:
        positions = condense(x, _smallest(lambda s: float(kernel.kappa(np.array(s))) <= accuracy))
        period = _period(float(positions.max()), kernel, accuracy)
    spread = float(positions.max())
    shorter = max(CORRECTED_PERIOD * spread, CORRECTED_MODES / highest)
    corrected = highest * period > CORRECTED_ABOVE and period > shorter
    if corrected:
        period = shorter
    if highest * period > LARGEST_MODE:
        raise EngineLimitError(
            f"engine: with {kernel.name!r} and this accuracy engine='fourier' needs frequencies up "
            f"to {highest * period:.3g}, more than {LARGEST_MODE}; use engine='auto', a larger "
            "tol, a wider bandwidth or a smoother kernel, or drop outliers."
        )
    weights = spectrum(np.arange(int(np.ceil(highest * period)) + 1) / period) / period
    error = 2 * accuracy
    if corrected:
        weights, missed = _without_copies(weights, spread, period, kernel)
        error += missed
    angles = (positions - spread / 2) * (2 * np.pi / period)
    return Axis(angles, weights, error)


def _smallest(good: Callable[[float], bool]) -> float:
    """Return about the smallest positive number that is good, all larger ones being good too."""
    low, high = 0.0, 1.0
    while not good(high):
        low, high = high, 2 * high
        if high > 1e18:
            break
    while high - low > 1e-3 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if good(middle) else (middle, high)
    return high


def _period(spread: float, kernel: Kernel, accuracy: float) -> float:
    """Smallest period whose copies of kappa, s + pT, add only a constant on |s| <= spread."""
    s = np.linspace(0, spread, 65)

    def good(excess: float) -> bool:
        copies = np.outer(np.arange(1, 5), np.full(len(s), spread + excess))
        added = (kernel.kappa(copies - s) + kernel.kappa(copies + s)).sum(axis=0)
        return float(np.ptp(added)) <= accuracy

    return spread + _smallest(good)


def _without_copies(
    weights: Array, spread: float, period: float, kernel: Kernel
) -> tuple[Array, float]:
    """Subtract what copies of kappa add on |s| <= spread, up to a constant, and its error.

    It is a least-squares fit of few cosines, whose common period is so long that they are nearly
    dependent: directions that only rounding tells apart are left out, which keeps weights small.
    """
    # Samples crowd at the ends, where a fit is worst.
    s = spread * np.sin(np.linspace(0, np.pi / 2, 8 * CORRECTED_MODES))
    copies = period * np.arange(COPIES, 0, -1)[:, np.newaxis]
    added = (kernel.kappa(copies - s) + kernel.kappa(copies + s)).sum(axis=0)
    m = np.arange(min(CORRECTED_MODES, len(weights)))
    cosines = np.where(m > 0, 2.0, 1.0) * np.cos(np.outer(s, 2 * np.pi * m / period))
    copies_fit, *_ = np.linalg.lstsq(cosines, added - added[0], rcond=1e-14)
    missed = float(np.abs(cosines @ copies_fit - (added - added[0])).max())
    corrected = weights.copy()
    corrected[m] -= copies_fit
    return corrected, missed
