"""Logical lines, read without parsing: the lines of each statement, and where a comment may end them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache

from shardlint.source.lexing import NEWLINE, STRING_OR_COMMENT, split_lines
from shardlint.support.lazy_dataclass import dataclass

_TOKEN = re.compile(
    rf"(?P<string>{STRING_OR_COMMENT.pattern})"
    r"|(?P<open>[(\[{]) | (?P<close>[)\]}]) | (?P<joined>\\(?:\r\n|\r|\n)) | (?P<newline>\r\n|\r|\n)",
    STRING_OR_COMMENT.flags,
)
_DEFINITION = re.compile(r"(?:async\s+)?(?:def|class)\s+(\w+)")


@dataclass(frozen=True, slots=True)
class Statements:
    """The logical lines of a text: simple statements, and the heads of compound ones.

    ``firsts`` are their first lines, in order; the lines ``closed`` end inside a string or with a backslash,
    where no comment is possible.
    """

    lines: Sequence[str]
    firsts: Sequence[int]
    closed: frozenset[int]

    def around(self, line: int) -> tuple[int, int]:
        """Return the first and the last line of the statement that contains a line."""
        index = max(0, bisect_right(self.firsts, line) - 1)
        following = self.firsts[index + 1] if index + 1 < len(self.firsts) else len(self.lines) + 1
        return self.firsts[index], max(following - 1, self.firsts[index])

    def indent(self, line: int) -> int:
        """Return the indentation of a line in characters."""
        text = self.lines[line - 1]
        return len(text) - len(text.lstrip())

    def block_end(self, line: int, indent: int) -> int:
        """Return the last line after ``line`` before a statement that is indented less."""
        for first in self.firsts[bisect_right(self.firsts, line) :]:
            content = self.lines[first - 1].strip()
            if content and not content.startswith("#") and self.indent(first) < indent:
                return first - 1
        return len(self.lines)

    def definition(self, line: int) -> str:
        """Return the dotted name of the functions and classes that contain a line, empty at module level."""
        names: list[str] = []
        at = bisect_right(self.firsts, line) - 1
        least: int | None = None
        for first in reversed(self.firsts[: at + 1]):
            content = self.lines[first - 1].strip()
            if not content or content.startswith("#"):
                continue
            indent = self.indent(first)
            if least is None or indent < least:
                least = indent
                if match := _DEFINITION.match(content):
                    names.append(match[1])
        return ".".join(reversed(names))


@lru_cache(maxsize=16)
def statements(text: str) -> Statements:
    """Read the logical lines of a text; unclosed brackets extend their statement to the end."""
    firsts, closed = [1], set[int]()
    line, depth = 1, 0
    for match in _TOKEN.finditer(text):
        if match["newline"]:
            line += 1
            if not depth:
                firsts.append(line)
        elif match["joined"]:
            closed.add(line)
            line += 1
        elif match["open"]:
            depth += 1
        elif match["close"]:
            depth = max(0, depth - 1)
        elif match["comment"] is None:
            inside = len(NEWLINE.findall(match[0]))
            closed.update(range(line, line + inside))
            line += inside
    return Statements(split_lines(text), firsts, frozenset(closed))
