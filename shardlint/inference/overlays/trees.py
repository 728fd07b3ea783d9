"""Pytrees: tuples, lists, dicts and None are nodes, everything else is a leaf."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from shardlint.inference.overlays.arrays import reject, unresolved
from shardlint.inference.values import Alternatives, DictValue, ListValue, Tuple, Value, is_none
from shardlint.laws.values import Unknown


def leaves(tree: Value) -> list[Value]:
    """Return the leaves in JAX's order (dict keys sorted). Stops where the tree is not known."""
    found: list[Value] = []

    def visit(leaf: Value) -> Value:
        if isinstance(leaf, Unknown | Alternatives):
            unresolved("a part of the tree is not known")
        found.append(leaf)
        return leaf

    tree_map(visit, tree)
    return found


def tree_map(function: Callable[..., Value], tree: Value, *rest: Value) -> Value:
    """Apply a function to the leaves of the first tree and the subtrees of the others at its leaves.

    Stops where a node is not known; rejects other trees that lack the first one's structure.
    """
    if is_none(tree):
        return tree
    if isinstance(tree, Tuple):
        parts = [_items(other, len(tree.items)) for other in rest]
        mapped = (tree_map(function, item, *(p[i] for p in parts)) for i, item in enumerate(tree.items))
        return Tuple(tuple(mapped), fields=tree.fields)
    if isinstance(tree, ListValue):
        if tree.items is None:
            unresolved("a list in the tree is not known")
        parts = [_items(other, len(tree.items)) for other in rest]
        return ListValue(
            [tree_map(function, item, *(p[i] for p in parts)) for i, item in enumerate(tree.items)]
        )
    if isinstance(tree, DictValue):
        if tree.items is None:
            unresolved("a dict in the tree is not known")
        tables = [_entries(other, tree.items) for other in rest]
        return DictValue({
            key: tree_map(function, tree.items[key], *(t[key] for t in tables)) for key in _sorted(tree.items)
        })  # fmt: skip
    return function(tree, *rest)


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


def _entries(tree: Value, items: dict) -> dict:
    if not isinstance(tree, DictValue) or tree.items is None:
        unresolved("a tree of another structure")
    if tree.items.keys() != items.keys():
        reject("trees differ in structure")
    return tree.items
