"""The p-value along alpha and along the bandwidth."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from chsic.many.sensitivity import Sensitivity, SensitivityPoint

SMALLEST = 1e-6  # p-values below are drawn there
LEVEL = 0.05  # p-value of the dashed line


@dataclasses.dataclass(frozen=True, kw_only=True)
class SensitivityCurve:
    """The answer along one setting.

    Attributes
    ----------
    x_label : str
        The setting.
    at : tuple of float
        Its values, increasing.
    heights : tuple of float
        P-values as they are drawn, none below `SMALLEST`.
    pvalues, coefficients : tuple of float
        The answers themselves.
    """

    x_label: str
    at: tuple[float, ...]
    heights: tuple[float, ...]
    pvalues: tuple[float, ...]
    coefficients: tuple[float, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class SensitivityPicture:
    """Two curves side by side, with a line at `level`.

    Attributes
    ----------
    title, caption : str
        Plain text.
    along_alpha, along_bandwidth : SensitivityCurve
        One for each panel.
    y_label : str
        Of both.
    level : float
        P-value of the dashed line.
    """

    title: str = "Does the answer depend on the settings?"
    caption: str
    along_alpha: SensitivityCurve
    along_bandwidth: SensitivityCurve
    y_label: str = "p-value"
    level: float = LEVEL

    @property
    def curves(self) -> tuple[SensitivityCurve, SensitivityCurve]:
        """Both, from left to right."""
        return self.along_alpha, self.along_bandwidth


def sensitivity_picture(
    sensitivity: Sensitivity, n_samples: int | None = None
) -> SensitivityPicture:
    """Return both curves.

    Parameters
    ----------
    sensitivity : Sensitivity
        From `chsic.sensitivity`.
    n_samples : int, optional
        How many samples were drawn for it, if it was computed from some of them only.

    Returns
    -------
    SensitivityPicture

    Examples
    --------
    >>> import chsic
    >>> from chsic.show.pictures.sensitivity import sensitivity_picture
    >>> x, y, z = chsic.datasets.draw_scenario("add", 100, rng=0)
    >>> result = chsic.sensitivity(x, y, z, alphas=[4, 8], bandwidths=[1.2, 5], rng=0)
    >>> sensitivity_picture(result).along_bandwidth.at
    (1.2, 5.0)
    """
    along_alpha, along_bandwidth = sensitivity.along_alpha, sensitivity.along_bandwidth
    drawn = "" if n_samples is None else f" From {n_samples} samples drawn at random."
    return SensitivityPicture(
        caption="The p-value with more or fewer neighbours, and with kernels that see fine or "
        f"coarse structure alone. The dashed line is {LEVEL:g}.{drawn}",
        along_alpha=_curve(
            "alpha, neighbours of a sample", [point.alpha for point in along_alpha], along_alpha
        ),
        along_bandwidth=_curve(
            "bandwidth, in median distances",
            [point.bandwidth or 1.0 for point in along_bandwidth],
            along_bandwidth,
        ),
    )


def _curve(
    x_label: str, at: Sequence[float], points: Sequence[SensitivityPoint]
) -> SensitivityCurve:
    pvalues = tuple(point.pvalue for point in points)
    return SensitivityCurve(
        x_label=x_label,
        at=tuple(at),
        heights=tuple(max(p, SMALLEST) for p in pvalues),
        pvalues=pvalues,
        coefficients=tuple(point.coefficient for point in points),
    )
