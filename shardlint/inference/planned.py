"""What a program may import, as its text tells before it runs."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from shardlint.files.sources import Source, read_source

if TYPE_CHECKING:
    from shardlint.inference.project import ModuleRun

#: Finds the file of a module by the path of the file that imports it, and its dotted name.
Locate = Callable[[Path, str], Path | None]


def planned(source: Source, locate: Locate, known: Mapping[Path, ModuleRun]) -> frozenset[Path]:
    """The modules that a program imports on whatever path, and what these import in turn.

    ``known`` are modules that ran, which tell what they imported; others are read.
    """
    found: set[Path] = set()
    waiting = [(Path(source.path), source)]
    while waiting:
        here, text = waiting.pop()
        for path in filter(None, (locate(here, name) for name in _imported(text))):
            if path in found:
                continue
            found.add(path)
            if path in known:
                found.update(known[path].within)
            else:
                waiting.append((path, read_source(str(path))))
    return frozenset(found)


def _imported(source: Source) -> Iterator[str]:
    """The dotted names of modules that a text imports; what is imported from one may be one too."""
    for cell in source.cells:
        try:
            tree = ast.parse(cell.text)
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                yield from (name.name for name in node.names)
            elif isinstance(node, ast.ImportFrom):
                module = "." * node.level + (node.module or "")
                yield module
                yield from (f"{module}{'.' if node.module else ''}{name.name}" for name in node.names)
