"""The ``gitlab`` format: a code quality report, which GitLab shows in merge requests.

https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from shardlint.model.findings import Finding, Severity
from shardlint.model.spans import Span
from shardlint.output.formats.fingerprints import fingerprints
from shardlint.output.formats.locations import InFile, cell_text, project_path
from shardlint.support.media import json_document, message

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "minor", Severity.INFO: "info"}


def render(findings: Sequence[Finding], lines: Callable[[Span], Sequence[str]], in_file: InFile) -> str:
    """Return the report: a JSON array in ASCII with a newline at its end.

    ``lines`` returns the lines of a span's file or cell, from which fingerprints are computed.
    """
    marks = fingerprints(findings, lines)
    issues = [_issue(finding, mark, in_file) for finding, mark in zip(findings, marks, strict=True)]
    return json_document(issues)


def _issue(finding: Finding, fingerprint: str, in_file: InFile) -> dict[str, Any]:
    span = in_file(finding.span)
    return {
        "check_name": f"{finding.code} {finding.name}",
        "description": f"{finding.code}: {cell_text(finding.span)}{message(finding.message)}",
        "severity": "info" if finding.expected else _SEVERITIES[finding.severity],
        "fingerprint": fingerprint,
        "location": {
            "path": project_path(span.path).encode("utf-8", "replace").decode(),
            "positions": {
                "begin": {"line": span.line, "column": span.column},
                "end": {"line": span.end_line, "column": span.end_column},
            },
        },
    }
