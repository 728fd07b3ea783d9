"""A report for a terminal: a table for each mesh, its totals, and the problems."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TextIO

from shardlint.output.report import words
from shardlint.output.tables.writer import drawing
from shardlint.report.values import InitReport, Parameter, ParameterReport
from shardlint.support.media import terminal

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

#: The width of a table where the output is not a terminal.
_WIDTH = 100
#: Names of up to this many columns are not broken.
_WHOLE_NAME = 40


def write(report: ParameterReport | InitReport, stream: TextIO) -> None:
    """Write the tables of a report; for an init, also the matches of its rules and their mistakes."""
    with drawing(stream, _WIDTH) as console:
        _draw(report, console)


def _draw(report: ParameterReport | InitReport, console: Console) -> None:
    found = report.report if isinstance(report, InitReport) else report
    if not found.parameters and not isinstance(report, InitReport):
        console.print(f"No parameter was found. {words.WITHOUT_FLAX}", soft_wrap=True)
        return
    numbered = isinstance(report, InitReport) and bool(report.rules)
    for number, named in enumerate(found.meshes):
        console.print(terminal(words.mesh_text(named)))
        console.print(_table(found, number, numbered))
        console.print(f"  total: {words.total_text(found.totals[number])}", soft_wrap=True)
        for line in remarks(found, number):
            console.print(f"  {terminal(line)}", soft_wrap=True)
        console.print()
    if not found.meshes and found.parameters:
        console.print(_table(found, None, numbered))
        console.print(f"  total: {words.without_mesh(found)}")
        console.print(f"  {words.NO_MESH}\n")
    if isinstance(report, InitReport):
        _write_rules(report, console.print)


def remarks(report: ParameterReport, mesh: int) -> Iterator[str]:
    """Yield the problems on one mesh, one line for each parameter."""
    for parameter in report.parameters:
        size = parameter.holdings[mesh]
        if size is not None and (text := words.remark(parameter, size)):
            yield f"{words.name_of(parameter)}: {text}"


def _table(report: ParameterReport, mesh: int | None, numbered: bool) -> Table:
    """Return the table of a mesh's parameters; if ``numbered``, with the number of each one's rule."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=SIMPLE_HEAD, padding=0, show_edge=False)
    columns = ["on each device", "whole", "copies"] if mesh is not None else ["whole"]
    for column in columns:
        drawn.add_column(column, justify="right", no_wrap=True)
    if numbered:
        drawn.add_column("rule", justify="right", no_wrap=True)
    longest = max((len(words.name_of(parameter)) for parameter in report.parameters), default=0)
    drawn.add_column("parameter", overflow="fold", min_width=min(longest, _WHOLE_NAME))
    for column in ("array", "names" if mesh is None else "sharding"):
        drawn.add_column(column, overflow="fold")
    for parameter in report.parameters:
        if mesh is not None and parameter.holdings[mesh] is None:
            continue
        array = f"{parameter.dtype or '?'} {words.shape_of(parameter)}"
        rule = "" if parameter.rule is None else str(parameter.rule + 1)
        sharding = words.names_of(parameter) if mesh is None else _sharding(parameter, mesh)
        cells = [*_numbers(parameter, mesh), *([rule] if numbered else ())]
        cells += [words.name_of(parameter), array, sharding]
        drawn.add_row(*(Text(terminal(cell)) for cell in cells))
    return drawn


def _sharding(parameter: Parameter, mesh: int) -> str:
    """Return the spec on a mesh, behind the names where these are others; only these if it is unknown."""
    spec, names = words.spec_text(parameter.holdings[mesh]), words.names_of(parameter)
    if spec == "?" and names:
        return names
    return f"{names} → {spec}" if names and spec.removeprefix("P") != names.replace(",)", ")") else spec


def _numbers(parameter: Parameter, mesh: int | None) -> list[str]:
    whole = "?" if parameter.bytes is None else words.text_of_bytes(parameter.bytes)
    if mesh is None:
        return [whole]
    size = parameter.holdings[mesh]
    return [words.bytes_text(size), whole, words.copies_text(size)]


def _write_rules(report: InitReport, write_line: Callable[..., None]) -> None:
    for number, row in enumerate(report.rules or (), 1):
        counts = f"parameters matched: {row.matches}, sharded by it: {row.takes}"
        write_line(terminal(f"rule {number}, {row.rule} → {row.rule.spec}: {counts}"))
    for finding in report.findings:
        write_line(terminal(words.finding_text(finding)), soft_wrap=True)
