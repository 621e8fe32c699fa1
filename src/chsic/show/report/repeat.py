"""The call and the command that repeat a test."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from chsic._util.names import printable
from chsic.data.sampling import ARGUMENTS, ROWS
from chsic.inference.result import IndependenceResult

DEFAULTS = {
    "kinds": {},
    "nan_policy": "raise",
    "stretch": "auto",
    "within": False,
    "n_resamples": 9999,
    "workers": 1,
}


def python_call(result: IndependenceResult, settings: Mapping[str, Any]) -> str:
    """Write the test as Python takes it; letters that cannot be seen are escaped.

    Examples
    --------
    >>> import chsic
    >>> from chsic.show.report.repeat import python_call
    >>> x, y, z = chsic.datasets.draw_scenario("add", 100, rng=0)
    >>> python_call(chsic.chsic_test(x, y, z, rng=0), {"workers": 1, "rng": 0})
    "chsic.chsic_test(df['x'], df['y'], df['z'], rng=0)"
    """
    columns = [_columns(result.names[argument]) for argument in "xyz" if result.names[argument]]
    keywords = [
        f"{name}={_columns(value) if name in ARGUMENTS and value != ROWS else repr(value)}"
        for name, value in settings.items()
        if DEFAULTS.get(name) != value
    ]
    return f"chsic.chsic_test({', '.join([*columns, *keywords])})"


def shell_command(
    result: IndependenceResult, settings: Mapping[str, Any], source: str, missing: Sequence[str]
) -> str:
    """Write the test as a shell takes it.

    Parameters
    ----------
    result : IndependenceResult
        Whose columns are named.
    settings : mapping
        Those of the test: ``kinds``, ``nan_policy``, ``n_resamples``, ``rng``, and perhaps the
        names of the columns of ``groups``, ``time`` and ``weights``, ``stretch`` and ``within``.
        The time may be ``"rows"``, for their order.
    source : str
        The file of the data.
    missing : sequence of str
        What was read as no value there, beside NA and its like.

    Returns
    -------
    str

    Examples
    --------
    >>> import chsic
    >>> from chsic.show.report.repeat import shell_command
    >>> x, y, _ = chsic.datasets.draw_scenario("add", 100, rng=0)
    >>> settings = {"kinds": {}, "nan_policy": "raise", "n_resamples": 99, "rng": 0}
    >>> shell_command(chsic.hsic_test(x, y, rng=0), settings, "my data.csv", ["?"])
    "chsic test 'my data.csv' --x x --y y --missing '?' --resamples 99 --seed 0"
    """
    parts = ["chsic", "test", source]
    for option, argument in (("--x", "x"), ("--y", "y"), ("--given", "z")):
        for name in result.names[argument]:
            parts += [option, name]
    for name in ARGUMENTS:
        if name in settings:
            parts += [f"--{name}", *([ROWS] if settings[name] == ROWS else settings[name])]
    if settings.get("stretch", "auto") != "auto":
        parts += ["--stretch", str(settings["stretch"])]
    parts += ["--within"] if settings.get("within") else []
    for name, kind in settings["kinds"].items():
        parts += ["--categories" if kind == "category" else "--numbers", name]
    for text in missing:
        parts += ["--missing", text]
    if settings["nan_policy"] != DEFAULTS["nan_policy"]:
        parts += ["--nan-policy", settings["nan_policy"]]
    parts += ["--resamples", str(settings["n_resamples"]), "--seed", str(settings["rng"])]
    return shlex.join(printable(part) for part in parts)


def _columns(names: tuple[str, ...]) -> str:
    """Write columns as they are taken from a data frame."""
    return f"df[{names[0]!r}]" if len(names) == 1 else f"df[{list(names)!r}]"
