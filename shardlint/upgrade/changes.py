"""The changes that a newer JAX makes for a program, as values."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from shardlint.laws.versions import Release
from shardlint.model.findings import Finding, Severity
from shardlint.support.lazy_dataclass import dataclass


class Kind(StrEnum):
    """The outcome of a change for the program at a place."""

    BREAKS = "breaks"
    SILENT = "changes silently"
    DEPRECATED = "becomes deprecated"


@dataclass(frozen=True, slots=True)
class Change:
    """One place that changes.

    ``since`` is the release that changed it, None if it was before the oldest known one; ``said`` is what JAX
    says there, "" where that is not known.
    """

    kind: Kind
    finding: Finding
    since: Release | None
    said: str = ""

    @property
    def cause(self) -> str:
        """Return what changed, in words that places of one cause share."""
        return self.finding.message.removesuffix(" (where this is reached)")

    @property
    def is_certain(self) -> bool:
        """Return whether the place is certainly reached."""
        return self.finding.severity is Severity.ERROR


@dataclass(frozen=True, slots=True)
class Upgrade:
    """All changes between two releases, in reading order, and notes about the project as a whole.

    ``low`` is the oldest release from which a file of the project comes; ``files`` is the number of files
    that were examined.
    """

    low: Release
    high: Release
    changes: Sequence[Change]
    notes: Sequence[str] = ()
    files: int = 0

    def of_kind(self, kind: Kind) -> list[Change]:
        """Return the changes of a kind."""
        return [change for change in self.changes if change.kind is kind]
