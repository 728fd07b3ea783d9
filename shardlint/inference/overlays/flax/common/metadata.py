"""Partitioning metadata of Flax: names, boxes that carry names, and trees of boxes.

A box is a `LibraryObject` with the fields ``value`` (its array), ``names`` (its names as written) and
``mesh`` (the mesh passed with them): linen's ``Partitioned`` and ``LogicallyPartitioned``, and nnx's
variables, whose names are in ``out_sharding``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from shardlint.inference.domain.values import (
    NONE,
    Array,
    Const,
    DictValue,
    Instance,
    LibraryObject,
    ListValue,
    MeshValue,
    Native,
    ShardingValue,
    SpecValue,
    Tuple,
    Value,
    as_items,
    as_str,
    is_none,
)
from shardlint.inference.overlays.jax.sharding.placement_check import junk_of
from shardlint.inference.overlays.jax.sharding.specs import entry_place, is_unconstrained
from shardlint.inference.overlays.pytrees.nodes import map_parts, parts
from shardlint.laws.core.values import Entry, Marker, Mesh, Spec, Unknown
from shardlint.model.spans import Place
from shardlint.support.lazy_dataclass import dataclass

#: The boxes of linen. Logical rules resolve the names of the second one.
PARTITIONED = "flax.linen.Partitioned"
LOGICALLY_PARTITIONED = "flax.linen.LogicallyPartitioned"
#: The description of an initializer that returns boxes.
NAMING = "an initializer with names"


@dataclass(frozen=True, slots=True)
class Names:
    """Partitioning names as recorded in uses: ``spec`` is a str for a bare string, None for no names."""

    spec: Spec | str | Unknown | None
    place: Place | None = None
    entry_places: tuple[Place | None, ...] = ()


def names_of(value: Value | None) -> Names:
    """Return names from a `PartitionSpec`, a tuple or list of entries, a string, or None; Unknown
    otherwise."""
    if value is None or is_none(value):
        return Names(None)
    if isinstance(value, SpecValue):
        return Names(value.spec, value.origin, value.places)
    if (text := as_str(value)) is not None:
        return Names(text, _origin(value))
    if isinstance(value, ShardingValue):
        return Names(value.spec, value.origin) if isinstance(value.spec, Unknown) else names_of(value.spec)
    items = as_items(value)
    if items is None:
        return Names(Unknown("the names are not known"), _origin(value))
    entries = tuple(entry_of(item) for item in items)
    return Names(Spec(entries), _origin(value), tuple(entry_place(item, _origin(item)) for item in items))


def spec_of(value: Value | None) -> SpecValue | Unknown:
    """Return the value of ``PartitionSpec(*names)``; each letter of a bare string is an entry."""
    names = names_of(value)
    if isinstance(names.spec, str):
        letters = tuple(names.spec)
        return SpecValue(Spec(letters), names.place, (names.place,) * len(letters))
    if isinstance(names.spec, Spec):
        return SpecValue(names.spec, names.place, names.entry_places)
    return names.spec or Unknown("no names")


def mesh_of(value: Value | None) -> Mesh | Unknown | None:
    """Return the mesh of a ``mesh=`` argument, or None if there is none."""
    if value is None or is_none(value):
        return None
    return value.mesh if isinstance(value, MeshValue) else Unknown("the mesh is not known")


def entry_of(value: Value) -> Entry:
    """Return one name, or a tuple of names, as an entry of a spec."""
    if isinstance(value, Const):
        if value.value is None or isinstance(value.value, str):
            return value.value
        return junk_of(value)
    items = as_items(value)
    if items is not None:
        return tuple(entry_of(item) for item in items)
    if is_unconstrained(value):
        return Marker.UNCONSTRAINED
    return value if isinstance(value, Unknown) else Unknown("the entry is not known")


def _origin(value: Value) -> Place | None:
    return getattr(value, "origin", None)


def carries_names(initializer: Value | None) -> bool:
    """Return whether an initializer is the result of ``with_partitioning``."""
    return isinstance(initializer, Native) and initializer.description == NAMING


def is_box(value: Value) -> bool:
    """Return whether a value is a linen box."""
    return isinstance(value, LibraryObject) and value.kind in (PARTITIONED, LOGICALLY_PARTITIONED)


def unboxed(value: Value) -> Value:
    """Return the value in a box, without a check of its names."""
    while isinstance(value, LibraryObject) and is_box(value):
        value = value.fields["value"]
    return value


def with_value(box: LibraryObject, value: Value) -> LibraryObject:
    """Return the same box around another value."""
    return LibraryObject(box.kind, {**box.fields, "value": value}, box.origin)


def map_tree(function: Callable[[Value], Value], tree: Value) -> Value:
    """Map the leaves of a pytree; boxes and objects of libraries are leaves here, None is no leaf."""
    if isinstance(tree, DictValue):
        if tree.items is None:
            return tree
        return DictValue({key: map_tree(function, item) for key, item in tree.items.items()}, tree.origin)
    if isinstance(tree, Tuple):
        return replace(tree, items=tuple(map_tree(function, item) for item in tree.items))
    if isinstance(tree, ListValue):
        return tree if tree.items is None else ListValue([map_tree(function, item) for item in tree.items])
    if isinstance(tree, Instance) and parts(tree) is not None:
        return map_parts(tree, lambda _, part: map_tree(function, part))
    return tree if is_none(tree) else function(tree)


def leaf_spec(leaf: Value) -> Value:
    """Return linen's ``get_partition_spec`` of a leaf: its names, or ``P()`` for a plain array."""
    if isinstance(leaf, LibraryObject) and is_box(leaf):
        return spec_of(leaf.fields.get("names"))
    if isinstance(leaf, Array):
        return SpecValue(Spec(), leaf.origin)
    if isinstance(leaf, Const):
        return NONE
    return Unknown("the partition spec of an unknown leaf")
