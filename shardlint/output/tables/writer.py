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
    """Yield a console for tables on a stream: as wide as the terminal, else ``width`` columns.

    Everything is written at the end, which may raise the stream's OSError. Text is not read as markup;
    untrusted text must be escaped by `terminal` first, and lines are escaped again after wrapping.
    """
    from rich.console import Console

    console = Console(
        file=stream, highlight=False, markup=False, emoji=False, width=None if stream.isatty() else width
    )
    with console.capture() as shown:
        yield console
    stream.write(drawn(shown.get()))
