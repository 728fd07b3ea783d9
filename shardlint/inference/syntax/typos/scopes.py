"""Scopes of a text, from Python's own `symtable`."""

from __future__ import annotations

import symtable
import warnings
from collections.abc import Iterator
from typing import NamedTuple

#: The names of the scopes around a place, and the lines where they begin.
Path = tuple[tuple[str, int], ...]


class Scope(NamedTuple):
    """A block: the names that it reads unbound, and those that enclosing functions bind, with their
    scopes."""

    path: Path
    free: frozenset[str]
    seen: dict[str, Path]
    is_function: bool


def scopes(
    table: symtable.SymbolTable, path: Path = (), seen: dict[str, Path] | None = None
) -> Iterator[Scope]:
    """Yield the scope of a table and those inside it; ``path`` leads to it, and ``seen`` is bound around
    it."""
    seen = seen or {}
    is_function = isinstance(table, symtable.Function)
    if isinstance(table, symtable.Function):
        free = frozenset(table.get_globals())
        seen = seen | dict.fromkeys(table.get_locals(), path)
    else:
        free = frozenset(one.get_name() for one in table.get_symbols() if one.is_global())
        free -= frozenset(bound(table))
    yield Scope(path, free, seen, is_function)
    for inner in table.get_children():
        yield from scopes(inner, (*path, (inner.get_name().strip("<>"), inner.get_lineno())), seen)


def is_but_imported(table: symtable.SymbolTable, name: str) -> bool:
    """Return whether a name is bound in a block by imports only."""
    symbol = table.lookup(name)
    return symbol.is_imported() and not symbol.is_assigned()


def bound(table: symtable.SymbolTable) -> Iterator[str]:
    """Yield the names that a block binds."""
    return (one.get_name() for one in table.get_symbols() if one.is_local())


def bound_in_classes(table: symtable.SymbolTable) -> Iterator[str]:
    """Yield the names bound by the classes in a block, except inside functions."""
    for inner in table.get_children():
        if inner.get_type() == "class":
            yield from bound(inner)
            yield from bound_in_classes(inner)


def table_of(text: str) -> symtable.SymbolTable | None:
    """Return the symbol table of a text; None if Python rejects it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return symtable.symtable(text, "<text>", "exec")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
