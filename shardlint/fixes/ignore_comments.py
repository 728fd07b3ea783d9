"""Comments that ignore findings, for ``--add-ignores``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from shardlint.model.findings import Edit, Finding
from shardlint.model.spans import Span
from shardlint.source.comments.suppressions import directives
from shardlint.source.logical_lines import Statements, statements
from shardlint.source.sources import Cell, Source
from shardlint.support.lazy_dataclass import dataclass

#: Findings about a file or a comment that no comment can ignore.
UNSILENCED = frozenset(
    {"SHL001", "SHL002", "SHL003", "SHL004", "SHL005", "SHL006", "SHL009", "SHL012", "SHL013", "SHL014"}
)

#: What must stay on the first lines of a file: its interpreter and its encoding.
_FIRST = re.compile(r"#!|[ \t\f]*#.*?coding[:=]")


@dataclass(frozen=True, slots=True)
class Ignored:
    """The edits that add comments to one file, and the number of findings they ignore."""

    edits: tuple[Edit, ...]
    count: int


def ignoring(source: Source, findings: Iterable[Finding], reason: str) -> Ignored:
    """Return the edits after which comments ignore these findings of a source."""
    by_cell: dict[int | None, dict[int, set[str]]] = {}
    cells = {cell.index: cell for cell in source.cells}
    count = 0
    for finding in findings:
        span = finding.span
        if finding.code in UNSILENCED or span.cell not in cells:
            continue
        count += 1
        line = _home(statements(cells[span.cell].text), span)
        by_cell.setdefault(span.cell, {}).setdefault(line, set()).add(finding.code)
    edits = [
        edit for index, lines in by_cell.items() for edit in _edits(source.path, cells[index], lines, reason)
    ]
    return Ignored(tuple(edits), count)


def _home(read: Statements, span: Span) -> int:
    """Return the line for the comment: the finding's, else the last of its statement, where one is always
    possible.
    """
    for line in (span.line, span.end_line):
        if line not in read.closed:
            return line
    return read.around(span.end_line)[1]


def _edits(path: str, cell: Cell, lines: Mapping[int, set[str]], reason: str) -> Iterable[Edit]:
    read = statements(cell.text)
    for line, codes in sorted(lines.items()):
        written = next(
            (d for d in directives(cell.text) if d.line == line and d.verb == "ignore" and d.codes), None
        )
        if written is not None:
            start, end = written.codes[0][1], written.codes[-1][2]
            every = dict.fromkeys([*(code for code, _, _ in written.codes), *sorted(codes)])
            yield Edit(Span(path, line, start, line, end, cell.index), ", ".join(every))
            continue
        content = read.lines[line - 1]
        end = len(content) + 1
        blanks = "" if content.endswith(("  ", "\t")) else " " if content.endswith(" ") else "  "
        text = f"{blanks}# shardlint: ignore[{', '.join(sorted(codes))}]" + (f" {reason}" if reason else "")
        yield Edit(Span(path, line, end, line, end, cell.index), text)


def ignoring_everywhere(source: Source, code: str, reason: str) -> tuple[Edit, ...]:
    """Return the edits that add a comment which ignores a rule in the whole file; none where it cannot be."""
    if code in UNSILENCED or not source.cells:
        return ()
    for cell in source.cells:
        for written in directives(cell.text):
            if written.verb == "ignore-file" and written.codes:
                end = written.codes[-1][2]
                return (
                    Edit(Span(source.path, written.line, end, written.line, end, cell.index), f", {code}"),
                )
    cell = source.cells[0]
    line = 1
    for text in cell.text.split("\n")[:2]:
        if _FIRST.match(text) is None:
            break
        line += 1
    comment = f"# shardlint: ignore-file[{code}]" + (f" {reason}" if reason else "")
    return (Edit(Span(source.path, line, 1, line, 1, cell.index), f"{comment}\n"),)
