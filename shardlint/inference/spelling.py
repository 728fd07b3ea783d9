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
from collections.abc import Iterable, Iterator
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
        meanings: defaultdict[_Path, list[dict[str, str]]] = defaultdict(list)
        for scope in _scopes(table):
            meanings[scope.path].append(self._meanings(scope))
        # Where two scopes begin on one line, nobody tells which is which: they have to agree.
        agreed = {
            path: {*found[0].items()}.intersection(*(one.items() for one in found[1:]))
            for path, found in meanings.items()
        }
        return _rewritten(text, indented, {path: dict(found) for path, found in agreed.items() if found})

    def _meanings(self, scope: _Scope) -> dict[str, str]:
        """The unbound names that a scope reads, if one name alone is near that it sees: that is meant."""
        found = {}
        for name in scope.free - self.top - self.of_classes - _BUILTINS:
            near = _near(name, scope.seen | self.top) or _near(name, _BUILTINS)
            if len(near) == 1:
                found[name] = near.pop()
        return found


def _near(name: str, names: frozenset[str]) -> set[str]:
    """The names that are a letter more or less."""
    longer = (other for other in names if len(other) == len(name) + 1 and name in _shortened(other))
    return (_shortened(name) & names) | set(longer)


def _shortened(name: str) -> set[str]:
    return {name[:at] + name[at + 1 :] for at in range(len(name))}


#: The names of the scopes around a place, and the lines where these begin.
_Path = tuple[tuple[str, int], ...]


class _Scope(NamedTuple):
    """A block: what it reads that nothing around it binds, and what it sees of the functions around it."""

    path: _Path
    free: frozenset[str]
    seen: frozenset[str]


def _scopes(
    table: symtable.SymbolTable, path: _Path = (), seen: frozenset[str] = frozenset()
) -> Iterator[_Scope]:
    if isinstance(table, symtable.Function):
        free = frozenset(table.get_globals())
        seen |= frozenset(table.get_locals())
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


def _rewritten(text: str, indented: bool, meanings: dict[_Path, dict[str, str]]) -> Meant:
    """A text with other names where these are read."""
    if not meanings:
        return Meant(text)
    lines, moved = text.splitlines(keepends=True), list[Moved]()
    shift: defaultdict[int, int] = defaultdict(int)
    reads = _reads(ast.parse(_wrapped(text, indented)), ())
    places = sorted((one.lineno - 1 - indented, one.col_offset, one.id, path) for path, one in reads)
    for number, column, name, path in places:
        meaning = meanings.get(path, {}).get(name)
        if meaning is None:
            continue
        line, start = lines[number].encode(), column + shift[number]
        before, behind = line[:start].decode(), line[start + len(name.encode()) :].decode()
        lines[number] = f"{before}{meaning}{behind}"
        shift[number] += len(meaning.encode()) - len(name.encode())
        moved.append(Moved(number, len(before) + len(meaning), len(name) - len(meaning)))
    return Meant("".join(lines), tuple(moved))


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = {
    ast.ListComp: "listcomp",
    ast.SetComp: "setcomp",
    ast.DictComp: "dictcomp",
    ast.GeneratorExp: "genexpr",
}


def _reads(node: Any, path: _Path) -> Iterator[tuple[_Path, ast.Name]]:
    """The names that a tree reads, and in which scopes; annotations may be of names that nothing binds."""
    if isinstance(node, list):
        for one in node:
            yield from _reads(one, path)
    elif isinstance(node, ast.Name):
        yield path, node
    elif isinstance(node, _FUNCTIONS):
        yield from _reads([node.decorator_list, node.args.defaults, node.args.kw_defaults], path)
        yield from _reads(node.body, (*path, (node.name, node.lineno)))
    elif isinstance(node, ast.Lambda):
        yield from _reads([node.args.defaults, node.args.kw_defaults], path)
        yield from _reads(node.body, (*path, ("lambda", node.lineno)))
    elif isinstance(node, ast.ClassDef):
        yield from _reads([node.decorator_list, node.bases, node.keywords], path)
        yield from _reads(node.body, (*path, (node.name, node.lineno)))
    elif (name := _COMPREHENSIONS.get(type(node))) is not None:
        first, *others = node.generators
        inside = [first.target, first.ifs, *others, *(getattr(node, part, None) for part in _ITEM)]
        yield from _reads(first.iter, path)
        yield from _reads(inside, (*path, (name, node.lineno)))
    elif isinstance(node, ast.AnnAssign):
        yield from _reads([node.target, node.value], path)
    # Until Python 3.12 nobody tells where a name in an f-string stands.
    elif isinstance(node, ast.AST) and not isinstance(node, ast.JoinedStr):
        yield from _reads([value for _, value in ast.iter_fields(node)], path)


#: What a comprehension makes of each turn.
_ITEM = ("key", "value", "elt")
