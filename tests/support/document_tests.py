"""Program documents as tests: pytest collects ``tests/**/*.md``, and each program in one is a test.

    python -m pytest tests/placement/arguments.md

`tests/renew_documents.py` writes into a document what is found and what JAX says now.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import pytest

from shardlint.api import CommandLine, Configurations, Linter, Settings, source_from_text
from shardlint.laws.core.verdicts import Rejected
from shardlint.model.findings import Finding, Severity
from support.documents import Mark, Program, read_programs
from support.jax_answers import jax_raises

#: Devices that JAX has in tests, and that shardlint is to assume.
DEVICES = 8
#: How long a line with a comment behind it may be.
WIDTH = 110


class DocumentFile(pytest.File):
    """A document as a module of tests."""

    @cached_property
    def programs(self) -> list[Program]:
        return read_programs(self.path)

    @cached_property
    def outcomes(self) -> Mapping[str, Any]:
        """Return what JAX raises in each program, by its text; it is asked of all at once."""
        return jax_raises({program.text: program.text for program in self.programs})

    def collect(self) -> Iterator[ProgramTest]:
        for program in self.programs:
            name = f"{program.heading}, line {program.start}"
            yield ProgramTest.from_parent(self, name=name, program=program)


class ProgramTest(pytest.Function):
    """What a document says of a program is what shardlint finds and JAX raises.

    A function rather than an item, so that fixtures that every test uses are used.
    """

    parent: DocumentFile

    def __init__(self, *, parent: DocumentFile, program: Program, **options: Any) -> None:
        super().__init__(parent=parent, callobj=self._compare, **options)
        self.program = program

    def _compare(self) -> None:
        differences = compare(self.program, self.parent.outcomes[self.program.text])
        if differences:
            raise Differs(differences)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if not isinstance(excinfo.value, Differs):
            return super().repr_failure(excinfo)
        numbered = zip(self.program.lines, self.program.text.splitlines(), strict=True)
        shown = "".join(f"{number:5}  {line}\n" for number, line in [*numbered][self.program.prelude :])
        return f"{self.path}:{self.program.start}\n\n{shown}\n" + "\n".join(excinfo.value.args[0])

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.program.start - 1, self.name


class Differs(Exception):
    """A program of which a document says what is not so."""


def compare(program: Program, outcome: Mapping[str, Any] | None) -> list[str]:
    """Return where a document and what is so differ, a line each."""
    findings = find(program)
    actual, written = observe(program, findings, outcome), [mark for mark in program.marks if mark.holds]
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    expected = {
        one.use.verdict.exception for one in errors if one.use and isinstance(one.use.verdict, Rejected)
    }
    classes = expected if outcome is None else outcome["classes"]
    return [
        *(f"not so:   {mark}" for mark in written if not any(mark.matches(one) for one in actual)),
        *(f"not said: {one}" for one in actual if not any(mark.matches(one) for mark in written)),
        *(f"twice:    {one}" for number, one in enumerate(actual) if one in actual[:number]),
        *(["an error is found, and JAX raises nothing"] if errors and outcome is None else []),
        *([f"the law expects {expected}"] if expected and expected.isdisjoint(classes) else []),
    ]


def find(program: Program) -> list[Finding]:
    """Return what shardlint finds in a program. Each program reads some of its prelude's variables."""
    found = _linter(program.settings).check_source(source_from_text("program.py", program.text))
    return [one for one in found if one.code != "SHL617" or one.span.line > program.prelude]


def observe(program: Program, findings: Sequence[Finding], outcome: Mapping[str, Any] | None) -> list[Mark]:
    """Return marks for findings in a program, and for what JAX raises in it, which is one or none."""
    marks = [
        Mark(program.place(span.line), str(finding.severity), finding.code, finding.message, span.column)
        for finding in findings
        for span in [finding.span]
    ]
    if outcome is not None:
        kind = "jax" if any(mark.kind == "error" for mark in marks) else "missed"
        line = program.place(*outcome["lines"])
        marks.append(Mark(line, kind, outcome["classes"][0], outcome["message"]))
    return sorted(marks, key=lambda mark: (mark.line, mark.kind, mark.name))


@cache
def _linter(settings: tuple[str, ...]) -> Linter:
    if not settings:
        return Linter(Settings(devices=DEVICES))
    given = CommandLine(configs=settings, isolated=True)
    return Linter(Configurations(given, devices=DEVICES).of(os.curdir))


def renewed(path: Path, messages: bool = False) -> str:
    """Return a document with comments for what is found and what JAX raises now.

    Messages are written where a message stood, and everywhere with ``messages``. Preludes stay as they are.
    """
    programs = read_programs(path)
    outcomes = jax_raises({program.text: program.text for program in programs})
    written = dict(enumerate(path.read_text(encoding="utf-8").splitlines(), start=1))
    for program in programs:
        code = list(zip(program.lines, program.text.splitlines(), strict=True))[program.prelude :]
        for number in range(program.start, program.lines[-1] + 1):
            written.pop(number, None)
        observed = observe(program, find(program), outcomes[program.text])
        for number, line in code:
            marks = [_like(program.marks, mark, messages) for mark in observed if mark.line == number]
            marks += [mark for mark in program.marks if mark.line == number and not mark.holds]
            written[number] = "\n".join(_commented(line, marks))
    return "".join(f"{written[number]}\n" for number in sorted(written))


def _like(written: Sequence[Mark], mark: Mark, messages: bool) -> Mark:
    """Return a mark with as much as those of its kind that a program has, or with its whole message."""
    former = [one for one in written if (one.kind, one.name) == (mark.kind, mark.name)]
    quotes = (messages and mark.kind not in ("jax", "missed")) or any(one.message for one in former)
    places = any(one.column is not None for one in former)
    releases = next((one.releases for one in former if one.line == mark.line and one.holds), "")
    return replace(
        mark,
        message=mark.message if quotes else "",
        column=mark.column if places else None,
        releases=releases,
    )


def _commented(line: str, marks: list[Mark]) -> Iterator[str]:
    """Yield a line of a program with comments: behind it, or above it where they are too long."""
    indent = line[: len(line) - len(line.lstrip())]
    yield from (f"{indent}{mark.comment}" for mark in marks if mark.message)
    short = "  ".join(mark.comment for mark in marks if not mark.message)
    if not short:
        yield line
    elif len(f"{line}  {short}") <= WIDTH:
        yield f"{line}  {short}"
    else:
        yield from (indent + short, line)
