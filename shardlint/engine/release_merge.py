"""Merges findings over the JAX releases that a project supports."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from shardlint.laws.core.verdicts import Rejected
from shardlint.laws.versions import Release, changed_causes, spans_text
from shardlint.model.findings import Finding, Severity
from shardlint.model.spans import Span
from shardlint.model.uses import ApiReference
from shardlint.support.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Era:
    """Consecutive releases under which a program has the same analysis, and the findings."""

    releases: tuple[Release, ...]
    findings: Sequence[Finding]


Releases = tuple[Release, ...]


def parted(releases: Releases, turns: set[Release]) -> tuple[Releases, Releases]:
    """Split releases, oldest first, at the newest change: those before it, and those from it on."""
    turn = max((turn for turn in turns if turn <= releases[-1]), default=releases[0])
    return tuple(r for r in releases if r < turn), tuple(r for r in releases if r >= turn)


def merged(eras: Sequence[Era]) -> list[Finding]:
    """Merge eras, the newest first: errors must occur in each era, other findings name their releases.

    A finding carries the releases under which it was found.
    """
    found: dict[tuple[str, Span], list[tuple[Era, Finding]]] = {}
    for era in eras:
        for finding in era.findings:
            found.setdefault((finding.code, finding.span), []).append((era, finding))
    return [_merged(occurrences, len(eras)) for occurrences in found.values()]


def _merged(occurrences: list[tuple[Era, Finding]], count: int) -> Finding:
    rejecting = [one for one in occurrences if one[1].severity is Severity.ERROR]
    shown = rejecting or occurrences
    releases = tuple(sorted(release for era, _ in shown for release in era.releases))
    finding = dataclasses.replace(shown[0][1], releases=releases)
    if len({id(era) for era, _ in shown}) == count:
        return finding
    severity = Severity.WARNING if rejecting else finding.severity
    message = f"{finding.message} (on JAX {spans_text(releases)})"
    return dataclasses.replace(finding, severity=severity, message=message)


def may_have_changed(finding: Finding) -> bool:
    """Return whether an error is about a name or an argument, or of a kind that not all releases reject."""
    use = finding.use
    if use is None or isinstance(use, ApiReference):
        return use is not None
    return isinstance(use.verdict, Rejected) and use.verdict.cause in changed_causes()
