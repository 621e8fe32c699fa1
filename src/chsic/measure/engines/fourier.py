"""Fourier engine: near-linear and to any accuracy, for scalar x and y and a known spectrum.

In the paper's feature space U Lap V^H is a two-dimensional Fourier sum over the non-zero entries of
the Laplacian, sum_ij Lap_ij exp(j (k x_i + l y_j)): a non-uniform fast Fourier transform of type 1.
"""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chsic._util.parallel import Unforked, in_order
from chsic._util.validate import Array, Index
from chsic.kernels import Kernel
from chsic.measure.engines.grid import Axis, fit_axis
from chsic.measure.terms import Terms, merge, pairs_in_blocks, squared_entries
from chsic.pairs import PairGraph
from chsic.pairs.entries import Entries, diagonal_entries, laplacian_entries

PIECE = 2**20  # entries of one transform; fixed, so that workers do not change the sums
SMALLEST_EPS = 1e-15
SINGLE_FROM = 1e-4  # accuracy from which transforms in single precision do, and are faster

_transforming = Unforked()  # FFTW and OpenMP have a lock each for all threads


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
class Space:
    """The frequencies that all shards of a data set share."""

    x: Axis
    y: Axis
    eps: float  # relative accuracy of the transforms

    @property
    def shape(self) -> tuple[int, int]:
        """Number of frequencies, negative ones included, of x and of y."""
        return 2 * self.x.n_modes + 1, 2 * self.y.n_modes + 1

    def half(self, modes: NDArray[np.complex128]) -> NDArray[np.complex128]:
        """Keep k > 0 and l != 0: for k < 0 values are conjugates, for k l = 0 Lap makes them 0."""
        m = self.y.n_modes
        positive = modes[self.x.n_modes + 1 :]
        return np.concatenate([positive[:, :m], positive[:, m + 1 :]], axis=1)

    def half_weights(self) -> Array:
        """Weights of |C|^2 at the frequencies that `half` keeps."""
        of_l = np.concatenate([self.y.weights[:0:-1], self.y.weights[1:]])
        return 2 * np.outer(self.x.weights[1:], of_l)


def fit_space(x: Array, y: Array, kernel: Kernel, eps: float) -> Space:
    """Choose frequencies for samples in bandwidths, of one column each."""
    eps = max(eps, SMALLEST_EPS)
    of_x, of_y = (fit_axis(values[:, 0], kernel, eps / 8) for values in (x, y))
    return Space(of_x, of_y, eps)


@dataclasses.dataclass(frozen=True, eq=False)
class FourierCovariances:
    """The C_b of a shard at the frequencies of a space, as real numbers whose products add up."""

    coefficients: Array  # (blocks, frequencies): real and imaginary parts times root |weights|
    noise: Array  # (blocks,) mean square error of one of them, without the weight
    weights: Array
    kernel_error: float  # of kernel values, of x and y together, from the frequencies left out
    squares: float  # sum of the squared entries of the Laplacian
    n_pairs: Index

    def inner_products(self, other: FourierCovariances) -> tuple[Array, float]:
        """Return <C_b, C_b'> and an estimate of the error of their sum."""
        signs = np.sign(np.concatenate([self.weights.ravel()] * 2))
        gram = (self.coefficients * signs) @ other.coefficients.T
        # d<A, B> = <dA, B> + <A, dB> + <dA, dB>, the errors being white noise in frequency.
        sizes = np.abs(self.weights)
        root = np.sqrt(np.concatenate([sizes.ravel()] * 2))
        a, b = (shard.coefficients.sum(axis=0) * root for shard in (self, other))
        noise_a, noise_b = self.noise.sum(), other.noise.sum()
        spread = np.sqrt(noise_a * (b @ b)) + np.sqrt(noise_b * (a @ a))
        spread += np.sqrt(noise_a * noise_b) * sizes.sum()
        # An error of the kernels acts most on the terms nothing cancels in.
        of_kernels = self.kernel_error * self.squares if other is self else 0.0
        return gram, 3 * float(spread) + of_kernels


def fourier_terms(
    x: Array, y: Array, graph: PairGraph, kernel: Kernel, tol: float, workers: int = 1
) -> Terms:
    """Compute terms whose sum has a relative error of at most `tol`, by its own estimate."""
    transforms()  # what is missing is told before anything is computed
    eps = tol / 2
    while True:
        space = fit_space(x, y, kernel, eps)
        terms = merge([fourier_covariances(graph, space, workers)])
        if terms.error <= tol or space.eps <= SMALLEST_EPS:
            return terms
        # The measure is small beside what cancels in it. The error is proportional to eps.
        eps *= tol / (2 * terms.error)


def fourier_covariances(
    graph: PairGraph, space: Space, workers: int = 1, samples: Index | slice = slice(None)
) -> FourierCovariances:
    """Transform the Laplacian of a graph on some of the samples that the space was made for."""
    order, graph = graph.relabelled()
    x, y = (axis.angles[samples][order] for axis in (space.x, space.y))
    weights = space.half_weights()
    totals = np.zeros((graph.n_blocks, *weights.shape), dtype=np.complex128)
    noise = np.zeros(graph.n_blocks)
    if graph.is_complete_in_blocks:  # Lap_b = n_b I - 11', and the means are subtracted below
        pieces = diagonal_entries(graph, (graph.degrees + 1).astype(np.float64), PIECE)
    else:
        pieces = laplacian_entries(graph, PIECE)
    for piece, modes in _transforms(pieces, x, y, space, workers):
        totals[piece.block] += space.half(modes)
        noise[piece.block] += space.eps**2 * float(np.mean(np.abs(modes) ** 2))
    if graph.is_complete_in_blocks:
        _subtract_means(totals, graph, x, y, space)
    flat = (totals * np.sqrt(np.abs(weights))).reshape(graph.n_blocks, -1)
    coefficients = np.concatenate([flat.real, flat.imag], axis=1)
    return FourierCovariances(
        coefficients,
        noise,
        weights,
        space.x.accuracy + space.y.accuracy,
        squared_entries(graph),
        pairs_in_blocks(graph),
    )


def _transforms(
    pieces: Iterable[Entries], x: Array, y: Array, space: Space, workers: int
) -> Iterator[tuple[Entries, NDArray[np.complex128]]]:
    """Transform every piece on a single thread, as several for one small transform cost more."""
    finufft = transforms()
    single = space.eps >= SINGLE_FROM
    kind = np.dtype(np.complex64 if single else np.complex128)
    real = np.float32 if single else np.float64
    angles_x, angles_y = (angles.astype(real, copy=False) for angles in (x, y))
    plans: list[Any] = []  # those that no thread is using

    def transform(piece: Entries) -> tuple[Entries, NDArray[np.complex128]]:
        rows, columns, values = angles_x[piece.rows], angles_y[piece.columns], piece.values
        with _transforming.work():
            try:
                plan = plans.pop()
            except IndexError:
                plan = finufft.Plan(
                    1, space.shape, eps=space.eps, isign=1, nthreads=1, dtype=kind.name
                )
            plan.setpts(rows, columns)
            modes = plan.execute(values.astype(kind))
            plans.append(plan)
        return piece, modes.astype(np.complex128)

    try:
        yield from in_order(transform, pieces, workers)
    finally:
        with _transforming.work():
            plans.clear()


def _subtract_means(
    totals: NDArray[np.complex128], graph: PairGraph, x: Array, y: Array, space: Space
) -> None:
    """Complete blocks: take off 11', that is the outer product of the sums of u and of v."""
    for block in range(graph.n_blocks):
        inside = graph.blocks == block
        ones = np.ones(int(inside.sum()), dtype=np.complex128)
        with _transforming.work():
            u, v = (
                transforms().nufft1d1(angles[inside], ones, n, eps=space.eps, isign=1, nthreads=1)
                for angles, n in zip((x, y), space.shape, strict=True)
            )
        totals[block] -= space.half(np.outer(u, v))
