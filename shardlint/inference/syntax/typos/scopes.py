"""The scopes of a text: what `symtable`, Python's own reading, says of names."""

from __future__ import annotations

import symtable
import warnings
from collections.abc import Iterator
from typing import NamedTuple

#: The names of the scopes around a place, and the lines where these begin.
Path = tuple[tuple[str, int], ...]


class Scope(NamedTuple):
    """A block: what it reads that nothing around it binds, and what functions around it bind, and which."""

    path: Path
    free: frozenset[str]
    seen: dict[str, Path]
    is_function: bool


def scopes(
    table: symtable.SymbolTable, path: Path = (), seen: dict[str, Path] | None = None
) -> Iterator[Scope]:
    """The scope of a table, and those in it; ``path`` leads to it, and ``seen`` is bound around it."""
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
    """Whether a name that a block binds is bound by imports alone."""
    symbol = table.lookup(name)
    return symbol.is_imported() and not symbol.is_assigned()


def bound(table: symtable.SymbolTable) -> Iterator[str]:
    """The names that a block binds."""
    return (one.get_name() for one in table.get_symbols() if one.is_local())


def bound_in_classes(table: symtable.SymbolTable) -> Iterator[str]:
    """The names that the classes in a block bind, those in functions left out."""
    for inner in table.get_children():
        if inner.get_type() == "class":
            yield from bound(inner)
            yield from bound_in_classes(inner)


def table_of(text: str) -> symtable.SymbolTable | None:
    """The names of a text, by its blocks; None if Python refuses it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return symtable.symtable(text, "<text>", "exec")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
