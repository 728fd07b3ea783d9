"""What a check found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shardlint.model.findings import Finding, Severity
from shardlint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from shardlint.source import Source


@dataclass(frozen=True, slots=True)
class Report:
    """What a check found, in reading order.

    ``files`` counts those looked at; ``sources`` are the relevant ones, ``unsaved`` where not (so) on disk.
    """

    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()
    files: int = 0
    sources: Sequence[Source] = ()
    unsaved: bool = False

    @property
    def failing(self) -> tuple[Finding, ...]:
        """The findings that make a check fail: errors and warnings that nobody announced."""
        return tuple(f for f in self.findings if not f.expected and f.severity is not Severity.INFO)
