"""The part of Python's lexical structure that can be read without parsing: strings and comments."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shardlint.support.lazy_dataclass import dataclass

#: The text after the first character of a comment or string.
_REST = r"""
    (?<=\#) (?P<comment>[^\r\n]*)
    | (?<=") (?: "" (?: [^"\\]++ | \\. | "(?!"") )*+ (?: \"{3} | \Z | \\\Z )
               | (?!"") (?: [^"\\\r\n]++ | \\(?:\r\n|.) )*+ (?: " | (?=[\r\n]) | \Z | \\\Z ) )
    | (?<=') (?: '' (?: [^'\\]++ | \\. | '(?!'') )*+ (?: '{3} | \Z | \\\Z )
               | (?!'') (?: [^'\\\r\n]++ | \\(?:\r\n|.) )*+ (?: ' | (?=[\r\n]) | \Z | \\\Z ) )
"""
#: A comment, or a string literal without its prefix. An unterminated string ends with its line (or with the
#: text, in triple quotes), so that a scan of broken text continues as an editor's would. Group ``comment`` is
#: set for comments only, to the text after the ``#``. The pattern begins with a set of characters, for which
#: `re` can search directly: four times as fast.
STRING_OR_COMMENT = re.compile(rf"""[\#"'] (?: {_REST} )""", re.VERBOSE | re.DOTALL)

_DOCSTRING = r"""
    (?: [ \t]*(?:\#[^\n]*)?\r?\n )*+ [ \t]*[rRuU]?
    (?: \"{3} (?: [^"\\]++ | \\. | "(?!"") )*+ \"{3} | '{3} (?: [^'\\]++ | \\. | '(?!'') )*+ '{3} )
"""
_MODULE_DOCSTRING = re.compile(_DOCSTRING, re.VERBOSE | re.DOTALL)
#: A comment, or a docstring with the colon before it; other strings match without a group. A text in triple
#: quotes on a line of its own after a colon may also be a value in a dict, which contains no code either.
_PROSE = re.compile(
    rf"""
    [:\#"'] (?: (?<=:) (?P<docstring> [ \t]*(?:\#[^\n]*)?\r?\n {_DOCSTRING} ) | {_REST} )
    """,
    STRING_OR_COMMENT.flags,
)

#: Python's line ends; `str.splitlines` recognizes more.
NEWLINE = re.compile(r"\r\n|\r|\n")
#: For texts that are all ASCII, as most are, and for others: such character sets are faster to search.
_WORD = {ascii: re.compile(r"[^\W\d]\w*+", re.ASCII if ascii else 0) for ascii in (True, False)}


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment with its ``#``; ``alone`` is true when only blanks precede it on its line."""

    line: int
    column: int
    text: str
    alone: bool


def split_lines(text: str) -> list[str]:
    """Split text into lines as Python counts them, without their ends."""
    return NEWLINE.split(text)


def lines_of(text: str) -> list[str]:
    """Return the lines of a text, as `str.splitlines` does, but only those that Python counts.

    A form feed or a line separator within a line ends none.
    """
    lines = NEWLINE.split(text)
    return lines if lines[-1] else lines[:-1]


def comments(text: str) -> Iterator[Comment]:
    """Yield the comments of a text in order; a ``#`` inside a string does not begin one."""
    line, line_start, seen = 1, 0, 0
    for match in STRING_OR_COMMENT.finditer(text):
        if match["comment"] is None:
            continue
        for newline in NEWLINE.finditer(text, seen, match.start()):
            line, line_start = line + 1, newline.end()
        seen = match.start()
        before = text[line_start : match.start()]
        yield Comment(line, len(before) + 1, match[0], not before.strip())


def words_in(text: str) -> list[str]:
    """Return all words that may be names or keywords, in order, including those in strings and comments."""
    return _WORD[text.isascii()].findall(text)


def without_prose(text: str) -> str:
    """Return the text without docstrings and comments."""
    if "#" not in text and '"""' not in text and "'''" not in text:
        return text
    first = _MODULE_DOCSTRING.match(text)
    return _PROSE.sub(_code, text) if first is None else f":{_PROSE.sub(_code, text[first.end() :])}"


#: The replacements for groups.
_LEFT = {"docstring": ":", "comment": ""}


def _code(match: re.Match[str]) -> str:
    """Return the replacement for a string, a comment, or a docstring with the colon before it."""
    kind = match.lastgroup
    return match[0] if kind is None else _LEFT[kind]


def next_code_line(text: str, line: int) -> int:
    """Return the next line that is neither empty nor only a comment."""
    for number, content in enumerate(split_lines(text)[line:], line + 1):
        if content.strip() and not content.lstrip().startswith("#"):
            return number
    return line
