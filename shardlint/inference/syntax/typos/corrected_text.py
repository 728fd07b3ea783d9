"""Texts with other names where these are meant."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from shardlint.inference.syntax.typos.attributes import dotted
from shardlint.inference.syntax.typos.scopes import Path

#: Names that are meant by others, and the scope of a function that binds them.
Meanings = Mapping[str, tuple[str, Path | None]]
#: What is meant by a name that begins a statement, where something in parentheses follows.
RETURN = "return"


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


def wrapped(text: str, indented: bool) -> str:
    """Lines as Python can read them."""
    return f"if 1:\n{text}" if indented else text


class _Change(NamedTuple):
    """A name, and what is meant: its line from 1, and its column in bytes."""

    line: int
    column: int
    name: str
    meaning: str


def rewritten(
    text: str, indented: bool, meanings: Mapping[Path, Meanings], attributes: Mapping[str, str]
) -> Meant:
    """A text with other names, and attributes of modules, where these are meant."""
    tree = ast.parse(wrapped(text, indented))
    nodes = list(_names(tree, ()))
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
            # Python reads some letters as others.
            return Meant(text)
        before, behind = line[:start].decode(), line[start + len(name) :].decode()
        lines[number] = f"{before}{one.meaning}{behind}"
        shift[number] += len(one.meaning.encode()) - len(name)
        moved.append(Moved(number, len(before) + len(one.meaning), len(one.name) - len(one.meaning)))
    return Meant("".join(lines), tuple(moved))


def _change(node: ast.Attribute, meaning: str) -> _Change:
    line, column = cast("tuple[int, int]", (node.end_lineno, node.end_col_offset))
    return _Change(line, column - len(node.attr.encode()), node.attr, meaning)


def _changes(
    text: str, names: Sequence[tuple[Path, ast.Name]], meanings: Mapping[Path, Meanings]
) -> Iterator[_Change]:
    """What is written otherwise than it is meant, of the names of a text."""
    reads: defaultdict[tuple[str, Path | None], list[ast.Name]] = defaultdict(list)
    for path, node in names:
        if (meant := meanings.get(path, {}).get(node.id)) is not None:
            reads[meant].append(node)
    for (name, at), nodes in reads.items():
        bound = [node for path, node in names if path == at and node.id == name]
        read, alike = nodes[0].id, all(node.id == nodes[0].id for node in nodes)
        # What is bound is misspelt, if nobody reads it, and it is rarer than what is read.
        if alike and _is_rarer(text, name, read) and _only(text, name, bound):
            nodes, name = bound, read
        yield from (_Change(node.lineno, node.col_offset, node.id, name) for node in nodes)


def _called_first(tree: ast.Module) -> Iterator[ast.Name]:
    """The names that begin a statement, and are but called in it: ``name(…)``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            call = node.value
            plain = not call.keywords and not any(isinstance(one, ast.Starred) for one in call.args)
            if isinstance(call.func, ast.Name) and plain:
                yield call.func


def _is_rarer(text: str, name: str, other: str) -> bool:
    """Whether a name is written less often in a text than another, or else the word that the other lacks."""
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
    """How often a text holds each of two, alone or as a part of names; one may be a part of the other."""
    shorter, longer = sorted((one, other), key=len)
    count = {longer: text.count(longer), shorter: text.replace(longer, " ").count(shorter)}
    return count[one], count[other]


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


def _names(node: Any, path: Path) -> Iterator[tuple[Path, ast.Name | ast.Attribute]]:
    """The names and attributes of a tree, and in which scopes; none of annotations, which may not be run."""
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
    # Until Python 3.12 nobody tells where a name in an f-string stands.
    elif isinstance(node, ast.AST) and not isinstance(node, ast.JoinedStr):
        yield from _names([value for _, value in ast.iter_fields(node)], path)


#: What a comprehension makes of each turn.
_ITEM = ("key", "value", "elt")
