"""Pytrees: tuples, lists, dicts, None and objects with children are nodes, everything else is a leaf."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from shardlint.inference.overlays.arrays import reject, unresolved
from shardlint.inference.overlays.nodes import is_whole, parts, with_parts
from shardlint.inference.values import Alternatives, DictValue, ListValue, Tuple, Value, is_none
from shardlint.laws.values import Unknown


def leaves(tree: Value, is_leaf: Callable[[Value], bool] | None = None) -> list[Value]:
    """Return the leaves in JAX's order (dict keys sorted). Stops where the tree is not known."""
    found: list[Value] = []

    def visit(leaf: Value) -> Value:
        if isinstance(leaf, Unknown | Alternatives):
            unresolved("a part of the tree is not known")
        found.append(leaf)
        return leaf

    tree_map(visit, tree, is_leaf=is_leaf)
    return found


def tree_map(
    function: Callable[..., Value], tree: Value, *rest: Value, is_leaf: Callable[[Value], bool] | None = None
) -> Value:
    """Apply a function to the leaves of the first tree and the subtrees of the others at its leaves.

    ``is_leaf`` tells of each node whether it counts as a leaf. Stops where a node is not known; rejects
    other trees that lack the first one's structure.
    """

    def visit(node: Value, *others: Value) -> Value:
        if is_leaf is not None and is_leaf(node):
            return function(node, *others)
        if is_none(node):
            return node
        if isinstance(node, Tuple):
            columns = [_items(other, len(node.items)) for other in others]
            mapped = (visit(item, *(c[i] for c in columns)) for i, item in enumerate(node.items))
            return Tuple(tuple(mapped), fields=node.fields)
        if isinstance(node, ListValue):
            if node.items is None:
                unresolved("a list in the tree is not known")
            columns = [_items(other, len(node.items)) for other in others]
            return ListValue([visit(item, *(c[i] for c in columns)) for i, item in enumerate(node.items)])
        if isinstance(node, DictValue):
            if node.items is None:
                unresolved("a dict in the tree is not known")
            tables = [_entries(other, node.items) for other in others]
            keys = _sorted(node.items)
            return DictValue({key: visit(node.items[key], *(t[key] for t in tables)) for key in keys})
        held = parts(node)
        if held is not None:
            if not is_whole(node):
                unresolved("an object in the tree is not known")
            others_held = [_parts(other, held) for other in others]
            return with_parts(
                node, {name: visit(part, *(h[name] for h in others_held)) for name, part in held.items()}
            )
        return function(node, *others)

    return visit(tree, *rest)


def _sorted(items: dict) -> Iterator:
    try:
        return iter(sorted(items))
    except TypeError:
        return iter(items)


def _items(tree: Value, count: int) -> list[Value]:
    if isinstance(tree, Tuple):
        items = list(tree.items)
    elif isinstance(tree, ListValue) and tree.items is not None:
        items = tree.items
    else:
        unresolved("a tree of another structure")
    if len(items) != count:
        reject("trees differ in structure")
    return items


def _parts(tree: Value, held: dict[str, Value]) -> dict[str, Value]:
    found = parts(tree)
    if found is None or found.keys() != held.keys():
        unresolved("a tree of another structure")
    return found


def _entries(tree: Value, items: dict) -> dict:
    if not isinstance(tree, DictValue) or tree.items is None:
        unresolved("a tree of another structure")
    if tree.items.keys() != items.keys():
        reject("trees differ in structure")
    return tree.items
