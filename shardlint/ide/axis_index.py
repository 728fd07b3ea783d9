"""The names of axes as symbols: which texts write one name, and the meshes and transforms it belongs to.

Only texts that the evaluator used as names count, never what merely looks like one. Two texts are one name
where a program lets them meet: a spec and the mesh it is judged on, a collective and what binds its axis, a
logical name and the rule for it, and whatever the program compares, or looks up by each other. Names that
only look alike, such as the axes of two meshes, stay apart.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import field
from enum import IntEnum

from shardlint.laws.core.dims import Dim
from shardlint.laws.core.values import Marker, Mesh, Spec
from shardlint.laws.core.verdicts import Rejected
from shardlint.model.spans import Span, Written
from shardlint.model.uses import (
    CollectiveUse,
    MeshUse,
    NameUse,
    OperationUse,
    ParameterUse,
    Placement,
    ShardingUse,
    SpecUse,
    Use,
    ValueUse,
)
from shardlint.support.lazy_dataclass import dataclass


class Role(IntEnum):
    """The role of a text for an axis; more informative roles come first."""

    MESH = 0
    BINDER = 1
    LOGICAL = 2
    SPEC = 3
    COLLECTIVE = 4
    OTHER = 5


_LITERAL = re.compile(r"[rRuU]?(\"\"\"|\'\'\'|\"|\')(.*)\1", re.DOTALL)
_MESH_AXIS, _OF_NO_MESH = "mesh axis", "axis of no known mesh"
KINDS = {
    Role.MESH: _MESH_AXIS,
    Role.BINDER: "mapped axis",
    Role.SPEC: _OF_NO_MESH,
    Role.COLLECTIVE: _OF_NO_MESH,
    Role.LOGICAL: "logical axis",
}


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A literal that writes the name of an axis, quotes included."""

    span: Span
    role: Role


@dataclass(frozen=True, slots=True)
class Axis:
    """One name, and all its known occurrences, in reading order.

    ``size`` is None where it is not known, or not unique. ``meshes`` have it as an axis. ``computed`` is true
    if some occurrence is not a single literal, and so cannot be renamed. ``beside`` are other names that
    occur together with it.
    """

    name: str
    kind: str
    occurrences: tuple[Occurrence, ...]
    size: Dim | None
    meshes: tuple[Mesh, ...]
    computed: bool
    beside: frozenset[str]

    @property
    def definitions(self) -> list[Span]:
        """Return the places where meshes, or the transforms that bind it, define the name; may be empty."""
        definitions = [one.span for one in self.occurrences if one.role is Role.MESH]
        return definitions or [one.span for one in self.occurrences if one.role is Role.BINDER]

    def why_not(self, name: str) -> str | None:
        """Return the reason why this axis cannot have another name; None where it can."""
        if not name.strip():
            return "the name of an axis is not empty"
        if not needs_no_escapes(name):
            return f"{name!r} cannot stand in every string as it is"
        if name in self.beside and name != self.name:
            mesh = next((mesh for mesh in self.meshes if name in mesh.names), None)
            return f'"{name}" ' + ("stands beside it" if mesh is None else f"is an axis of the mesh {mesh}")
        if self.computed:
            return f'"{self.name}" is not written as one literal everywhere: some of it is computed'
        return None

    def inside(self, literal: str) -> tuple[int, int] | None:
        """Return the name's range in a literal, in code points; None if the literal is not this name."""
        found = _LITERAL.fullmatch(literal)
        try:
            return found.span(2) if found and ast.literal_eval(literal) == self.name else None
        except (ValueError, SyntaxError):
            return None


def needs_no_escapes(name: str) -> bool:
    """Return whether a name can be written in any string without escapes."""
    return not any(not letter.isprintable() or letter in "'\"\\{}" for letter in name)


@dataclass(slots=True)
class _Node:
    """The facts about one literal, or about several that were found to be one name."""

    name: str
    places: dict[Span, Role]
    sizes: set[Dim] = field(default_factory=set)
    meshes: dict[Mesh, None] = field(default_factory=dict)
    computed: bool = False
    beside: set[str] = field(default_factory=set)

    def take(self, other: _Node) -> None:
        for span, role in other.places.items():
            self.places[span] = min(role, self.places.get(span, role))
        self.sizes |= other.sizes
        self.meshes.update(other.meshes)
        self.computed |= other.computed
        self.beside |= other.beside


class AxisIndex:
    """The axes of one or more analyses, from their uses."""

    def __init__(self, uses: Iterable[Use]) -> None:
        self._nodes: dict[Span, _Node] = {}
        for use in uses:
            self._read(use)
        nodes = {id(node): node for node in self._nodes.values()}
        self.axes = [_axis(node) for node in nodes.values() if min(node.places.values()) in KINDS]
        self._by_line: dict[tuple[str, int | None, int], list[tuple[Span, Axis]]] = {}
        for axis in self.axes:
            for one in axis.occurrences:
                key = (one.span.path, one.span.cell, one.span.line)
                self._by_line.setdefault(key, []).append((one.span, axis))

    def at(self, path: str, line: int, column: int, cell: int | None = None) -> tuple[Span, Axis] | None:
        """Return the axis whose name is written at a place, and the literal there."""
        for span, axis in self._by_line.get((path, cell, line), ()):
            if span.column <= column <= span.end_column and span.end_line == line:
                return span, axis
        return None

    def in_file(self, path: str) -> Iterator[Axis]:
        """Yield the axes with a name written in a file."""
        return (axis for axis in self.axes if any(one.span.path == path for one in axis.occurrences))

    def unclear(self, axis: Axis) -> list[Span]:
        """Return literals of the same name in specs and collectives that have no known mesh: they may mean
        it.

        Empty where another mesh has an axis of that name, too.
        """
        namesakes = [one for one in self.axes if one.name == axis.name and one is not axis]
        if axis.kind != _MESH_AXIS or any(one.kind == _MESH_AXIS for one in namesakes):
            return []
        open_ = [one for one in namesakes if one.kind == _OF_NO_MESH and not one.computed]
        return [occurrence.span for one in open_ for occurrence in one.occurrences]

    def meant(self, axis: Axis) -> Axis | None:
        """Return the mesh axis most like a name that no known mesh has; None if none is like it."""
        known = {one.name: one for one in self.axes if one.kind == _MESH_AXIS}
        near = difflib.get_close_matches(axis.name, known, n=1) if axis.kind == _OF_NO_MESH else []
        return known[near[0]] if near else None

    # -- reading uses ---------------------------------------------------------------------------------

    def _read(self, use: Use) -> None:
        if isinstance(use, MeshUse):
            if isinstance(use.names, tuple) and not isinstance(use.verdict, Rejected):
                self._define(use)
        elif isinstance(use, SpecUse):
            self._note(use.spec, Role.SPEC)
        elif isinstance(use, ShardingUse | Placement | ValueUse):
            self._meet(use.spec, use.mesh)
        elif isinstance(use, ParameterUse):
            if isinstance(use.axes, Spec):
                self._note(use.names, Role.LOGICAL)
                self._meet(use.axes, use.mesh)
            else:
                self._meet(use.names, use.mesh)
        elif isinstance(use, OperationUse):
            self._meet(use.out_sharding, use.environment.context_mesh)
        elif isinstance(use, CollectiveUse):
            self._collect(use)
        elif isinstance(use, NameUse):
            self._join(*use.names, Role.LOGICAL if use.logical else Role.OTHER)

    def _define(self, use: MeshUse) -> None:
        assert isinstance(use.names, tuple)
        sizes = use.shape if isinstance(use.shape, tuple) else (None,) * len(use.names)
        for number, name in enumerate(use.names):
            # JAX builds a mesh with a duplicate name; these axes cannot be distinguished.
            if name in use.names[:number]:
                self._join(name, use.names[use.names.index(name)], Role.MESH)
        for name, size in zip(use.names, sizes, strict=False):
            node = self._node(name, Role.MESH)
            if node is not None:
                node.sizes |= set() if size is None else {size}
                node.beside.update(set(use.names) - {name})

    def _meet(self, spec: object, mesh: object) -> None:
        """Record that the names in a spec belong to its mesh."""
        names = list(_names(spec))
        for name in names:
            node = self._node(name, Role.SPEC)
            if node is not None:
                node.beside.update(set(names) - {name})
        if not isinstance(mesh, Mesh):
            return
        for own, size in zip(mesh.names, mesh.sizes, strict=True):
            self._own(own, size, mesh)
            for name in names:
                if name == own:
                    self._join(name, own, Role.SPEC)

    def _own(self, name: str, size: Dim, mesh: Mesh) -> None:
        node = self._node(name, Role.MESH)
        if node is not None:
            node.sizes.add(size)
            node.meshes[mesh] = None
            node.beside.update(set(mesh.names) - {name})

    def _note(self, spec: object, role: Role) -> None:
        names = list(_names(spec))
        for name in names:
            node = self._node(name, role)
            if node is not None:
                node.beside.update(set(names) - {name})

    def _collect(self, use: CollectiveUse) -> None:
        """Record that a collective's names are those of the mesh, vmap or pmap that binds them."""
        mesh, around = use.environment.context_mesh, use.environment.bound_axes
        bound = around if isinstance(around, tuple) else ()
        for name in use.axes:
            self._node(name, Role.COLLECTIVE)
        if isinstance(mesh, Mesh):
            for own, size in zip(mesh.names, mesh.sizes, strict=True):
                self._own(own, size, mesh)
        for own, size in bound:
            node = self._node(own, Role.BINDER)
            if node is not None:
                node.sizes.add(size)
                node.beside.update({other for other, _ in bound} - {own})
            for name in use.axes:
                if name == own:
                    self._join(name, own, Role.COLLECTIVE)

    # -- joining --------------------------------------------------------------------------------------

    def _node(self, name: str, role: Role) -> _Node | None:
        """Return the node of a literal; None for a name that no single literal writes, and for None."""
        if not isinstance(name, Written) or not name:
            return None
        span = name.place.resolve()
        node = self._nodes.get(span)
        if node is None:
            node = self._nodes[span] = _Node(str(name), {span: role})
        node.places[span] = min(role, node.places.get(span, role))
        return node

    def _join(self, one: str, other: str, role: Role) -> None:
        """Record that two texts are one name. A name without a literal cannot be renamed."""
        a, b = self._node(one, role), self._node(other, Role.OTHER)
        if not one:
            return
        if a is None or b is None:
            for node in (a, b):
                if node is not None:
                    node.computed = True
        elif a is not b:
            small, large = sorted((a, b), key=lambda node: len(node.places))
            large.take(small)
            for span in small.places:
                self._nodes[span] = large


def _axis(node: _Node) -> Axis:
    role = min(node.places.values())
    spans = sorted(node.places, key=lambda span: span.order())
    size = next(iter(node.sizes)) if len(node.sizes) == 1 else None
    occurrences = tuple(Occurrence(span, node.places[span]) for span in spans)
    beside = frozenset(map(str, node.beside)) - {node.name}
    return Axis(node.name, KINDS[role], occurrences, size, tuple(node.meshes), node.computed, beside)


def _names(value: object) -> Iterator[str]:
    """Yield the names in a spec, or in a part of one."""
    if isinstance(value, Spec):
        for part in (*value.entries, *value.unreduced, *value.reduced):
            yield from _names(part)
    elif isinstance(value, tuple):
        for part in value:
            yield from _names(part)
    elif isinstance(value, str) and not isinstance(value, Marker):
        yield value
