"""``shardlint run``: for each fixture, what the analyzer says beside what JAX does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from shardlint.output.tables import console_for
from shardlint.records import dataclass

#: Columns of a table that is not drawn on a terminal.
_WIDTH = 140


@dataclass(frozen=True, slots=True)
class Row:
    """One case, cell or top level: what was found in it, what it raised, and what does not agree."""

    unit: str
    findings: tuple[str, ...]
    jax: str
    disagreements: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FixtureTable:
    """A fixture's rows. ``general`` are disagreements that belong to no part of it."""

    path: str
    jax: str | None
    rows: tuple[Row, ...]
    general: tuple[str, ...] = ()

    @property
    def disagreements(self) -> int:
        """How many there are."""
        return len(self.general) + sum(len(row.disagreements) for row in self.rows)


def write(tables: Sequence[FixtureTable], stream: TextIO) -> None:
    """Draw a table for each fixture, its disagreements below it, and one line that counts them all."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    console = console_for(stream, _WIDTH)
    for fixture in tables:
        table = Table(title=Text(fixture.path), title_justify="left", title_style="bold", box=SIMPLE_HEAD)
        table.add_column("part", overflow="fold")
        table.add_column("shardlint says")
        table.add_column(f"JAX {fixture.jax}" if fixture.jax else "JAX")
        for row in fixture.rows:
            style = "red" if row.disagreements else None
            said = Text("\n".join(row.findings) or "nothing")
            table.add_row(Text(row.unit), said, Text(row.jax), style=style)
        if fixture.rows:
            console.print(table)
        else:
            console.print(Text(fixture.path, style="bold"))
        for disagreement in (*fixture.general, *(d for row in fixture.rows for d in row.disagreements)):
            console.print(Text(f"  disagreement: {disagreement}", style="red"))
        console.print()
    wrong = sum(fixture.disagreements for fixture in tables)
    parts = sum(len(fixture.rows) for fixture in tables)
    outcome = f"{wrong} disagreement{'s' * (wrong != 1)}" if wrong else "no disagreement"
    plural = "s" * (len(tables) != 1)
    console.print(Text(f"{len(tables)} fixture{plural}, {parts} part{'s' * (parts != 1)}: {outcome}."))
