"""Where tables are written."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console


def console_for(stream: TextIO, width: int) -> Console:
    """What writes tables to a stream: as wide as a terminal is, or, where none is, of so many columns.

    It raises OSError as the stream does. Text is not read as markup.
    """
    from rich.console import Console

    class Plain(Console):
        def on_broken_pipe(self) -> None:
            """Leave the end to the command line: rich would exit with 1, the code of findings."""
            raise BrokenPipeError

    return Plain(file=stream, highlight=False, markup=False, width=None if stream.isatty() else width)
