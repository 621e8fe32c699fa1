"""A report as one HTML page that needs nothing but itself."""

from __future__ import annotations

import html
import os
import shlex
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from chsic._util.names import printable, readable, shortened
from chsic.inference.result import IndependenceResult
from chsic.show.report.facts import Facts
from chsic.show.report.figures import Picture, pictures, plotly_script
from chsic.show.words import answer, listed, question, strength, with_readable_names


def page(facts: Facts, source: str | None = None, missing: Sequence[str] = ()) -> str:
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
    >>> from chsic.show.report import gather, page
    >>> x, y, z = chsic.datasets.draw_scenario("add", 100, rng=0)
    >>> text = page(gather(x, y, z, n_resamples=99, rng=0))
    >>> "Is x still related to y once z is known?" in text
    True
    """
    shown = with_readable_names(facts.result)
    drawn = list(pictures(facts))
    title = _text(question(shown))
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            # Nothing may be fetched, whatever the data say.
            '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
            "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
            "base-uri 'none'; form-action 'none'\">",
            '<link rel="icon" href="data:,">',
            f"<title>{title}</title>",
            f"<style>{_asset('report.css')}</style></head><body><main>",
            f"<h1>{title}</h1>",
            _answer(facts, shown),
            _beware(facts.result),
            *(_figure(number, picture) for number, picture in enumerate(drawn)),
            _data(facts, source),
            _meaning(),
            _repeat(facts, source, missing),
            "</main>",
            f"<script>{plotly_script()}</script>",
            f"<script>{_asset('report.js')}</script>",
            "</body></html>\n",
        ]
    )


def _answer(facts: Facts, shown: IndependenceResult) -> str:
    parts = [f'<p class="answer">{_text(answer(shown))}</p>']
    if shown.members:
        parts.append(f"<p>Strength: {_text(strength(shown))}.</p>")
    if facts.ignoring_z is not None:
        ignoring = with_readable_names(facts.ignoring_z)
        parts.append(
            f"<p>If {_text(listed(shown.names['z']))} is ignored, the question is another one: "
            f"{_text(question(ignoring))} {_text(answer(ignoring))} "
            f"Strength: {_text(strength(ignoring))}.</p>"
        )
    return f"<section>{''.join(parts)}</section>"


def _beware(result: IndependenceResult) -> str:
    if not result.warnings:
        return ""
    items = "".join(f"<li>{_text(sentence)}</li>" for sentence in result.warnings)
    return f'<section class="beware"><h2>Beware</h2><ul>{items}</ul></section>'


def _figure(number: int, picture: Picture) -> str:
    spec = picture.spec.replace("<", "\\u003c")  # nothing in it can end the element
    return (
        f"<figure><h2>{_text(picture.title)}</h2>"
        f'<div class="plot" id="plot-{number}" role="img" aria-label="{_text(picture.caption)}">'
        f'</div><script type="application/json" id="spec-{number}">{spec}</script>'
        f"<figcaption>{_text(picture.caption)}</figcaption></figure>"
    )


def _data(facts: Facts, source: str | None) -> str:
    result = facts.result
    n_rows = result.n_samples + result.n_omitted
    omitted = (
        f", {result.n_omitted} of them left out for missing values" if result.n_omitted else ""
    )
    rows = "".join(
        f"<tr><th scope=row title={_quoted(shortened(column.name))}>"
        f"{_text(readable(column.name))}</th>"
        f"<td>{column.role}</td><td>{column.kind}</td><td>{column.n_missing}</td>"
        f"<td>{_text(shortened(column.values))}</td></tr>"
        for column in facts.columns
    )
    said = f" From {_text(shortened(source))}." if source else ""
    return (
        f"<section><h2>The data</h2><p>{n_rows} rows{omitted}.{said}</p>"
        '<div class="wide"><table><thead><tr><th>column</th><th>used as</th><th>taken for</th>'
        f"<th>missing</th><th>values</th></tr></thead><tbody>{rows}</tbody></table></div></section>"
    )


def _meaning() -> str:
    return (
        "<section><h2>What the numbers mean</h2><ul>"
        "<li><b>p</b> is the probability of seeing a relation at least as clear if there were none "
        "among samples of equal z. It assumes that rows are independent of each other, and that "
        "little of z's influence is left after regression and between neighbours. A large p is no "
        "proof that there is no relation.</li>"
        "<li><b>Strength</b> is 0 if x and y are unrelated given z, on average, and 1 if they are "
        "the same. It may be slightly negative by chance, and does not see relations that cancel "
        "along z. The interval is meant for related x and y; near 0, look at p.</li>"
        "<li>Nothing here says what causes what, and a confounder that is not among the columns "
        "cannot be accounted for.</li></ul></section>"
    )


def _repeat(facts: Facts, source: str | None, missing: Sequence[str]) -> str:
    result, settings = facts.result, facts.settings
    told = {
        "samples": result.n_samples,
        "pairs": f"{result.n_pairs} ({result.pairs}), alpha {result.alpha:.3g}",
        "adjustment for z": result.adjust,
        "samples that share a random sign": f"{result.block_size:.3g}",
        "bandwidths of x": ", ".join(f"{h:.3g}" for h, _ in result.bandwidths),
        "bandwidths of y": ", ".join(f"{h:.3g}" for _, h in result.bandwidths),
        "null distribution": f"{result.null}, {len(result.null_distribution)} draws",
        **facts.versions,
    }
    rows = "".join(
        f"<tr><th scope=row>{k}</th><td>{_text(str(v))}</td></tr>" for k, v in told.items()
    )
    x, y, z = (_columns(result.names[argument]) for argument in "xyz")
    changed = {"kinds": {}, "nan_policy": "raise", "n_resamples": 9999, "workers": 1}
    keywords = [
        f"{name}={value!r}" for name, value in settings.items() if changed.get(name) != value
    ]
    call = f"chsic.chsic_test({', '.join([x, y, *([z] if z else []), *keywords])})"
    command = ""
    if source and os.path.isfile(source):
        command = (
            "<p>On the command line:</p>"
            f"<pre><code>{_text(_command(result, settings, source, missing))}</code></pre>"
        )
    return (
        '<section><h2>To repeat it</h2><div class="wide"><table><tbody>'
        f"{rows}</tbody></table></div>{command}<p>In Python, with <code>df</code> the data frame, "
        "dates and categories as above:</p>"
        f"<pre><code>{_text(call)}</code></pre></section>"
    )


def _command(
    result: IndependenceResult, settings: dict[str, Any], source: str, missing: Sequence[str]
) -> str:
    """Write the test as the command line takes it."""
    parts = ["chsic", "test", source]
    for option, argument in (("--x", "x"), ("--y", "y"), ("--given", "z")):
        for name in result.names[argument]:
            parts += [option, name]
    for name, kind in settings["kinds"].items():
        parts += ["--categories" if kind == "category" else "--numbers", name]
    for text in missing:
        parts += ["--missing", text]
    if settings["nan_policy"] != "raise":
        parts += ["--nan-policy", settings["nan_policy"]]
    parts += ["--resamples", str(settings["n_resamples"]), "--seed", str(settings["rng"])]
    return shlex.join(printable(part) for part in parts)


def _columns(names: tuple[str, ...]) -> str:
    """Write columns as Python takes them from a data frame; letters that cannot be seen escaped."""
    if not names:
        return ""
    return f"df[{names[0]!r}]" if len(names) == 1 else f"df[{list(names)!r}]"


def _text(text: str) -> str:
    return html.escape(text)


def _quoted(text: str) -> str:
    return f'"{html.escape(text)}"'


def _asset(name: str) -> str:
    return (files("chsic.show.report") / name).read_text(encoding="utf-8")
