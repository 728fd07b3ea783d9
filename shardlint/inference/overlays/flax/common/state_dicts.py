"""State dicts: nested dicts of a tree's leaves with texts as keys, and trees made from them.

From `flax.serialization` 0.12.8 (`to_state_dict`, `from_state_dict`). A class that is not registered there is
a leaf.
"""

from __future__ import annotations

from collections.abc import Callable

from shardlint.inference.domain.classes import all_fields, library_bases
from shardlint.inference.domain.values import (
    Array,
    Const,
    Devices,
    DictValue,
    External,
    Instance,
    Integer,
    ListValue,
    MeshValue,
    ShardingValue,
    SpecValue,
    Tuple,
    Value,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.operands import Transfer, table, unresolved
from shardlint.inference.overlays.pytrees.nodes import is_static, is_whole, parts, with_parts

_LEAVES = Array | Const | Devices | Integer | MeshValue | ShardingValue | SpecValue


def _children(tree: Value) -> dict[str, Value] | None:
    """Return the children of a tree by their names in a state dict; None for a leaf."""
    if isinstance(tree, _LEAVES):
        return None
    if isinstance(tree, DictValue) and tree.items is not None:
        found = {str(key): item for key, item in tree.items.items()}
        return found if len(found) == len(tree.items) else unresolved("keys that are the same text")
    if isinstance(tree, Tuple) and tree.fields is not None:
        return dict(zip(tree.fields, tree.items, strict=True))
    if isinstance(tree, Tuple | ListValue) and tree.items is not None:
        return {str(i): item for i, item in enumerate(tree.items)}
    if isinstance(tree, Instance) and (names := _fields(tree)) is not None and is_whole(tree):
        found = parts(tree) or {}
        return found if found.keys() == names else unresolved("a field is not known")
    return unresolved("a part of the tree is not known")


def _fields(tree: Instance) -> set[str] | None:
    """Return the fields in the state dict of a dataclass of `flax.struct`; None for another object."""
    if External("flax.struct.dataclass") in tree.cls.bases:
        return set(tree.cls.nodes) if isinstance(tree.cls.nodes, tuple) else None
    if "flax.struct.PyTreeNode" not in library_bases(tree.cls):
        return None
    return {name for name, default in all_fields(tree.cls).items() if not is_static(default)}


def _remade(tree: Value, changed: Callable[[str, Value], Value]) -> Value:
    """Return a tree with other children."""
    if isinstance(tree, DictValue):
        items = {key: changed(str(key), item) for key, item in (tree.items or {}).items()}
        return DictValue(items, tree.origin)
    made = {name: changed(name, child) for name, child in (_children(tree) or {}).items()}
    if isinstance(tree, Tuple):
        return Tuple(tuple(made.values()), tree.origin, tree.fields, tree.cls)
    return (
        ListValue(list(made.values()), tree.origin) if isinstance(tree, ListValue) else with_parts(tree, made)
    )


def _state_of(tree: Value) -> Value:
    children = _children(tree)
    if children is None:
        return tree
    return DictValue({name: _state_of(child) for name, child in children.items()})


def _restored(target: Value, state: Value) -> Value:
    """Return a tree like the target with the leaves of a state dict."""
    children = _children(target)
    if children is None:
        return state
    if not isinstance(state, DictValue) or state.items is None:
        unresolved("the state dict is not known")
    names = state.items.keys()
    # A dict may lack keys of the state dict.
    if not names >= children.keys() or (not isinstance(target, DictValue) and len(names) > len(children)):
        unresolved("a state dict of another tree")
    held = state.items
    return _remade(target, lambda name, child: _restored(child, held[name]))


def to_state_dict(call: Call) -> Value:
    """`to_state_dict(target)`."""
    (target,) = call.bind("target")
    state = _state_of(target) if target is not None else unresolved("no tree")
    return (
        DictValue(state.items, call.place, path=call.interpreter.path) if type(state) is DictValue else state
    )


def from_state_dict(call: Call) -> Value:
    """`from_state_dict(target, state, name=".")`."""
    target, state, _ = call.bind("target", "state", name=Const("."))
    if target is None or state is None:
        unresolved("no tree")
    return _restored(target, state)


_FUNCTIONS: dict[str, Transfer] = {"to_state_dict": to_state_dict, "from_state_dict": from_state_dict}

TABLE: dict[str, Transfer] = table("flax.serialization.", _FUNCTIONS)
