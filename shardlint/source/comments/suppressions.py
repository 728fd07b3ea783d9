"""Directives in comments: which findings to ignore, and the number of devices.

``# shardlint: ignore[SHL202] why`` applies to its statement (alone on a line, to the next one), and
``ignore-file[...]`` to the file. ``disable[...]``, alone on its line, applies until ``enable[...]`` or the
end of its block; after code it applies to that statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from shardlint.source.lexing import Comment, comments, next_code_line
from shardlint.source.logical_lines import Statements, statements
from shardlint.support.lazy_dataclass import dataclass

_DIRECTIVE = re.compile(
    r"(?:(?<=\s)|^)#\s*shardlint:\s*(?P<verb>ignore-file|ignore|disable|enable)\b(?!-)"
    r"(?:\[(?P<codes>[^\]#]*)\])?(?P<rest>[^#]*)"
)
_DEVICES = re.compile(r"#\s*shardlint:.*?\bdevices\s*=\s*(?P<count>\d+)")
#: A notebook sets XLA's flags by a magic, which is blanked before the cell is evaluated.
_DEVICES_MAGIC = re.compile(
    r"^%(?:set_)?env\s+XLA_FLAGS\b[^\r\n]*--xla_force_host_platform_device_count=(?P<count>\d+)", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Written:
    """A directive as written: its ``verb``, each code with its columns, and the directive's own columns.

    ``line`` is that of the comment; ``alone`` is true when nothing else is on the line; ``reason`` is the
    text after the codes.
    """

    verb: str
    line: int
    column: int
    end_column: int
    codes: tuple[tuple[str, int, int], ...]
    bare: bool
    alone: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Suppression:
    """The scope of a directive: ``codes`` are codes, their prefixes, or names; if empty, everything is
    ignored.

    ``first`` and ``last`` are the lines it applies to, both None for the whole file; ``but`` are ranges
    inside it where an ``enable`` restores one of its codes. A suppression of a ``statement`` covers findings
    that begin or end on that line, or whose statement does; that of a block covers findings that begin in it.
    """

    first: int | None
    last: int | None
    codes: tuple[str, ...]
    written: Written
    statement: bool = True
    but: tuple[tuple[int, int, str], ...] = ()

    def covering(self, code: str, name: str, lines: Iterable[int]) -> str | None:
        """Return the selector that ignores a rule's finding on one of these lines (``""``: all), or None."""
        for line in lines:
            if self.first is not None and self.last is not None and not self.first <= line <= self.last:
                continue
            if any(a <= line <= b and (not s or matches(code, name, [s])) for a, b, s in self.but):
                continue
            if not self.codes:
                return ""
            if (found := next((s for s in self.codes if matches(code, name, [s])), None)) is not None:
                return found
        return None


def matches(code: str, name: str, selectors: Iterable[str]) -> bool:
    """Return whether a selector matches a rule: its code, a prefix of it, its name, or ``ALL``."""
    return any(s == "ALL" or s == name or code.startswith(s.upper()) for s in selectors if s)


@lru_cache(maxsize=64)
def directives(text: str) -> tuple[Written, ...]:
    """Return the directives of a cell, as written."""
    if "shardlint:" not in text:
        return ()
    return tuple(written for comment in comments(text) for written in _directives(comment))


def _directives(comment: Comment) -> Iterator[Written]:
    for match in _DIRECTIVE.finditer(comment.text):
        codes = []
        at = match.start("codes")
        for part in (match["codes"] or "").split(",") if match["codes"] is not None else ():
            if code := part.strip():
                start = comment.column + at + len(part) - len(part.lstrip())
                codes.append((code, start, start + len(code)))
            at += len(part) + 1
        end = comment.column + match.start() + len(match[0].rstrip())
        alone = comment.alone and match.start() == 0
        yield Written(
            match["verb"], comment.line, comment.column + match.start(), end, tuple(codes),
            match["codes"] is None, alone, match["rest"].strip(),
        )  # fmt: skip


@lru_cache(maxsize=64)
def suppressions(text: str) -> tuple[Suppression, ...]:
    """Return the suppressions of a cell; cached, since each finding asks for those of its file."""
    found = []
    written = directives(text)
    if not written:
        return ()
    lines = statements(text)
    for position, directive in enumerate(written):
        codes = tuple(code for code, _, _ in directive.codes)
        if not codes and not directive.bare:
            continue  # `ignore[]` ignores nothing
        if directive.verb == "ignore-file":
            found.append(Suppression(None, None, codes, directive))
        elif directive.verb == "disable" and directive.alone:
            found.append(_block(lines, directive, codes, written[position + 1 :]))
        elif directive.verb in ("ignore", "disable"):
            line = next_code_line(text, directive.line) if directive.alone else directive.line
            found.append(Suppression(line, line, codes, directive))
    return tuple(found)


class Scopes(NamedTuple):
    """The suppressions of a cell: those of one statement by their line, and all others."""

    of_lines: Mapping[int, Sequence[Suppression]]
    wide: Sequence[Suppression]

    def at(self, lines: Iterable[int]) -> Iterator[Suppression]:
        """Yield those that may cover a finding on these lines, which include its statements' ends."""
        yield from self.wide
        for line in lines:
            yield from self.of_lines.get(line, ())


@lru_cache(maxsize=64)
def scopes(text: str) -> Scopes:
    """Return the suppressions of a cell by the lines that they are about."""
    of_lines: dict[int, list[Suppression]] = {}
    wide = []
    for one in suppressions(text):
        if one.statement and one.first is not None and one.first == one.last:
            of_lines.setdefault(one.first, []).append(one)
        else:
            wide.append(one)
    return Scopes(of_lines, wide)


def _block(
    lines: Statements, directive: Written, codes: tuple[str, ...], following: Iterable[Written]
) -> Suppression:
    """Return the scope of a ``disable``: to the end of its block, less what an ``enable`` restores."""
    last = lines.block_end(directive.line, directive.column - 1)
    but: list[tuple[int, int, str]] = []
    for other in following:
        if other.verb != "enable" or not other.alone or not directive.line < other.line <= last:
            continue
        end = lines.block_end(other.line, other.column - 1)
        taken = tuple(code for code, _, _ in other.codes)
        if other.bare and other.column <= directive.column:
            last = other.line
            break
        but += [(other.line, min(end, last), code) for code in taken or ("",)]
    return Suppression(directive.line, last, codes, directive, False, tuple(but))


def device_count(text: str) -> int | None:
    """Return the number of devices that a comment (or a notebook's ``%env XLA_FLAGS``) states."""
    if "shardlint:" in text:
        for comment in comments(text):
            if match := _DEVICES.match(comment.text):
                return int(match["count"])
    match = _DEVICES_MAGIC.search(text) if "XLA_FLAGS" in text else None
    return int(match["count"]) if match else None
