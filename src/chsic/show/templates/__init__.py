"""Files of pages, and how jinja2 fills them: whatever comes from data is escaped."""

from __future__ import annotations

import functools
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment


def fill(template: str, **values: Any) -> str:
    r"""Fill a template.

    Parameters
    ----------
    template : str
        Name of a file in this folder.
    **values
        What its variables stand for; text is escaped unless the template says otherwise.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> from chsic.show.templates import fill
    >>> fill("notebook.html", title="<b>", head=(), rows=[("&", "1")], n_names=2, cautions=[])
    '<b>&lt;b&gt;</b><table><tbody><tr><td style="text-align:left">&amp;</td>...'
    """
    return _environment().get_template(template).render(values)


@functools.cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("chsic.show", "templates"), autoescape=True, undefined=StrictUndefined
    )
    # The data of a picture are long: no spaces between them.
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    return environment


@functools.cache
def asset(name: str) -> str:
    """Return a style sheet or a program of this folder, which is text of our own.

    Examples
    --------
    >>> from chsic.show.templates import asset
    >>> asset("report.js").startswith('"use strict";')
    True
    """
    return (files("chsic.show.templates") / name).read_text(encoding="utf-8")
