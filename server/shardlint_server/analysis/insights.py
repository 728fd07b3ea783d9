"""The facts and axes of open documents, indexed for the features other than diagnostics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.workspace import PositionCodec

from shardlint.support.lazy_dataclass import dataclass
from shardlint_server.analysis.analyses import Analyses, Report
from shardlint_server.analysis.worker import Urgency, Worker
from shardlint_server.documents.conversion import from_position, split_lines
from shardlint_server.documents.documents import Part, Target

if TYPE_CHECKING:
    from shardlint.api import Analysis, AxisIndex, Knowledge, Settings


@dataclass(frozen=True, slots=True)
class Insight:
    """The facts about a target as it was analysed."""

    target: Target
    analysis: Analysis
    settings: Settings
    knowledge: Knowledge
    axes: AxisIndex

    def part(self, uri: str) -> Part | None:
        """Return the part with a URI."""
        return next((part for part in self.target.parts if part.uri == uri), None)


@dataclass(frozen=True, slots=True)
class Position:
    """A position in a document as the analysis counts: line and column from 1, columns in code points."""

    part: Part
    path: str
    line: int
    column: int


class Insights:
    """The insights into open documents; each is computed once, in the analysis thread."""

    def __init__(self, analyses: Analyses, worker: Worker) -> None:
        self._analyses, self._worker = analyses, worker
        self._made: dict[str, tuple[Report, Insight]] = {}

    async def settled(self, uri: str, asked: bool = False) -> Insight | None:
        """Return the insight into the current text; None for closed documents, or failed analyses.

        What a user who points at something ``asked`` for goes before all other work.
        """
        latest = await self._analyses.settled(uri, asked)
        return None if latest is None else await self._of(*latest, asked)

    async def known(self, uri: str) -> Insight | None:
        """Return the last insight, which may be into an older text: good enough while the user types."""
        known = self._analyses.known(uri)
        return await self.settled(uri, asked=True) if known is None else await self._of(*known, asked=True)

    def forget(self, uri: str) -> None:
        """Forget a target that was closed."""
        self._made.pop(uri, None)

    async def _of(self, target: Target, report: Report, asked: bool) -> Insight | None:
        made, analysis, settings = self._made.get(target.uri), report.analysis, report.settings
        if made is not None and made[0] is report:
            return made[1]
        if analysis is None or settings is None:
            return None

        def make() -> Insight:
            knowledge = analysis.knowledge
            knowledge.prepare()
            _ = analysis.scopes
            return Insight(target, analysis, settings, knowledge, analysis.axes)

        insight = await self._worker.submit(lambda: make, Urgency.ASKED if asked else Urgency.TYPED)
        self._made[target.uri] = (report, insight)
        return insight


def position_in(
    codec: PositionCodec, insight: Insight, uri: str, position: types.Position
) -> Position | None:
    """Convert a position that a client sent."""
    part = insight.part(uri)
    if part is None:
        return None
    line, column = from_position(position, split_lines(part.text), codec)
    return Position(part, insight.target.path, line, column)
