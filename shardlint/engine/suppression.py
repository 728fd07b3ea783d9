"""Applies ignore comments to findings, and reports comments that do nothing or name no rule."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from shardlint.laws.core.verdicts import Undecided
from shardlint.model.findings import Applicability, Edit, Finding, Fix
from shardlint.model.spans import Span
from shardlint.model.uses import FileProblem, Use
from shardlint.source.comments.suppressions import (
    Suppression,
    Written,
    directives,
    matches,
    scopes,
    suppressions,
)
from shardlint.source.file_problems import FILE_RULES, finding_of
from shardlint.source.logical_lines import statements
from shardlint.source.sources import Cell, Source, read_source

_ABOUT_COMMENTS = ("SHL012", "SHL013")
#: Codes of a file that name no rule, for which one is suggested.
_MOST_SUGGESTED = 50
#: Whether a rule is enabled in a file: its path, and the rule's code and name.
Wanted = Callable[[str, str, str], bool]


class Suppressor:
    """Filters findings by the comments of their files, and records which comments had an effect."""

    def __init__(self, sources: Iterable[Source]) -> None:
        self._sources = {source.path: source for source in sources}
        self._used: set[tuple[str, int | None, Written, str]] = set()

    def ignores(self, finding: Finding) -> bool:
        """Return whether a comment on the finding's lines, around them, or for the whole file ignores it."""
        path = finding.span.path
        if path not in self._sources:
            self._sources[path] = read_source(path)
        ignored, span = False, finding.span
        for cell in self._sources[path].cells:
            if "shardlint:" not in cell.text:
                continue
            written = set(range(span.line, span.end_line + 1))
            every = written
            if cell.index == span.cell:
                read = statements(cell.text)
                every = written | {read.around(span.line)[0], read.around(span.end_line)[1]}
            for suppression in scopes(cell.text).at(every):
                if suppression.first is not None and cell.index != span.cell:
                    continue
                if finding.code in _ABOUT_COMMENTS and not suppression.codes:
                    continue  # otherwise comments without codes could never be reported
                by_statement = suppression.statement and suppression.first is not None
                lines = every if by_statement else written
                found = suppression.covering(finding.code, finding.name, lines)
                if found is not None:
                    self._used.add((finding.span.path, cell.index, suppression.written, found))
                    ignored = True
        return ignored

    def about_comments(
        self,
        sources: Iterable[Source],
        wanted: Wanted,
        uses: Iterable[Use],
        found: Iterable[Finding],
        stopped: bool = False,
    ) -> Iterator[Finding]:
        """Return findings about the comments themselves.

        A comment that ignores nothing is reported if every rule that it selects was enabled, and everything
        in its scope was understood: unjudged ``uses`` may be judged in another program, and no finding in
        ``found`` may indicate that a file was not evaluated completely; nor may the check have been
        ``stopped`` early.
        """
        from shardlint.rules import all_rules

        rules = {rule.code: rule.name for rule in all_rules()}
        every = {**rules, **{rule.code: rule.name for rule in FILE_RULES}}
        undecided: dict[str, list[tuple[Use, Span]]] | None = None
        partial = stopped or any(finding.name == "cut-short" for finding in found)
        for source in sources:
            yield from _misread(source, every)
            if partial:
                continue
            for cell, suppression, idle in self._idle(source, rules, every, wanted):
                if undecided is None:
                    undecided = {}
                    for use in uses:
                        if isinstance(use.verdict, Undecided):
                            undecided.setdefault(use.place.path, []).append((use, use.place.resolve()))
                kinds = _kinds(tuple(idle))
                ours = undecided.get(source.path, ())
                if not any(isinstance(use, kinds) for use, _ in _spoken_of(suppression, cell, ours)):
                    yield _unused(source.path, cell, suppression.written, idle)

    def _idle(
        self, source: Source, rules: Mapping[str, str], every: Mapping[str, str], wanted: Wanted
    ) -> Iterator[tuple[Cell, Suppression, list[str]]]:
        """Yield the suppressions of a source that had no effect, with their unused selectors."""
        for cell in source.cells:
            for suppression in suppressions(cell.text):
                idle = []
                for selector in suppression.codes or ("",):
                    matched = [code for code, name in every.items() if matches(code, name, [selector])]
                    judged = all(code in rules and wanted(source.path, code, every[code]) for code in matched)
                    if selector and not (matched and judged):
                        continue
                    if (source.path, cell.index, suppression.written, selector) not in self._used:
                        idle.append(selector)
                if idle:
                    yield cell, suppression, idle


@lru_cache(maxsize=256)
def _kinds(selectors: tuple[str, ...]) -> tuple[type[Use], ...]:
    """Return the kinds of use that the selected rules examine."""
    from shardlint.rules import all_rules

    selected = (r for r in all_rules() if any(not s or matches(r.code, r.name, [s]) for s in selectors))
    return tuple({kind for rule in selected for kind in rule.kinds})


def _spoken_of(
    suppression: Suppression, cell: Cell, uses: Iterable[tuple[Use, Span]]
) -> Iterable[tuple[Use, Span]]:
    """Return the uses of a file that are in the scope of a suppression."""
    if suppression.first is None or suppression.last is None:
        return uses
    first, last = suppression.first, suppression.last
    if suppression.statement:
        first, last = statements(cell.text).around(first)
    return (
        (use, span)
        for use, span in uses
        if span.line <= last and span.end_line >= first and span.cell == cell.index
    )


def _unused(path: str, cell: Cell, written: Written, idle: Sequence[str]) -> Finding:
    """Return the finding about codes of a comment, or all of it, that ignore nothing."""
    every = len(idle) >= max(1, len(written.codes))
    places = [(start, end) for code, start, end in written.codes if code in idle]
    start, end = (written.column, written.end_column) if every else (places[0][0], places[-1][1])
    what = "this comment" if written.bare else " and ".join(f"`{code}`" for code in idle)
    verb = "ignores" if written.bare or len(idle) == 1 else "ignore"
    finding = finding_of(
        FileProblem(
            "unused-suppression",
            f"{what} {verb} nothing: there is no such finding",
            Span(path, written.line, start, written.line, end, cell.index),
        )
    )
    edit = _removed(path, cell, written) if every else _without(path, cell, written, idle)
    fix = Fix("remove the comment" if every else f"remove {what}", Applicability.SAFE, (edit,))
    return replace(finding, fix=fix)


def _without(path: str, cell: Cell, written: Written, codes: Sequence[str]) -> Edit:
    """Return the edit that removes codes from the brackets of a directive."""
    remaining = ", ".join(code for code, _, _ in written.codes if code not in codes)
    start, end = written.codes[0][1], written.codes[-1][2]
    return Edit(Span(path, written.line, start, written.line, end, cell.index), remaining)


def _removed(path: str, cell: Cell, written: Written) -> Edit:
    """Return the edit that removes a directive with the blanks before it, or its line if nothing else is
    there.
    """
    lines = statements(cell.text).lines
    line = lines[written.line - 1]
    before, after = line[: written.column - 1], line[written.end_column - 1 :]
    if not before.strip() and not after.strip():
        if written.line < len(lines):
            return Edit(Span(path, written.line, 1, written.line + 1, 1, cell.index), "")
        if written.line > 1:
            end = len(lines[written.line - 2]) + 1
            span = Span(path, written.line - 1, end, written.line, len(line) + 1, cell.index)
            return Edit(span, "")
    start, end = written.column, written.end_column
    if after.strip():
        end += len(after) - len(after.lstrip())
    else:
        start, end = len(before.rstrip()) + 1, len(line) + 1
    return Edit(Span(path, written.line, start, written.line, end, cell.index), "")


def _misread(source: Source, rules: Mapping[str, str]) -> Iterator[Finding]:
    """Yield findings about codes that name no rule, and about misspelt directives."""
    suggested = 0
    for cell in source.cells:
        for written in directives(cell.text):
            for code, start, end in written.codes:
                if any(matches(rule, name, [code]) for rule, name in rules.items()):
                    continue
                span = Span(source.path, written.line, start, written.line, end, cell.index)
                suggested += 1
                near = _nearest(code, rules) if suggested <= _MOST_SUGGESTED else ""
                fix = Fix(f"write {near}", Applicability.UNSAFE, (Edit(span, near),)) if near else None
                hint = f'; did you mean "{near}"?' if near else "; `shardlint rules` lists them"
                yield replace(_problem(span, f'no rule is called "{code}"{hint}'), fix=fix)
            if (message := _malformed(written, rules)) is not None:
                end = written.end_column
                span = Span(source.path, written.line, written.column, written.line, end, cell.index)
                yield _problem(span, message)


def _malformed(written: Written, rules: Mapping[str, str]) -> str | None:
    if not written.bare and not written.codes:
        return f"`{written.verb}[]` names no rule, and does nothing"
    match = re.match(r"[\s:=(]*(?P<code>SHL\d+|[a-z]+(?:-[a-z]+)+)", written.reason) if written.bare else None
    if match and any(matches(rule, name, [match["code"]]) for rule, name in rules.items()):
        code = match["code"]
        return f"without brackets, `{written.verb}` speaks of every rule; write `{written.verb}[{code}]`"
    if written.verb == "enable" and not written.alone:
        return "`enable` stands on a line of its own, or does nothing"
    return None


def _problem(span: Span, message: str) -> Finding:
    return finding_of(FileProblem("malformed-suppression", message, span))


def _nearest(code: str, rules: Mapping[str, str]) -> str:
    words = [*rules, *rules.values()]
    by_lower = {word.lower(): word for word in words}
    close = difflib.get_close_matches(code.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[close[0]] if close else ""
