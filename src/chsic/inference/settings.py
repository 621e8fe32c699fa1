"""Settings of a test, checked once."""

from __future__ import annotations

import dataclasses
from typing import Any

from chsic._util.validate import as_count, as_number, as_tolerance
from chsic.inference.null import NULLS
from chsic.inference.planning import TOL, Bandwidths
from chsic.kernels import GAUSSIAN
from chsic.kernels.of_samples import AnyKernel, KernelLike, SampleKernel, kernel_pair
from chsic.pairs import PairGraph

FEWEST_RESAMPLES = 19  # a p-value of 0.05 is then possible
MOST_RESAMPLES = 10**7  # which take minutes; Pearson III reaches smaller p-values


@dataclasses.dataclass(frozen=True, eq=False)
class Settings:
    """What `chsic.chsic_test` can be asked for.

    Attributes
    ----------
    pairs, bandwidth, adjust, augment, null, n_resamples, tol
        As for `chsic.chsic_test`.
    kernels : pair of Kernel or SampleKernel
        Those of x and of y.
    block_size, unit_size, alpha
        As for `chsic.chsic_test`; None for ``"auto"``.
    """

    pairs: str | PairGraph = "auto"
    block_size: int | None = None
    unit_size: int | None = None
    bandwidth: Bandwidths = "auto"
    adjust: Any = "auto"
    augment: bool | str = "auto"
    alpha: float | None = None
    null: str = "auto"
    n_resamples: int = 9999
    tol: float = TOL
    kernels: tuple[AnyKernel, AnyKernel] = (GAUSSIAN, GAUSSIAN)

    @classmethod
    def of(
        cls,
        *,
        pairs: str | PairGraph = "auto",
        block_size: int | str = "auto",
        unit_size: int | str = "auto",
        bandwidth: Bandwidths = "auto",
        adjust: Any = "auto",
        augment: bool | str = "auto",
        alpha: float | str = "auto",
        null: str = "auto",
        n_resamples: int = 9999,
        tol: float = TOL,
        kernel: KernelLike | tuple[KernelLike, KernelLike] = "gaussian",
    ) -> Settings:
        """Check settings as users write them."""
        kernels = kernel_pair(kernel)
        if all(isinstance(one, SampleKernel) for one in kernels) and not _auto(bandwidth):
            raise ValueError(
                f"bandwidth: got {bandwidth!r}, but {kernels[0].name} and {kernels[1].name} are "
                "kernels of samples, which have none; leave it at 'auto', and make a width a part "
                "of the kernel."
            )
        if not (isinstance(augment, bool) or augment == "auto"):
            raise ValueError(f"augment: expected 'auto', True or False, got {augment!r}.")
        if null not in NULLS:
            known = ", ".join(map(repr, NULLS))
            raise ValueError(f"null: unknown choice {null!r}; known are {known}.")
        return cls(
            pairs=pairs,
            block_size=None if _auto(block_size) else as_count("block_size", block_size, 1),
            unit_size=None if _auto(unit_size) else as_count("unit_size", unit_size, 1),
            bandwidth=bandwidth,
            adjust=adjust,
            augment=augment,
            alpha=None if _auto(alpha) else as_number("alpha", alpha),
            null=null,
            n_resamples=as_resamples(n_resamples),
            tol=as_tolerance(tol),
            kernels=kernels,
        )

    @property
    def own_rows(self) -> tuple[str, ...]:
        """Arguments that a kernel sees as they were given, so that categories may be many."""
        both = zip("xy", self.kernels, strict=True)
        return tuple(argument for argument, kernel in both if isinstance(kernel, SampleKernel))

    @property
    def allow_strata(self) -> bool:
        """Whether nothing was asked for that samples of equal z alone do not have."""
        adjust = self.adjust
        return self.alpha is None and isinstance(adjust, str) and adjust in ("auto", "none")

    def require_no_z(self) -> None:
        """Raise if something is set that z decides; there is no z."""
        values = {
            "pairs": self.pairs,
            "adjust": self.adjust,
            "augment": self.augment,
            "alpha": "auto" if self.alpha is None else self.alpha,
        }
        for name, value in values.items():
            if not _auto(value):
                raise ValueError(
                    f"{name}: has no meaning without z; give z, or leave it at 'auto'."
                )

    def require_used(self, pairs: str) -> None:
        """Raise if alpha or block_size is set, and pairs are of a kind that does not use it."""
        if self.block_size is not None and pairs != "blocks":
            raise ValueError(
                f"block_size: is for pairs='blocks', but pairs are {pairs!r}; leave it at 'auto', "
                "or set unit_size for samples that share a random sign."
            )
        if self.alpha is not None and pairs in ("blocks", "strata", "given"):
            raise ValueError(
                f"alpha: is not used with these pairs ({pairs}); leave it at 'auto'"
                + (", and set block_size." if pairs == "blocks" else ".")
            )


def as_resamples(value: object) -> int:
    """Return a number of draws of signs that a test can make."""
    return as_count("n_resamples", value, minimum=FEWEST_RESAMPLES, maximum=MOST_RESAMPLES)


def _auto(value: object) -> bool:
    return isinstance(value, str) and value == "auto"
