"""Pytrees: containers, None and objects with children are nodes, everything else is a leaf."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from shardlint.inference.domain.classes import has_unknown_base, lineage
from shardlint.inference.domain.iteration import constant
from shardlint.inference.domain.values import (
    Alternatives,
    ClassValue,
    Const,
    DictValue,
    External,
    Instance,
    LibraryObject,
    ListValue,
    Tuple,
    Value,
    is_none,
)
from shardlint.inference.overlays.arrays.operands import reject, unresolved
from shardlint.inference.overlays.pytrees.nodes import is_whole, parts, with_parts
from shardlint.laws.core.values import Unknown
from shardlint.support.lazy_dataclass import dataclass

Path = tuple[Value, ...]
#: Library classes whose subclasses are nodes of an unknown structure.
_NODE_BASES = ("flax.nnx.", "haliax.", "penzai.")


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a tree: its children by the keys of paths, in JAX's order, and a function that rebuilds it.

    ``shape`` is equal for nodes of the same structure.
    """

    keys: tuple[Value, ...]
    children: tuple[Value, ...]
    make: Callable[[Sequence[Value]], Value]
    shape: tuple[Hashable, ...]


def node_of(value: Value) -> Node | None:
    """Return a value as a node, or None for a leaf. Stops if that is unknown."""
    if isinstance(value, Tuple):
        return _sequence(value)
    if isinstance(value, ListValue):
        return _list(value) if value.kind == "list" else None
    if isinstance(value, DictValue):
        return _dict(value)
    if isinstance(value, Instance | LibraryObject):
        return _object(value)
    return None


def _key(kind: str, field: str, held: Value) -> Value:
    return LibraryObject(f"jax.tree_util.{kind}", {field: held})


def _positions(count: int) -> tuple[Value, ...]:
    return tuple(_key("SequenceKey", "idx", Const(i)) for i in range(count))


def _names(names: Iterable[str]) -> tuple[Value, ...]:
    return tuple(_key("GetAttrKey", "name", Const(name)) for name in names)


def _sequence(value: Tuple) -> Node:
    keys = _positions(len(value.items)) if value.fields is None else _names(value.fields)
    return Node(
        keys, value.items, lambda made: replace(value, items=tuple(made)), ("sequence", len(value.items))
    )


def _list(value: ListValue) -> Node:
    if value.items is None:
        unresolved("a list in the tree is not known")
    items = tuple(value.items)
    return Node(_positions(len(items)), items, lambda made: ListValue(list(made)), ("sequence", len(items)))


def _dict(value: DictValue) -> Node | None:
    if value.kind == "Counter":
        # JAX registers dict, OrderedDict and defaultdict; other classes are leaves.
        return None
    if value.items is None:
        unresolved("a dict in the tree is not known")
    names = list(value.items) if value.kind == "OrderedDict" else _sorted(value.items)
    items = value.items

    def make(made: Sequence[Value]) -> Value:
        return DictValue(dict(zip(names, made, strict=True)), kind=value.kind, default=value.default)

    keys = tuple(_key("DictKey", "key", constant(name)) for name in names)
    return Node(keys, tuple(items[name] for name in names), make, ("dict", *names))


def _sorted(items: dict[Hashable, Value]) -> list[Any]:
    try:
        return sorted(items)
    except TypeError:
        return list(items)


def _object(value: Instance | LibraryObject) -> Node | None:
    children = parts(value)
    if children is None:
        if isinstance(value, Instance):
            _check_leaf(value.cls)
        return None
    if not is_whole(value):
        unresolved("an object in the tree is not known")
    names = tuple(children)

    def make(made: Sequence[Value]) -> Value:
        return with_parts(value, dict(zip(names, made, strict=True)))

    kind = value.cls.name if isinstance(value, Instance) else value.kind
    return Node(_names(names), tuple(children.values()), make, ("object", kind, *names))


def _check_leaf(cls: ClassValue) -> None:
    """Stop if instances of a class may be nodes."""
    libraries = (base.name for base in lineage(cls) if isinstance(base, External))
    nodes = isinstance(cls.nodes, Unknown) or any(name.startswith(_NODE_BASES) for name in libraries)
    if nodes or has_unknown_base(cls):
        unresolved(f"whether `{cls.name}` is a node is not known")


def leaves(tree: Value, is_leaf: Callable[[Value], bool] | None = None) -> list[Value]:
    """Return the leaves in JAX's order (dict keys sorted). Stops if the tree is unknown."""
    return [leaf for _, leaf in leaves_with_path(tree, is_leaf)]


def leaves_with_path(tree: Value, is_leaf: Callable[[Value], bool] | None = None) -> list[tuple[Path, Value]]:
    """Return the leaves, each with the keys that lead to it. Stops if the tree is unknown."""
    found: list[tuple[Path, Value]] = []

    def visit(path: Path, leaf: Value) -> Value:
        if isinstance(leaf, Unknown | Alternatives):
            unresolved("a part of the tree is not known")
        found.append((path, leaf))
        return leaf

    tree_map_with_path(visit, tree, is_leaf=is_leaf)
    return found


def tree_map(
    function: Callable[..., Value], tree: Value, *rest: Value, is_leaf: Callable[[Value], bool] | None = None
) -> Value:
    """Apply a function to the leaves of the first tree and the subtrees of the others at its leaves.

    ``is_leaf`` decides whether a node counts as a leaf. Stops if a node is unknown; rejects other trees that
    lack the first one's structure.
    """
    return tree_map_with_path(lambda path, *parts: function(*parts), tree, *rest, is_leaf=is_leaf)


def tree_map_with_path(
    function: Callable[..., Value], tree: Value, *rest: Value, is_leaf: Callable[[Value], bool] | None = None
) -> Value:
    """Do the same as `tree_map`, with the keys that lead to the leaf as the function's first argument."""

    def visit(path: Path, value: Value, *others: Value) -> Value:
        if is_leaf is not None and is_leaf(value):
            return function(path, value, *others)
        if is_none(value):
            return value
        node = node_of(value)
        if node is None:
            return function(path, value, *others)
        columns = [_matching(node, other) for other in others]
        items = [
            visit((*path, key), child, *(column[i] for column in columns))
            for i, (key, child) in enumerate(zip(node.keys, node.children, strict=True))
        ]
        return node.make(items)

    return visit((), tree, *rest)


def _matching(node: Node, other: Value) -> tuple[Value, ...]:
    """Return the children of another tree's node at the same position."""
    found = node_of(other)
    if found is None:
        unresolved("a tree of another structure")
    if found.shape != node.shape:
        if found.shape[0] == node.shape[0] != "object":
            reject("trees differ in structure")
        unresolved("a tree of another structure")
    return found.children
