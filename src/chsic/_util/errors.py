"""Errors about input whose remedy is written differently in Python and on the command line."""

from __future__ import annotations

from typing import NamedTuple, Self


class Setting(NamedTuple):
    """One setting in the two forms that users write."""

    python: str
    option: str


class InputError(Exception):
    """An error that also knows its text for the command line.

    Raise `InputValueError` or `InputTypeError`, made by `with_remedy`.
    """

    def __init__(self, message: str, for_command_line: str | None = None) -> None:
        super().__init__(message)
        self.for_command_line = message if for_command_line is None else for_command_line

    @classmethod
    def with_remedy(cls, problem: str, remedy: str, *settings: Setting) -> Self:
        """Write one sentence in both forms.

        Parameters
        ----------
        problem : str
            What is wrong: the argument, and what arrived.
        remedy : str
            What to do, with ``{}`` in place of each setting.
        *settings : Setting
            What stands there, one or more.

        Returns
        -------
        InputError
            Of the class that this is called on.

        Examples
        --------
        >>> from chsic._util.errors import InputValueError, nan_policy_setting
        >>> error = InputValueError.with_remedy("x: a gap", "use {}.", nan_policy_setting("omit"))
        >>> print(error)
        x: a gap; use nan_policy='omit'.
        >>> print(error.for_command_line)
        x: a gap; use --nan-policy omit.
        """
        python, option = (
            f"{problem}; {remedy.format(*forms)}" for forms in zip(*settings, strict=True)
        )
        return cls(python, option)


class InputValueError(InputError, ValueError):
    """A value that cannot be used."""


class InputTypeError(InputError, TypeError):
    """A value of a type that cannot be used."""


def nan_policy_setting(choice: str) -> Setting:
    """Write the setting for missing values."""
    return Setting(f"nan_policy={choice!r}", f"--nan-policy {choice}")


def kind_setting(name: str, kind: str) -> Setting:
    """Write the setting that says whether a column is a ``"number"`` or a ``"category"``."""
    option = {"category": "--categories", "number": "--numbers"}[kind]
    return Setting(f"kinds={{{name!r}: {kind!r}}}", f"{option} {name!r}")
