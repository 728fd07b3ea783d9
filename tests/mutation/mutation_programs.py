"""Programs to break: Python files, notebooks, and the code blocks of Markdown pages, as units that run."""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from shardlint.api import read_source, source_from_cells, source_from_text
from shardlint.confirm.fixtures.runner import Unit, blanked, units_of
from shardlint.source import Source

SUFFIXES = (".py", ".ipynb", ".md")
_FENCE = re.compile(r"^(?P<fence>```+)\s*(?P<language>\S*)[^\n]*\n(?P<body>.*?)^(?P=fence)\s*$", re.M | re.S)
_PYTHON = ("python", "py", "{code-cell}", "py3", "ipython3")
_DIRECTIVES = re.compile(r"\A(?:---\n.*?^---\n|(?::[^\n]*\n)+\n?)", re.M | re.S)


@dataclass(frozen=True, slots=True)
class Program:
    """A program's text by cell; a Python file has one, with the index -1.

    ``units`` and ``statements`` are those of `shardlint.confirm.fixtures.runner.units_of`.
    """

    path: str
    cells: tuple[tuple[int, str], ...]

    @property
    def is_notebook(self) -> bool:
        """Whether its units are cells, run in order (else a top level and its cases)."""
        return not self.path.endswith(".py")

    def source(self) -> Source:
        """The program as the analyzer reads it."""
        if self.is_notebook:
            return source_from_cells(self.path, self.cells)
        return source_from_text(self.path, self.cells[0][1])

    def sources(self) -> list[tuple[int, str, str]]:
        """The program as it is run: index, name in tracebacks, and text without magics."""
        if not self.is_notebook:
            return [(-1, self.path, self.cells[0][1])]
        return [(index, f"{self.path}[{index}]", blanked(text)) for index, text in self.cells]

    def layout(self) -> tuple[list[Unit], list[list[int]]]:
        """Its units, and where the statements at top level stand (cell, first and last line)."""
        return units_of(self.sources(), self.is_notebook)

    def edited(self, cell: int, start: int, end: int, text: str) -> Program:
        """The program with the characters from ``start`` to ``end`` of a cell replaced."""
        cells = ((i, t[:start] + text + t[end:] if i == cell else t) for i, t in self.cells)
        return replace(self, cells=tuple(cells))


def read_program(path: Path) -> Program:
    """Read a file. Raises OSError, and ValueError for what is no program."""
    if path.suffix == ".md":
        return Program(str(path), tuple(enumerate(code_blocks(path.read_text(encoding="utf-8")))))
    if read_source(str(path)).problems:
        raise ValueError(f"{path} cannot be read")
    if path.suffix == ".py":
        return Program(str(path), ((-1, path.read_text(encoding="utf-8")),))
    # The text as written: magics are blanked for those who read it, and keep their lines.
    written = read_source(str(path)).cells
    return Program(str(path), tuple((c.index if c.index is not None else -1, c.written) for c in written))


def code_blocks(page: str) -> Iterator[str]:
    """The Python blocks of a page that parse, in order; of an interactive session, what was typed."""
    for block in _FENCE.finditer(page):
        body = _DIRECTIVES.sub("", block["body"])
        if block["language"] not in _PYTHON:
            continue
        if re.match(r"\s*>>> ", body):
            typed = [line[4:] for line in body.splitlines() if line.startswith((">>> ", "... "))]
            body = "\n".join(typed) + "\n"
        with contextlib.suppress(SyntaxError, ValueError):
            ast.parse(blanked(body))
            yield body


def find_programs(folders: Iterable[Path]) -> Iterator[Path]:
    """Files and the programs under folders. A ``buggy`` twin is left out, and what is imported beside one."""
    for folder in folders:
        if folder.is_file():
            yield folder
            continue
        found = sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES)
        paired = {path.parent for path in found if path.stem == "fixed"}
        yield from (path for path in found if path.parent not in paired or path.stem == "fixed")


def holding(units: list[Unit], cell: int | None, line: int) -> Unit | None:
    """The smallest unit that a line stands in."""
    at = -1 if cell is None else cell
    found = [u for u in units if u["cell"] == at and u["line"] <= line <= u["end_line"]]
    return min(found, key=lambda unit: unit["end_line"] - unit["line"], default=None)
