"""Pictures, with matplotlib (``pip install 'chsic[plot]'``)."""

from chsic.show.plot.along_settings import sensitivity
from chsic.show.plot.along_z import profile
from chsic.show.plot.canvas import save
from chsic.show.plot.differences import differences
from chsic.show.plot.null import null_distribution
from chsic.show.plot.paper_figure import figure1
from chsic.show.plot.screened import heat_map, network

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
