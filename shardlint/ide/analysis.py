"""An analysis of a source, and what editors show of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shardlint.ide.axis_completion import Candidate, Scopes
    from shardlint.ide.axis_index import AxisIndex
    from shardlint.ide.hover_facts import Knowledge
    from shardlint.laws.core.values import Mesh
    from shardlint.model.findings import Finding
    from shardlint.model.uses import Use
    from shardlint.source import Source

    #: Where the name of an axis begins, and what it may be; None where none is written.
    Completions = tuple[int, list[Candidate]] | None


@dataclasses.dataclass(frozen=True)
class Analysis:
    """The result of one analysis of a source: the findings in reading order, and the uses behind them.

    Where a project supports several JAX releases, they are those of the newest. The data that editors show is
    computed on demand, from an analysis under ``Settings(editing=True)``.
    """

    source: Source
    findings: tuple[Finding, ...]
    uses: tuple[Use, ...]

    @cached_property
    def knowledge(self) -> Knowledge:
        """Return the facts about places of the source."""
        from shardlint.ide.hover_facts import Knowledge

        return Knowledge(self.source.path, self.uses)

    @cached_property
    def axes(self) -> AxisIndex:
        """The names of axes that the source, or what it imports, writes."""
        return axes_of([self])

    @cached_property
    def scopes(self) -> Scopes:
        """The meshes of the source."""
        from shardlint.ide.axis_completion import Scopes

        return Scopes(self.source, self.uses)

    def completions(
        self, lines: Sequence[str], line: int, column: int, others: Iterable[Mesh]
    ) -> Completions:
        """The names that a string which is being written at a place may hold, and where it begins.

        The text may have changed since the analysis: ``lines`` are those of now. ``others`` are meshes of the
        project's other files.
        """
        from shardlint.ide.axis_completion import writing_at

        writing = writing_at(lines, line, column)
        return None if writing is None else (writing.column, self.scopes.candidates(writing, line, others))


def axes_of(analyses: Iterable[Analysis]) -> AxisIndex:
    """The names of axes in several sources: one that one of them writes may be used by another."""
    from shardlint.ide.axis_index import AxisIndex

    return AxisIndex(use for analysis in analyses for use in analysis.uses)
