"""The report of a check."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shardlint.model.findings import Finding, Severity
from shardlint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from shardlint.source import Source


@dataclass(frozen=True, slots=True)
class Report:
    """The findings of a check, in reading order.

    ``files`` is the number of files examined; ``sources`` are the relevant ones, ``unsaved`` contents that
    are not (so) on disk, ``unreached`` the paths of files that were not checked to the end.
    """

    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()
    files: int = 0
    sources: Sequence[Source] = ()
    unsaved: bool = False
    unreached: tuple[str, ...] = ()

    @property
    def failing(self) -> tuple[Finding, ...]:
        """Return the findings that make a check fail: errors and warnings that are not announced."""
        return tuple(f for f in self.findings if not f.expected and f.severity is not Severity.INFO)
