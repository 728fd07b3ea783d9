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
            what = "disagreement: " if fixture.announces else ""
            console.print(Text(f"  {what}{lines(disagreement)}", style="red"))
        console.print()
    fixtures = [one for one in tables if one.announces]
    programs = [one for one in tables if not one.announces]
    if fixtures or not tables:
        wrong = sum(fixture.disagreements for fixture in fixtures)
        parts = sum(len(fixture.rows) for fixture in fixtures)
        outcome = _count(wrong, "disagreement") if wrong else "no disagreement"
        console.print(Text(f"{_count(len(fixtures), 'fixture')}, {_count(parts, 'part')}: {outcome}."))
    if programs:
        raising = sum(any(row.jax not in ("accepts", "did not run") for row in one.rows) for one in programs)
        found = sum(len(row.findings) for one in programs for row in one.rows)
        outcome = f"{raising} raised" if raising else "all ran" if len(programs) > 1 else "it ran"
        console.print(Text(f"{_count(len(programs), 'program')}: {outcome}; {_count(found, 'finding')}."))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"
