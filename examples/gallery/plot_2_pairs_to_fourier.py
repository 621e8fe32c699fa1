"""
From pairs to a Laplacian to Fourier coefficients
=================================================

The paper's C-HSIC compares every kept pair with every other one, four samples at a time. The same
number is a product of small, well-known things: a graph's Laplacian, and a Fourier transform of it.
"""

import time

import numpy as np
from matplotlib.figure import Figure

import chsic
from chsic import paper
from chsic.kernels import KERNELS

x, y, z = chsic.datasets.m_minus(60, gamma=10.0, rng=0)
order = np.argsort(z)  # only so that the picture of the matrix is easy to read
x, y, z = x[order], y[order], z[order]
graph = chsic.closest_pairs(z, alpha=4)
lap = graph.laplacian().toarray()

# %%
# Left: samples, and a line for each pair that is kept, the closest ones in z. Middle: the Laplacian
# of that graph. It has the number of partners of each sample on its diagonal and -1 for each pair.
# Right: the size of the Fourier coefficients of x and y over the Laplacian, that is, of
# :math:`U \, \mathrm{Lap} \, V^H`. The sum of their squares is C-HSIC, up to a factor.

h_x, h_y = (np.std(v, ddof=1) * len(v) ** (-1 / 5) for v in (x, y))  # the paper's bandwidth
gaussian = KERNELS["gaussian"]
U = paper.steering_vectors(x, gaussian.window(h_x), M=900)
V = paper.steering_vectors(y, gaussian.window(h_y), M=900)
coefficients = U @ lap @ V.conj().T

figure = Figure(figsize=(12, 4), layout="constrained")
left, middle, right = figure.subplots(1, 3, width_ratios=[1.2, 1, 1])
left.plot(z[[graph.i, graph.j]], x[[graph.i, graph.j]], color="#0072B2", lw=0.8)
left.plot(z, x, "o", ms=4, color="black")
left.set(xlabel="z", ylabel="x")
left.spines[["top", "right"]].set_visible(False)
left.set_title("Pairs that are close in z", loc="left", fontsize=11)

image = middle.imshow(lap, cmap="RdBu_r", vmin=-lap.max(), vmax=lap.max())
middle.set(xlabel="sample, in the order of z", ylabel="sample")
middle.set_title("Their Laplacian", loc="left", fontsize=11)
figure.colorbar(image, ax=middle, shrink=0.8)

half = 24  # of 450 frequencies on either side, beyond which there is nothing to see
shown = abs(coefficients[450 - half : 450 + half, 450 - half : 450 + half])
reach = half / 900**0.5
image = right.imshow(shown, cmap="viridis", extent=(-reach, reach, -reach, reach))
right.set(xlabel="frequency of y", ylabel="frequency of x")
right.set_title("Fourier coefficients", loc="left", fontsize=11)
figure.colorbar(image, ax=right, shrink=0.8)

# %%
# The same number in three ways:

K = graph.n_pairs
kappa_x, kappa_y = (lambda s, h=h: np.exp(-((s / h) ** 2)) for h in (h_x, h_y))
literal = paper.c_hsic(x, y, graph.i, graph.j, kappa_x, kappa_y)
Kx, Ky = (paper.kernel_matrix(v, v, k) for v, k in ((x, kappa_x), (y, kappa_y)))
laplacian = np.trace(lap @ Kx @ lap @ Ky) / (4 * K**2)
fourier = np.sum(abs(coefficients) ** 2) / (4 * K**2)
print(f"four samples an entry  {literal:.15f}")
print(f"Laplacian              {laplacian:.15f}")
print(f"Fourier coefficients   {fourier:.15f}")

# %%
# The library computes the coefficients by a non-uniform fast Fourier transform, with as few of them
# as the accuracy ``tol`` asks for. Below, its error against the exact engine, and the time against
# the number of samples, both measured while this page was built.

x, y, z = chsic.datasets.m_minus(2000, gamma=10.0, rng=0)
exact = chsic.chsic(x, y, z, engine="dense")
tolerances = 10.0 ** -np.arange(2, 11)
errors = [abs(chsic.chsic(x, y, z, engine="fourier", tol=t) / exact - 1) for t in tolerances]


def seconds(n, engine):
    """Return the shorter one of two runs."""
    sample = chsic.datasets.m_minus(n, gamma=10.0, rng=0)
    taken = []
    for _ in range(2):
        start = time.perf_counter()
        chsic.chsic(*sample, engine=engine)
        taken.append(time.perf_counter() - start)
    return min(taken)


sizes = {"dense": [300, 1000, 3000], "fourier": [300, 1000, 3000, 10_000, 100_000, 300_000]}

figure = Figure(figsize=(10, 4), layout="constrained")
left, right = figure.subplots(1, 2)
left.loglog(tolerances, np.maximum(errors, 1e-16), "o-", color="#0072B2", label="Fourier engine")
left.loglog(tolerances, tolerances, "--", color="#999999", label="what was asked for")
left.set(xlabel="tol", ylabel="relative error of C-HSIC")
left.set_title("Accuracy, 2,000 samples", loc="left", fontsize=11)
for engine, color in (("dense", "#D55E00"), ("fourier", "#0072B2")):
    taken = [seconds(n, engine) for n in sizes[engine]]
    right.loglog(sizes[engine], taken, "o-", color=color, label=engine)
right.set(xlabel="number of samples", ylabel="seconds")
right.set_title("Time of one value", loc="left", fontsize=11)
for ax in (left, right):
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
