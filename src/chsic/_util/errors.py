"""Errors about input whose remedy is written differently in Python and on the command line.

They are plain ``ValueError`` and ``TypeError``, as tracebacks name them, and carry a second text.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

Error = TypeVar("Error", ValueError, TypeError)
ATTRIBUTE = "for_command_line"  # of an error: its text there


class Setting(NamedTuple):
    """One setting in the two forms that users write."""

    python: str
    option: str


def nan_policy_setting(choice: str) -> Setting:
    """Write the setting for missing values."""
    return Setting(f"nan_policy={choice!r}", f"--nan-policy {choice}")


def kind_setting(name: str, kind: str) -> Setting:
    """Write the setting that says whether a column is a ``"number"`` or a ``"category"``."""
    option = {"category": "--categories", "number": "--numbers"}[kind]
    return Setting(f"kinds={{{name!r}: {kind!r}}}", f"{option} {name!r}")


def input_error(kind: type[Error], problem: str, remedy: str, *settings: Setting) -> Error:
    """Return an error, to be raised, whose remedy is written in both forms.

    Parameters
    ----------
    kind : type
        ``ValueError`` or ``TypeError``.
    problem : str
        What is wrong: the argument, and what arrived.
    remedy : str
        What to do, with ``{}`` in place of each setting.
    *settings : Setting
        What stands there, one or more.

    Returns
    -------
    ValueError or TypeError

    Examples
    --------
    >>> from chsic._util.errors import input_error, nan_policy_setting, text_for_command_line
    >>> error = input_error(ValueError, "x: a gap", "use {}.", nan_policy_setting("omit"))
    >>> print(error)
    x: a gap; use nan_policy='omit'.
    >>> print(text_for_command_line(error))
    x: a gap; use --nan-policy omit.
    """
    python, option = (f"{problem}; {remedy.format(*form)}" for form in zip(*settings, strict=True))
    error = kind(python)
    setattr(error, ATTRIBUTE, option)
    return error


def text_for_command_line(error: BaseException) -> str:
    """Return what an error says, with options in place of keywords where it knows them.

    Examples
    --------
    >>> from chsic._util.errors import text_for_command_line
    >>> text_for_command_line(ValueError("x: too short."))
    'x: too short.'
    """
    return str(getattr(error, ATTRIBUTE, error))
