"""Calls of functions and methods that a project itself defines, though a sharding API has their name."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import PurePath

from shardlint.source.api_sites import last_name
from shardlint.source.sources import Source
from shardlint.support.lazy_dataclass import dataclass

#: A call by its file and cell, its first and last line, and its name.
Call = tuple[str, int | None, int, int, str]


def own_calls(sources: Iterable[Source]) -> set[Call]:
    """Return the calls of the project's own functions and methods.

    Functions are found by their name in the same file, or in one that is imported, also through a package;
    methods by the name of a method of any class, on what is no module.
    """
    texts: dict[tuple[str, int | None], ast.Module] = {}
    for source in sources:
        for cell in source.cells:
            try:
                texts[source.path, cell.index] = ast.parse(cell.text)
            except (SyntaxError, ValueError, RecursionError):
                continue
    project = _Project(texts)
    found: set[Call] = set()
    for (path, index), tree in texts.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and project.is_own(path, node.func):
                name = last_name(node.func)
                found.add((path, index, node.lineno, node.end_lineno or node.lineno, name))
    return found


@dataclass(frozen=True, slots=True)
class _Import:
    """The target of a name: a file, None outside the project; or a ``member`` of it.

    A ``package`` is bound for the modules in it, which are reached by their full names.
    """

    file: str | None
    member: str | None = None
    package: bool = False


class _Project:
    """The functions, methods and imports of a project's files; a notebook's cells are one file."""

    def __init__(self, texts: dict[tuple[str, int | None], ast.Module]) -> None:
        self._files = {path: f"/{PurePath(path).as_posix()}" for path, _ in texts}
        self._functions: dict[str, set[str]] = {path: set() for path in self._files}
        self._methods: set[str] = set()
        for (path, _), tree in texts.items():
            self._functions[path] |= {one.name for one in tree.body if isinstance(one, ast.FunctionDef)}
            classes = (one for one in ast.walk(tree) if isinstance(one, ast.ClassDef))
            self._methods |= {
                one.name for cls in classes for one in cls.body if isinstance(one, ast.FunctionDef)
            }
        self._known: dict[str, str | None] = {}
        self._stars: dict[str, list[str]] = {path: [] for path in self._files}
        self._imports: dict[str, dict[str, _Import]] = {path: {} for path in self._files}
        for (path, _), tree in texts.items():
            for node in ast.walk(tree):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    self._bind(path, node)

    def is_own(self, path: str, called: ast.expr) -> bool:
        """Return whether an expression that is called in a file is a function or a method of the project."""
        if isinstance(called, ast.Name):
            return self._exports(path, called.id)
        if not isinstance(called, ast.Attribute):
            return False
        root: ast.expr = called.value
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name) or root.id not in self._imports[path]:
            return called.attr in self._methods
        bound, names = self._imports[path][root.id], ast.unparse(called.value).split(".")
        if bound.member is not None:
            return bound.file is not None and called.attr in self._methods
        file = self._file_of(".".join(names)) if bound.package else bound.file if len(names) == 1 else None
        return file is not None and self._exports(file, called.attr)

    def _bind(self, path: str, node: ast.Import | ast.ImportFrom) -> None:
        """Record what an import binds."""
        bound = self._imports[path]
        if isinstance(node, ast.Import):
            for one in node.names:
                root = one.name.partition(".")[0]
                package = one.asname is None and root != one.name
                bound[one.asname or root] = _Import(self._file_of(one.name), package=package)
            return
        module = node.module or ""
        parts = self._files[path].split("/")[:-1]
        around = "/".join(parts[: len(parts) - node.level + 1]) if node.level else None
        within = self._file_of(module, around)
        for one in node.names:
            inner = self._file_of(f"{module}.{one.name}".lstrip("."), around)
            if one.name == "*":
                self._stars[path] += [] if within is None else [within]
            elif inner is not None:
                bound[one.asname or one.name] = _Import(inner)
            else:
                bound[one.asname or one.name] = _Import(within, one.name)

    def _exports(self, path: str, name: str, seen: frozenset[str] = frozenset()) -> bool:
        """Return whether a name in a file is a function of the project, defined there or where it is from."""
        if name in self._functions[path]:
            return True
        if path in seen:
            return False
        seen |= {path}
        bound = self._imports[path].get(name)
        if bound is not None:
            known = bound.file is not None and bound.member is not None
            return known and self._exports(str(bound.file), str(bound.member), seen)
        return any(self._exports(star, name, seen) for star in self._stars[path])

    def _file_of(self, dotted: str, around: str | None = None) -> str | None:
        """Return the one file of a module, from a folder or from anywhere."""
        tail = "/".join(["", *dotted.split(".")] if dotted else [""])
        key = f"{around}:{tail}"
        if key not in self._known:
            ends = (f"{tail}.py", f"{tail}/__init__.py") if dotted else ("/__init__.py",)
            if around is None:
                fits = [path for path, file in self._files.items() if file.endswith(ends)]
            else:
                whole = {around + end for end in ends}
                fits = [path for path, file in self._files.items() if file in whole]
            self._known[key] = fits[0] if len(fits) == 1 else None
        return self._known[key]
