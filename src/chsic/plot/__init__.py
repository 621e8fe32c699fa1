"""Pictures, with matplotlib (``pip install 'chsic[plot]'``)."""

from chsic.plot.along_settings import sensitivity
from chsic.plot.along_z import profile
from chsic.plot.canvas import save
from chsic.plot.differences import differences
from chsic.plot.null import null_distribution
from chsic.plot.paper_figure import figure1
from chsic.plot.screened import heat_map, network

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
