"""An analysis of a source, and the data that editors show from it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from shardlint.laws.versions import ASSUMED_ONLY, Target

if TYPE_CHECKING:
    from shardlint.ide.axis_completion import Candidate, Scopes
    from shardlint.ide.axis_index import AxisIndex
    from shardlint.ide.hover_facts import Knowledge
    from shardlint.ide.outline import Symbol
    from shardlint.laws.core.values import Mesh
    from shardlint.model.findings import Finding
    from shardlint.model.uses import Use
    from shardlint.source import Source

    #: The start of an axis name, and its candidates; None where no name is being written.
    Completions = tuple[int, list[Candidate]] | None


@dataclasses.dataclass(frozen=True)
class Analysis:
    """The result of one analysis of a source: the findings in reading order, and the uses behind them.

    Where a project supports several JAX releases, the ``target``, they are those of the newest. The data that
    editors show is computed on demand, from an analysis under ``Settings(editing=True)``.
    """

    source: Source
    findings: tuple[Finding, ...]
    uses: tuple[Use, ...]
    target: Target = ASSUMED_ONLY

    @cached_property
    def fixable(self) -> tuple[Finding, ...]:
        """Return the findings, in the same order, with those fixes too that were put off."""
        from shardlint.rules.fixes import with_fix

        return tuple(with_fix(finding, self.source, self.target) for finding in self.findings)

    @cached_property
    def knowledge(self) -> Knowledge:
        """Return the facts about places of the source."""
        from shardlint.ide.hover_facts import Knowledge

        return Knowledge(self.source.path, self.uses)

    @cached_property
    def axes(self) -> AxisIndex:
        """Return the axis names in the source and its imports."""
        return axes_of([self])

    @cached_property
    def symbols(self) -> list[Symbol]:
        """Return the meshes and axes that the source defines."""
        from shardlint.ide.outline import outline

        return outline(self.source, self.uses, self.axes)

    @cached_property
    def scopes(self) -> Scopes:
        """Return the meshes of the source."""
        from shardlint.ide.axis_completion import Scopes

        return Scopes(self.source, self.uses)

    def completions(
        self, lines: Sequence[str], line: int, column: int, others: Iterable[Mesh]
    ) -> Completions:
        """Return the axis names that a string under the cursor may hold, and where it begins.

        The text may have changed since the analysis: ``lines`` are the current ones. ``others`` are meshes of
        the project's other files.
        """
        from shardlint.ide.axis_completion import writing_at

        writing = writing_at(lines, line, column)
        return None if writing is None else (writing.column, self.scopes.candidates(writing, line, others))


def axes_of(analyses: Iterable[Analysis]) -> AxisIndex:
    """Return the axis names in several sources, which may share names."""
    from shardlint.ide.axis_index import AxisIndex

    return AxisIndex(use for analysis in analyses for use in analysis.uses)
