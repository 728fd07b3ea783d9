"""The names of a file, and the intended names of unbound ones."""

from __future__ import annotations

import ast
import builtins
import re
from collections import defaultdict
from dataclasses import field

from shardlint.inference.syntax.typos.attributes import lacking, modules, root_of
from shardlint.inference.syntax.typos.corrected_text import RETURN, Meanings, ReadText, rewritten, wrapped
from shardlint.inference.syntax.typos.distance import near
from shardlint.inference.syntax.typos.scopes import (
    Path,
    Scope,
    bound,
    bound_in_classes,
    is_but_imported,
    scopes,
    table_of,
)
from shardlint.support.lazy_dataclass import dataclass

#: Statements that bind names unseen, or expect a name to be unbound.
_UNSEEN = (
    *("exec(", "globals(", "locals(", "vars(", "builtins", "__dict__", "f_globals", "NameError"),
    *("import *", "import_module(__name__", "sys.modules"),
)
#: Signs that an object may lack an attribute, and that a module may.
_LACKS, _ASKED = "AttributeError", "hasattr({}"
_GLOBAL = re.compile(r"(?:^|[;:])[ \t]*global[ \t]+(\w+(?:[ \t]*,[ \t]*\w+)*)", re.MULTILINE)
#: Names bound by tools that read or run a file.
_TOOLS = {"WindowsError", "display", "get_ipython", "reveal_locals", "reveal_type"}
_MODULE = {"__annotations__", "__class__", "__file__", "__path__"}
_BUILTINS = frozenset({*dir(builtins), *_TOOLS, *_MODULE})


@dataclass(frozen=True, slots=True)
class Names:
    """The names that a file binds at its top, and those in its classes, which functions do not see.

    ``modules`` are the modules of JAX that it imports, by their names in it. ``unbound`` are the names that
    its text reads and nothing binds, and the missing attributes of modules.
    """

    top: frozenset[str]
    of_classes: frozenset[str]
    modules: tuple[tuple[str, str], ...]
    unbound: frozenset[str] = field(default=frozenset(), compare=False)

    @staticmethod
    def of(text: str, tree: ast.Module, written: str | None = None) -> Names | None:
        """Return the names of a file; None if uncertain. ``written`` is the whole text, if a part is left
        out."""
        written = text if written is None else written
        if any(word in written for word in _UNSEEN):
            return None
        table = table_of(text)
        if table is None:
            return None
        declared = {name.strip() for names in _GLOBAL.findall(written) for name in names.split(",")}
        top, of_classes = frozenset(declared.union(bound(table))), frozenset(bound_in_classes(table))
        free = {name for scope in scopes(table) for name in scope.free}
        imported: tuple[tuple[str, str], ...] = ()
        if _LACKS not in written:
            imported = tuple(
                (name, module)
                for name, module in modules(tree)
                if name not in of_classes
                and is_but_imported(table, name)
                and _ASKED.format(name) not in written
            )
        unbound = frozenset({*free - top - of_classes - _BUILTINS, *lacking(imported, text)})
        return Names(top, of_classes, imported, unbound)

    @staticmethod
    def may_change(text: str) -> bool:
        """Return whether lines of a function's body may affect names bound outside of it."""
        return (
            any(word in text for word in (*_UNSEEN, _LACKS, _ASKED.format("")))
            or _GLOBAL.search(text) is not None
        )

    def concern(self, text: str) -> bool:
        """Return whether one of the unbound names occurs in a stretch of the file's lines."""
        return any(name in text for name in self.unbound)

    def meant(self, text: str, indented: bool) -> ReadText | None:
        """Return a stretch of lines as read; None if Python rejects its names."""
        table = table_of(wrapped(text, indented))
        if table is None:
            return None
        meanings: defaultdict[Path, list[Meanings]] = defaultdict(list)
        attributes = lacking(self.modules, text)
        for scope in scopes(table):
            meanings[scope.path].append(self._meanings(scope))
            attributes = {one: name for one, name in attributes.items() if root_of(one) not in scope.seen}
        # If two scopes begin on one line, they cannot be distinguished, and have to agree.
        agreed = {
            path: dict({*found[0].items()}.intersection(*(one.items() for one in found[1:])))
            for path, found in meanings.items()
        }
        if not attributes and not any(agreed.values()):
            return ReadText(text)
        try:
            return rewritten(text, indented, agreed, attributes)
        except RecursionError:
            return ReadText(text)

    def _meanings(self, scope: Scope) -> Meanings:
        """Return the intended name of each unbound name in a scope, if a single visible one is similar."""
        found = {}
        for name in scope.free - self.top - self.of_classes - _BUILTINS:
            others = near(name, self.top | scope.seen.keys()) or near(name, _BUILTINS)
            if scope.is_function and not others:
                others = near(name, {RETURN})
            if len(others) == 1:
                (other,) = others
                found[name] = other, scope.seen.get(other)
        return found
