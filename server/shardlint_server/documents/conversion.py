"""Findings as protocol types. Pure functions: what they need to know comes as arguments.

A finding counts lines and columns from 1, columns in code points. The protocol counts from 0, columns in
code units of the encoding that client and server agreed on: UTF-16 unless the client offers another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from lsprotocol import types
from pygls.workspace import PositionCodec

from shardlint.api import media
from shardlint.model.findings import Confirmation, Finding, Related, Severity
from shardlint.model.spans import Span
from shardlint.support.lazy_dataclass import dataclass

SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}

#: Rules about deprecated or removed names, and about code that can be deleted.
TAGS = {
    "SHL801": types.DiagnosticTag.Deprecated,
    "SHL802": types.DiagnosticTag.Deprecated,
    "SHL804": types.DiagnosticTag.Deprecated,
    "SHL012": types.DiagnosticTag.Unnecessary,
}

_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Text:
    """A document as the client knows it: its URI, and its lines for counting columns."""

    uri: str
    lines: Sequence[str]


Locate = Callable[[Span], Text]
"""Finds the document that contains a span."""


@lru_cache(maxsize=32)
def split_lines(text: str) -> Sequence[str]:
    """Split at the line ends of Python and the protocol; `str.splitlines` has more, such as form feed."""
    return tuple(_LINE_END.split(text))


def to_position(line: int, column: int, lines: Sequence[str], codec: PositionCodec) -> types.Position:
    """Convert a 1-based line and code-point column. A place beyond the text is moved to its end."""
    if line > len(lines):
        last = len(lines) - 1
        return types.Position(line=last, character=codec.client_num_units(lines[last]))
    before = lines[line - 1][: column - 1]
    return types.Position(line=line - 1, character=codec.client_num_units(before))


def from_position(position: types.Position, lines: Sequence[str], codec: PositionCodec) -> tuple[int, int]:
    """Convert a position to 1-based line and code-point column; one beyond the text is moved to its end."""
    if position.line >= len(lines):
        return len(lines), len(lines[-1]) + 1
    found = codec.position_from_client_units(lines, position)
    return found.line + 1, min(found.character, len(lines[found.line])) + 1


def to_range(span: Span, lines: Sequence[str], codec: PositionCodec) -> types.Range:
    """Convert a span of the text whose lines are given."""
    return types.Range(
        start=to_position(span.line, span.column, lines, codec),
        end=to_position(span.end_line, span.end_column, lines, codec),
    )


def to_location(span: Span, locate: Locate, codec: PositionCodec) -> types.Location:
    """Convert a span to a document and a range in it."""
    text = locate(span)
    return types.Location(uri=text.uri, range=to_range(span, text.lines, codec))


def to_diagnostic(
    finding: Finding, locate: Locate, codec: PositionCodec, page: str | None = None
) -> types.Diagnostic:
    """Convert a finding: the message with its help and JAX's outcome, related places, and its tag.

    ``page`` is the address of the rule's page, to which its code links. An expected finding becomes a hint,
    which editors show faintly.
    """
    return types.Diagnostic(
        range=to_location(finding.span, locate, codec).range,
        message=message_of(finding),
        severity=types.DiagnosticSeverity.Hint if finding.expected else SEVERITIES[finding.severity],
        code=finding.code,
        code_description=None if page is None else types.CodeDescription(href=page),
        source="shardlint",
        tags=[TAGS[finding.code]] if finding.code in TAGS else None,
        related_information=[
            types.DiagnosticRelatedInformation(
                location=to_location(related.span, locate, codec), message=media.plain(related.message)
            )
            for related in _related(finding)
        ]
        or None,
    )


def _related(finding: Finding) -> list[Related]:
    """Return the places that explain a finding; what causes it together with others stands first."""
    if finding.cause is None:
        return list(finding.related)
    message = f"cause: {finding.cause.message} (repairs {finding.cause.repairs})"
    others = [related for related in finding.related if related.span != finding.cause.span]
    return [Related(finding.cause.span, message), *others]


def message_of(finding: Finding) -> str:
    """Return a finding's message, with its help, and with JAX's outcome if it was run."""
    lines = [media.plain(finding.message)]
    if finding.help:
        lines.append(f"help: {media.plain(finding.help)}")
    if finding.confirmed_by is not None:
        outcome = (
            "not runnable" if finding.confirmation is Confirmation.NOT_RUNNABLE else finding.confirmation
        )
        lines.append(f"{outcome} by {said_of(finding)}")
    return "\n".join(lines)


def said_of(finding: Finding) -> str | None:
    """Return what JAX says of a finding, with the release that says it; None if it was not asked."""
    if finding.confirmed_by is None:
        return None
    detail = finding.confirmation_detail
    more = detail is not None and detail != finding.confirmed_by
    return media.plain(f"{finding.confirmed_by}: {detail}" if more else finding.confirmed_by)
