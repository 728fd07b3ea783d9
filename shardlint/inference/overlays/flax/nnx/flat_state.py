"""Trees of nnx state: flat ones, merged ones, and those made from dicts.

From `flax.nnx.statelib` 0.12.8. A state is a `LibraryObject` whose field ``tree`` is a dict of variables by
attribute; a flat state is a list of pairs of paths and variables, in the order of their keys.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any

from shardlint.inference.domain.iteration import constant, hashable
from shardlint.inference.domain.values import DictValue, LibraryObject, ListValue, Tuple, Value, as_items
from shardlint.inference.evaluation.call import Call
from shardlint.laws.core.values import Unknown

STATE = "flax.nnx.State"

_Path = tuple[Hashable, ...]


def tree_of(state: Value) -> Value:
    """Return the tree of a state; a tree itself is returned as it is."""
    return state.fields["tree"] if isinstance(state, LibraryObject) and state.kind == STATE else state


def _flat(call: Call) -> Value:
    """``nnx.to_flat_state(state)``, ``state.flat_state()``."""
    found = list(_leaves(tree_of(call.args[0]), ())) if call.args else []
    if not found or any(isinstance(leaf, Unknown | DictValue) for _, leaf in found):
        return call.unknown("the state is not known")
    return ListValue([Tuple((constant(path), leaf)) for path, leaf in found], call.place)


def _leaves(tree: Value, path: _Path) -> Iterator[tuple[_Path, Value]]:
    tree = tree_of(tree)
    if not isinstance(tree, DictValue) or tree.items is None:
        yield path, tree
        return
    for key in in_order(tree.items):
        yield from _leaves(tree.items[key], (*path, key))


def in_order(keys: dict[Hashable, Value]) -> list[Any]:
    """Return the keys of a state, in its order."""
    try:
        return sorted(keys)
    except TypeError:
        return list(keys)


def _of_flat(call: Call) -> Value:
    """``nnx.from_flat_state(flat)``: from pairs, or from a dict by path."""
    flat = call.argument(0, "flat_state")
    if isinstance(flat, DictValue) and flat.items is not None:
        pairs: list[tuple[Hashable, Value]] = list(flat.items.items())
    else:
        pairs = []
        for item in as_items(flat) or () if flat is not None else ():
            found, path = hashable(pair[0]) if len(pair := as_items(item) or ()) == 2 else (False, None)
            if not found:
                return call.unknown("a path is not known")
            pairs.append((path, pair[1]))
    if not pairs or call.kwargs.keys() - {"flat_state"} or len(call.args) > 1:
        return call.unknown("the flat state is not known")
    tree = DictValue({})
    for path, leaf in pairs:
        if not isinstance(path, tuple) or not path or not _put(tree, path, leaf):
            return call.unknown("a path is not known")
    return LibraryObject(STATE, {"tree": tree}, call.place)


def _put(tree: DictValue, path: _Path, leaf: Value) -> bool:
    """Put a leaf into a new tree; return whether its path was free."""
    for key in path[:-1]:
        below = (tree.items or {}).get(key)
        if below is None and tree.items is not None:
            below = tree.items[key] = DictValue({})
        if not isinstance(below, DictValue):
            return False
        tree = below
    if tree.items is None or path[-1] in tree.items:
        return False
    tree.items[path[-1]] = leaf
    return True


def _merge(call: Call) -> Value:
    """``nnx.merge_state(state, *states)``: later states take precedence."""
    if call.opaque or not call.args:
        return call.unknown("the states are not known")
    merged: Value = DictValue({})
    for given in call.args:
        merged = _both(merged, tree_of(given))
    return LibraryObject(STATE, {"tree": merged}, call.place)


def _both(first: Value, second: Value) -> Value:
    first, second = tree_of(first), tree_of(second)
    known = isinstance(first, DictValue) and isinstance(second, DictValue)
    if not known or not isinstance(first, DictValue) or not isinstance(second, DictValue):
        return second
    if first.items is None or second.items is None:
        return Unknown("a state that is not known")
    items = dict(first.items)
    for key, value in second.items.items():
        items[key] = _both(items[key], value) if key in items else value
    return DictValue(items)


def _state(call: Call) -> Value:
    """``nnx.State(mapping)``."""
    mapping = call.argument(0, "mapping")
    tree = DictValue(None) if mapping is None else tree_of(mapping)
    return (
        LibraryObject(STATE, {"tree": tree}, call.place) if isinstance(tree, DictValue) else call.unknown("")
    )


TABLE: dict[str, Callable[[Call], Value]] = {
    STATE: _state,
    f"{STATE}.merge": _merge,
    "flax.nnx.merge_state": _merge,
    "flax.nnx.to_flat_state": _flat,
    "flax.nnx.from_flat_state": _of_flat,
    f"{STATE}.from_flat_path": _of_flat,
}
METHODS: dict[tuple[str, str], Callable[[Call], Value]] = {(STATE, "flat_state"): _flat}
