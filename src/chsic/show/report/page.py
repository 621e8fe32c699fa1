"""A report as one HTML page that needs nothing but itself."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Sequence

from chsic._util.names import shortened
from chsic.show import sentences, tables
from chsic.show.pictures.null import null_picture
from chsic.show.pictures.profile import profile_picture
from chsic.show.pictures.sensitivity import sensitivity_picture
from chsic.show.pictures.style import Picture
from chsic.show.report.facts import Facts
from chsic.show.report.plotly_figures import plotly_script, plotly_spec
from chsic.show.report.repeat import python_call, shell_command
from chsic.show.templates import asset, fill


def require_libraries() -> None:
    """Raise unless what writes a page is installed: before the tests, not after them."""
    for name in ("plotly", "jinja2"):
        try:
            importlib.import_module(name)
        except ImportError as error:
            message = f"a report needs {name}; install 'chsic[report]'."
            raise ImportError(message, name=name) from error


def pictures(facts: Facts) -> Iterator[Picture]:
    """Yield the pictures that these data allow.

    Examples
    --------
    >>> import chsic
    >>> from chsic.show.report.gather import gather
    >>> from chsic.show.report.page import pictures
    >>> x, y, _ = chsic.datasets.draw_scenario("add", 100, rng=0)
    >>> [picture.title for picture in pictures(gather(x, y, n_resamples=99, rng=0))]
    ['If nothing were related']
    """
    if facts.differences is not None:
        yield facts.differences
    if len(facts.result.null_distribution) > 1:
        yield null_picture(facts.result)
    if facts.sensitivity is not None:
        n_used = facts.n_for_sensitivity
        n_drawn = n_used if n_used < facts.result.n_samples else None
        yield sensitivity_picture(facts.sensitivity, n_drawn)
    for column in range(len(facts.result.names["z"])):
        yield profile_picture(facts.result, column)


def render_page(facts: Facts, source: str | None = None, missing: Sequence[str] = ()) -> str:
    """Write a report down.

    Whatever comes from the data is escaped: names, levels and the source.

    Parameters
    ----------
    facts : Facts
        From `gather`.
    source : str, optional
        Where the data are from.
    missing : sequence of str
        What was read as no value there, beside NA and its like.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> import chsic
    >>> from chsic.show.report.gather import gather
    >>> from chsic.show.report.page import render_page
    >>> x, y, z = chsic.datasets.draw_scenario("add", 100, rng=0)
    >>> text = render_page(gather(x, y, z, n_resamples=99, rng=0))
    >>> "Is x still related to y once z is known?" in text
    True
    """
    result, settings = facts.result, facts.settings
    command = ""
    if source and os.path.isfile(source):
        command = shell_command(result, settings, source, missing)
    without_z = ""
    if facts.ignoring_z is not None:
        without_z = sentences.without_z(result, facts.ignoring_z)
    return fill(
        "report.html",
        style=asset("report.css"),
        script=asset("report.js"),
        plotly=plotly_script(),
        question=sentences.question(result),
        answer=sentences.answer(result),
        strength=sentences.strength(result) if result.members else "",
        without_z=without_z,
        cautions=result.warnings,
        pictures=[(picture, plotly_spec(picture)) for picture in pictures(facts)],
        data_read=sentences.data_read(result, source),
        columns=tables.columns_table(facts.columns),
        full_names=[shortened(column.name) for column in facts.columns],
        about_pvalue=sentences.about_pvalue(result),
        about_strength=sentences.ABOUT_STRENGTH,
        about_causes=sentences.ABOUT_CAUSES,
        settings=tables.settings_facts(result, facts.versions),
        command=command,
        call=python_call(result, settings),
    )
