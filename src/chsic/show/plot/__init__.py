"""Pictures, with matplotlib (``pip install 'chsic[plot]'``)."""

from chsic.show.plot.axes import save
from chsic.show.plot.draw_differences import differences
from chsic.show.plot.draw_figure1 import figure1
from chsic.show.plot.draw_null import null_distribution
from chsic.show.plot.draw_profile import profile
from chsic.show.plot.draw_screen import heat_map, network
from chsic.show.plot.draw_sensitivity import sensitivity

__all__ = [
    "differences",
    "figure1",
    "heat_map",
    "network",
    "null_distribution",
    "profile",
    "save",
    "sensitivity",
]
