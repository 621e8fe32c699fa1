"""From data to a page on disk."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from chsic._util.files import require_outputs, write_whole
from chsic._util.progress import progress_bar
from chsic._util.validate import RNGLike
from chsic.data.arguments import Data
from chsic.inference.result import IndependenceResult
from chsic.show.report.gather import gather
from chsic.show.report.page import render_page, require_libraries


def write_report(
    path: str | os.PathLike[str],
    x: Data,
    y: Data,
    /,
    z: Data = None,
    *,
    data: Data = None,
    source: str | None = None,
    missing: Sequence[str] = (),
    progress: bool = False,
    kinds: Mapping[str, str] | None = None,
    nan_policy: str = "raise",
    groups: Data = None,
    time: Data = None,
    stretch: float | str = "auto",
    within: bool = False,
    weights: Data = None,
    n_resamples: int = 9999,
    workers: int = 1,
    rng: RNGLike | None = None,
) -> IndependenceResult:
    """Test whether x is still related to y once z is known, and write a page about it.

    The page needs nothing but itself: no network, no other file.

    Parameters
    ----------
    path : path-like
        Of the HTML file, which appears whole or not at all. It must not be `source`.
    x, y, z : array_like, series or data frame, or names of columns of `data`
        As for `chsic_test`; their names are those on the page.
    data : data frame, mapping or array, optional
        As for `chsic_test`.
    source : str, optional
        Where the data are from, for the reader.
    missing : sequence of str
        What was read as no value there, beside NA and its like; for the command that repeats it.
    progress : bool
        Show a progress bar, if standard error is a terminal.
    kinds, nan_policy, groups, time, stretch, within, weights, n_resamples, workers, rng
        As for `chsic_test`.

    Returns
    -------
    IndependenceResult
        What the page is about.

    Examples
    --------
    >>> import pathlib, tempfile, chsic
    >>> x, y, z = chsic.datasets.draw_scenario("add", 100, rng=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "report.html"
    ...     result = chsic.write_report(path, x, y, z, rng=0)
    ...     path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    True
    """
    require_libraries()  # what can fail should fail before the tests, not after them
    require_outputs([("path", path)], [source] if source else [])
    with progress_bar("steps", shown=progress) as step:
        facts = gather(
            x,
            y,
            z,
            data=data,
            kinds=kinds,
            nan_policy=nan_policy,
            groups=groups,
            time=time,
            stretch=stretch,
            within=within,
            weights=weights,
            n_resamples=n_resamples,
            workers=workers,
            rng=rng,
            progress=step,
        )
    text = render_page(facts, source, missing)
    write_whole(Path(path), lambda temporary: temporary.write_text(text, encoding="utf-8"))
    return facts.result
