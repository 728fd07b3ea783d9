"""The symbols of a file: the meshes it builds with their axes, and the axes that its transforms bind.

A mesh is named by what its call is assigned to. What is not evaluated is no symbol.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from shardlint.ide.axis_index import Axis, AxisIndex
from shardlint.laws.core.values import Mesh
from shardlint.model.spans import Span
from shardlint.model.uses import MeshUse, Use, ValueUse
from shardlint.source.sources import Source
from shardlint.support.lazy_dataclass import dataclass

#: What stands between a name and the call whose value it is bound to, and the other way around.
_ASSIGNS = re.compile(r"\s*(?::[^=]*)?=\s*\(?\s*")
_AS = re.compile(r"\s+as\s+")


@dataclass(frozen=True, slots=True)
class Symbol:
    """A mesh (with its axes as ``children``) or an axis: its name, what is known of it, and its place.

    ``span`` is all that defines it, ``name_span`` what to select.
    """

    name: str
    detail: str
    is_mesh: bool
    span: Span
    name_span: Span
    children: tuple[Symbol, ...] = ()


def outline(source: Source, uses: Sequence[Use], axes: AxisIndex) -> list[Symbol]:
    """Return the symbols that a file defines, in reading order."""
    meshes = list(_meshes(source, uses))
    inside: list[list[Symbol]] = [[] for _ in meshes]
    alone: list[Symbol] = []
    for span, axis in _defined(source.path, axes):
        kind = "mapped axis" if axis.kind == "mapped axis" else "axis"
        symbol = Symbol(axis.name, f"{kind}{_size(axis)}", False, span, span)
        around = [children for mesh, children in zip(meshes, inside, strict=True) if span in mesh.span]
        (around[0] if around else alone).append(symbol)
    found = [
        replace(mesh, children=tuple(sorted(children, key=_order)))
        for mesh, children in zip(meshes, inside, strict=True)
    ]
    return sorted([*found, *alone], key=_order)


def _order(symbol: Symbol) -> tuple[str, int, int, int]:
    return symbol.span.order()


def _size(axis: Axis) -> str:
    return f" of size {axis.size}" if isinstance(axis.size, int) else ""


def _defined(path: str, axes: AxisIndex) -> Iterator[tuple[Span, Axis]]:
    """Yield the axes that are defined in a file, with the literals that name them there."""
    for axis in axes.in_file(path):
        for span in axis.definitions:
            if span.path == path:
                yield span, axis


def _meshes(source: Source, uses: Iterable[Use]) -> Iterator[Symbol]:
    """Yield the meshes that a file builds, each once."""
    built: dict[Span, MeshUse] = {}
    held: dict[Span, dict[Span, str]] = {}
    values: dict[Span, set[Mesh]] = {}
    for use in uses:
        if use.supposed:
            continue
        place = use.place.resolve()
        if isinstance(use, MeshUse) and isinstance(use.names, tuple) and place.path == source.path:
            built.setdefault(place, use)
        elif isinstance(use, ValueUse) and use.spec is None and isinstance(use.mesh, Mesh):
            for fact in use.facts:
                made = fact.place.resolve()
                values.setdefault(made, set()).add(use.mesh)
                held.setdefault(made, {})[place] = use.name
    lines = {cell.index: cell.text.split("\n") for cell in source.cells}
    for span, use in built.items():
        binds = partial(_binds, lines.get(span.cell, []), span)
        named = next(((place, name) for place, name in held.get(span, {}).items() if binds(place)), None)
        name_span = span if named is None else named[0]
        known = values.get(span, set())
        detail = str(next(iter(known))) if len(known) == 1 else _axes(use)
        name = use.function if named is None else named[1]
        yield Symbol(name, detail, True, _both(span, name_span), name_span)


def _binds(lines: Sequence[str], made: Span, name: Span) -> bool:
    """Return whether a call's value is assigned to a name, or bound by ``as``."""
    if (name.path, name.cell) != (made.path, made.cell):
        return False
    if (name.end_line, name.end_column) <= (made.line, made.column):
        return _ASSIGNS.fullmatch(_between(lines, name, made)) is not None
    return _AS.fullmatch(_between(lines, made, name)) is not None


def _between(lines: Sequence[str], one: Span, other: Span) -> str:
    if one.end_line != other.line or other.line > len(lines):
        return ""
    return lines[other.line - 1][one.end_column - 1 : other.column - 1]


def _both(one: Span, other: Span) -> Span:
    first, last = sorted((one, other), key=lambda span: span.order())
    return Span(one.path, first.line, first.column, last.end_line, last.end_column, one.cell)


def _axes(use: MeshUse) -> str:
    """Return the axes of a mesh of which no single value is known."""
    assert isinstance(use.names, tuple)
    sizes = use.shape if isinstance(use.shape, tuple) else ()
    if len(sizes) != len(use.names):
        return f"({', '.join(map(str, use.names))})"
    return f"({', '.join(f'{name}={size}' for name, size in zip(use.names, sizes, strict=True))})"
