"""Fingerprints, by which a service recognizes a finding from one commit to the next."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from shardlint.model.findings import Finding
from shardlint.model.spans import Span
from shardlint.output.formats.locations import project_path


def fingerprints(findings: Iterable[Finding], lines: Callable[[Span], Sequence[str]]) -> list[str]:
    """Return a unique fingerprint for each finding: 32 hexadecimal digits.

    It is a hash of the code, the file, the text of the lines, and the index among findings that are equal in
    all of these. So it is stable when lines, or a notebook's cells, move.
    """
    counts: Counter[tuple[str, str, str]] = Counter()
    found = []
    for finding in findings:
        key = (finding.code, project_path(finding.span.path), _text(finding.span, lines))
        counts[key] += 1
        whole = "\0".join((*key, str(counts[key]))).encode("utf-8", "surrogatepass")
        found.append(hashlib.sha256(whole).hexdigest()[:32])
    return found


def _text(span: Span, lines: Callable[[Span], Sequence[str]]) -> str:
    """Return the lines of a span without their indents; empty for a span of the whole file."""
    if (span.line, span.column, span.end_line, span.end_column) == (1, 1, 1, 1):
        return ""
    return "\n".join(line.strip() for line in lines(span)[span.line - 1 : span.end_line])
