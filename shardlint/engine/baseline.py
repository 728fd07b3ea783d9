"""A baseline: a file of known findings, so that only new ones are reported.

A finding is identified by properties that survive edits around it: its file, code and enclosing function, the
text of its line, and its message without numbers. It is still the same if only one of the last three has
changed, or if its file was moved. The number of occurrences counts.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, fields
from typing import Any

from shardlint.fixes.documents import write_bytes
from shardlint.model.findings import Finding, Severity
from shardlint.source.lexing import STRING_OR_COMMENT, split_lines
from shardlint.source.logical_lines import statements
from shardlint.source.sources import Source, read_source
from shardlint.support.lazy_dataclass import dataclass

VERSION = 1
#: Failures of shardlint or of reading a file are never in a baseline.
_ALWAYS_NEW = frozenset({"SHL006", "SHL009"})
_NUMBER = re.compile(r"\d+(?:\.\d+)*")


class BaselineError(Exception):
    """A malformed baseline file; the message states the error."""


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class Entry:
    """The stored identity of a finding. ``path`` is relative to the baseline's folder, with slashes."""

    path: str
    code: str
    where: str
    line: str
    message: str


@dataclass(frozen=True, slots=True)
class Compared:
    """Findings that are not in a baseline, and the baseline without those that are gone."""

    new: tuple[Finding, ...]
    entries: tuple[Entry, ...]
    gone: int


def may_be_known(finding: Finding) -> bool:
    """Return whether a baseline accepts a finding: it makes a check fail, and is about a program."""
    return not finding.expected and finding.severity is not Severity.INFO and finding.code not in _ALWAYS_NEW


def entries_of(findings: Iterable[Finding], sources: Iterable[Source], folder: str) -> list[Entry]:
    """Return the baseline entries of findings, for a baseline in this folder."""
    by_path = {source.path: source for source in sources}

    def entry(finding: Finding) -> Entry:
        span = finding.span
        if span.path not in by_path:
            by_path[span.path] = read_source(span.path)
        cell = next((c for c in by_path[span.path].cells if c.index == span.cell), None)
        path = os.path.relpath(span.path, folder or ".").replace(os.sep, "/")
        text = split_lines(cell.text) if cell else []
        line = text[span.line - 1] if 1 <= span.line <= len(text) else ""
        where = statements(cell.text).definition(span.line) if cell else ""
        message = _NUMBER.sub("N", " ".join(finding.message.split()))
        return Entry(path, finding.code, where, _without_comment(line), message)

    return [entry(finding) for finding in findings]


def _without_comment(line: str) -> str:
    for match in STRING_OR_COMMENT.finditer(line):
        if match["comment"] is not None:
            line = line[: match.start()]
            break
    return " ".join(line.split())


#: The properties that identify a finding, the strictest combination first.
_SIGNS: tuple[Callable[[Entry], tuple[str, ...]], ...] = (
    lambda e: (e.path, e.code, e.where, e.line, e.message),
    lambda e: (e.path, e.code, e.where, e.line),
    lambda e: (e.path, e.code, e.line, e.message),
    lambda e: (e.path, e.code, e.where, e.message),
)


def _moved(entry: Entry) -> tuple[str, ...]:
    return entry.code, entry.where, entry.line, entry.message


def compare(
    known: Sequence[Entry],
    findings: Sequence[Finding],
    found: Sequence[Entry],
    checked: Collection[str],
    folder: str,
) -> Compared:
    """Split findings (whose entries are ``found``) into known and new ones.

    An entry is dropped if no finding matches it and its file was ``checked`` (a path as in entries) or does
    not exist any more.
    """
    left = Counter(known)
    unmatched = [i for i, finding in enumerate(findings) if may_be_known(finding)]
    entries: list[Entry] = []
    for sign in _SIGNS:
        unmatched = _match(left, found, unmatched, entries, sign)
    gone = Counter({e: n for e, n in left.items() if _is_gone(os.path.join(folder, e.path))})
    absent = Counter(gone)
    unmatched = _match(gone, found, unmatched, entries, _moved)
    left -= absent - gone
    stale = [e for e in left.elements() if e.path in checked or e in gone]
    others = list((left - Counter(stale)).elements())
    new = set(unmatched) | {i for i, f in enumerate(findings) if not may_be_known(f)}
    return Compared(
        tuple(f for i, f in enumerate(findings) if i in new), tuple(sorted([*entries, *others])), len(stale)
    )


def _is_gone(path: str) -> bool:
    """Return whether nothing exists at a path. An inaccessible path may exist."""
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return True
    except OSError:
        return False
    return False


def _match(
    left: Counter[Entry],
    found: Sequence[Entry],
    unmatched: Sequence[int],
    kept: list[Entry],
    sign: Callable[[Entry], tuple[str, ...]],
) -> list[int]:
    """Remove from ``left`` the entries that share a key with findings; return the unmatched findings."""
    by_sign: dict[tuple[str, ...], list[Entry]] = {}
    for entry in sorted(left.elements(), reverse=True):
        by_sign.setdefault(sign(entry), []).append(entry)
    over = []
    for index in unmatched:
        candidates = by_sign.get(sign(found[index]))
        if candidates:
            left[candidates.pop()] -= 1
            kept.append(found[index])
        else:
            over.append(index)
    for entry in [entry for entry, count in left.items() if count <= 0]:
        del left[entry]
    return over


def render(entries: Iterable[Entry]) -> str:
    """Return a baseline as text: sorted, one finding a line, so that two of them merge as text."""
    counts = Counter(entries)
    rows = []
    for entry, count in sorted(counts.items()):
        row: dict[str, Any] = asdict(entry)
        if count > 1:
            row["count"] = count
        rows.append(json.dumps(row, ensure_ascii=False))
    listed = "".join(f"\n    {row}," for row in rows)[:-1]
    return f'{{\n  "version": {VERSION},\n  "findings": [{listed}{chr(10) + "  " if rows else ""}]\n}}\n'


def read(path: str) -> list[Entry]:
    """Read a baseline. Raises BaselineError."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            text = file.read()
    except FileNotFoundError:
        raise BaselineError(f"{path} does not exist; `--write-baseline {path}` makes it") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BaselineError(f"{path} cannot be read: {error}") from None
    if "\n<<<<<<< " in text:
        raise BaselineError(f"{path} has an unresolved merge conflict; keep both sides, or write it anew")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BaselineError(f"{path} is no baseline: {error}") from None
    if not isinstance(data, dict) or not isinstance(data.get("findings"), list):
        raise BaselineError(f'{path} is no baseline: it has no list of "findings"')
    if data.get("version") != VERSION:
        raise BaselineError(
            f"{path} is a baseline of version {data.get('version')!r}; this shardlint reads {VERSION}"
        )
    entries: list[Entry] = []
    for number, row in enumerate(data["findings"], 1):
        entries += _entries(row, f"{path}: finding {number}")
    return entries


def _entries(row: object, what: str) -> list[Entry]:
    if not isinstance(row, dict):
        raise BaselineError(f"{what} is no object")
    names = [field.name for field in fields(Entry)]
    for name in names:
        if not isinstance(row.get(name), str):
            raise BaselineError(f'{what} has no "{name}", or it is no text')
    count = row.get("count", 1)
    if type(count) is not int or not 0 < count < 10**6:
        raise BaselineError(f'{what}: "count" must be a whole number above 0, not {count!r}')
    return [Entry(**{name: row[name] for name in names})] * count


def save(path: str, entries: Iterable[Entry]) -> None:
    """Write a baseline atomically. Raises BaselineError."""
    try:
        write_bytes(os.path.realpath(path), render(entries).encode())
    except OSError as error:
        raise BaselineError(f"{path} cannot be written: {error.strerror or error}") from None
