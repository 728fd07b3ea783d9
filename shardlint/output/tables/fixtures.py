"""``shardlint run``: for each fixture, the analyzer's findings beside JAX's behaviour."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from shardlint.output.tables.writer import drawing
from shardlint.support.media import lines, terminal

if TYPE_CHECKING:
    from rich.console import Console

    from shardlint.confirm.fixtures.results import FixtureTable

#: Columns of a table that is not drawn on a terminal.
_WIDTH = 140


def write(tables: Sequence[FixtureTable], stream: TextIO) -> None:
    """Write a table for each fixture, its disagreements below it, and one line that counts them all."""
    with drawing(stream, _WIDTH) as console:
        _draw(tables, console)


def _draw(tables: Sequence[FixtureTable], console: Console) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    for fixture in tables:
        table = Table(
            title=Text(terminal(fixture.path)), title_justify="left", title_style="bold", box=SIMPLE_HEAD
        )
        table.add_column("part", overflow="fold")
        table.add_column("shardlint says")
        table.add_column(f"JAX {terminal(fixture.jax)}" if fixture.jax else "JAX")
        for row in fixture.rows:
            style = "red" if row.disagreements else None
            findings = Text("\n".join(map(terminal, row.findings)) or "nothing")
            table.add_row(Text(terminal(row.unit)), findings, Text(lines(row.jax)), style=style)
        if fixture.rows:
            console.print(table)
        else:
            console.print(Text(terminal(fixture.path), style="bold"))
        for disagreement in (*fixture.general, *(d for row in fixture.rows for d in row.disagreements)):
            console.print(Text(f"  disagreement: {lines(disagreement)}", style="red"))
        console.print()
    wrong = sum(fixture.disagreements for fixture in tables)
    parts = sum(len(fixture.rows) for fixture in tables)
    outcome = f"{wrong} disagreement{'s' * (wrong != 1)}" if wrong else "no disagreement"
    plural = "s" * (len(tables) != 1)
    console.print(Text(f"{len(tables)} fixture{plural}, {parts} part{'s' * (parts != 1)}: {outcome}."))
