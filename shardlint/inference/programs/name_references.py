"""Names of JAX that a release lacks or deprecates, wherever they stand in a text, reached or not.

Names are resolved as in Python: a variable counts as a name of JAX only if nothing but imports of that name
binds it in its scope. What a program guards is left out: by a test of a version or of ``hasattr(jax, …)``, or
by a ``try`` that catches what a missing name raises.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache

from shardlint.inference.domain.values import External
from shardlint.inference.overlays.registry import canonical
from shardlint.inference.syntax.file_parts import ClassPart, FunctionPart, Part, Statements, units_of
from shardlint.inference.syntax.name_scopes import Names, Scope, is_apart
from shardlint.inference.syntax.text_cache import bare, of_texts
from shardlint.laws.core.verdicts import Accepted, Rejected, Undecided
from shardlint.laws.versions import Release, state_of, turns
from shardlint.laws.versions.equivalents import EQUIVALENT
from shardlint.laws.versions.queries import subjects
from shardlint.model.spans import Span
from shardlint.model.uses import ApiReference, Environment, FileProblem, Use
from shardlint.source.lexing import lines_of, words_in
from shardlint.source.sources import Source
from shardlint.support.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Mention:
    """A name or an argument of JAX at a place of a text; ``at`` is its line, column, last line and end."""

    name: str
    cell: int
    at: tuple[int, int, int, int]


def references_in(
    source: Source,
    release: Release,
    known: Iterable[Use | FileProblem],
    is_set: Callable[[str], bool],
    parts: Sequence[Part] = (),
) -> tuple[list[ApiReference], set[Release]]:
    """Return the references in a source that its evaluation did not judge, and the releases that may change
    them.

    ``known`` are the uses that were recorded; ``is_set`` tells whether the program sets a library's name.
    ``parts`` are those of the text, if it is known that they cover it.
    """
    judged: dict[str, list[Span]] = {}
    for use in known:
        if isinstance(use, ApiReference) and isinstance(use.verdict, Accepted | Rejected):
            judged.setdefault(use.name, []).append(use.place.resolve())
    found: list[ApiReference] = []
    asked: set[Release] = set()
    for mention in mentions(tuple(cell.text for cell in source.cells), parts):
        state = state_of(mention.name, release)
        if state is None or is_set(mention.name):
            continue
        asked |= turns(mention.name)
        place = Span(source.path, *mention.at, source.cells[mention.cell].index)
        if (state.there and not state.deprecated) or any(
            _overlap(place, other) for other in judged.get(mention.name, ())
        ):
            continue
        verdict = Accepted() if state.there else Undecided("it is not certain that this runs")
        use = ApiReference(place=place, environment=Environment(), verdict=verdict, name=mention.name)
        found.append(replace(use, release=release, reached=False))
    return found, asked


def _overlap(one: Span, other: Span) -> bool:
    """Return whether two places of a file share text."""
    first, second = sorted((one, other), key=Span.order)
    ends = (first.end_line, first.end_column)
    return (first.path, first.cell) == (second.path, second.cell) and (second.line, second.column) < ends


@cache
def _changing() -> frozenset[str]:
    """Return the last words of names and arguments that some release lacks or deprecates."""
    return frozenset(name.rstrip("=()").rpartition("(")[2].rpartition(".")[2] for name in subjects())


@cache
def _listed_names() -> frozenset[str]:
    return frozenset(subjects())


def may_refer(data: bytes) -> bool:
    """Return whether the bytes of a file may mention a name of JAX that some release lacks or deprecates."""
    return b"jax" in data and not _changing().isdisjoint(words_in(data.decode("latin-1")))


@of_texts
def _mentions_in(text: str, *others: str) -> tuple[Mention, ...]:
    texts = (text, *others)
    trees: list[ast.Module | None] = []
    for text in texts:
        try:
            trees.append(ast.parse(text))
        except (SyntaxError, ValueError, RecursionError):
            trees.append(None)
    found: list[Mention] = []
    try:
        names = Names([tree for tree in trees if tree is not None])
        for number, tree in enumerate(trees):
            if tree is not None:
                lines = lines_of(texts[number])
                found += (Mention(name, number, _positions(node, lines)) for name, node in _told(names, tree))
    except RecursionError:
        return ()
    return tuple(found)


def mentions(texts: Sequence[str], parts: Sequence[Part] = ()) -> Sequence[Mention]:
    """Return the mentions in the cells of a file, guarded ones left out; ``parts`` are those of its text."""
    if not any("jax" in text for text in texts):
        return ()
    if _changing().isdisjoint(word for text in texts for word in words_in(text)):
        return ()
    found = _mentions_by_parts(parts) if parts and len(texts) == 1 else None
    return sorted(_mentions_in(*texts) if found is None else found, key=lambda one: (one.cell, one.at))


# -- part by part ---------------------------------------------------------------------------------------

#: What a module binds: each name with the full names that imports give it.
_Bound = frozenset[tuple[str, frozenset[str | None]]]


def _mentions_by_parts(parts: Sequence[Part]) -> Sequence[Mention] | None:
    """Return the mentions in a text; most functions are looked at by themselves, and only when they change.

    None if the text is not read as it is written, or a part of it only by a newer Python.
    """
    if any(unit.moved for unit in units_of(parts)):
        return None
    telling: frozenset[str] = frozenset()
    libraries: frozenset[str] = frozenset()
    former: list[str] | None = None
    while True:
        apart: dict[int, FunctionPart] = {}
        lines: list[str] = []
        _add_lines(parts, lambda text: _is_apart(text, telling, libraries), lines, apart)  # noqa: B023
        if lines == former:
            break
        try:
            tree = ast.parse("\n".join(lines))
            names = Names([tree])
            found = [Mention(name, 0, _positions(node, lines)) for name, node in _told(names, tree)]
        except (SyntaxError, ValueError, RecursionError):
            return None
        bound = frozenset((name, frozenset(targets)) for name, targets in names.module.targets.items())
        jax = {name for name, targets in bound if any(one and one.startswith("jax") for one in targets)}
        telling, libraries, former = telling | names.telling, libraries | jax, lines
    for line, part in apart.items():
        if line in names.functions:
            try:
                inside = _mentions_apart(part.whole.glance, part.whole.indented, bound)
            except (SyntaxError, ValueError, RecursionError):
                return None
            found += [
                replace(one, at=(one.at[0] + line - 1, one.at[1], one.at[2] + line - 1, one.at[3]))
                for one in inside
            ]
    return found


def _add_lines(
    parts: Sequence[Part],
    is_apart: Callable[[str], bool],
    lines: list[str],
    apart: dict[int, FunctionPart],
) -> None:
    """Add the lines of parts; of functions that are apart, only that they are defined.

    Those are added to ``apart``, by their first lines.
    """
    for part in parts:
        if isinstance(part, ClassPart):
            _add(lines_of(part.header.glance)[:-1], part.header.first_line, lines)
            _add_lines(part.body, is_apart, lines, apart)
        elif isinstance(part, Statements):
            _add(lines_of(part.unit.glance), part.unit.first_line, lines)
        else:
            unit = part.whole
            text = unit.glance
            if is_apart(text):
                apart[unit.first_line] = part
                indent = text[: len(text) - len(text.lstrip(" \t"))]
                _add([f"{indent}def {part.name}(): pass"], unit.first_line, lines)
            else:
                _add(lines_of(text), unit.first_line, lines)


def _add(text: Sequence[str], first: int, lines: list[str]) -> None:
    lines.extend([""] * (first - 1 - len(lines)))
    lines.extend(text)


@of_texts
def _is_apart(text: str, telling: frozenset[str], libraries: frozenset[str]) -> bool:
    return is_apart(bare(text), telling, libraries)


@of_texts
def _mentions_apart(text: str, indented: bool, bound: _Bound) -> Sequence[Mention]:
    """Return the mentions in a function by itself, with lines in its own text, from 1."""
    if _changing().isdisjoint(words_in(text)):
        return ()
    module = Scope()
    module.targets = {name: set(targets) for name, targets in bound}
    whole = f"if 1:\n{text}" if indented else text
    tree = ast.parse(whole)
    if indented:
        # Else it is not at the top of a module.
        tree.body = tree.body[0].body  # type: ignore[attr-defined]
    names, lines = Names.inside(tree, module), lines_of(whole)
    found = []
    for name, node in _told(names, tree):
        first, start, last, end = _positions(node, lines)
        found.append(Mention(name, 0, (first - indented, start, last - indented, end)))
    return found


def _told(names: Names, tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """Yield the listed names and arguments in a tree, each with the node that is to blame."""
    held: set[ast.AST] = set()
    listed = _listed_names()
    for node, scope in names.references(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from _imports(node, listed)
        elif isinstance(node, ast.Attribute):
            # Of a chain, the outermost attribute is the one that nothing holds: it comes first.
            held.add(node.value)
            if node not in held and isinstance(node.ctx, ast.Load):
                yield from _first(node, names.full_name(node, scope), listed)
        elif isinstance(node, ast.Call):
            yield from _arguments(node, names, scope, listed)


def _imports(node: ast.Import | ast.ImportFrom, listed: frozenset[str]) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node, ast.Import):
        found = [(alias.name, alias) for alias in node.names]
    else:
        found = [(f"{node.module}.{a.name}", a) for a in node.names if node.module and not node.level]
    for name, alias in found:
        if known := _listed(name, listed):
            yield known, alias


def _listed(name: str, listed: frozenset[str]) -> str:
    """Return a name, or the module above it, that is listed; else ""."""
    parts = name.split(".")
    if parts[0] != "jax":
        return ""
    return next((one for size in range(len(parts), 1, -1) if (one := ".".join(parts[:size])) in listed), "")


def _first(node: ast.Attribute, full: str, listed: frozenset[str]) -> Iterator[tuple[str, ast.AST]]:
    """Yield the shortest listed name in a chain of attributes that its imports do not name already."""
    chain: list[tuple[str, ast.AST]] = []
    inner: ast.AST = node
    while isinstance(inner, ast.Attribute):
        chain.append((full, inner))
        inner, full = inner.value, full.rpartition(".")[0]
    if full and not _listed(full, listed):
        yield from [one for one in reversed(chain) if one[0] in listed][:1]


def _arguments(
    node: ast.Call, names: Names, scope: Scope, listed: frozenset[str]
) -> Iterator[tuple[str, ast.AST]]:
    function = names.full_name(node.func, scope)
    if function == "functools.partial" and node.args:
        function = names.full_name(node.args[0], scope)
    if not function.startswith("jax."):
        return
    holder, _, last = function.rpartition(".")
    function = f"{EQUIVALENT.get(holder, holder)}.{last}"
    option = _text(node.args[0]) if function == "jax.config.update" and node.args else ""
    if f"jax.config.{option}" in listed:
        yield f"jax.config.{option}", node.args[0]
    value = canonical(function)
    called = value.name if isinstance(value, External) else function
    for keyword in node.keywords:
        if (name := f"{called}({keyword.arg}=)") in listed:
            yield name, keyword.value


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _positions(node: ast.AST, lines: Sequence[str]) -> tuple[int, int, int, int]:
    """Return a node's place, with columns in code points from 1."""

    def column(line: int, offset: int) -> int:
        text = lines[line - 1]
        return offset + 1 if text.isascii() else len(text.encode()[:offset].decode(errors="ignore")) + 1

    first, last = node.lineno, node.end_lineno  # type: ignore[attr-defined]
    return first, column(first, node.col_offset), last, column(last, node.end_col_offset)  # type: ignore[attr-defined]
