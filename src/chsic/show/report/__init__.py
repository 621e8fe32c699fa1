"""A page about one question: self-contained HTML that people read, print and hand on."""

from chsic.show.report.html_file import write_report

__all__ = ["write_report"]
