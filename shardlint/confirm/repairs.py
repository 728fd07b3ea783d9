"""Test an edit that repairs several findings: nothing is found after it, and JAX accepts the calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from shardlint.confirm.confirmer import Confirmer
from shardlint.laws.core.verdicts import Accepted
from shardlint.model.findings import Finding, Fix, RootCause, Severity
from shardlint.model.uses import Placement, Use

#: The findings and the uses of some files after a fix; None if it cannot be applied.
Tried = Callable[[Fix, Sequence[str]], tuple[Sequence[Finding], Sequence[Use]] | None]


def with_verified(findings: Sequence[Finding], tried: Tried, confirmer: Confirmer) -> list[Finding]:
    """Return the findings; causes whose fix repairs all of theirs name the JAX that accepts the result."""
    groups: dict[RootCause, list[Finding]] = {}
    for finding in findings:
        if finding.cause is not None and finding.cause.fix is not None:
            groups.setdefault(finding.cause, []).append(finding)
    known = {cause: _verified(cause, ours, findings, tried, confirmer) for cause, ours in groups.items()}
    return [
        finding if finding.cause is None else replace(finding, cause=known.get(finding.cause, finding.cause))
        for finding in findings
    ]


def _verified(
    cause: RootCause, ours: Sequence[Finding], findings: Sequence[Finding], tried: Tried, confirmer: Confirmer
) -> RootCause:
    assert cause.fix is not None
    paths = sorted({f.span.path for f in ours} | {edit.span.path for edit in cause.fix.edits})
    result = tried(cause.fix, paths)
    if result is None:
        return cause
    after, uses = result
    before = Counter(f.code for f in _failing(findings, paths))
    left = Counter(f.code for f in _failing(after, paths))
    if left - (before - Counter(f.code for f in ours)):
        return cause
    accepted = [use for use in uses if isinstance(use, Placement) and isinstance(use.verdict, Accepted)]
    release = confirmer.accepts(accepted)
    return (
        cause
        if release is None
        else replace(cause, verified=f"nothing is found then, and JAX {release} accepts the placements")
    )


def _failing(findings: Iterable[Finding], paths: Sequence[str]) -> Iterable[Finding]:
    return (f for f in findings if f.severity is not Severity.INFO and f.span.path in paths)
