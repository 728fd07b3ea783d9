"""``--statistics``: the number of findings of each rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from shardlint.model.findings import Finding
from shardlint.support.media import json_document


def counts(findings: Iterable[Finding]) -> list[tuple[int, str, str]]:
    """Return count, code and name of each rule with findings, the most frequent first."""
    counted = Counter((finding.code, finding.name) for finding in findings)
    return sorted(((n, *rule) for rule, n in counted.items()), key=lambda row: (-row[0], *row[1:]))


def as_text(findings: Iterable[Finding]) -> str:
    """Return one line a rule, in columns."""
    rows = counts(findings)
    width = max((len(str(number)) for number, _, _ in rows), default=0)
    return "".join(f"{number:>{width}}\t{code}\t{name}\n" for number, code, name in rows)


def as_json(findings: Iterable[Finding]) -> str:
    """Return a JSON array with an object a rule."""
    rows = [{"code": code, "name": name, "count": number} for number, code, name in counts(findings)]
    return json_document(rows)
