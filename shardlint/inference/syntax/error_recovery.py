"""Error recovery: files are read around functions with syntax errors, as during typing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from shardlint.support.lazy_dataclass import dataclass

#: The most broken functions of a file.
_MOST = 3
#: The most lines of a signature.
_LONGEST = 60

_DEF = re.compile(r"[ \t]*(?:async[ \t]+)?def[ \t]")
_BLANK = re.compile(r"[ \t]*(?:#.*)?[\r\n]*")
#: A line that only closes brackets of the lines above may have any indentation.
_CLOSING = re.compile(r"[ \t]*[)\]}]")
#: The line that Python's message refers to: "expected an indented block after ... on line 3".
_ABOUT = re.compile(r"on line (\d+)")


@dataclass(frozen=True, slots=True)
class Mended:
    """A text without the bodies of some functions, and its tree; ``bodies`` are their first lines, 1-based.

    Everything else keeps its position.
    """

    text: str
    tree: ast.Module
    bodies: tuple[int, ...]


def mended(lines: Sequence[str], error: SyntaxError) -> Mended | None:
    """Return lines with errors inside functions as a text without those bodies; None for other errors."""
    mending, bodies = list(lines), set[int]()
    while len(bodies) < _MOST:
        found = (_function_around(mending, line - 1) for line in _suspects(error, len(lines)))
        function = next((one for one in found if one is not None and one.body not in bodies), None)
        if function is None:
            return None
        bodies.add(function.body)
        empty = f"{_indent(lines[function.start])} pass\n"
        mending[function.body : function.stop] = [empty] * (function.stop - function.body)
        text = "".join(mending)
        try:
            return Mended(text, ast.parse(text), tuple(body + 1 for body in bodies))
        except SyntaxError as another:
            error = another
        except (ValueError, MemoryError, RecursionError):
            break
    return None


def _suspects(error: SyntaxError, last: int) -> Iterator[int]:
    """Yield the lines, 1-based, that may have caused the error."""
    if (match := _ABOUT.search(error.msg)) is not None:
        yield int(match[1])
    yield min(error.lineno or 1, last)


@dataclass(frozen=True, slots=True)
class _Function:
    """The first line of a function, that of its body, and the line after it, 0-based."""

    start: int
    body: int
    stop: int


def _function_around(lines: list[str], at: int) -> _Function | None:
    """Return the outermost function around a line."""
    found = None
    for start in range(at, -1, -1):
        if _DEF.match(lines[start]) and (stop := _end(lines, start)) > at:
            found = start, stop
        if lines[start][:1] not in " \t\r\n#)]}":
            break
    if found is None:
        return None
    start, stop = found
    ends = range(start + 1, min(start + _LONGEST, stop))
    body = next((end for end in ends if _is_signature(lines[start:end])), None)
    return None if body is None else _Function(start, body, stop)


def _end(lines: list[str], start: int) -> int:
    """Return the line after a block; trailing blank lines belong to it only if it is empty otherwise."""
    depth, end = len(_indent(lines[start])), start + 1
    for at in range(start + 1, len(lines)):
        line = lines[at]
        if _BLANK.fullmatch(line):
            continue
        if len(_indent(line)) <= depth and not _CLOSING.match(line):
            break
        end = at + 1
    if end == start + 1 and end < len(lines) and not lines[end].strip():
        return end + 1
    return end


def _is_signature(lines: list[str]) -> bool:
    """Return whether lines are a complete signature."""
    indent = _indent(lines[0])
    text = "".join(line.removeprefix(indent) for line in lines)
    try:
        ast.parse(f"{text} pass\n")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return True


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]
