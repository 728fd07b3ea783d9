"""Fixtures that were run, as tables: what each part did beside what was found there."""

from __future__ import annotations

from collections.abc import Sequence

from shardlint.confirm.comparison import Disagreement
from shardlint.confirm.fixtures import FixtureRun, UnitRun
from shardlint.model.findings import Finding
from shardlint.source import Source
from shardlint.support.lazy_dataclass import dataclass


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


@dataclass(frozen=True, slots=True)
class FixtureResult:
    """A fixture's run, and where it was not what its comments and the findings say."""

    run: FixtureRun
    disagreements: list[Disagreement]


def table_of(source: Source, result: FixtureResult, findings: Sequence[Finding]) -> FixtureTable:
    """Set what each part of a fixture did beside what was found there."""
    run = result.run
    said: dict[UnitRun | None, list[str]] = {}
    for finding in findings:
        span = finding.span
        holding = [unit for unit in run.units if unit.place.holds(span.cell, span.line)]
        home = min(holding, key=lambda unit: unit.place.end_line - unit.place.line, default=None)
        said.setdefault(home, []).append(f"{finding.code} {finding.name}, line {span.line}")
    wrong: dict[tuple[str, int | None] | None, list[str]] = {}
    for disagreement in result.disagreements:
        where = "" if disagreement.cell is None else f"cell {disagreement.cell}, "
        key = None if disagreement.unit is None else (disagreement.unit, disagreement.cell)
        wrong.setdefault(key, []).append(f"{where}line {disagreement.line}: {disagreement.message}")
    rows = []
    for unit in run.units:
        mine = wrong.pop((unit.name, unit.place.cell), ())
        rows.append(Row(unit.name, tuple(said.get(unit, ())), jax_said(unit), tuple(mine)))
    general = tuple(text for texts in wrong.values() for text in texts)
    return FixtureTable(source.path, run.jax, tuple(rows), general)


def jax_said(unit: UnitRun) -> str:
    """What JAX did with a part of a fixture."""
    if not unit.ran:
        return "did not run"
    if unit.exception is None:
        return "accepts"
    return f"{unit.exception}, line {unit.line}" if unit.line else unit.exception
