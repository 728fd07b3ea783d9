"""The options of `check` that change files: fixes, ignore comments, and the baseline."""

from __future__ import annotations

import argparse
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from shardlint.api import Linter, Progress, Report
    from shardlint.engine.baseline import Entry
    from shardlint.fixes.documents import Document
    from shardlint.fixes.fixpoint import Fixed
    from shardlint.model.findings import Finding
    from shardlint.source.sources import Source


#: Findings about a file that could not be read completely.
_UNREAD = frozenset({"SHL001", "SHL002", "SHL003", "SHL004", "SHL005", "SHL009", "SHL014"})


#: Options under which a missing finding may still exist.
_NARROWING = (
    "mesh", "devices", "config", "select", "extend_select", "ignore", "extend_ignore", "per_file_ignores",
    "extend_per_file_ignores", "exclude", "extend_exclude", "isolated", "target_jax",
)  # fmt: skip


class CannotDo(Exception):
    """The command cannot be carried out; the message states why."""


# Not a dataclass: importing dataclasses takes a fifth of the time of `--version`.
class Outcome(NamedTuple):
    """The remaining report, and the changes made.

    ``code`` is the exit code where nothing is to be reported; ``out`` is for standard output,
    ``messages`` are lines for standard error, and ``failures`` the changes that failed.
    """

    report: Report
    code: int | None = None
    out: str = ""
    messages: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()


def add_fixes(parser: argparse.ArgumentParser) -> None:
    """Add the options of `check` that repair files."""
    fix = parser.add_argument_group("fixes")
    fix.add_argument("--fix", action="store_true", help="apply the safe fixes, and report what is left")
    fix.add_argument("--unsafe-fixes", action="store_true", help="also those that may change what is meant")
    fix.add_argument("--diff", action="store_true", help="show what --fix would change, and change nothing")
    fix.add_argument("--fix-only", action="store_true", help="apply fixes and report nothing")
    fix.add_argument("--show-fixes", action="store_true", help="list what was fixed")


def add_known(parser: argparse.ArgumentParser) -> None:
    """Add the options of `check` that set known findings aside."""
    old = parser.add_argument_group("findings in old code")
    old.add_argument(
        "--add-ignores", nargs="?", const="", metavar="REASON",
        help="add a comment to the line of each finding that ignores it (--add-ignores=REASON)",
    )  # fmt: skip
    old.add_argument("--baseline", metavar="FILE", help="report only what this file does not know")
    old.add_argument("--write-baseline", metavar="FILE", help="write the findings to a file for --baseline")


def change(
    linter: Linter | None, report: Report, options: argparse.Namespace, progress: Progress | None = None
) -> Outcome:
    """Apply the options that change files. Raises CannotDo.

    Without a linter no configuration names a baseline, and nothing of the report is to be changed.
    """
    asked = [
        flag
        for flag in ("--write-baseline", "--add-ignores", "--diff", "--fix", "--fix-only")
        if getattr(options, flag[2:].replace("-", "_"), None) not in (None, False)
    ]
    exclusive = [flag for flag in asked if flag in ("--write-baseline", "--add-ignores")]
    if exclusive and len(asked) > 1:
        raise CannotDo(f"{' and '.join(asked)} do not go together")
    if options.write_baseline is not None:
        from shardlint.engine.baseline import BaselineError

        try:
            return _written(report, options.write_baseline)
        except BaselineError as error:
            raise CannotDo(str(error)) from None
    baseline = options.baseline or (linter and linter.settings.baseline)
    known = _Known(os.path.relpath(baseline), options) if baseline else None
    report = known.without(report) if known else report
    if linter is None:
        outcome = Outcome(report, 0 if options.diff or options.fix_only else None)
    elif options.add_ignores is not None:
        outcome = _ignored(linter, report, options.add_ignores)
    elif asked:
        outcome = fixed(linter, report, options, known, progress)
    else:
        outcome = Outcome(report)
    messages = known.shrunk() if known and not options.diff else ()
    return outcome._replace(messages=(*outcome.messages, *messages))


class _Known:
    """The baseline in use."""

    def __init__(self, path: str, options: argparse.Namespace) -> None:
        from shardlint.engine.baseline import BaselineError, read

        self.path, self.folder = path, os.path.dirname(os.path.abspath(path))
        # With facts from the command line, a missing finding does not mean that it was fixed.
        self._whole = not any(getattr(options, flag, None) for flag in _NARROWING)
        self._paths = [os.path.abspath(path) for path in options.paths]
        try:
            self.entries = read(path)
        except BaselineError as error:
            raise CannotDo(str(error)) from None
        self._left: Sequence[Entry] = ()
        self._gone = 0

    def without(self, report: Report) -> Report:
        """Return the report without the findings in the baseline."""
        from dataclasses import replace

        from shardlint.engine import baseline

        found = baseline.entries_of(report.findings, report.sources, self.folder)
        sources = {self._relative(source.path): source for source in report.sources}
        whole = {path for path, source in sources.items() if source.cells and not source.problems}
        whole -= {self._relative(f.span.path) for f in report.findings if f.code in _UNREAD}
        # Files that no longer mention sharding have no sources.
        passed_over = {e.path for e in self.entries if e.path not in sources and self._is_asked_for(e.path)}
        unread = [os.path.join(path, "") for path, source in sources.items() if not source.cells]
        passed_over = {path for path in passed_over if not path.startswith(tuple(unread))}
        compared = baseline.compare(self.entries, report.findings, found, whole | passed_over, self.folder)
        if not report.unsaved:
            self._left, self._gone = compared.entries, compared.gone
        return replace(report, findings=compared.new)

    def _relative(self, path: str) -> str:
        return os.path.relpath(path, self.folder).replace(os.sep, "/")

    def _is_asked_for(self, path: str) -> bool:
        whole = os.path.abspath(os.path.join(self.folder, path))
        return any(whole == asked or whole.startswith(os.path.join(asked, "")) for asked in self._paths)

    def hides(self, sources: Sequence[Source], findings: Sequence[Finding]) -> list[Finding]:
        """Return the findings of some sources without those in the baseline."""

        from shardlint.engine import baseline

        found = baseline.entries_of(findings, sources, self.folder)
        return list(baseline.compare(self.entries, findings, found, (), self.folder).new)

    def shrunk(self) -> tuple[str, ...]:
        """Remove fixed findings from the file; return messages about it."""
        from shardlint.engine import baseline
        from shardlint.fixes.documents import is_writable

        if not self._gone or not self._whole:
            return ()
        several = self._gone != 1
        what = f"{self._gone} finding{'s' * several} of {self.path} {'are' if several else 'is'} gone"
        if not is_writable(self.path):
            return (f"{what}; it is read-only",)
        try:
            baseline.save(self.path, self._left)
        except baseline.BaselineError as error:
            return (f"{what}: {error}",)
        return (f"{what}, and no longer in it",)


def _written(report: Report, path: str) -> Outcome:
    from shardlint.engine import baseline

    findings = [finding for finding in report.findings if baseline.may_be_known(finding)]
    folder = os.path.dirname(os.path.abspath(path))
    baseline.save(path, baseline.entries_of(findings, report.sources, folder))
    count = f"{len(findings)} finding{'s' * (len(findings) != 1)}"
    return Outcome(report, 0, messages=(f"Wrote {count} to {path}.",))


def _ignored(linter: Linter, report: Report, reason: str) -> Outcome:
    """Add ignore comments to the lines of all findings, after removing useless comments."""
    from dataclasses import replace

    from shardlint.fixes.documents import CannotChange, read_document, write
    from shardlint.fixes.fixpoint import fix_all
    from shardlint.fixes.ignore_comments import UNSILENCED, ignoring

    if any(char in reason for char in "\r\n#"):
        raise CannotDo("the reason of --add-ignores must be one line without a #")
    failing = [f for f in report.failing if not f.expected]
    added, files, failures = 0, 0, []
    for source in report.sources:
        ours = [f for f in failing if f.span.path == source.path]
        if not ours:
            continue
        try:
            before = read_document(source.path)
            # Only useless comments are removed; nothing else is fixed.
            ours = [f if f.code == "SHL012" else replace(f, fix=None) for f in ours]
            now = fix_all([before], ours, False, linter.check_sources).after.get(source.path, before)
            if now is not before:
                ours = [f for f in linter.check_sources([now.source]) if _fails(f)]
            comments = ignoring(now.source, ours, reason)
            after = now.edited(comments.edits)
            if after.data != before.data:
                write(before, after)
                added, files = added + comments.count, files + 1
        except CannotChange as error:
            failures.append(str(error))
    messages = [
        f"Added comments for {added} finding{'s' * (added != 1)} in {files} file{'s' * (files != 1)}."
    ]
    # Useless comments are already removed.
    readable = {source.path for source in report.sources}
    left = [f.code for f in failing if f.code in UNSILENCED - {"SHL012"} or f.span.path not in readable]
    if left:
        codes = ", ".join(sorted(set(left)))
        messages.append(f"No comment can ignore {len(left)} other{'s' * (len(left) != 1)} ({codes}).")
    return Outcome(report, 2 if failures else 0, messages=tuple(messages), failures=tuple(failures))


def _fails(finding: Finding) -> bool:
    return not finding.expected and finding.severity.value != "info"


def fixed(
    linter: Linter,
    report: Report,
    options: argparse.Namespace,
    known: _Known | None,
    progress: Progress | None,
) -> Outcome:
    """Apply the fixes of a report, or show them, and check again what is left."""
    from shardlint.fixes.documents import CannotChange, read_document, write
    from shardlint.fixes.fixpoint import fix_all

    def check(sources: Sequence[Source]) -> list[Finding]:
        found = linter.check_sources(sources)
        return known.hides(sources, found) if known else found

    documents, failures = [], []
    fixable = {f.span.path for f in report.findings if f.fix} | {
        edit.span.path for f in report.findings if f.fix for edit in f.fix.edits
    }
    for source in report.sources:
        if source.path in fixable:
            try:
                documents.append(read_document(source.path))
            except CannotChange as error:
                failures.append(str(error))
    done = fix_all(documents, report.findings, options.unsafe_fixes, check)
    changed = [(done.before[path], after) for path, after in sorted(done.after.items())]
    changed = [(before, after) for before, after in changed if before.data != after.data]
    if options.diff:
        messages = [*done.notes, _count(done, "Would fix")] if changed else done.notes
        out = "".join(_difference(before, after) for before, after in changed)
        return Outcome(report, 1 if changed else 0, out, tuple(messages), tuple(failures))
    written = []
    for before, after in changed:
        try:
            write(before, after)
            written.append((before, after))
        except CannotChange as error:
            failures.append(str(error))
    done.fixed = [f for f in done.fixed if any(f.span.path == before.path for before, _ in written)]
    now = report
    if written:
        now = linter.check_paths(options.paths, progress, options.show_unresolved)
        now = known.without(now) if known else now
        if blame := _harmed(report, now, [before.path for before, _ in written], done):
            for before, after in written:
                try:
                    write(after, before)
                except CannotChange as error:
                    failures.append(f"{error}; its fixes should have been taken back")
            done.notes.append(f"all fixes were taken back: they make new errors in {blame}")
            done.fixed, now = [], report
    messages = [*done.notes]
    if done.fixed:
        messages.append(_count(done, "Fixed"))
        messages += _listed(done.fixed) if options.show_fixes else ()
    return Outcome(now, 0 if options.fix_only else None, "", tuple(messages), tuple(failures))


def _harmed(before: Report, after: Report, edited: Iterable[str], fixed: Fixed) -> str:
    """Return a text naming the unedited files that have more errors than before, or ""."""
    from shardlint.model.findings import Severity

    if all(f.severity is Severity.ERROR for f in fixed.fixed):
        return ""
    errors = [
        Counter(f.span.path for f in report.findings if f.severity is Severity.ERROR)
        for report in (before, after)
    ]
    return ", ".join(sorted(path for path in errors[1] - errors[0] if path not in set(edited)))


def _count(fixed: Fixed, verb: str) -> str:
    number = len(fixed.fixed)
    return f"{verb} {number} finding{'s' * (number != 1)}."


def _listed(findings: Iterable[Finding]) -> list[str]:
    """Return lines listing what was fixed, by file and rule."""
    by_path: dict[str, Counter[tuple[str, str]]] = {}
    for finding in findings:
        by_path.setdefault(finding.span.path, Counter())[finding.code, finding.name] += 1
    lines = []
    for path, counts in sorted(by_path.items()):
        lines.append(f"- {path}:")
        lines += [f"    {count} × {code} ({name})" for (code, name), count in sorted(counts.items())]
    return lines


def _difference(before: Document, after: Document) -> str:
    """Return a unified diff of two versions of a file."""
    import difflib

    old, new = ([line for line in re.split(r"(?<=\n)", text) if line] for text in (before.text, after.text))
    lines = difflib.unified_diff(old, new, before.path, before.path)
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def fixable_text(findings: Iterable[Finding], unsafe: bool) -> str:
    """Return the last line of a report, the number of fixable findings; empty for none."""
    from shardlint.model.findings import Applicability

    kinds = Counter(f.fix.applicability for f in findings if f.fix is not None and not f.expected)
    safe, rest = kinds[Applicability.SAFE], kinds[Applicability.UNSAFE]
    if unsafe:
        safe, rest = safe + rest, 0
    hidden = f"{rest} fix{'es' * (rest != 1)} more with `--unsafe-fixes`"
    flags = "`--fix --unsafe-fixes`" if unsafe else "`--fix`"
    if safe:
        return f"{safe} fixable with {flags}{f' ({hidden})' if rest else ''}."
    return f"{rest} fixable with `--fix --unsafe-fixes`." if rest else ""
