"""Kernels kappa(s), by name or as a function of one's own, their bandwidths and features."""

from chsic.kernels.kernel import (
    CATEGORICAL,
    CAUCHY,
    GAUSSIAN,
    KERNELS,
    LAPLACE,
    MATERN32,
    Function,
    Kernel,
    as_kernel,
)

__all__ = [
    "CATEGORICAL",
    "CAUCHY",
    "GAUSSIAN",
    "KERNELS",
    "LAPLACE",
    "MATERN32",
    "Function",
    "Kernel",
    "as_kernel",
]
