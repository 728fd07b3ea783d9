"""Pytree prefixes: one spec may apply to a whole subtree of arrays."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from operator import is_
from typing import TypeGuard

from shardlint.inference.domain.lattice import join_tagged, tagged
from shardlint.inference.domain.values import (
    Alternatives,
    Array,
    Const,
    DictValue,
    Instance,
    Integer,
    LibraryObject,
    ListValue,
    MeshValue,
    ShardingValue,
    SpecValue,
    Tuple,
    Value,
    is_none,
)
from shardlint.inference.overlays.jax.explicit.type_conversion import meshless
from shardlint.inference.overlays.pytrees.nodes import (
    Trees,
    is_data_node,
    is_whole,
    map_parts,
    parts,
    with_parts,
)
from shardlint.inference.overlays.registry import names_memory
from shardlint.laws.core.values import Unknown
from shardlint.laws.transforms.traits import Trait
from shardlint.laws.transforms.varying import CONSTANT
from shardlint.model.origins import plain_kind
from shardlint.support.lazy_dataclass import replace

#: Called for each array below a prefix's leaf: (leaf of the prefix, array, path) -> new array.
LeafFunction = Callable[[Value, Array, str], Value]
#: The path of a walk that builds none, for functions that ask for no paths.
NO_PATH = None

#: The sharding of an array that is whole, on one device.
SINGLE_DEVICE = "jax.sharding.SingleDeviceSharding"
_STEP = re.compile(r"\w+")


def map_prefix(prefix: Value, tree: Value, change: LeafFunction, path: str = "") -> Value:
    """Walk a tree along a prefix and apply ``change`` to each array below each of the prefix's leaves.

    Unknown parts, and parts where the structures differ, become Unknown.
    """
    if is_leaf(prefix):
        return map_arrays(tree, lambda array, at: change(prefix, array, at), path)
    if (
        isinstance(prefix, Tuple | ListValue)
        and type(prefix) is type(tree)
        and isinstance(tree, Tuple | ListValue)
    ):
        given, items = prefix.items, tree.items
        if given is None or items is None or len(given) != len(items):
            return Unknown("a tree that is not known")
        mapped = [
            map_prefix(p, t, change, f"{path}[{i}]")
            for i, (p, t) in enumerate(zip(given, items, strict=True))
        ]
        return (
            replace(tree, items=tuple(mapped)) if isinstance(tree, Tuple) else ListValue(mapped, tree.origin)
        )
    if isinstance(prefix, DictValue) and isinstance(tree, DictValue):
        if prefix.items is None or tree.items is None or prefix.items.keys() != tree.items.keys():
            return Unknown("a tree that is not known")
        return DictValue(
            {k: map_prefix(prefix.items[k], v, change, f"{path}[{k!r}]") for k, v in tree.items.items()},
            tree.origin,
        )
    given_parts, children = parts(prefix), parts(tree)
    if given_parts is not None and children is not None and given_parts.keys() == children.keys():
        # Boxes and variables count as one array in paths.
        named = isinstance(tree, Instance) or len(children) > 1
        return map_parts(
            tree,
            lambda name, part: map_prefix(
                given_parts[name], part, change, f"{path}.{name}" if named else path
            ),
        )
    return Unknown("a prefix that is not known")


def mismatch(prefix: Value, tree: Value, path: str = "") -> str | None:
    """Return where a prefix and a tree certainly differ, in words (`tree_util.prefix_errors`), or None."""
    at = f" at {path}" if path else ""
    if _is_object(prefix) or (_is_object(tree) and not is_leaf(prefix)):
        return _objects_differ(prefix, tree, path, at)
    if is_leaf(prefix) or not isinstance(prefix, Tuple | ListValue | DictValue) or prefix.items is None:
        return None
    array = isinstance(tree, Array) and tree.shape is not None
    number = isinstance(tree, Integer) or (isinstance(tree, Const) and isinstance(tree.value, int | float))
    if array or number:
        return f"a {_kind(prefix)} of specs, but one array{at}"
    if not isinstance(tree, Tuple | ListValue | DictValue) or tree.items is None:
        return None
    if type(tree) is not type(prefix):
        named = isinstance(tree, Tuple) and tree.fields is not None
        return None if named else f"a {_kind(prefix)} of specs for a {_kind(tree)}{at}"
    if isinstance(prefix, DictValue) and isinstance(tree, DictValue):
        return _keys_differ(prefix, tree, path)
    assert not isinstance(prefix, DictValue) and not isinstance(tree, DictValue)
    given, items = prefix.items or (), tree.items or ()
    if len(given) != len(items):
        return f"a {_kind(prefix)} of {len(given)} specs for {len(items)} values{at}"
    found = (mismatch(p, t, f"{path}[{i}]") for i, (p, t) in enumerate(zip(given, items, strict=True)))
    return next((text for text in found if text is not None), None)


def _is_object(value: Value) -> bool:
    """Return whether a value is certainly a node of its own kind: an object of one of the program's
    classes."""
    return isinstance(value, Instance) and not is_data_node(value) and parts(value) is not None


def _objects_differ(prefix: Value, tree: Value, path: str, at: str) -> str | None:
    """Return where the two differ, if one of them is an object: its class is part of the structure."""
    given, actual = _node_text(prefix), _node_text(tree)
    if given is None or actual is None:
        return None
    if given != actual:
        return f"{given} of specs{' for' if actual != _ARRAY else ', but'} {actual}{at}"
    if not isinstance(prefix, Instance) or not isinstance(tree, Instance) or prefix.cls is not tree.cls:
        return None
    ours, theirs = parts(prefix) or {}, parts(tree) or {}
    found = (mismatch(part, theirs[name], f"{path}.{name}") for name, part in ours.items() if name in theirs)
    return next((text for text in found if text is not None), None)


_ARRAY = "one array"


def _node_text(value: Value) -> str | None:
    """Return a node of a tree in words, or None if it is not certain."""
    if isinstance(value, Instance):
        return f"a {value.cls.name}" if _is_object(value) and is_whole(value) else None
    if isinstance(value, Array):
        return None if value.shape is None else _ARRAY
    if not isinstance(value, Tuple | ListValue | DictValue) or value.items is None:
        return None
    return None if isinstance(value, Tuple) and value.fields is not None else f"a {_kind(value)}"


def _keys_differ(prefix: DictValue, tree: DictValue, path: str) -> str | None:
    given, items = prefix.items or {}, tree.items or {}
    if given.keys() != items.keys():
        missing = ", ".join(repr(key) for key in items if key not in given)
        surplus = ", ".join(repr(key) for key in given if key not in items)
        parts = [
            f"no spec for {missing}" if missing else "",
            f"a spec for {surplus}, which is not there" if surplus else "",
        ]
        return " and ".join(part for part in parts if part) + (f" at {path}" if path else "")
    found = (mismatch(given[key], items[key], f"{path}[{key!r}]") for key in given)
    return next((text for text in found if text is not None), None)


def _kind(value: Tuple | ListValue | DictValue) -> str:
    return "tuple" if isinstance(value, Tuple) else "list" if isinstance(value, ListValue) else "dict"


def is_leaf(prefix: Value) -> bool:
    """Return whether a value is one sharding or spec (or None), not a container of them.

    Arrays and meshes are leaves too, which JAX refuses.
    """
    single = isinstance(prefix, LibraryObject) and prefix.kind == SINGLE_DEVICE
    leaf = isinstance(prefix, SpecValue | ShardingValue | Array | MeshValue)
    return single or leaf or is_none(prefix)


def leaves_in(tree: Value | None) -> Iterator[Value]:
    """Yield all leaves of a tree of shardings or specs, None among them; an unknown tree is a leaf."""
    if isinstance(tree, Tuple | ListValue | DictValue):
        items = tree.items or ()
        for item in items.values() if isinstance(items, dict) else items:
            yield from leaves_in(item)
    elif tree is not None and (held := parts(tree)) is not None:
        for item in held.values():
            yield from leaves_in(item)
    elif tree is not None:
        yield tree


def specs_in(tree: Value | None) -> Iterator[SpecValue]:
    """Yield the specs in a tree of specs."""
    return (leaf for leaf in leaves_in(tree) if isinstance(leaf, SpecValue))


def map_arrays(
    tree: Value,
    change: Callable[[Array, str], Value],
    path: str | None = "",
    several: bool = False,
    trees: Trees | None = None,
    keeps: bool = False,
) -> Value:
    """Replace every array in a tree; Python numbers count as scalars, other leaves are unchanged.

    Alternatives become Unknown, unless ``several`` says to change them one by one. ``trees`` caches
    what is known of the objects of the walk (see `nodes.parts`). Containers and objects are new ones;
    with ``keeps``, only those in which something changes. With `NO_PATH`, all paths are empty.
    """
    # Models have thousands of parts, and are walked several times at each call of a jitted function.
    kind = type(tree)
    if kind is Array:
        return change(tree, path or "")  # type: ignore[arg-type]
    rest = several, Trees() if trees is None else trees, keeps
    if kind is LibraryObject or kind is Instance:
        children = parts(tree, rest[1])
        if not children:
            return tree
        # Boxes and variables count as one array in paths.
        named = path is not None and (kind is Instance or len(children) > 1)
        changed = {
            name: map_arrays(part, change, f"{path}.{name}" if named else path, *rest)
            for name, part in children.items()
        }
        kept = keeps and all(map(is_, changed.values(), children.values()))
        return tree if kept else with_parts(tree, changed)
    if isinstance(tree, (Tuple, ListValue)) and tree.items is not None:
        items = [
            map_arrays(item, change, path if path is None else f"{path}[{i}]", *rest)
            for i, item in enumerate(tree.items)
        ]
        if keeps and all(map(is_, items, tree.items)):
            return tree
        return replace(tree, items=tuple(items)) if isinstance(tree, Tuple) else ListValue(items, tree.origin)
    if isinstance(tree, DictValue) and tree.items is not None:
        found = {
            k: map_arrays(v, change, path if path is None else f"{path}[{k!r}]", *rest)
            for k, v in tree.items.items()
        }
        kept = keeps and all(map(is_, found.values(), tree.items.values()))
        return tree if kept else DictValue(found, tree.origin)
    if isinstance(tree, Alternatives):
        if not several:
            return Unknown("one of several values")
        return join_tagged((map_arrays(option, change, path, *rest), tag) for option, tag in tagged(tree))
    if _is_number(tree):
        return change(scalar(tree), path or "")
    return tree


_SCALARS: dict[type, str] = {bool: "bool", float: "float32", complex: "complex64"}


def scalar(value: Const | Integer) -> Array:
    """Return the array that JAX makes of a Python number."""
    kind = plain_kind(value.value) if isinstance(value, Const) else int
    dtype = _SCALARS.get(kind, "int32")
    scalar_type = meshless(())
    return Array((), dtype, kind is not bool, origin=value.origin, typed=scalar_type).vary(CONSTANT)


_NARROW = {"float64": "float32", "int64": "int32", "uint64": "uint32", "complex128": "complex64"}


def traced(tree: Value, trees: Trees | None = None) -> Value:
    """Return arguments as a traced function receives them: JAX arrays, 32 bits wide."""

    def trace(array: Array, _: str) -> Value:
        dtype = _NARROW.get(array.dtype, array.dtype) if array.dtype is not None else None
        plain = not array.numpy and not array.struct and array.committed is None
        if plain and dtype == array.dtype:
            return array
        typed = meshless(array.shape) if array.numpy and array.shape is not None else array.typed
        memory = "device" if array.numpy and names_memory() else array.memory
        traced_array = replace(
            array, dtype=dtype, numpy=False, struct=False, typed=typed, committed=None, memory=memory
        )
        if array.numpy and not array.equal:
            cut = frozenset(trait for trait in array.traits if trait[0] is Trait.CUT)
            traced_array = replace(traced_array.vary(replace(CONSTANT, traits=cut)), laid=array.laid)
        return traced_array

    return map_arrays(tree, trace, NO_PATH, several=True, trees=trees)


def untyped(tree: Value) -> Value:
    """Return the tree with traced arrays, with unknown shardings in their types."""
    return map_arrays(traced(tree), lambda array, _: replace(array, typed=None), NO_PATH)


def arrays_in(tree: Value, trees: Trees | None = None) -> list[Array]:
    """Return the arrays in a tree, including numbers."""
    if type(tree) is Array:
        return [tree]
    found = arrays_at(tree, path=NO_PATH) if trees is None else arrays_at(tree, trees)
    return [array for array, _ in found]


def arrays_at(tree: Value, trees: Trees | None = None, path: str | None = "") -> list[tuple[Array, str]]:
    """Return the arrays in a tree, including numbers, each with its path from ``path`` on; none of
    alternatives.
    """
    trees = Trees() if trees is None else trees
    if path == "" and (known := trees.arrays.get(id(tree))) is not None:
        return known[1]
    found: list[tuple[Array, str]] = []
    _gather(tree, path, trees, found)
    if path == "":
        trees.arrays[id(tree)] = tree, found
    return found


def steps_of(path: str) -> tuple[str, ...]:
    """Return the keys, indices and attributes that a path consists of."""
    return tuple(_STEP.findall(path))


def _gather(tree: Value, path: str | None, trees: Trees, found: list[tuple[Array, str]]) -> None:
    # As `map_arrays`, which makes the tree anew: models have thousands of parts.
    kind = type(tree)
    if kind is Array:
        found.append((tree, path or ""))  # type: ignore[arg-type]
    elif kind is LibraryObject or kind is Instance:
        children = parts(tree, trees) or {}
        named = path is not None and (kind is Instance or len(children) > 1)
        for name, part in children.items():
            _gather(part, f"{path}.{name}" if named else path, trees, found)
    elif isinstance(tree, (Tuple, ListValue)):
        for i, item in enumerate(tree.items or ()):
            _gather(item, path if path is None else f"{path}[{i}]", trees, found)
    elif isinstance(tree, DictValue):
        for key, item in (tree.items or {}).items():
            _gather(item, path if path is None else f"{path}[{key!r}]", trees, found)
    elif _is_number(tree):
        found.append((scalar(tree), path or ""))


def _is_number(value: Value) -> TypeGuard[Const | Integer]:
    numbers = (bool, int, float, complex)
    return isinstance(value, Integer) or (isinstance(value, Const) and isinstance(value.value, numbers))
