"""A linear scan for text that would crash or exhaust a parser; the scan itself does not recurse.

Measured with libcst 1.8 and CPython 3.11 (8 MiB stack): `libcst.parse_module` dies of SIGSEGV between 800 and
1,600 nested brackets and between 3,200 and 12,800 links of a chain (``a.b.c``, ``a + b``, ``not not a``,
``elif``), and raises RecursionError at 1,600 dots of an import. CPython itself accepts at most 200 nested
brackets, and fails to compile near 3,000 links, so the limits here reject no runnable program, except for
chains of unrealistic length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from shardlint.source.lexing import NEWLINE, STRING_OR_COMMENT
from shardlint.support.lazy_dataclass import dataclass

#: Nested brackets: CPython's own limit ("too many nested parentheses").
MAX_BRACKETS = 200
#: Links on the longest path from a statement down to a name; a bracket counts as three.
MAX_LINKS = 1000

_BRACKET_LINKS = 3
#: A line of at most this many characters cannot pass a limit by itself.
_SHORT = min(MAX_BRACKETS, MAX_LINKS // (_BRACKET_LINKS + 1))

#: One link deepens the tree by one: an operator, a dot, a prefix word, a loop of a comprehension.
_LINK = re.compile(r"[-+*/%@&|^~<>.]|\b(?:not|and|or|if|lambda|await|yield|for)\b")
#: Substrings of all links (`for` has an `or`), and strings, which count as one.
_LINKS = (*"-+*/%@&|^~<>.\"'", "not", "and", "or", "if", "lambda", "await", "yield")
_SCAN = re.compile(
    rf"(?P<string>{STRING_OR_COMMENT.pattern})"
    r"""
    | (?P<open>[(\[{]) | (?P<close>[)\]}]) | (?P<comma>,) | (?P<colon>:(?!=))
    | \\(?:\r\n|\r|\n)
    | (?P<end>\r\n|\r|\n|;)
    | (?P<run>[^()\[\]{},;:\r\n"'\#\\]+)
    """,
    STRING_OR_COMMENT.flags,
)
#: Line ends before a line that begins with a word or a decorator: at module level, and in classes.
_BLOCK, _METHOD = re.compile(r"\n(?=[^\W\d]|@)"), re.compile(r"\n(?= {4}(?:[^\W\d]|@))")
_CHAIN = re.compile(r"^([ \t]*)(if|elif)\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Danger:
    """Text that is nested too deeply, and the line where it passes the limit."""

    line: int
    message: str


@dataclass(slots=True)
class _Level:
    """An open bracket, or a statement: the depth of its current item, and the greatest depth so far."""

    links: int = 0
    inner: int = 0
    deepest: int = 0
    lambdas: int = 0

    def next_item(self) -> None:
        """Begin another item, unless the comma separates a lambda's parameters."""
        if not self.lambdas:
            self.deepest = max(self.deepest, self.links + self.inner)
            self.links = self.inner = 0


def find(text: str) -> Danger | None:
    """Return the first text that is nested too deeply to parse, or None."""
    waiting = [(text, 0)]
    while waiting:
        piece, offset = waiting.pop()
        if _may_be_deep(piece):
            position = _deep_expression(piece, waiting, offset)
            if position is not None:
                return _danger(text, offset + position, "an expression here is nested")
    if text.count("elif") >= MAX_LINKS and (position := _long_chain(text)) is not None:
        return _danger(text, position, "an if/elif chain here is")
    return None


def _danger(text: str, position: int, what: str) -> Danger:
    line = sum(1 for _ in NEWLINE.finditer(text, 0, position)) + 1
    return Danger(line, f"{what} too deep to be parsed safely; its cell or file is not checked")


def _may_be_deep(text: str) -> bool:
    """Return whether a statement may pass a limit: a cheap test that is false for most files."""
    if not _holds_enough(text):
        return False
    formatted = False

    def without(found: re.Match[str]) -> str:
        nonlocal formatted
        before = text[max(0, found.start() - 2) : found.start()].lower()
        formatted = formatted or ("f" in before and _holds_enough(found[0]))
        return "" if found["comment"] is not None else '"'

    bare = STRING_OR_COMMENT.sub(without, text)
    pieces = [bare]
    for cut in (_BLOCK, _METHOD):
        pieces = [one for piece in pieces for one in _blocks(piece, cut) if _holds_enough(one)]
    return formatted or any(any(map(_holds_enough, _stretches(one))) for one in pieces)


def _blocks(bare: str, cut: re.Pattern[str]) -> list[str]:
    """Return a text without strings and comments, cut between lines; whole if a statement may span a cut."""
    blocks = cut.split(bare)
    return blocks if all(map(_is_closed, blocks)) else [bare]


def _is_closed(block: str) -> bool:
    """Return whether all brackets are closed, and the last line is not continued."""
    pairs = all(block.count(opened) == block.count(closed) for opened, closed in ("()", "[]", "{}"))
    return pairs and not block.endswith(("\\", "\\\r"))


def _stretches(bare: str) -> Iterator[str]:
    """Yield whole lines, each with its continuation lines; only those long enough to matter.

    The text has no strings or comments. Text after an unmatched closing bracket is never parsed.
    """
    lines: list[str] = []
    depth = 0
    for line in NEWLINE.split(bare) if "\r" in bare else bare.split("\n"):
        lines.append(line)
        count = line.count
        if depth or "(" in line or "[" in line or "{" in line:
            opened, closed = count("(") + count("[") + count("{"), count(")") + count("]") + count("}")
            depth = max(0, depth + opened - closed)
        if depth == 0 and not line.endswith("\\"):
            if len(lines) > 1 or len(line) > _SHORT:
                yield "\n".join(lines)
            lines.clear()
    yield "\n".join(lines)


def _holds_enough(text: str) -> bool:
    """Return whether a text would pass a limit as a single statement, nested as deeply as possible."""
    if len(text) < _SHORT:
        return False
    opened = text.count("(") + text.count("[") + text.count("{")
    if opened >= MAX_BRACKETS:
        return True
    # No other character is more than one link.
    most = len(text) + opened * _BRACKET_LINKS
    return most > MAX_LINKS and sum(map(text.count, _LINKS)) + opened * (_BRACKET_LINKS + 1) > MAX_LINKS


def _deep_expression(text: str, waiting: list[tuple[str, int]], offset: int) -> int | None:
    """Return the offset where a limit is passed. Expressions in f-strings are added to ``waiting``."""
    level = _Level()
    stack = [level]
    for match in _SCAN.finditer(text):
        kind = match.lastgroup
        if kind == "run":
            links = _LINK.findall(match[0])
            level.links += len(links)
            level.lambdas += links.count("lambda")
        elif kind == "open":
            level = _Level()
            stack.append(level)
        elif kind == "close":
            if len(stack) > 1:
                level.lambdas = 0
                level.next_item()
                depth = level.deepest + _BRACKET_LINKS
                stack.pop()
                level = stack[-1]
                level.inner = max(level.inner, depth)
                level.links += 1
        elif kind == "comma":
            level.next_item()
        elif kind == "colon":
            level.lambdas = max(0, level.lambdas - 1)
        elif kind == "end":
            if len(stack) == 1:
                level = stack[0] = _Level()
        elif kind == "string" and match["comment"] is None:
            level.links += 1
            if "f" in text[max(0, match.start() - 2) : match.start()].lower():
                waiting.append((match[0].strip("\"'"), offset + match.start()))
        if len(stack) > MAX_BRACKETS or level.links + level.inner > MAX_LINKS:
            return match.start()
    return None


def _long_chain(text: str) -> int | None:
    """Return the offset where an ``elif`` passes the limit, counting enclosing chains."""
    chains: dict[int, int] = {}
    for match in _CHAIN.finditer(text):
        indent = len(match[1])
        for inner in [i for i in chains if i > indent]:
            del chains[inner]
        chains[indent] = 0 if match[2] == "if" else chains.get(indent, 0) + 1
        if sum(chains.values()) > MAX_LINKS:
            return match.start()
    return None
