"""Paths of pytrees: `jax.tree_util.keystr`, the classes of keys, and `flax.traverse_util`."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from shardlint.inference.domain.iteration import constant
from shardlint.inference.domain.kinds import EMPTY_NODE
from shardlint.inference.domain.truthiness import truth
from shardlint.inference.domain.values import (
    NONE,
    Alternatives,
    Const,
    DictValue,
    LibraryObject,
    ListValue,
    Tuple,
    Value,
    as_bool,
    as_str,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.operands import Transfer, table, unresolved
from shardlint.inference.overlays.jax.tree import stops, structure
from shardlint.inference.overlays.pytrees.differing_trees import refuse_differing
from shardlint.inference.overlays.pytrees.key_paths import KEYS, UTIL, at_path, key_text, named
from shardlint.inference.overlays.pytrees.trees import leaves_with_path, tree_map_with_path
from shardlint.laws.core.values import Unknown


def _key(kind: str) -> Transfer:
    def make(call: Call) -> Value:
        field = KEYS[kind][0]
        (value,) = call.bind(field)
        return LibraryObject(kind, {field: value or NONE}, call.place)

    return make


def _keystr(call: Call) -> Value:
    """`keystr(path, simple=False, separator="")`."""
    path, simple, separator = call.bind("keys", simple=Const(False), separator=Const(""))
    short, between = as_bool(simple), as_str(separator)
    if not isinstance(path, Tuple | ListValue) or path.items is None or short is None or between is None:
        unresolved("the path is not known")
    parts = [key_text(key, short) for key in path.items]
    if any(part is None for part in parts):
        unresolved("the path is not known")
    return Const(between.join(part for part in parts if part is not None))


def map_with_path(call: Call) -> Value:
    """`tree.map_with_path(f, tree, *rest)`: ``f`` receives the path, a tuple of keys, before each leaf."""
    extra = call.kwargs.keys() - {"is_leaf"}
    if call.opaque or len(call.args) < 2 or extra:
        unresolved("the arguments are not known")
    function, tree, *rest = call.args
    written = call.interpreter.written(call.place_of(1, "tree"))

    def at_leaf(path: tuple[Value, ...], leaf: Value, *parts: Value) -> Value:
        one = at_path(leaf, path, written)
        value = call.interpreter.call(function, [_path_to(path, leaf), one, *parts], {}, call.place)
        return leaf if isinstance(leaf, Unknown | Alternatives) else value

    is_leaf = stops(call, call.kwargs.get("is_leaf"))
    if refuse_differing(call, tree, rest, is_leaf):
        return Unknown("JAX rejects these trees")
    return tree_map_with_path(at_leaf, tree, *rest, is_leaf=is_leaf)


def _path_to(path: tuple[Value, ...], leaf: Value) -> Value:
    """Return the path to a leaf; an unknown leaf may be a whole tree, with longer paths."""
    return (
        Unknown("a path into what is not known") if isinstance(leaf, Unknown | Alternatives) else Tuple(path)
    )


def _pairs(call: Call, tree: Value | None, is_leaf: Value | None) -> ListValue:
    found = leaves_with_path(tree or NONE, stops(call, is_leaf))
    return ListValue(
        [Tuple((_path_to(path, leaf), leaf)) for path, leaf in found], path=call.interpreter.path
    )


def leaves(call: Call) -> Value:
    """`tree.leaves_with_path(tree)`."""
    tree, is_leaf = call.bind("tree", is_leaf=None)
    return _pairs(call, tree, is_leaf)


def flatten(call: Call) -> Value:
    """`tree.flatten_with_path(tree)`: pairs of path and leaf, and the structure."""
    tree, is_leaf = call.bind("tree", is_leaf=None)
    return Tuple((_pairs(call, tree, is_leaf), structure(call)))


# -- flax.traverse_util -----------------------------------------------------------------------------

_EMPTY = LibraryObject(EMPTY_NODE, {})


def _flat(tree: DictValue, keep_empty: bool, is_leaf: Callable[[tuple, Value], bool]) -> dict[tuple, Value]:
    """Return the leaves of nested dicts by their paths; only dicts are nodes. An empty dict that is kept is
    `empty_node`."""
    found: dict[tuple, Value] = {}

    def visit(prefix: tuple[Hashable, ...], node: Value) -> None:
        if isinstance(node, Unknown | Alternatives):
            unresolved("a part of the tree is not known")
        if not isinstance(node, DictValue) or (prefix and is_leaf(prefix, node)):
            found[prefix] = node
            return
        if node.items is None:
            unresolved("a dict in the tree is not known")
        if keep_empty and prefix and not node.items:
            found[prefix] = _EMPTY
            return
        for key, item in node.items.items():
            visit((*prefix, key), item)

    visit((), tree)
    return found


def _path(prefix: tuple, separator: str | None) -> Hashable:
    if separator is None:
        return prefix
    names = [key for key in prefix if isinstance(key, str)]
    return separator.join(names) if len(names) == len(prefix) else unresolved("joins what is no text")


def _nested(rows: dict[tuple, Value]) -> DictValue:
    tree: dict[Hashable, Value] = {}
    for path, leaf in rows.items():
        inner = tree
        for key in path[:-1]:
            holder = inner.setdefault(key, DictValue({}))
            if not isinstance(holder, DictValue) or holder.items is None:
                unresolved("a path through a leaf")
            inner = holder.items
        inner[path[-1]] = leaf
    return DictValue(tree)


def _separator(value: Value | None) -> str | None:
    if value is None or is_none(value):
        return None
    text = as_str(value)
    return unresolved("the separator is not known") if text is None else text


def flatten_dict(call: Call) -> Value:
    """`flatten_dict(xs, keep_empty_nodes=False, is_leaf=None, sep=None)`."""
    tree, keep, is_leaf, sep = call.bind("xs", keep_empty_nodes=Const(False), is_leaf=NONE, sep=NONE)
    if not isinstance(tree, DictValue) or as_bool(keep) is None:
        unresolved("the tree is not known")
    separator = _separator(sep)

    def stops(prefix: tuple, node: Value) -> bool:
        if is_leaf is None or is_none(is_leaf):
            return False
        outcome = truth(call.interpreter.call(is_leaf, [constant(prefix), node], {}, call.place))
        return unresolved("is_leaf of something unknown") if outcome is None else outcome

    rows = _flat(tree, bool(as_bool(keep)), stops)
    return DictValue({_path(p, separator): leaf for p, leaf in rows.items()}, path=call.interpreter.path)


def unflatten_dict(call: Call) -> Value:
    """`unflatten_dict(xs, sep=None)`."""
    given, sep = call.bind("xs", sep=NONE)
    separator = _separator(sep)
    if not isinstance(given, DictValue) or given.items is None:
        unresolved("the dict is not known")
    rows: dict[tuple, Value] = {}
    for key, leaf in given.items.items():
        path = key if separator is None else tuple(key.split(separator)) if isinstance(key, str) else None
        if not isinstance(path, tuple) or not path:
            unresolved("a key that is no path")
        rows[path] = DictValue({}) if leaf is _EMPTY else leaf
    tree = _nested(rows)
    tree.path = call.interpreter.path
    return tree


def path_aware_map(call: Call) -> Value:
    """`path_aware_map(f, nested_dict)`: ``f`` receives the path, a tuple of names, and the leaf."""
    function, tree = call.bind("f", "nested_dict")
    if function is None or not isinstance(tree, DictValue):
        unresolved("the tree is not known")
    rows = _flat(tree, True, lambda prefix, node: False)
    written = call.interpreter.written(call.place_of(1, "nested_dict"))
    values = {
        path: DictValue({})
        if leaf is _EMPTY
        else call.interpreter.call(
            function,
            [constant(path), named(leaf, "".join(f"[{key!r}]" for key in path), written)],
            {},
            call.place,
        )
        for path, leaf in rows.items()
    }
    return _nested(values)


_FUNCTIONS: dict[str, Transfer] = {
    "map_with_path": map_with_path,
    "leaves_with_path": leaves,
    "flatten_with_path": flatten,
}
_TRAVERSE: dict[str, Transfer] = {
    "flatten_dict": flatten_dict,
    "unflatten_dict": unflatten_dict,
    "path_aware_map": path_aware_map,
}

CONSTANTS: dict[str, Value] = {"flax.traverse_util.empty_node": _EMPTY}

TABLE: dict[str, Transfer] = {
    **table("jax.tree.", _FUNCTIONS),
    **table(UTIL, {f"tree_{name}": function for name, function in _FUNCTIONS.items()}),
    **table(UTIL, {"keystr": _keystr}),
    **table("", {kind: _key(kind) for kind in KEYS}),
    **table("flax.traverse_util.", _TRAVERSE),
}
