"""The paper's figure 1: four panels of curves."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from chsic.measure.figure1 import FIXED_GAMMA_DB, FIXED_SIZE, MEASURES, Point

TRUTH = {"M+": "independent given z", "M-": "dependent given z"}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Figure1Curve:
    """One measure along one axis: means over the trials, and a standard deviation around them.

    Attributes
    ----------
    label : str
        Name of the measure.
    at, mean, low, high : tuple of float
        Abscissae, means, and the ends of the band.
    """

    label: str
    at: tuple[float, ...]
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Figure1Panel:
    """One panel.

    Attributes
    ----------
    letter : str
        As in the paper: a.1, a.2, b.1 or b.2.
    model : {"M+", "M-"}
        Which of the paper's models data were drawn from.
    truth, fixed, x_label : str
        What holds in the model, the quantity that does not vary, and the one that does.
    curves : tuple of Figure1Curve
        One for each measure.
    """

    letter: str
    model: str
    truth: str
    fixed: str
    x_label: str
    curves: tuple[Figure1Curve, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Figure1Picture:
    """All four panels, row by row.

    Attributes
    ----------
    title, caption : str
        Plain text.
    panels : tuple of Figure1Panel
        a.1, a.2, b.1, b.2.
    y_label : str
        Of all panels.
    """

    title: str = "The paper's figure 1"
    caption: str = (
        "Means over the trials, with bands of one standard deviation, against the signal-to-noise "
        "ratio γ and against the number of samples L."
    )
    panels: tuple[Figure1Panel, ...]
    y_label: str = "dependence measure"


def figure1_picture(points: Sequence[Point]) -> Figure1Picture:
    """Sort the points into curves.

    Examples
    --------
    >>> from chsic.measure.figure1 import simulate
    >>> from chsic.show.pictures.figure1 import figure1_picture
    >>> [panel.letter for panel in figure1_picture(simulate(trials=2, workers=1)).panels]
    ['a.1', 'a.2', 'b.1', 'b.2']
    """
    models = {"a": "M+", "b": "M-"}
    letters = [f"{row}.{column}" for row in models for column in "12"]
    return Figure1Picture(
        panels=tuple(
            _panel(letter, models[letter[0]], [p for p in points if p.panel == letter])
            for letter in letters
        )
    )


def _panel(letter: str, model: str, points: Sequence[Point]) -> Figure1Panel:
    against_gamma = letter.endswith("1")
    return Figure1Panel(
        letter=letter,
        model=model,
        truth=TRUTH[model],
        fixed=f"L = {FIXED_SIZE}" if against_gamma else f"γ = {FIXED_GAMMA_DB:g} dB",
        x_label="γ (dB)" if against_gamma else "L",
        curves=tuple(
            _curve(measure.label, [p for p in points if p.measure == measure.label], against_gamma)
            for measure in MEASURES
        ),
    )


def _curve(label: str, points: Sequence[Point], against_gamma: bool) -> Figure1Curve:
    return Figure1Curve(
        label=label,
        at=tuple(p.gamma_db if against_gamma else p.n_samples for p in points),
        mean=tuple(p.mean for p in points),
        low=tuple(p.mean - p.std for p in points),
        high=tuple(p.mean + p.std for p in points),
    )
