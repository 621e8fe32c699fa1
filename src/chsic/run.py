"""Run the commands: what goes wrong becomes one line and an exit status."""

from __future__ import annotations

import re
import sys
from typing import Any, NoReturn

import typer

from chsic.cli import app
from chsic.interrupt import interruptible

# That of click, which typer may have a copy of.
UsageError: Any = typer.BadParameter.__mro__[1]


def run() -> None:
    """Run the command line: exit status 2 on bad input, 130 on Ctrl-C, no traceback for either."""
    try:
        with interruptible():
            status = app(standalone_mode=False)
    except UsageError as error:
        of = error.ctx.command_path if error.ctx else "chsic"
        _refuse(f"{error.format_message()} Try: {of} --help")
    except (typer.Abort, KeyboardInterrupt):
        sys.exit(130)
    except (ValueError, TypeError) as error:
        _refuse(_as_options(str(error)))
    except OSError as error:
        _refuse(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except ImportError as error:
        missing = f"this needs {error.name.partition('.')[0]}" if error.name else str(error)
        _refuse(f"{missing}; pip install 'chsic[cli,plot,report]' has it all")
    else:
        sys.exit(status if isinstance(status, int) else 0)


def _refuse(message: str) -> NoReturn:
    print(f"chsic: {message}", file=sys.stderr)
    sys.exit(2)


def _as_options(message: str) -> str:
    """Say what to do as the command line takes it."""
    message = re.sub(r"nan_policy='(\w+)'", r"--nan-policy \1", message)
    for kind, option in (("category", "--categories"), ("number", "--numbers")):
        message = re.sub(rf"kinds=\{{(['\"])(.*?)\1: '{kind}'\}}", rf"{option} '\2'", message)
    return message
