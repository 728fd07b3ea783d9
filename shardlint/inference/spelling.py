"""What a misspelt name means: one that is bound nowhere is read as the one name that is a letter off.

Whoever types in a name has such a text most of the time. It cannot run, and what it would do with the name
spelt right is what one wants to know; so does Python's own ``NameError: ... Did you mean``. A name is read so
only where nothing can have bound it, and only if one name alone is a letter more or less.
"""

from __future__ import annotations

import ast
import builtins
import re
import symtable
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

#: What binds names unseen, or expects that one is not bound.
_UNSEEN = (
    *("exec(", "globals(", "locals(", "vars(", "builtins", "__dict__", "f_globals", "NameError"),
    *("import *", "import_module(__name__", "sys.modules"),
)
_GLOBAL = re.compile(r"(?:^|[;:])[ \t]*global[ \t]+(\w+(?:[ \t]*,[ \t]*\w+)*)", re.MULTILINE)
#: What tools bind that read or run a file.
_TOOLS = {"WindowsError", "display", "get_ipython", "reveal_locals", "reveal_type"}
_MODULE = {"__annotations__", "__class__", "__file__", "__path__"}
_BUILTINS = frozenset({*dir(builtins), *_TOOLS, *_MODULE})


class Moved(NamedTuple):
    """A name that is read as another: its line in the unit, from 0, the column where it ends as it is read,
    from 0, and how many letters more are written."""

    line: int
    end: int
    by: int


class Meant(NamedTuple):
    """A text as it is read, and where that is not as it is written, in order."""

    text: str
    moved: tuple[Moved, ...] = ()


def written_at(moved: Iterable[Moved], line: int, column: int) -> int:
    """The column where is written what is read at a place, by `Moved` of the text."""
    return column + sum(one.by for one in moved if one.line == line and one.end <= column)


@dataclass(frozen=True, slots=True)
class Names:
    """The names that a file binds at its top, and those that its classes do, which functions do not see.

    ``unbound`` are those that its text reads, and nothing binds.
    """

    top: frozenset[str]
    of_classes: frozenset[str]
    unbound: frozenset[str] = field(compare=False)

    @staticmethod
    def of(text: str, written: str | None = None) -> Names | None:
        """The names of a file; None if they are not sure. ``written`` is all of it, if some is left out."""
        written = text if written is None else written
        if any(word in written for word in _UNSEEN):
            return None
        table = _table(text)
        if table is None:
            return None
        declared = {name.strip() for names in _GLOBAL.findall(written) for name in names.split(",")}
        top, of_classes = frozenset(declared.union(_bound(table))), frozenset(_bound_in_classes(table))
        free = {name for scope in _scopes(table) for name in scope.free}
        return Names(top, of_classes, frozenset(free - top - of_classes - _BUILTINS))

    @staticmethod
    def may_change(text: str) -> bool:
        """Whether lines of a function's body may have a say in what is bound outside of it."""
        return any(word in text for word in _UNSEEN) or _GLOBAL.search(text) is not None

    def concern(self, text: str) -> bool:
        """Whether one of the unbound names is in a stretch of the file's lines."""
        return any(name in text for name in self.unbound)

    def meant(self, text: str, indented: bool) -> Meant | None:
        """A stretch of lines in the file as it is read; None if Python refuses its names."""
        table = _table(_wrapped(text, indented))
        if table is None:
            return None
        meanings: defaultdict[_Path, list[_Meanings]] = defaultdict(list)
        for scope in _scopes(table):
            meanings[scope.path].append(self._meanings(scope))
        # Where two scopes begin on one line, nobody tells which is which: they have to agree.
        agreed = {
            path: dict({*found[0].items()}.intersection(*(one.items() for one in found[1:])))
            for path, found in meanings.items()
        }
        if not any(agreed.values()):
            return Meant(text)
        try:
            return _rewritten(text, indented, agreed)
        except RecursionError:
            return Meant(text)

    def _meanings(self, scope: _Scope) -> _Meanings:
        """The unbound names that a scope reads, if one name alone is near that it sees: that is meant."""
        found = {}
        for name in scope.free - self.top - self.of_classes - _BUILTINS:
            near = _near(name, self.top | scope.seen.keys()) or _near(name, _BUILTINS)
            if len(near) == 1:
                (other,) = near
                found[name] = other, scope.seen.get(other)
        return found


def _near(name: str, names: frozenset[str]) -> set[str]:
    """The names that are a letter more or less."""
    longer = (other for other in names if len(other) == len(name) + 1 and name in _shortened(other))
    return (_shortened(name) & names) | set(longer)


def _shortened(name: str) -> set[str]:
    return {name[:at] + name[at + 1 :] for at in range(len(name))}


#: The names of the scopes around a place, and the lines where these begin.
_Path = tuple[tuple[str, int], ...]


#: Names that are meant by others, and the scope of a function that binds them.
_Meanings = dict[str, tuple[str, _Path | None]]


class _Scope(NamedTuple):
    """A block: what it reads that nothing around it binds, and what functions around it bind, and which."""

    path: _Path
    free: frozenset[str]
    seen: dict[str, _Path]


def _scopes(
    table: symtable.SymbolTable, path: _Path = (), seen: dict[str, _Path] | None = None
) -> Iterator[_Scope]:
    seen = seen or {}
    if isinstance(table, symtable.Function):
        free = frozenset(table.get_globals())
        seen = seen | dict.fromkeys(table.get_locals(), path)
    else:
        free = frozenset(one.get_name() for one in table.get_symbols() if one.is_global())
        free -= frozenset(_bound(table))
    yield _Scope(path, free, seen)
    for inner in table.get_children():
        yield from _scopes(inner, (*path, (inner.get_name().strip("<>"), inner.get_lineno())), seen)


def _bound(table: symtable.SymbolTable) -> Iterator[str]:
    return (one.get_name() for one in table.get_symbols() if one.is_local())


def _bound_in_classes(table: symtable.SymbolTable) -> Iterator[str]:
    for inner in table.get_children():
        if inner.get_type() == "class":
            yield from _bound(inner)
            yield from _bound_in_classes(inner)


def _table(text: str) -> symtable.SymbolTable | None:
    """The names of a text, by its blocks; None if Python refuses it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return symtable.symtable(text, "<text>", "exec")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _wrapped(text: str, indented: bool) -> str:
    return f"if 1:\n{text}" if indented else text


def _rewritten(text: str, indented: bool, meanings: dict[_Path, _Meanings]) -> Meant:
    """A text with other names where these are meant."""
    names = list(_names(ast.parse(_wrapped(text, indented)), ()))
    reads: defaultdict[tuple[str, _Path | None], list[ast.Name]] = defaultdict(list)
    for path, node in names:
        if (meant := meanings.get(path, {}).get(node.id)) is not None:
            reads[meant].append(node)
    changed = []
    for (name, at), nodes in reads.items():
        bound = [node for path, node in names if path == at and node.id == name]
        read, alike = nodes[0].id, all(node.id == nodes[0].id for node in nodes)
        # What is bound is misspelt, if nobody reads it, and it is written less often than what is read.
        if alike and _is_rarer(text, name, read) and _only(text, name, bound):
            nodes, name = bound, read
        changed += [(node.lineno - 1 - indented, node.col_offset, node.id, name) for node in nodes]
    lines, moved = text.splitlines(keepends=True), list[Moved]()
    shift: defaultdict[int, int] = defaultdict(int)
    for number, column, name, meaning in sorted(changed):
        line, start = lines[number].encode(), column + shift[number]
        if not line.startswith(name.encode(), start):
            # Python reads some letters as others.
            return Meant(text)
        before, behind = line[:start].decode(), line[start + len(name.encode()) :].decode()
        lines[number] = f"{before}{meaning}{behind}"
        shift[number] += len(meaning.encode()) - len(name.encode())
        moved.append(Moved(number, len(before) + len(meaning), len(name) - len(meaning)))
    return Meant("".join(lines), tuple(moved))


def _is_rarer(text: str, name: str, other: str) -> bool:
    """Whether a name is written less often in a text than another, alone or as a part of others."""
    shorter, longer = sorted((name, other), key=len)
    # The longer one may hold the other.
    count = {longer: text.count(longer), shorter: text.replace(longer, " ").count(shorter)}
    return count[name] < count[other]


def _only(text: str, name: str, bound: Sequence[ast.Name]) -> bool:
    """Whether a name is bound at these places, and stands nowhere else in a text."""
    binds = all(isinstance(node.ctx, ast.Store) for node in bound)
    return bool(bound) and binds and len(re.findall(rf"\b{name}\b", text)) == len(bound)


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = {
    ast.ListComp: "listcomp",
    ast.SetComp: "setcomp",
    ast.DictComp: "dictcomp",
    ast.GeneratorExp: "genexpr",
}


def _names(node: Any, path: _Path) -> Iterator[tuple[_Path, ast.Name]]:
    """The names of a tree, and in which scopes; none of annotations, whose names may be bound nowhere."""
    if isinstance(node, list):
        for one in node:
            yield from _names(one, path)
    elif isinstance(node, ast.Name):
        yield path, node
    elif isinstance(node, _FUNCTIONS):
        yield from _names([node.decorator_list, node.args.defaults, node.args.kw_defaults], path)
        yield from _names(node.body, (*path, (node.name, node.lineno)))
    elif isinstance(node, ast.Lambda):
        yield from _names([node.args.defaults, node.args.kw_defaults], path)
        yield from _names(node.body, (*path, ("lambda", node.lineno)))
    elif isinstance(node, ast.ClassDef):
        yield from _names([node.decorator_list, node.bases, node.keywords], path)
        yield from _names(node.body, (*path, (node.name, node.lineno)))
    elif (name := _COMPREHENSIONS.get(type(node))) is not None:
        first, *others = node.generators
        inside = [first.target, first.ifs, *others, *(getattr(node, part, None) for part in _ITEM)]
        yield from _names(first.iter, path)
        yield from _names(inside, (*path, (name, node.lineno)))
    elif isinstance(node, ast.AnnAssign):
        yield from _names([node.target, node.value], path)
    # Until Python 3.12 nobody tells where a name in an f-string stands.
    elif isinstance(node, ast.AST) and not isinstance(node, ast.JoinedStr):
        yield from _names([value for _, value in ast.iter_fields(node)], path)


#: What a comprehension makes of each turn.
_ITEM = ("key", "value", "elt")
