"""A page about one question: self-contained HTML that people read, print and hand on."""

from chsic.show.report.facts import Facts, gather
from chsic.show.report.page import page
from chsic.show.report.write import write_report

__all__ = ["Facts", "gather", "page", "write_report"]
