"""The changes as text, by file and cause, and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from shardlint.laws.versions import Release
from shardlint.model.findings import Applicability
from shardlint.support.media import json_document, terminal
from shardlint.upgrade.changes import Change, Kind, Upgrade

#: How many lines of a file are listed for one cause.
_MOST_LINES = 12


def as_text(found: Upgrade) -> str:
    """Return the changes by file and cause, the causes with their counts, and one line that sums them up."""
    by_file: dict[str, list[Change]] = {}
    for change in found.changes:
        by_file.setdefault(change.finding.span.path, []).append(change)
    lines: list[str] = []
    quoted: set[str] = set()
    for path, changes in by_file.items():
        lines.append(terminal(path))
        for together in _by_cause(changes):
            lines += _of_cause(together, found.low, quoted)
        lines.append("")
    if len(by_file) > 1:
        lines += _causes(found)
    return "\n".join([*lines, _summary(found), ""])


def as_json(found: Upgrade) -> str:
    """Return the changes as a JSON object."""
    return json_document(
        {
            "from": str(found.low),
            "to": str(found.high),
            "files": found.files,
            "changes": [_object(change) for change in found.changes],
            "notes": list(found.notes),
            "counts": {kind.name.lower(): len(found.of_kind(kind)) for kind in Kind},
        }
    )


def _by_cause(changes: Sequence[Change]) -> list[list[Change]]:
    causes: dict[tuple[int, str], list[Change]] = {}
    for change in changes:
        causes.setdefault((_order(change.kind), change.cause), []).append(change)
    return [causes[key] for key in sorted(causes, key=lambda key: key[0])]


def _order(kind: Kind) -> int:
    return list(Kind).index(kind)


def _of_cause(together: Sequence[Change], low: Release, quoted: set[str]) -> Iterator[str]:
    """Yield the lines about changes of one cause in a file; JAX is ``quoted`` once for each cause."""
    first, count = together[0], len(together)
    safe = sum(_is_safe(change) for change in together)
    unsafe = sum(change.finding.fix is not None for change in together) - safe
    details = [first.finding.code]
    if first.since is not None:
        already = f", so in {low} already" if first.since <= low else ""
        details.append(f"since JAX {first.since}{already}")
    for fixable, flag in ((safe, ""), (unsafe, " with --unsafe-fixes")):
        if fixable:
            details.append(f"fixable{flag}" if fixable == count else f"{fixable} fixable{flag}")
    yield terminal(f"  {first.kind}: {first.cause} [{', '.join(details)}]")
    unsure = sum(not change.is_certain for change in together) if first.kind is Kind.BREAKS else 0
    doubt = f" ({'all' if unsure == count else unsure} where reached)" if unsure else ""
    yield f"    {_lines(together)}{doubt}"
    if first.said and first.cause not in quoted:
        quoted.add(first.cause)
        yield terminal(f"    JAX says: {first.said}")


def _lines(together: Sequence[Change]) -> str:
    places = [
        f"{span.line}" if span.cell is None else f"{span.line} of cell {span.cell}"
        for span in (change.finding.span for change in together)
    ]
    rest = len(places) - _MOST_LINES
    more = f" and {rest} more" if rest > 0 else ""
    return f"line{'s' * (len(places) != 1)} {', '.join(places[:_MOST_LINES])}{more}"


def _causes(found: Upgrade) -> Iterator[str]:
    """Yield the most frequent causes over all files."""
    counted = Counter((change.kind, change.cause) for change in found.changes)
    width = len(str(max(counted.values())))
    yield "By cause"
    for (kind, cause), count in sorted(
        counted.items(), key=lambda one: (list(Kind).index(one[0][0]), -one[1])
    ):
        yield terminal(f"  {count:>{width}} × {kind}: {cause}")
    yield ""


def _summary(found: Upgrade) -> str:
    head = f"JAX {found.low} -> {found.high}: "
    if not found.changes:
        return f"{head}nothing changes in {_counted(found.files, 'file')}."
    parts = [f"{len(of)} {word}" for kind, word in _VERBS.items() if (of := found.of_kind(kind))]
    safe = sum(_is_safe(change) for change in found.changes)
    files = len({change.finding.span.path for change in found.changes})
    unsafe = sum(change.finding.fix is not None for change in found.changes) - safe
    ways = [
        f"{count} fixable with `{flags}`"
        for count, flags in ((safe, "--fix"), (unsafe, "--fix --unsafe-fixes"))
        if count
    ]
    fixes = "".join(f"; {way}" for way in ways)
    return f"{head}{', '.join(parts)} in {_counted(files, 'file')}{fixes}."


_VERBS = {Kind.BREAKS: "break", Kind.SILENT: "change silently", Kind.DEPRECATED: "become deprecated"}


def _is_safe(change: Change) -> bool:
    return change.finding.fix is not None and change.finding.fix.applicability is Applicability.SAFE


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def _object(change: Change) -> dict[str, Any]:
    finding, fix = change.finding, change.finding.fix
    span = finding.span
    return {
        "kind": change.kind.name.lower(),
        "code": finding.code,
        "name": finding.name,
        "message": finding.message,
        "since": None if change.since is None else str(change.since),
        "jax": change.said,
        "certain": change.is_certain,
        "path": span.path,
        "cell": span.cell,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
        "fix": None if fix is None else {"message": fix.message, "applicability": fix.applicability.value},
    }
