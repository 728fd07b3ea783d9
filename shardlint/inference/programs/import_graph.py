"""The modules that a program may import, found in its text before it runs."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from shardlint.inference.syntax.file_parts import split, whole_units
from shardlint.source.sources import Source, read_source
from shardlint.source.workspace import file_access

if TYPE_CHECKING:
    from shardlint.inference.machine.module_run import ModuleRun

#: Finds the file of a module by the path of the importing file and the module's dotted name.
Locate = Callable[[Path, str], Path | None]

#: The files that a file imports, by path, stamp and the project's roots; and the file reads made.
_imports: dict[Hashable, tuple[tuple[Path, ...], file_access.FileAccesses]] = {}
_MOST = 20_000


def forget() -> None:
    """Clear the cached imports: files may have been added or removed."""
    _imports.clear()


def planned(
    source: Source, locate: Locate, roots: Hashable, known: Mapping[Path, ModuleRun]
) -> frozenset[Path]:
    """Return the modules that a program imports on any path, and what these import in turn.

    ``locate`` finds their files, also under ``roots``. ``known`` are modules that have run, with their
    imports; others are read.
    """
    found: set[Path] = set()
    waiting = list(_located(source, locate))
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        if path in known:
            found.update(known[path].within)
        else:
            waiting += _imported_by(path, locate, roots)
    return frozenset(found)


def _imported_by(path: Path, locate: Locate, roots: Hashable) -> tuple[Path, ...]:
    """Return the files that a file imports, cached across programs."""
    key = (path, file_access.stamp(str(path)), roots)
    kept = _imports.get(key)
    if kept is None:
        if len(_imports) >= _MOST:
            _imports.clear()
        with file_access.recording() as looked:
            kept = _imports[key] = (tuple(_located(read_source(str(path)), locate)), looked)
    file_access.include(kept[1])
    return kept[0]


def _located(source: Source, locate: Locate) -> Iterator[Path]:
    """Yield the files that a source imports; a name imported from a package may be one of its modules."""
    here = Path(source.path)
    for node in _import_statements(source):
        if isinstance(node, ast.Import):
            yield from filter(None, (locate(here, alias.name) for alias in node.names))
            continue
        module = "." * node.level + (node.module or "")
        path = locate(here, module)
        if path is not None:
            yield path
        if path is None or path.name == "__init__.py":
            start = module if module.endswith(".") else f"{module}."
            yield from filter(None, (locate(here, start + alias.name) for alias in node.names))


def _import_statements(source: Source) -> Iterator[ast.Import | ast.ImportFrom]:
    # The caller will mostly run the module, and split it then.
    parts = (split(source.path, cell.index, cell.text).parts for cell in source.cells)
    for unit in (unit for found in parts for unit in whole_units(found) if "import" in unit.text):
        try:
            waiting: list[ast.AST] = [ast.parse(f"if 1:\n{unit.text}" if unit.indented else unit.text)]
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            continue
        while waiting:
            node = waiting.pop()
            if isinstance(node, ast.Import | ast.ImportFrom):
                yield node
            elif not isinstance(node, ast.expr):
                # Expressions contain no statements.
                waiting.extend(ast.iter_child_nodes(node))
