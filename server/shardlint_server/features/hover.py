"""Hover: the facts about an array, a mesh or a spec; the uses of an axis; the page of a rule."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from lsprotocol import types
from pygls.workspace import PositionCodec

from shardlint.api import address, known_rules, media
from shardlint.model.findings import Finding, own_numbers
from shardlint.model.spans import Span
from shardlint_server.analysis.insights import Insight, Position, position_in
from shardlint_server.documents.conversion import split_lines, to_range
from shardlint_server.documents.texts import location_of
from shardlint_server.features.fixture_commands import compiled_lines
from shardlint_server.presentation.markdown import axis_text, compiled_text, known_text
from shardlint_server.session import ShardlintServer

#: The most facts for one place, and the most uses of an axis.
_MOST_VALUES, _MOST_PLACES = 4, 5
_COMMENT = re.compile(r"#\s*shardlint:[^#]*")
_CODE = re.compile(r"\bSHL\d{3}\b|\b[a-z]+(?:-[a-z]+)+\b")


def register(server: ShardlintServer) -> None:
    """Register the handler for hovers."""
    server.feature(types.TEXT_DOCUMENT_HOVER)(hover)


async def hover(server: ShardlintServer, params: types.HoverParams) -> types.Hover | None:
    """Return the facts about the code at a position."""
    insight = await server.insights.settled(params.text_document.uri, asked=True)
    if insight is None:
        return None
    at = position_in(server.workspace.position_codec, insight, params.text_document.uri, params.position)
    return None if at is None else _Hover(server, insight, at).made()


class _Hover:
    """The hover at one place."""

    def __init__(self, server: ShardlintServer, insight: Insight, at: Position) -> None:
        self._server, self._insight, self._at = server, insight, at
        self._lines = split_lines(at.part.text)
        self._codec: PositionCodec = server.workspace.position_codec
        self._span: Span | None = None

    def made(self) -> types.Hover | None:
        """Return all sections, with the range of the first one's subject."""
        sections = [*self._rules(), *self._axis(), *self._known(), *self._findings(), *self._sent()]
        if not sections or self._span is None:
            return None
        text = own_numbers()("\n\n---\n\n".join(sections))
        content = types.MarkupContent(kind=types.MarkupKind.Markdown, value=text)
        return types.Hover(contents=content, range=to_range(self._span, self._lines, self._codec))

    def _about(self, span: Span) -> None:
        self._span = self._span or span

    # -- rules ----------------------------------------------------------------------------------------

    def _rules(self) -> Iterator[str]:
        """Yield the rule whose code, or name, is here in a comment to shardlint."""
        at, line = self._at, self._lines[self._at.line - 1]
        comment = _COMMENT.search(line)
        for found in _CODE.finditer(line, comment.start()) if comment else ():
            if found.start() <= at.column - 1 <= found.end() and (text := self._rule(found[0])):
                span = Span(at.path, at.line, found.start() + 1, at.line, found.end() + 1, at.part.cell)
                self._about(span)
                yield text

    def _rule(self, word: str) -> str | None:
        rule = next((rule for rule in known_rules() if word in (rule.code, rule.name)), None)
        if rule is None:
            return None
        link = address(rule, self._insight.settings.page_of)
        name = f"{rule.code} {rule.name}"
        name = media.link(name, link) if link else name
        return f"**{name}**\n\n{rule.summary}"

    def _findings(self) -> Iterator[str]:
        """Yield the rules of the findings here; editors show the messages themselves."""
        codes = set()
        for finding in self._insight.analysis.findings:
            if self._holds(finding) and finding.code not in codes and (text := self._rule(finding.code)):
                codes.add(finding.code)
                self._about(finding.span)
                yield text

    def _holds(self, finding: Finding) -> bool:
        span, at = finding.span, self._at
        if span.path != at.path or span.cell != at.part.cell:
            return False
        return (span.line, span.column) <= (at.line, at.column) <= (span.end_line, span.end_column)

    # -- axes -----------------------------------------------------------------------------------------

    def _axis(self) -> Iterator[str]:
        found = self._insight.axes.at(self._at.path, self._at.line, self._at.column, self._at.part.cell)
        if found is None:
            return
        self._about(found[0])
        project = self._server.projects.present(self._insight)
        everywhere = (
            None
            if project is None
            else project.at(self._at.path, self._at.line, self._at.column, self._at.part.cell)
        )
        if project is not None and everywhere is not None:
            yield axis_text(everywhere[1], project.meant(everywhere[1]), self._links, "the project")
        else:
            meant = self._insight.axes.meant(found[1])
            yield axis_text(found[1], meant, self._links, "this file and what it imports")

    def _links(self, spans: Sequence[Span]) -> str:
        """Return links to the lines of places, the first few of them."""
        lines = list(dict.fromkeys(map(self._link, spans)))
        links, more = lines[:_MOST_PLACES], len(lines) - _MOST_PLACES
        return ", ".join([*links, *([f"and {more} more"] if more > 0 else [])])

    def _link(self, span: Span) -> str:
        cell = "" if span.cell is None else f" cell {span.cell + 1}"
        label = f"{os.path.basename(span.path)}{cell}:{span.line}"
        place = location_of(self._server.workspace, span, self._codec)
        if place is None:
            return media.code(label)
        # The fragment of a cell's address identifies the cell.
        return media.link(label, place.uri if "#" in place.uri else f"{place.uri}#L{span.line}")

    # -- what was compiled ------------------------------------------------------------------------------

    def _sent(self) -> Iterator[str]:
        """Yield what devices send for this line, if the program was compiled."""
        at = self._at
        lines, stale = compiled_lines(self._server, self._insight.target)
        for one in lines:
            if (one.cell, one.line) == (at.part.cell, at.line):
                end = len(self._lines[at.line - 1].rstrip("\r\n")) + 1
                self._about(Span(at.path, at.line, 1, at.line, end, at.part.cell))
                yield compiled_text(one, stale)

    # -- arrays, meshes, specs --------------------------------------------------------------------------

    def _known(self) -> Iterator[str]:
        at = self._at
        values = self._insight.knowledge.at(at.line, at.column, at.part.cell)
        for known in values[:_MOST_VALUES]:
            self._about(known.span)
            yield known_text(known, self._links)
        if len(values) > _MOST_VALUES:
            yield f"… and {len(values) - _MOST_VALUES} more"
