"""Corrected texts: misspelt names replaced by the intended ones."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from shardlint.inference.syntax.typos.attributes import dotted
from shardlint.inference.syntax.typos.scopes import Path

#: Intended names by misspelt name, with the scope of the function that binds them.
Meanings = Mapping[str, tuple[str, Path | None]]
#: The intended word for a name at the start of a statement that is followed by parentheses.
RETURN = "return"


class Moved(NamedTuple):
    """A replaced name: its line in the unit, from 0, the column of its end as read, from 0, and the number of
    letters by which the written name is longer."""

    line: int
    end: int
    by: int


class ReadText(NamedTuple):
    """A text as read, and its replaced names in order."""

    text: str
    moved: tuple[Moved, ...] = ()


def written_at(moved: Iterable[Moved], line: int, column: int) -> int:
    """Return the column in the written text of a column in the text as read."""
    return column + sum(one.by for one in moved if one.line == line and one.end <= column)


def wrapped(text: str, indented: bool) -> str:
    """Return lines in a form that Python can parse."""
    return f"if 1:\n{text}" if indented else text


class _Change(NamedTuple):
    """A name and the intended one: its line from 1, and its column in bytes."""

    line: int
    column: int
    name: str
    meaning: str


def rewritten(
    text: str, indented: bool, meanings: Mapping[Path, Meanings], attributes: Mapping[str, str]
) -> ReadText:
    """Return a text with misspelt names and module attributes replaced."""
    tree = ast.parse(wrapped(text, indented))
    nodes = [(_scope(path, meanings), node) for path, node in _names(tree, ())]
    first = set(map(id, _called_first(tree)))
    names = [
        (path, node)
        for path, node in nodes
        if isinstance(node, ast.Name)
        and (id(node) in first or meanings.get(path, {}).get(node.id, ("",))[0] != RETURN)
    ]
    misspelt = [node for _, node in nodes if isinstance(node, ast.Attribute) and dotted(node) in attributes]
    changes = [
        *_changes(text, names, meanings),
        *(_change(node, attributes[dotted(node)]) for node in misspelt),
    ]
    lines, moved = text.splitlines(keepends=True), list[Moved]()
    shift: defaultdict[int, int] = defaultdict(int)
    for one in sorted(changes):
        number, name = one.line - 1 - indented, one.name.encode()
        line, start = lines[number].encode(), one.column + shift[number]
        if not line.startswith(name, start):
            # Python normalises some letters.
            return ReadText(text)
        before, behind = line[:start].decode(), line[start + len(name) :].decode()
        lines[number] = f"{before}{one.meaning}{behind}"
        shift[number] += len(one.meaning.encode()) - len(name)
        moved.append(Moved(number, len(before) + len(one.meaning), len(one.name) - len(one.meaning)))
    return ReadText("".join(lines), tuple(moved))


def _scope(path: Path, meanings: Mapping[Path, Meanings]) -> Path:
    """Return the scope of a place: since Python 3.12 most comprehensions belong to what is around them."""
    while path not in meanings and path and path[-1][0] in _COMPREHENSIONS.values():
        path = path[:-1]
    return path


def _change(node: ast.Attribute, meaning: str) -> _Change:
    line, column = cast("tuple[int, int]", (node.end_lineno, node.end_col_offset))
    return _Change(line, column - len(node.attr.encode()), node.attr, meaning)


def _changes(
    text: str, names: Sequence[tuple[Path, ast.Name]], meanings: Mapping[Path, Meanings]
) -> Iterator[_Change]:
    """Return the replacements for the names of a text."""
    reads: defaultdict[tuple[str, Path | None], list[ast.Name]] = defaultdict(list)
    for path, node in names:
        if (corrected := meanings.get(path, {}).get(node.id)) is not None:
            reads[corrected].append(node)
    for (name, at), nodes in reads.items():
        bound = [node for path, node in names if path == at and node.id == name]
        read, alike = nodes[0].id, all(node.id == nodes[0].id for node in nodes)
        # A bound name is misspelt if it is never read, and rarer than the name read.
        if alike and _is_rarer(text, name, read) and _only(text, name, bound):
            nodes, name = bound, read
        yield from (_Change(node.lineno, node.col_offset, node.id, name) for node in nodes)


def _called_first(tree: ast.Module) -> Iterator[ast.Name]:
    """Yield the names that begin a statement and are only called in it: ``name(…)``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            call = node.value
            plain = not call.keywords and not any(isinstance(one, ast.Starred) for one in call.args)
            if isinstance(call.func, ast.Name) and plain:
                yield call.func


def _is_rarer(text: str, name: str, other: str) -> bool:
    """Return whether a name is rarer in a text than another, or else than the word that the other lacks."""
    own, others = _counts(text, name, other)
    if own != others:
        return own < others
    words, other_words = {*name.split("_")}, {*other.split("_")}
    own_word, other_word = words - other_words, other_words - words
    if len(own_word) != 1 or len(other_word) != 1:
        return False
    own, others = _counts(text, own_word.pop(), other_word.pop())
    return own < others


def _counts(text: str, one: str, other: str) -> tuple[int, int]:
    """Return how often a text contains each of two names, alone or inside names; one may contain the
    other."""
    shorter, longer = sorted((one, other), key=len)
    count = {longer: text.count(longer), shorter: text.replace(longer, " ").count(shorter)}
    return count[one], count[other]


def _only(text: str, name: str, bound: Sequence[ast.Name]) -> bool:
    """Return whether a name is bound at these places and occurs nowhere else in a text."""
    binds = all(isinstance(node.ctx, ast.Store) for node in bound)
    return bool(bound) and binds and len(re.findall(rf"\b{name}\b", text)) == len(bound)


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = {
    ast.ListComp: "listcomp",
    ast.SetComp: "setcomp",
    ast.DictComp: "dictcomp",
    ast.GeneratorExp: "genexpr",
}


def _names(node: Any, path: Path) -> Iterator[tuple[Path, ast.Name | ast.Attribute]]:
    """Yield the names and attributes of a tree with their scopes; annotations may not run, and are left
    out."""
    if isinstance(node, list):
        for one in node:
            yield from _names(one, path)
    elif isinstance(node, ast.Name):
        yield path, node
    elif isinstance(node, ast.Attribute):
        yield path, node
        yield from _names(node.value, path)
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
    # Before Python 3.12, the positions of names in an f-string are unknown.
    elif isinstance(node, ast.AST) and not isinstance(node, ast.JoinedStr):
        yield from _names([value for _, value in ast.iter_fields(node)], path)


#: The fields of a comprehension that compute its items.
_ITEM = ("key", "value", "elt")
