"""The ``github`` format: workflow commands, which GitHub Actions shows as annotations of the changed lines.

Escaped as `@actions/core` does it (3.0.1, `lib/command.js`).
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.model.findings import Finding, Severity
from shardlint.output.formats.concise import place_text
from shardlint.output.formats.locations import InFile, cell_text, project_path
from shardlint.support.media import plain

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(findings: Iterable[Finding], in_file: InFile) -> str:
    """Return one command a finding. Announced findings are notices."""
    return "".join(f"{_command(finding, in_file)}\n" for finding in findings)


def command(name: str, properties: dict[str, str], message: str) -> str:
    """Return a workflow command: ``::error file=a.py,line=3::message``."""
    written = ",".join(f"{key}={escape_property(value)}" for key, value in properties.items())
    return f"::{name}{written and ' ' + written}::{escape_data(message)}"


def escape_data(text: str) -> str:
    """Escape a command's message."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    """Escape the value of a command's property."""
    return escape_data(text).replace(":", "%3A").replace(",", "%2C")


def _command(finding: Finding, in_file: InFile) -> str:
    span = in_file(finding.span)
    properties = {
        "title": f"shardlint {finding.code} ({finding.name})",
        "file": plain(project_path(span.path)),
        "line": str(span.line),
        "endLine": str(span.end_line),
    }
    if span.line == span.end_line:
        # GitHub accepts columns for single lines only.
        properties |= {"col": str(span.column), "endColumn": str(span.end_column)}
    parts = [
        f"{place_text(finding.span)}: {finding.code} {cell_text(finding.span)}{plain(finding.message)}",
        *(f"{place_text(related.span)}: {plain(related.message)}" for related in finding.related),
        *([f"help: {plain(finding.help)}"] if finding.help else []),
    ]
    name = "notice" if finding.expected else _COMMANDS[finding.severity]
    return command(name, properties, "\n".join(parts))
