"""A progress bar on standard error: only on a terminal, and only once work takes a while."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

#: Seconds before a bar is shown.
PATIENCE = 1.0


class ProgressBar:
    """A context manager that shows progress when called with the phase, the number done and the total."""

    def __init__(self, quiet: bool = False) -> None:
        self._show = sys.stderr.isatty() and not quiet
        self._start = time.monotonic()
        self._bar: Progress | None = None

    def __call__(self, what: str, done: int, total: int) -> None:
        if not self._show or time.monotonic() - self._start < PATIENCE:
            return
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._bar.start()
            self._bar.add_task(what, total=total)
        self._bar.update(self._bar.task_ids[0], description=what, completed=done, total=total)

    def stop(self) -> None:
        """Remove the bar from the screen, for good."""
        self._show = False
        if self._bar is not None:
            self._bar.stop()

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
