"""The ``concise`` format: one line a finding, in the style of compilers."""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.model.findings import Confirmation, Finding, Severity
from shardlint.model.spans import Span
from shardlint.support.media import terminal


def render(findings: Iterable[Finding]) -> str:
    """Return one line a finding."""
    return "".join(f"{_line(finding)}\n" for finding in findings)


def place_text(span: Span) -> str:
    """Write where a span begins: ``path:line:column``, or ``path:cell 3:line:column`` in a notebook."""
    return f"{terminal(span.path)}:{position_text(span)}"


def position_text(span: Span) -> str:
    """Write where a span begins in its file."""
    cell = "" if span.cell is None else f"cell {span.cell}:"
    return f"{cell}{span.line}:{span.column}"


def _line(finding: Finding) -> str:
    tested = not about_file(finding) and finding.confirmation is not Confirmation.UNCONFIRMED
    marks = f" ({confirmation_text(finding)})" if tested else ""
    if finding.expected:
        marks += " (expected)"
    message = terminal(" ".join(finding.message.split()), begins=False)
    return f"{place_text(finding.span)}: {finding.severity}[{finding.code}] {message}{marks}"


def about_file(finding: Finding) -> bool:
    """Return whether a finding is about the file itself, with no claim that JAX could confirm."""
    return finding.code.startswith("SHL0")


def confirmation_text(finding: Finding) -> str:
    """Return JAX's outcome as text: ``confirmed by JAX 0.10.2: IndivisibleError``."""
    match finding.confirmation:
        case Confirmation.CONFIRMED | Confirmation.REFUTED:
            by = f" by {terminal(finding.confirmed_by, begins=False)}" if finding.confirmed_by else ""
            return f"{finding.confirmation}{by}"
        case Confirmation.NOT_RUNNABLE:
            return "cannot be run"
        case _:
            return "unconfirmed"


def summary(findings: Iterable[Finding], files: int, whole: bool = True) -> str:
    """Return the last line: ``Found 3 errors, 1 warning (12 expected).``

    ``whole`` is false if not all files were checked, so that nothing found does not mean that all is well.
    """
    findings = list(findings)
    open_ones = [finding for finding in findings if not finding.expected]
    counts = [
        _count(sum(f.severity is severity for f in open_ones), noun)
        for severity, noun in (
            (Severity.ERROR, "error"),
            (Severity.WARNING, "warning"),
            (Severity.INFO, "note"),
        )
    ]
    found = ", ".join(count for count in counts if count)
    expected = len(findings) - len(open_ones)
    announced = f"{_count(expected, 'finding')}, announced by the programs" if expected else ""
    if found or not whole:
        return f"Found {found or 'nothing yet'}{f' ({expected} expected)' if expected else ''}."
    if not files and not expected:
        return "There are no files to check."
    return f"All checks passed ({announced or _count(files, 'file')})."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}" if number else ""
