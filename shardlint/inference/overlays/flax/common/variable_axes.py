"""Axes that transforms of Flax remove from arguments and add to results, and their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace

from shardlint.inference.domain.values import (
    Array,
    External,
    ListValue,
    SpecValue,
    Tuple,
    Value,
    as_int,
    as_items,
    is_none,
)
from shardlint.inference.overlays.flax.common.metadata import names_of
from shardlint.inference.overlays.pytrees.prefixes import map_arrays
from shardlint.laws.core.dims import Dim, fresh
from shardlint.laws.core.values import Entry, Spec, Unknown
from shardlint.model.spans import Place
from shardlint.support.lazy_dataclass import dataclass


@dataclass(slots=True)
class Sizes:
    """The number of layers of a transform, from its own argument or the size of another argument."""

    told: Dim | None
    seen: list[Dim] = field(default_factory=list)

    @property
    def known(self) -> Dim:
        if self.told is None and not self.seen:
            self.told = fresh(1)
        return self.told if self.told is not None else self.seen[0]


def sliced(args: Sequence[Value], axes: Value, sizes: Sizes) -> list[Value]:
    columns = as_items(axes)
    if columns is not None and len(columns) != len(args):
        return [Unknown("in_axes that do not fit") for _ in args]
    each = columns if columns is not None else (axes,) * len(args)
    return [without_axis(arg, axis, sizes) for arg, axis in zip(args, each, strict=True)]


def without_axis(tree: Value, axis: Value, sizes: Sizes) -> Value:
    if is_none(axis) or (isinstance(axis, External) and axis.name.endswith(".broadcast")):
        return tree
    number = as_int(axis)
    return map_arrays(
        tree,
        lambda array, _: Array(None, array.dtype) if number is None else slice_of(array, number, sizes),
    )


def slice_of(array: Array, axis: int, sizes: Sizes) -> Array:
    if array.shape is None or not -len(array.shape) <= axis < len(array.shape):
        return Array(None, array.dtype, origin=array.origin)
    position = axis % len(array.shape)
    sizes.seen.append(array.shape[position])
    shape = (*array.shape[:position], *array.shape[position + 1 :])
    return replace(array, shape=shape, sharding=None, typed=None)


def with_axis(tree: Value, axis: Value, length: Dim) -> Value:
    columns, items = as_items(axis), as_items(tree)
    if columns is not None:
        if items is None or len(items) != len(columns):
            return Unknown("out_axes that do not fit")
        made = [with_axis(item, one, length) for item, one in zip(items, columns, strict=True)]
        return Tuple(tuple(made)) if isinstance(tree, Tuple) else ListValue(made)
    if is_none(axis):
        return tree
    number = as_int(axis)

    def put(array: Array, _: str) -> Value:
        if number is None or array.shape is None or not -len(array.shape) - 1 <= number <= len(array.shape):
            return Array(None, array.dtype)
        position = number % (len(array.shape) + 1)
        return Array((*array.shape[:position], length, *array.shape[position:]), array.dtype, array.weak)

    return map_arrays(tree, put)


def stacked_array(array: Array, axis: int, length: Dim) -> Array:
    """Return an array with a new axis; the sharding in its type is unknown."""
    if array.shape is None or not 0 <= axis <= len(array.shape):
        return Array(None, array.dtype, origin=array.origin)
    shape = (*array.shape[:axis], length, *array.shape[axis:])
    return Array(shape, array.dtype, origin=array.origin, name=array.name)


def names_with(value: Value | None, axis: int, name: Entry, place: Place | None) -> Value:
    """Return names with one more at ``axis``, written at ``place``; missing ones before it are None."""
    names = names_of(value)
    spec = Spec(tuple(names.spec)) if isinstance(names.spec, str) else names.spec
    if not isinstance(spec, Spec) or axis < 0:
        return Unknown("the names are not known")
    missing = max(0, axis - len(spec))
    entries = (*spec.entries, *(None,) * missing)
    places = (*names.entry_places, *(None,) * (len(entries) - len(names.entry_places)))
    return SpecValue(
        Spec((*entries[:axis], name, *entries[axis:])),
        names.place,
        (*places[:axis], place or names.place, *places[axis:]),
    )
