"""Names of `jax.sharding` in a program: what they are called there, or how to import them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from shardlint.files.pages import Page, parsed
from shardlint.files.sources import Source
from shardlint.findings import Edit
from shardlint.records import dataclass
from shardlint.spans import Span

_MODULES = ("jax", "jax.sharding")


class CannotImport(Exception):
    """There is no good place for the import, or its name is taken."""


@dataclass(frozen=True, slots=True)
class Needed:
    """What a program calls a name, and the edits after which it does."""

    name: str
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True)
class Names:
    """The names that a page's file has at its top; in a notebook those of the cells up to the page's."""

    source: Source
    page: Page

    def spec(self) -> Needed:
        """`PartitionSpec`, which most call P. Raises CannotImport."""
        return self.of("PartitionSpec", "P")

    def of(self, name: str, short: str | None = None) -> Needed:
        """A name of `jax.sharding`, imported as ``short`` where it has to be. Raises CannotImport."""
        imports = list(self._imports())
        for statement in imports:
            for alias in statement.names:
                if isinstance(statement, ast.ImportFrom):
                    known = {name, short} if statement.module == "jax" else {name}
                    if statement.module in _MODULES and alias.name in known and statement.level == 0:
                        return self._free(alias.asname or alias.name)
                    if statement.module == "jax" and alias.name == "sharding":
                        return self._free(alias.asname or "sharding", f".{name}")
                elif alias.name == "jax.sharding" and alias.asname is not None:
                    return self._free(alias.asname, f".{name}")
        for statement in imports:
            if isinstance(statement, ast.ImportFrom) and statement.module == "jax.sharding":
                return self._imported(statement, name, short)
        if any(
            alias.name.split(".")[0] == "jax" and alias.asname is None
            for statement in imports
            if isinstance(statement, ast.Import)
            for alias in statement.names
        ):
            return self._free("jax", f".sharding.{name}")
        raise CannotImport

    def _imports(self) -> Iterator[ast.Import | ast.ImportFrom]:
        for tree in self._trees():
            yield from (s for s in tree.body if isinstance(s, ast.Import | ast.ImportFrom))

    def _trees(self) -> Iterator[ast.Module]:
        for cell in self.source.cells:
            if cell.index is None or self.page.cell is None or cell.index <= self.page.cell:
                yield parsed(cell.text)[0]

    def _free(self, bound: str, rest: str = "") -> Needed:
        """A name that is imported, if nothing else in the file is called so."""
        if self._taken(bound):
            raise CannotImport
        return Needed(bound + rest)

    def _taken(self, name: str) -> bool:
        """Whether anything but an import at the top binds a name."""
        for tree in self._trees():
            for node in ast.walk(tree):
                if isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load):
                    return True
                if isinstance(node, ast.arg) and node.arg == name:
                    return True
                if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
                    return True
        return False

    def _imported(self, statement: ast.ImportFrom, name: str, short: str | None) -> Needed:
        """Import a name on a line of its own behind a statement that imports from the same module."""
        if not any(node is statement for node in self.page.tree.body):
            raise CannotImport  # in another cell, which may not have been run again
        bound = next(
            (b for b in (short, name) if b and not self._taken(b) and not self._is_imported(b)), None
        )
        at = self.page.span_of(statement)
        before, after = (
            self.page.lines[at.line - 1][: at.column - 1],
            self.page.lines[at.end_line - 1][at.end_column - 1 :],
        )
        if bound is None or before.strip() or ";" in after.partition("#")[0]:
            raise CannotImport
        end = len(self.page.lines[at.end_line - 1]) + 1
        place = Span(at.path, at.end_line, end, at.end_line, end, at.cell)
        line = f"\nfrom jax.sharding import {name}" + (f" as {bound}" if bound != name else "")
        return Needed(bound, (Edit(place, line),))

    def _is_imported(self, bound: str) -> bool:
        return any((alias.asname or alias.name) == bound for s in self._imports() for alias in s.names)
