"""Program documents: Markdown with programs, and in place what shardlint says of them and what JAX does.

A block marked ``python`` is a program, and in one marked ``python each`` each statement is a program of its
own. A block marked ``python prelude`` goes before the programs that follow it in its section, and a ``toml``
block configures them. Where a program is wrong, comments say how, at the end of the line or on lines of their
own above it:

    jax.device_put(jnp.ones(6), NamedSharding(mesh, P("x")))  # error: SHL202  # jax: ValueError

``error``, ``warning`` and ``info`` name the code of a finding, its column where that matters (``SHL202:17``),
and its message; a message that ends in ``…`` is the beginning of one. ``jax`` names the exception that JAX
raises, and where wanted the beginning of its message. A program without comments runs in JAX, and nothing is
found in it. ``missed`` stands for ``jax`` where JAX raises and no error is found. What holds in some releases
of JAX only says which: ``# error[<0.11]: SHL709``.
"""

from __future__ import annotations

import ast
import importlib.metadata
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from packaging.specifiers import SpecifierSet

_KIND = r"# (error|warning|info|jax|missed)(\[[^]]+\])?: "
_MARK = re.compile(rf"{_KIND} *(\S.*?)\s*(?={re.sub(r'[(](?![?])', '(?:', _KIND)}|$)")
_FENCE = re.compile(r"^```(\w*) ?(.*)$")
_HEADING = re.compile(r"^(#+) (.+)$")
#: What is cut from a message that is only quoted in part.
ELLIPSIS = "…"


@dataclass(frozen=True, slots=True, order=True)
class Mark:
    """A comment about a line of a document: ``error``, ``SHL202``, and a message or nothing."""

    line: int
    kind: str
    name: str
    message: str = ""
    column: int | None = None
    releases: str = ""

    @property
    def holds(self) -> bool:
        """Return whether it speaks of the JAX that is installed."""
        return importlib.metadata.version("jax") in SpecifierSet(self.releases)

    def matches(self, other: Mark) -> bool:
        """Return whether another mark is what this one says."""
        if (self.line, self.kind, self.name) != (other.line, other.kind, other.name):
            return False
        if self.column not in (None, other.column):
            return False
        if self.kind in ("jax", "missed") or self.message.endswith(ELLIPSIS):
            return other.message.startswith(self.message.removesuffix(ELLIPSIS))
        return self.message in ("", other.message)

    def __str__(self) -> str:
        return f"line {self.line}: {self.comment}"

    @property
    def comment(self) -> str:
        """Return the comment."""
        releases = f"[{self.releases}]" if self.releases else ""
        return f"# {self.kind}{releases}: {self.said}"

    @property
    def said(self) -> str:
        """Return the comment without its kind and releases."""
        column = "" if self.column is None else f":{self.column}"
        return f"{self.name}{column} {self.message}".rstrip()


@dataclass(frozen=True, slots=True)
class Program:
    """A program of a document.

    It stands from line ``start`` of the document (from 1). ``lines`` are the document's lines of each line
    of ``text``, of which the first ``prelude`` lines stand elsewhere.
    """

    heading: str
    start: int
    text: str
    lines: tuple[int, ...]
    prelude: int
    marks: tuple[Mark, ...]
    settings: tuple[str, ...] = ()

    @property
    def parts(self) -> tuple[str, str]:
        """Return the text of the prelude, and that of the program below it."""
        lines = self.text.splitlines(keepends=True)
        return "".join(lines[: self.prelude]), "".join(lines[self.prelude :])

    def place(self, *lines: int) -> int:
        """Return the line of the document for lines of the text, of which the innermost is the last.

        It is the innermost outside the prelude; the program's last, where all are in the prelude.
        """
        own = [line for line in lines if line > self.prelude]
        return self.lines[own[-1] - 1] if own else self.lines[-1]


@dataclass(slots=True)
class _Section:
    """What holds below a heading, in which deeper ones take part."""

    level: int
    heading: str
    prelude: list[tuple[int, str]] = field(default_factory=list)
    settings: list[str] = field(default_factory=list)


def read_programs(path: Path) -> list[Program]:
    """Return the programs of a document."""
    return list(_programs(path.read_text(encoding="utf-8").splitlines()))


def _programs(lines: list[str]) -> Iterator[Program]:
    sections = [_Section(0, "")]
    numbered = enumerate(lines, start=1)
    for _, line in numbered:
        if heading := _HEADING.match(line):
            level = len(heading[1])
            while sections[-1].level >= level:
                sections.pop()
            sections.append(_Section(level, heading[2]))
        elif fence := _FENCE.match(line):
            block = []
            for number, inside in numbered:
                if inside == "```":
                    break
                block.append((number, inside))
            language, kind = fence.groups()
            if language == "toml":
                sections[-1].settings.append("\n".join(text for _, text in block))
            elif language == "python" and kind == "prelude":
                sections[-1].prelude += [*block, (block[-1][0] + 1, "")]
            elif language == "python":
                for part in _statements(block) if kind == "each" else [block]:
                    yield _program(sections, part)


def _program(sections: list[_Section], block: list[tuple[int, str]]) -> Program:
    prelude, said = _without_marks([line for section in sections for line in section.prelude])
    code, marks = _without_marks(block)
    return Program(
        sections[-1].heading,
        block[0][0],
        "".join(f"{text}\n" for _, text in [*prelude, *code]),
        tuple(number for number, _ in [*prelude, *code]),
        len(prelude),
        tuple(sorted([*said, *marks])),
        tuple(setting for section in sections for setting in section.settings),
    )


def _statements(block: list[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    """Yield the lines of each statement, with the comments above it."""
    start = 0
    body = ast.parse("\n".join(text for _, text in block)).body
    for statement, following in zip(body, [*body[1:], None], strict=True):
        end = statement.end_lineno or len(block)
        if following is not None and following.lineno <= end:
            continue
        part = block[start:end]
        while not part[0][1].strip():
            part = part[1:]
        yield part
        start = end


def _without_marks(lines: list[tuple[int, str]]) -> tuple[list[tuple[int, str]], list[Mark]]:
    """Return the lines without comments about findings, of which nothing else is on a line, and these."""
    kept: list[tuple[int, str]] = []
    marks: list[Mark] = []
    waiting: list[tuple[str, str, str]] = []
    for number, line in lines:
        found = _MARK.findall(line)
        code = line[: first.start()].rstrip() if (first := _MARK.search(line)) else line
        waiting += found
        if found and not code:
            continue
        kept.append((number, code))
        for kind, releases, said in waiting:
            name, _, message = said.partition(" ")
            name, _, column = name.partition(":")
            marks.append(
                Mark(number, kind, name, message.strip(), int(column) if column else None, releases[1:-1])
            )
        waiting.clear()
    return kept, marks
