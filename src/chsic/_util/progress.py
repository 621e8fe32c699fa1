"""A progress bar on standard error, where people look at it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

Report: TypeAlias = Callable[[int, int], None]  # how many are done, of how many


@contextmanager
def progress_bar(what: str, *, shown: bool = True) -> Iterator[Report]:
    """Give a function that moves a bar, if it is to be shown and standard error is a terminal."""
    if not shown:
        yield lambda done, total: None
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
    except ImportError as error:
        raise ImportError(
            "progress: a progress bar needs rich; install 'chsic[cli]', or use progress=False."
        ) from error
    console = Console(stderr=True)
    columns = (TextColumn(what), BarColumn(), TextColumn("{task.completed}/{task.total}"))
    with Progress(
        *columns, TimeRemainingColumn(), console=console, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
