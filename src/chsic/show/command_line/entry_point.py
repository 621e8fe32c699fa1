"""Run the commands: what goes wrong becomes one line and an exit status."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import traceback
import warnings
from typing import Any, NoReturn, Protocol, runtime_checkable

import typer

from chsic._util.errors import text_for_command_line
from chsic._util.interrupt import interruptible
from chsic.show.command_line.commands import app
from chsic.show.terminal import flush, print_any_letter, say

REFUSED, INTERRUPTED = 2, 130  # exit statuses
MOST_LETTERS = 2_000  # of a message


@runtime_checkable
class UsageError(Protocol):
    """A command that cannot be understood, of click or of the copy of it inside typer.

    Which of the two raises it depends on the version of typer, and neither class has a public name
    in all of them; this method is public in both.
    """

    def format_message(self) -> str:
        """Say what is wrong with the command."""
        ...


def run() -> None:
    """Run the command line: exit status 2 on bad input, 130 on Ctrl-C, no traceback for either."""
    pressed = threading.Event()

    def interrupt(*_: object) -> NoReturn:
        pressed.set()
        raise KeyboardInterrupt

    try:
        if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:  # as in the background of a shell
            signal.signal(signal.SIGINT, interrupt)
        print_any_letter()
        warnings.showwarning = _warn
        with interruptible():
            status = app(standalone_mode=False)  # 130 if typer met an interrupt first
        flush()
    except SystemExit:
        raise
    except BaseException as error:
        # What is loaded or called meanwhile may make another error of an interrupt.
        _drop_output()
        if pressed.is_set() or isinstance(error, KeyboardInterrupt | typer.Abort):
            sys.exit(INTERRUPTED)
        if sys.flags.dev_mode:
            raise
        if not isinstance(error, BrokenPipeError):  # which whoever reads the output knows
            _complain(_sentence(error))
        sys.exit(REFUSED)
    sys.exit(status if isinstance(status, int) else 0)


def _sentence(error: BaseException) -> str:
    """Say what is wrong, and what to do as the command line takes it."""
    if isinstance(error, UsageError):
        context = getattr(error, "ctx", None)
        of = context.command_path if context else "chsic"
        return f"{error.format_message()} Try: {of} --help"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, ValueError | TypeError | OSError):
        return text_for_command_line(error)
    if isinstance(error, ImportError):
        missing = f"this needs {error.name.partition('.')[0]}" if error.name else str(error)
        return f"{missing}; pip install 'chsic[cli,plot,report]' has it all"
    if isinstance(error, MemoryError):
        return "the memory is not enough for these data; name fewer columns, or give fewer rows."
    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{os.path.basename(frame.filename)}:{frame.lineno}"
    return (
        f"{type(error).__name__} at {where}: {error}. This is a defect of chsic: please report it, "
        "with what 'python -X dev -m chsic' prints."
    )


def _complain(message: str) -> None:
    most = message if len(message) <= MOST_LETTERS else message[: MOST_LETTERS - 1] + "…"
    with contextlib.suppress(OSError):  # there is no other place to complain
        say(f"chsic: {most}", error=True)


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    _complain(str(message))


def _drop_output() -> None:
    """Print what can be printed; the rest is not tried again when Python ends."""
    try:
        flush()
    except OSError:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
