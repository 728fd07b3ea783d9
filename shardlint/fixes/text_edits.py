"""Edits of a text: which of them go together, and the text after them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shardlint.model.findings import Edit, Finding, Fix
from shardlint.model.spans import Span
from shardlint.source.lexing import NEWLINE
from shardlint.support.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Change:
    """Replace the text from ``start`` to ``stop`` (offsets in code points) by ``text``."""

    start: int
    stop: int
    text: str


class OutOfPlace(Exception):
    """An edit lies outside its text, which must have changed since."""


def changes(text: str, edits: Iterable[Edit]) -> list[Change]:
    """Return edits as changes of a text, in order, with the text's line ends. Raises OutOfPlace."""
    breaks = list(NEWLINE.finditer(text))
    starts = [0, *(match.end() for match in breaks)]
    ends = [*(match.start() for match in breaks), len(text)]
    newline = breaks[0][0] if breaks else "\n"

    def offset(line: int, column: int) -> int:
        if not 1 <= line <= len(starts) or not 0 < column <= ends[line - 1] - starts[line - 1] + 1:
            raise OutOfPlace
        return starts[line - 1] + column - 1

    found = set()
    for edit in edits:
        span = edit.span
        start, stop = offset(span.line, span.column), offset(span.end_line, span.end_column)
        if start > stop:
            raise OutOfPlace
        found.add(Change(start, stop, NEWLINE.sub(newline, edit.text)))
    return sorted(found, key=lambda change: (change.start, change.stop))


def changed(text: str, made: Sequence[Change]) -> str:
    """Return the text after changes that do not overlap."""
    pieces, at = list[str](), 0
    for change in made:
        pieces += (text[at : change.start], change.text)
        at = change.stop
    return "".join((*pieces, text[at:]))


_Position = tuple[str, int, int, int]


def compatible(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings whose fixes can be applied together; of two that clash, the first in the text.

    A fix is applied whole or not at all. Two fixes may share an edit, such as an import that both need.
    """
    claimed: dict[Edit, None] = {}
    accepted = []
    for finding in sorted((f for f in findings if f.fix is not None), key=_order):
        edits = finding.fix.edits if finding.fix else ()
        fresh = [edit for edit in edits if edit not in claimed]
        if all(not _clash(edit, other) for edit in fresh for other in claimed):
            claimed.update(dict.fromkeys(fresh))
            accepted.append(finding)
    return accepted


def _order(finding: Finding) -> tuple[_Position, str]:
    assert finding.fix is not None
    return min((edit.span.order() for edit in finding.fix.edits), default=finding.span.order()), finding.code


def _clash(one: Edit, other: Edit) -> bool:
    """Return whether two edits touch the same text, or insert at the same place."""
    first, second = sorted((one.span, other.span), key=_extent)
    if (first.path, first.cell) != (second.path, second.cell):
        return False
    start = (second.line, second.column)
    return start < (first.end_line, first.end_column) or start == (first.line, first.column)


def _extent(span: Span) -> tuple[int, int, int, int]:
    return span.line, span.column, span.end_line, span.end_column


def paths_of(fix: Fix) -> set[str]:
    """Return the files that a fix edits."""
    return {edit.span.path for edit in fix.edits}
