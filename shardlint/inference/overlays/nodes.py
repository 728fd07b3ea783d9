"""Objects that are pytrees: those of the program's classes, and those of libraries.

A class is a pytree because of a library class that it derives from, or of a decorator (`ClassValue.nodes`);
its fields are the children, but for those declared static (`equinox.field(static=True)`,
`flax.struct.field(pytree_node=False)`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from shardlint.inference.classes import all_fields, has_unknown_base, library_bases
from shardlint.inference.values import Instance, LibraryObject, Value, as_bool

#: Library classes whose subclasses are pytrees of their fields.
NODE_BASES = frozenset({"equinox.Module", "flax.struct.PyTreeNode"})


def parts(value: Value) -> dict[str, Value] | None:
    """The children of an object that is a pytree, by attribute; None of any other value.

    Of an object that unknown code may have changed they are those that are known.
    """
    if isinstance(value, LibraryObject):
        from shardlint.inference.overlays import children

        return {name: value.fields[name] for name in children(value) if name in value.fields} or None
    if not isinstance(value, Instance):
        return None
    if isinstance(value.cls.nodes, tuple):
        return {name: value.attributes[name] for name in value.cls.nodes if name in value.attributes}
    if not library_bases(value.cls) & NODE_BASES:
        return None
    names = (name for name, default in all_fields(value.cls).items() if not _is_static(default))
    return {name: value.attributes[name] for name in names if name in value.attributes}


def is_whole(value: Value) -> bool:
    """Whether `parts` are all the children that an object has."""
    if not isinstance(value, Instance):
        return isinstance(value, LibraryObject)
    return not (value.opaque or value.forgotten or has_unknown_base(value.cls))


def with_parts(value: Value, changed: Mapping[str, Value]) -> Value:
    """A copy of an object with other children, as unflattening makes it: no constructor runs."""
    if isinstance(value, LibraryObject):
        return LibraryObject(value.kind, {**value.fields, **changed}, value.origin)
    assert isinstance(value, Instance)
    attributes = {**value.attributes, **changed}
    return Instance(value.cls, attributes, value.opaque, value.origin, value.path, value.forgotten)


def map_parts(value: Value, change: Callable[[str, Value], Value]) -> Value:
    """A copy of an object with each child changed; a value that has none as it is."""
    held = parts(value)
    return with_parts(value, {name: change(name, part) for name, part in held.items()}) if held else value


def _is_static(default: Value | None) -> bool:
    if not isinstance(default, LibraryObject) or default.kind != "dataclasses.field":
        return False
    static, node = default.fields.get("static"), default.fields.get("pytree_node")
    return (static is not None and as_bool(static) is not False) or (
        node is not None and as_bool(node) is not True
    )
