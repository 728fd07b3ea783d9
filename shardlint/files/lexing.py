"""The little of Python's lexical structure that can be read without parsing: strings and comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

#: A comment, or a string literal without its prefix. An unterminated string ends with its line (or
#: with the text, in triple quotes), so that a scan of broken text goes on as an editor's would.
#: Group ``comment`` is set for comments only.
STRING_OR_COMMENT = re.compile(
    r"""
    (?P<comment>\#[^\r\n]*)
    | \"{3} (?: [^"\\] | \\. | "(?!"") )*+ (?: \"{3} | \Z | \\\Z )
    | '{3} (?: [^'\\] | \\. | '(?!'') )*+ (?: '{3} | \Z | \\\Z )
    | " (?: [^"\\\r\n] | \\(?:\r\n|.) )*+ (?: " | (?=[\r\n]) | \Z | \\\Z )
    | ' (?: [^'\\\r\n] | \\(?:\r\n|.) )*+ (?: ' | (?=[\r\n]) | \Z | \\\Z )
    """,
    re.VERBOSE | re.DOTALL,
)

#: A comment, or a docstring with what stands before it; other strings match without a group. A text in triple
#: quotes on a line of its own behind a colon may also be the value in a dict: what it says is no code either.
_PROSE = re.compile(
    rf"""
    (?P<docstring> (?: \A | :[ \t]*(?:\#[^\n]*)?\r?\n ) (?: [ \t]*(?:\#[^\n]*)?\r?\n )*+ [ \t]*[rRuU]?
        (?: \"{{3}} (?: [^"\\]++ | \\. | "(?!"") )*+ \"{{3}}
          | '{{3}} (?: [^'\\]++ | \\. | '(?!'') )*+ '{{3}} ) )
    | {STRING_OR_COMMENT.pattern}
    """,
    STRING_OR_COMMENT.flags,
)

#: Python's line ends; `str.splitlines` knows more, which Python does not.
NEWLINE = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment with its ``#``; ``alone`` when nothing but blanks stands before it on its line."""

    line: int
    column: int
    text: str
    alone: bool


def split_lines(text: str) -> list[str]:
    """Split text into lines as Python counts them, without their ends."""
    return NEWLINE.split(text)


def comments(text: str) -> Iterator[Comment]:
    """Yield the comments of a text in order; a ``#`` inside a string is none."""
    line, line_start, seen = 1, 0, 0
    for match in STRING_OR_COMMENT.finditer(text):
        if match["comment"] is None:
            continue
        for newline in NEWLINE.finditer(text, seen, match.start()):
            line, line_start = line + 1, newline.end()
        seen = match.start()
        before = text[line_start : match.start()]
        yield Comment(line, len(before) + 1, match["comment"], not before.strip())


def without_prose(text: str) -> str:
    """The text without docstrings and comments."""
    return _PROSE.sub(_code, text) if "#" in text or '"""' in text or "'''" in text else text


def _code(match: re.Match[str]) -> str:
    """What is left of a string, of a comment, or of a docstring and the colon before it."""
    return {"docstring": ":", "comment": ""}.get(match.lastgroup or "", match[0])


def next_code_line(text: str, line: int) -> int:
    """Return the next line that is neither empty nor only a comment."""
    for number, content in enumerate(split_lines(text)[line:], line + 1):
        if content.strip() and not content.lstrip().startswith("#"):
            return number
    return line
