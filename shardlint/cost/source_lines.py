"""From the frames that XLA keeps with an operation to the user's own line, and to the function compiled."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Sequence
from functools import cache

from shardlint.cost.hlo import Frame
from shardlint.cost.values import Place

_LIBRARY = re.compile(r"[/\\](?:site-packages|dist-packages|lib[/\\]python3\.\d+)[/\\]|^<|^$")
_CELL = re.compile(r"^(.*\.ipynb)\[(\d+)\]$")


class SourceLines:
    """Finds lines for a fixture at an absolute path, and tells them with paths as the user writes them.

    A frame is the user's unless its file is installed, is Python's own, or is no file; so the line of an
    operation inside of a library is the line that led there.
    """

    def __init__(self, fixture: str, shown: str) -> None:
        self._fixture, self._shown = fixture, shown

    def own(self, stack: Sequence[Frame]) -> list[Frame]:
        """Return the user's frames of a stack, outermost first: without those that run the fixture."""
        starts = [i for i, frame in enumerate(stack) if _file(frame)[0] == self._fixture]
        ours = [frame for frame in stack[starts[0] if starts else 0 :] if not _LIBRARY.search(frame.file)]
        while len(ours) > 1 and self._is_of_another_case(ours):
            ours.pop()
        return ours

    def _is_of_another_case(self, stack: Sequence[Frame]) -> bool:
        """Return whether a stack ends in a case that it did not pass: JAX keeps the frames of the first call
        for what `lax.scan` itself does.
        """
        case, nested, _ = stack[-1].function.partition(".")
        if not (nested and case.startswith("case_") and _file(stack[-1])[0] == self._fixture):
            return False
        return any(frame.function.startswith("case_") for frame in stack[:-1]) and not any(
            frame.function.partition(".")[0] == case for frame in stack[:-1]
        )

    def place(self, frame: Frame | None) -> Place | None:
        """Return the place of a frame."""
        if frame is None:
            return None
        file, cell = _file(frame)
        return Place(self._shown if file == self._fixture else _short(file), frame.line, cell)

    def case(self, stacks: Sequence[Sequence[Frame]]) -> str:
        """Return the part of the fixture that compiled a program: ``case_f``, ``cell 3`` or ``top level``."""
        for stack in stacks:
            ours = [frame for frame in stack if _file(frame)[0] == self._fixture]
            if ours and (cell := _file(ours[0])[1]) is not None:
                return f"cell {cell}"
            # A stack may begin inside of a function that JAX has traced.
            if ours and (case := ours[0].function.partition(".")[0]).startswith("case_"):
                return case
        return "top level"

    def definition(self, name: str, stacks: Sequence[Sequence[Frame]]) -> Place | None:
        """Return where the function with this name is defined that stacks of a program pass through."""
        for stack in stacks:
            for frame in reversed(stack):
                if frame.function.rpartition(".")[2] != name or _LIBRARY.search(frame.file):
                    continue
                file, cell = _file(frame)
                if (line := _defined(file, cell, name, frame.line)) is not None:
                    return self.place(Frame(frame.file, frame.function, line))
        return None


def common(stacks: Sequence[Sequence[Frame]]) -> list[Frame]:
    """Return the frames with which all stacks begin."""
    shared: list[Frame] = []
    for frames in zip(*stacks, strict=False):
        if len(set(frames)) > 1:
            break
        shared.append(frames[0])
    return shared


def _file(frame: Frame) -> tuple[str, int | None]:
    cell = _CELL.match(frame.file)
    return (cell[1], int(cell[2])) if cell else (frame.file, None)


def _short(path: str) -> str:
    """Return a path from the working directory, where it lies in it."""
    relative = os.path.relpath(path)
    return path if relative.startswith(os.pardir) else relative


def _defined(file: str, cell: int | None, name: str, line: int) -> int | None:
    """Return the line of the innermost function of a name around a line."""
    found = [
        node.lineno
        for node in _functions(file, cell)
        if node.lineno <= line <= (node.end_lineno or node.lineno)
        if name == ("<lambda>" if isinstance(node, ast.Lambda) else node.name)
    ]
    return max(found, default=None)


@cache
def _functions(file: str, cell: int | None) -> list[ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda]:
    try:
        with open(file, encoding="utf-8") as opened:
            text = opened.read()
        if cell is not None:
            import json

            text = "".join(json.loads(text)["cells"][cell]["source"])
        tree = ast.parse(text)
    except (OSError, ValueError, SyntaxError, LookupError):
        return []
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    ]
