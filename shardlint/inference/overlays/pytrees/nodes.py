"""Objects that are pytrees, of the program's classes and of libraries.

A class is a pytree because of a library class that it derives from, or of a decorator (`ClassValue.nodes`).
Its fields are the children, except for those declared static (`equinox.field(static=True)`,
`flax.struct.field(pytree_node=False)`). The children of nnx's objects are the attributes that hold data:
arrays, variables, other objects, and containers of them (`flax.nnx.pytreelib.is_data`, 0.12.8).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from shardlint.inference.domain.classes import all_fields, has_unknown_base, library_bases
from shardlint.inference.domain.values import (
    Array,
    DictValue,
    Instance,
    LibraryObject,
    ListValue,
    Tuple,
    Value,
    as_bool,
)
from shardlint.inference.overlays.registry import children
from shardlint.laws.core.values import Unknown

#: Library classes whose subclasses are pytrees of their fields.
NODE_BASES = frozenset({"equinox.Module", "flax.struct.PyTreeNode"})
#: Library classes whose subclasses are pytrees of the attributes that hold data.
DATA_BASES = frozenset({"flax.nnx.Module", "flax.nnx.Pytree", "flax.nnx.Object"})
#: What stands for a leaf that is passed beside JAX, by Equinox's `filter_jit` and its relatives.
BESIDE = "equinox.static"
_CONTAINERS = frozenset({Tuple, ListValue, DictValue})


class Trees:
    """Facts about the objects of a tree, for walks between which nothing changes it.

    ``certain`` are the identities of those that are known to be trees: no object below them contains itself.
    ``parts`` are the children of objects, by identity, and ``arrays`` all arrays in a tree, each with its
    path (and the tree itself, which keeps its identity).
    """

    def __init__(self) -> None:
        self.certain: set[int] = set()
        self.parts: dict[int, dict[str, Value] | None] = {}
        self.arrays: dict[int, tuple[Value, list[tuple[Array, str]]]] = {}


def parts(value: Value, trees: Trees | None = None) -> dict[str, Value] | None:
    """Return the children of an object that is a pytree, by attribute; None for any other value.

    If unknown code may have changed the object, only the known children are returned. Walks over a tree that
    nothing changes meanwhile pass the same ``trees`` for all its objects.
    """
    if trees is None:
        return _parts(value, Trees())
    number = id(value)
    if number not in trees.parts:
        trees.parts[number] = _parts(value, trees)
    return trees.parts[number]


def _parts(value: Value, trees: Trees) -> dict[str, Value] | None:
    if isinstance(value, LibraryObject):
        fields = children(value)
        if fields is None:
            return _data(value.fields) if _is_tree(value, trees) else None
        return {name: value.fields[name] for name in fields if name in value.fields} or None
    if not isinstance(value, Instance):
        return None
    if isinstance(value.cls.nodes, tuple):
        return _children_named(value, value.cls.nodes)
    if is_data_node(value):
        return _data(value.attributes) if _is_tree(value, trees) else None
    if not library_bases(value.cls) & NODE_BASES:
        return None
    names = (name for name, default in all_fields(value.cls).items() if not is_static(default))
    return _children_named(value, names)


def _children_named(value: Instance, names: Iterable[str]) -> dict[str, Value]:
    found = {name: value.attributes.get(name) for name in names}
    return {name: held for name, held in found.items() if held is not None}


def is_whole(value: Value) -> bool:
    """Return whether `parts` returns all children of an object."""
    if is_data_node(value) and any(isinstance(child, Unknown) for child in _held(value).values()):
        return False
    if not isinstance(value, Instance):
        return isinstance(value, LibraryObject)
    return not (value.opaque or value.forgotten or has_unknown_base(value.cls))


def with_parts(value: Value, changed: Mapping[str, Value]) -> Value:
    """Return a copy of an object with other children, as unflattening makes it: no constructor runs."""
    if isinstance(value, LibraryObject):
        return LibraryObject(value.kind, {**value.fields, **changed}, value.origin)
    assert isinstance(value, Instance)
    attributes = {**value.attributes, **changed}
    return Instance(value.cls, attributes, value.opaque, value.origin, value.path, value.forgotten)


def map_parts(value: Value, change: Callable[[str, Value], Value]) -> Value:
    """Return a copy of an object with each child changed; a value without children is returned as it is."""
    children = parts(value)
    return (
        with_parts(value, {name: change(name, part) for name, part in children.items()})
        if children
        else value
    )


def is_static(default: Value | None) -> bool:
    """Return whether a field with this default is declared to be no child."""
    if not isinstance(default, LibraryObject) or default.kind != "dataclasses.field":
        return False
    static, node = default.fields.get("static"), default.fields.get("pytree_node")
    return (static is not None and as_bool(static) is not False) or (
        node is not None and as_bool(node) is not True
    )


# -- objects of nnx ---------------------------------------------------------------------------------------


def is_data_node(value: Value) -> bool:
    """Return whether the children of an object are those of its attributes that are data."""
    if isinstance(value, LibraryObject):
        return children(value) is None
    return isinstance(value, Instance) and bool(library_bases(value.cls) & DATA_BASES)


def _held(value: Value) -> dict[str, Value]:
    return value.fields if isinstance(value, LibraryObject) else getattr(value, "attributes", {})


def _data(held: Mapping[str, Value]) -> dict[str, Value]:
    """Return the attributes that are data, by name in JAX's order."""
    return {name: held[name] for name in sorted(held) if not name.startswith("(") and _is_data(held[name])}


def _is_data(value: Value) -> bool:
    # Most walks over trees of models spend their time here and in `_objects`.
    kind = type(value)
    if kind is LibraryObject:
        return children(value) != ()  # type: ignore[arg-type]
    if kind in _CONTAINERS:
        return any(map(_is_data, _items(value)))  # type: ignore[arg-type]
    return kind is Array or (kind is Instance and is_data_node(value))


def _items(value: Tuple | ListValue | DictValue) -> Iterable[Value]:
    return (value.items or {}).values() if isinstance(value, DictValue) else value.items or ()


def _is_tree(value: Value, trees: Trees) -> bool:
    """Return whether an object does not contain itself; objects of nnx that are not pytrees may."""
    return id(value) in trees.certain or _are_trees(value, trees.certain, set()) or not _holds_itself(value)


def _are_trees(value: Value, certain: set[int], above: set[int]) -> bool:
    """Return whether neither an object nor one below it contains itself; those that do not are added to
    ``certain``."""
    if id(value) in certain:
        return True
    if id(value) in above:
        return False
    above.add(id(value))
    if not all(_are_trees(one, certain, above) for one in _objects(value)):
        return False
    above.remove(id(value))
    certain.add(id(value))
    return True


def _holds_itself(value: Value) -> bool:
    """Return whether this very object contains itself, whatever the objects below it contain."""
    seen: set[int] = set()
    waiting = [*_objects(value)]
    while waiting:
        one = waiting.pop()
        if one is value:
            return True
        if id(one) not in seen:
            seen.add(id(one))
            waiting.extend(_objects(one))
    return False


def _objects(value: Value) -> Iterator[Value]:
    """Yield the objects with data that an object holds, directly or in containers."""
    waiting = [*_held(value).values()]
    while waiting:
        one = waiting.pop()
        kind = type(one)
        if kind in _CONTAINERS:
            waiting.extend(_items(one))  # type: ignore[arg-type]
        elif (kind is LibraryObject or kind is Instance) and is_data_node(one):
            yield one
