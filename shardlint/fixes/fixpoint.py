"""Fixes files until nothing is left to fix: rounds of edits and checks, all of them in memory."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from shardlint.fixes.documents import CannotChange, Document
from shardlint.fixes.text_edits import compatible, paths_of
from shardlint.model.findings import Applicability, Edit, Finding, Severity
from shardlint.model.spans import Span
from shardlint.source.sources import Source
from shardlint.source.workspace import file_access

#: As many rounds as ruff runs: fixes that trigger each other would never end.
MOST_ROUNDS = 10

#: Checks sources in their present form, and files that they import.
Check = Callable[[Sequence[Source]], Iterable[Finding]]
#: Codes of findings about files that cannot be read.
_UNREADABLE = frozenset({"SHL001", "SHL002", "SHL003", "SHL004", "SHL005", "SHL009", "SHL014"})


@dataclass
class Fixed:
    """The result of fixing files: those that changed, the findings that were fixed, and the failures."""

    before: dict[str, Document]
    after: dict[str, Document] = field(default_factory=dict)
    fixed: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def fix_all(documents: Iterable[Document], findings: Iterable[Finding], unsafe: bool, check: Check) -> Fixed:
    """Apply the fixes of findings in rounds, and return the changed files; nothing is written.

    A round whose fixes cause a new error is undone, and its fixes are tried one by one: those that cause it
    alone are abandoned, and noted. Errors that the fix of another error merely uncovers do not count.
    """
    work = Fixed({document.path: document for document in documents})
    left = list(findings)
    given_up: set[tuple[str, str]] = set()
    for _ in range(MOST_ROUNDS):
        possible = [f for f in left if _applies(f, unsafe, work.before) and _key(f) not in given_up]
        # This distinguishes fixes of errors, which may uncover others, from fixes that may not.
        graver = [f for f in possible if f.severity is Severity.ERROR]
        chosen = compatible(graver or possible)
        if not chosen:
            return work
        try:
            left = _round(work, left, chosen, check)
            continue
        except _RolledBack as error:
            reason = str(error)
        alone = {f: _reason(work, left, f, check) for f in chosen} if len(chosen) > 1 else {chosen[0]: reason}
        failing = {f: why for f, why in alone.items() if why}
        for finding, why in (failing or dict.fromkeys(chosen[1:], reason)).items():
            given_up.add(_key(finding))
            work.notes.append(_note(finding, why))
    if any(_applies(f, unsafe, work.before) and _key(f) not in given_up for f in left):
        paths = ", ".join(sorted({f.span.path for f in left if _applies(f, unsafe, work.before)}))
        work.notes.append(f"after {MOST_ROUNDS} rounds there is still something to fix in {paths}")
    return work


class _RolledBack(Exception):
    """Fixes are not applied; the message states why."""


def _reason(work: Fixed, left: Sequence[Finding], finding: Finding, check: Check) -> str:
    """Return the reason why a fix is not applied alone, empty if it could be."""
    try:
        _round(_copy(work), left, [finding], check)
    except _RolledBack as error:
        return str(error)
    return ""


def _round(work: Fixed, left: Sequence[Finding], chosen: Sequence[Finding], check: Check) -> list[Finding]:
    """Apply fixes and return the findings after them. Raises _RolledBack if they cause errors."""
    edited: dict[str, Document] = {}
    edits = dict.fromkeys(edit for f in chosen if f.fix for edit in f.fix.edits)
    for path in sorted({edit.span.path for edit in edits}):
        document = work.after.get(path, work.before[path])
        try:
            edited[path] = document.edited(edit for edit in edits if edit.span.path == path)
        except CannotChange as error:
            raise _RolledBack(f"cannot be made ({error})") from None
    # What imports an edited file imports it as it is now.
    with file_access.opened({**file_access.open_texts(), **_texts({**work.after, **edited})}):
        found = list(check([document.source for document in edited.values()]))
    elsewhere = [f for f in left if not (_paths(f) & edited.keys())]
    now = [*elsewhere, *found]
    uncovers = all(f.severity is Severity.ERROR for f in chosen)
    if _broken(found) - _broken(left) or (not uncovers and _errors(now, edited) > _errors(left, edited)):
        raise _RolledBack("would make a new error")
    places = {(*_named(f), f.span.line, f.span.column) for f in found}
    if any((*_named(f), *place) in places for f in chosen for place in _places(f.span, edits)):
        raise _RolledBack("does not remove it, which is an internal error")
    work.after.update(edited)
    work.fixed += chosen
    return now


def _texts(documents: Mapping[str, Document]) -> dict[str, bytes]:
    """Return the present bytes of files by absolute path; a text that is open in an editor has none."""
    return {os.path.abspath(path): document.data for path, document in documents.items() if document.data}


def _named(finding: Finding) -> tuple[str, int | None, str, str]:
    return finding.span.path, finding.span.cell, finding.code, finding.message


def _places(span: Span, edits: Iterable[Edit]) -> set[tuple[int, int]]:
    """Return the possible starts of a span after edits: after text inserted right there, or before it."""
    ours = [edit for edit in edits if (edit.span.path, edit.span.cell) == (span.path, span.cell)]
    ours.sort(key=lambda edit: edit.span.order(), reverse=True)
    places = set()
    for least in (0, 1):
        line, column = span.line, span.column
        for edit in ours:
            at = edit.span
            if (at.end_line, at.end_column + least) > (span.line, span.column):
                continue
            last = edit.text.rpartition("\n")[2]
            if at.end_line == span.line:
                column += len(last) - at.end_column + (1 if "\n" in edit.text else at.column)
            line += edit.text.count("\n") - (at.end_line - at.line)
        places.add((line, column))
    return places


def _copy(work: Fixed) -> Fixed:
    return Fixed(work.before, dict(work.after), list(work.fixed))


def _paths(finding: Finding) -> set[str]:
    return {finding.span.path} | (paths_of(finding.fix) if finding.fix else set())


def _applies(finding: Finding, unsafe: bool, documents: dict[str, Document]) -> bool:
    """Return whether a finding has a fix that may be applied, in files that are being checked."""
    fix = finding.fix
    if fix is None or finding.expected or not fix.edits or not paths_of(fix) <= documents.keys():
        return False
    return unsafe or fix.applicability is Applicability.SAFE


def _broken(findings: Iterable[Finding]) -> set[tuple[str, str]]:
    return {(f.span.path, f.code) for f in findings if f.code in _UNREADABLE}


def _errors(findings: Iterable[Finding], paths: Iterable[str]) -> int:
    counts = Counter(f.span.path for f in findings if f.severity is Severity.ERROR)
    return sum(counts[path] for path in paths)


def _key(finding: Finding) -> tuple[str, str]:
    """Return a key that identifies a fix after other edits have moved it."""
    return f"{finding.span.path}:{finding.span.cell}:{finding.code}", finding.message


def _note(finding: Finding, reason: str) -> str:
    span = finding.span
    where = f"{span.path}:" + (f"cell {span.cell}:" if span.cell is not None else "")
    fix = finding.fix.message if finding.fix else ""
    return f"{where}{span.line}: the fix of {finding.code} ({fix}) {reason}, and was left out"
