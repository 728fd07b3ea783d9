"""The ``sarif`` format: SARIF 2.1.0, which code scanning services read.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from shardlint.model.findings import Finding, Fix, Severity
from shardlint.model.spans import Span
from shardlint.output.formats.fingerprints import fingerprints
from shardlint.output.formats.locations import InFile, cell_text, project_path
from shardlint.output.rule_links import Page, PageOf, address, description
from shardlint.support.lazy_dataclass import dataclass
from shardlint.support.media import json_document, message, messages, plain

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
#: The base folder of relative addresses.
_ROOT = "%SRCROOT%"


@dataclass(frozen=True, slots=True)
class Run:
    """The run itself: the tool, the addresses of its rules' pages, and what failed."""

    version: str
    notes: tuple[str, ...] = ()
    failed: bool = False
    page_of: PageOf | None = None


def render(
    findings: Sequence[Finding],
    pages: Mapping[str, Page],
    lines: Callable[[Span], Sequence[str]],
    in_file: InFile,
    run: Run,
) -> str:
    """Return the log, JSON in ASCII with a newline at its end.

    ``pages`` document the rules, by code; ``lines`` returns the lines of a span's file or cell.
    """
    codes = sorted({finding.code for finding in findings})
    marks = fingerprints(findings, lines)
    log = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "shardlint",
                        "version": run.version,
                        "rules": [_rule(pages[code], run.page_of) for code in codes],
                    }
                },
                "invocations": [
                    {
                        "executionSuccessful": not run.failed,
                        "toolExecutionNotifications": [
                            {"level": "note", "message": {"text": messages(note)}} for note in run.notes
                        ],
                    }
                ],
                "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the checkout."}}},
                "columnKind": "unicodeCodePoints",
                "results": [
                    _result(finding, codes.index(finding.code), mark, in_file)
                    for finding, mark in zip(findings, marks, strict=True)
                ],
            }
        ],
    }
    return json_document(log)


def _rule(page: Page, page_of: PageOf | None) -> dict[str, Any]:
    rule = {
        "id": page.code,
        "name": page.name,
        "shortDescription": {"text": page.summary},
        "fullDescription": {"text": description(page)},
        "help": {"text": page.docs.strip(), "markdown": page.docs.strip()},
    }
    link = address(page, page_of)
    return rule if link is None else {**rule, "helpUri": link}


def _result(finding: Finding, rule: int, fingerprint: str, in_file: InFile) -> dict[str, Any]:
    text = cell_text(finding.span) + message(finding.message)
    text += f"\n{message(finding.help)}" if finding.help else ""
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": _LEVELS[finding.severity],
        "message": {"text": text},
        "locations": [_location(finding.span, in_file)],
        "partialFingerprints": {"shardlint/v1": fingerprint},
        "properties": {"confirmation": finding.confirmation.value, "confirmedBy": finding.confirmed_by},
    }
    if finding.confirmation_detail is not None:
        result["properties"]["confirmationDetail"] = finding.confirmation_detail
    if finding.cause is not None:
        cause = {"location": _location(finding.cause.span, in_file), "repairs": finding.cause.repairs}
        result["properties"]["cause"] = {"message": message(finding.cause.message), **cause}
    if finding.related:
        result["relatedLocations"] = [
            {"id": number, **_location(related.span, in_file), "message": {"text": message(related.message)}}
            for number, related in enumerate(finding.related, 1)
        ]
    if finding.expected:
        why = "The program announces it."
        result["suppressions"] = [{"kind": "inSource", "status": "accepted", "justification": why}]
    if finding.fix is not None:
        result["fixes"] = [_fix(finding.fix, in_file)]
    return result


def _location(span: Span, in_file: InFile) -> dict[str, Any]:
    place = in_file(span)
    location: dict[str, Any] = {
        "physicalLocation": {"artifactLocation": _artifact(place.path), "region": _region(place)}
    }
    if span.cell is not None:
        name = f"cell {span.cell}"
        location["logicalLocations"] = [
            {"name": name, "kind": "module", "decoratedName": f"{plain(span.path)}:{name}"}
        ]
    return location


def _artifact(path: str) -> dict[str, Any]:
    """Return a file's address: relative to the checkout, or absolute outside of it."""
    known = project_path(path)
    if os.path.isabs(known):
        return {"uri": "file://" + quote(os.fsencode("/" * (known[:1] != "/") + known))}
    return {"uri": quote(os.fsencode(known)), "uriBaseId": _ROOT}


def _region(span: Span) -> dict[str, int]:
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }


def _fix(fix: Fix, in_file: InFile) -> dict[str, Any]:
    changed: dict[str, list[dict[str, Any]]] = {}
    for edit in fix.edits:
        # Inside a notebook the text is part of a JSON string.
        text = edit.text if edit.span.cell is None else json.dumps(edit.text)[1:-1]
        replacement = {"deletedRegion": _region(in_file(edit.span)), "insertedContent": {"text": text}}
        changed.setdefault(edit.span.path, []).append(replacement)
    return {
        "description": {"text": message(fix.message)},
        "artifactChanges": [
            {"artifactLocation": _artifact(path), "replacements": replacements}
            for path, replacements in changed.items()
        ],
        "properties": {"applicability": fix.applicability.value},
    }
