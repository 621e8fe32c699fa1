"""Data whose truth is known: the paper's two models, many scenarios, and a bundled example."""

from __future__ import annotations

from importlib import resources

import numpy as np

from chsic._util.validate import Array
from chsic.datasets.models import Sample, m_minus, m_plus
from chsic.datasets.scenarios import SCENARIOS, Scenario, draw_scenario

__all__ = ["SCENARIOS", "Sample", "Scenario", "draw_scenario", "m_minus", "m_plus", "summer"]


def summer() -> dict[str, Array]:
    """Load the bundled example: 400 simulated summer days at a lake.

    Warm days sell ice cream and fill the lake, so sales and rescues rise together although
    neither acts on the other: given the temperature they are independent. Ice cream and lemonade
    are sold to the same visitors, so they stay related when the temperature is known.
    ``examples/make_summer.py`` made the file.

    Returns
    -------
    dict of str to array
        Columns ``temperature`` (degrees Celsius), ``ice_cream`` (portions sold), ``lemonade``
        (glasses sold) and ``rescues`` (swimmers helped out of the water).

    Examples
    --------
    >>> import chsic
    >>> day = chsic.datasets.summer()
    >>> sorted(day)
    ['ice_cream', 'lemonade', 'rescues', 'temperature']
    >>> len(day["rescues"])
    400
    """
    with resources.as_file(resources.files("chsic.datasets") / "summer.csv") as path:
        table = np.genfromtxt(path, delimiter=",", names=True)
    return {name: table[name].copy() for name in table.dtype.names or ()}
