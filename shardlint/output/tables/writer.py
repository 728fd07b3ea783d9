"""Output of tables to standard output or a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from shardlint.support.media import drawn

if TYPE_CHECKING:
    from rich.console import Console


@contextmanager
def drawing(stream: TextIO, width: int) -> Iterator[Console]:
    """Give what draws tables for a stream: as wide as a terminal is, or, where none is, of so many columns.

    All is written at the end, which raises OSError as the stream does. Text is not read as markup; what a
    stranger wrote goes through `terminal` before, and where it was wrapped its lines are looked at again.
    """
    from rich.console import Console

    console = Console(
        file=stream, highlight=False, markup=False, emoji=False, width=None if stream.isatty() else width
    )
    with console.capture() as shown:
        yield console
    stream.write(drawn(shown.get()))
