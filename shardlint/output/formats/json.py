"""The ``json`` format: one array of findings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from shardlint.model.findings import Finding, Fix, RootCause
from shardlint.model.spans import Span
from shardlint.support.media import json_document


def render(findings: Iterable[Finding]) -> str:
    """Return the findings as a JSON array in ASCII, indented, with a newline at its end."""
    return json_document([finding_object(finding) for finding in findings])


def finding_object(finding: Finding) -> dict[str, Any]:
    """Return a finding as JSON values; lines and columns count from 1, cells from 0.

    ``confirmation_detail`` is there only where JAX was asked and said something, ``cause`` only where it has
    several findings.
    """
    detail, cause = finding.confirmation_detail, finding.cause
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "message": finding.message,
        **_place(finding.span),
        "related": [{**_place(related.span), "message": related.message} for related in finding.related],
        "fix": _fix(finding.fix),
        "confirmation": finding.confirmation.value,
        "confirmed_by": finding.confirmed_by,
        "expected": finding.expected,
        "help": finding.help,
        **({} if detail is None else {"confirmation_detail": detail}),
        **({} if cause is None else {"cause": cause_object(cause)}),
    }


def cause_object(cause: RootCause) -> dict[str, Any]:
    """Return a cause as JSON values; findings of one cause have equal ones."""
    return {
        **_place(cause.span),
        "message": cause.message,
        "repairs": cause.repairs,
        "fix": _fix(cause.fix),
        "verified": cause.verified,
    }


def _fix(fix: Fix | None) -> dict[str, Any] | None:
    if fix is None:
        return None
    return {
        "message": fix.message,
        "applicability": fix.applicability.value,
        "edits": [{**_place(edit.span), "text": edit.text} for edit in fix.edits],
    }


def _place(span: Span) -> dict[str, Any]:
    return {
        "path": span.path,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
        "cell": span.cell,
    }
