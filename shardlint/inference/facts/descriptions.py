"""Descriptions of arrays and meshes in comments and annotations: they complete values."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from shardlint.inference.domain.values import (
    Alternatives,
    Array,
    Const,
    DictValue,
    Integer,
    ListValue,
    MeshValue,
    ShardingValue,
    Sized,
    SpecValue,
    Tuple,
    Value,
    as_size,
)
from shardlint.inference.store.effect_log import depends
from shardlint.laws.core import dims
from shardlint.laws.core.array_types import short_dtype
from shardlint.laws.core.dims import Dim, Shape
from shardlint.laws.core.size_syntax import ArrayPattern, configured, written_size
from shardlint.laws.core.values import Mesh, Unknown
from shardlint.model.spans import Place
from shardlint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from shardlint.inference.evaluation.context import Scope
    from shardlint.inference.machine.machine import Machine

#: Values that are certainly not arrays, in words.
_NO_ARRAYS: dict[type, str] = {
    MeshValue: "a mesh",
    SpecValue: "a spec",
    ShardingValue: "a sharding",
    Tuple: "a tuple",
    ListValue: "a list",
    DictValue: "a dict",
}


@dataclass(frozen=True, slots=True)
class Fitted:
    """A value completed by a description; unchanged if ``wrong`` says why they contradict."""

    value: Value
    wrong: str | None = None


@dataclass(frozen=True, slots=True)
class Description:
    """A description of an array called ``name``, and its place.

    A comment refers to the program's own variables by name, and may narrow what is known; an ``annotation``
    is not checked, and is used only where nothing is known. ``names`` are the sizes of the names shared with
    other descriptions; without it, those of the running function.
    """

    pattern: ArrayPattern
    place: Place
    name: str | None = None
    annotation: bool = False
    names: dict[str, Dim] | None = None


def fit(interpreter: Machine, described: Description, value: Value) -> Fitted:
    """Complete a value by a description."""
    if isinstance(value, Alternatives):
        fits = [fit(interpreter, described, option) for option in value.options]
        return fits[0] if all(found.wrong for found in fits) else Fitted(value)
    pattern = described.pattern
    if isinstance(value, Unknown):
        shape = _shape(interpreter, described)
        array = Array(shape, pattern.dtype, numpy=pattern.numpy, origin=described.place, name=described.name)
        return Fitted(array)
    if isinstance(value, Array):
        return _fit_array(interpreter, described, value)
    if isinstance(value, Const):
        return Fitted(value, "it is a string") if isinstance(value.value, str) else Fitted(value)
    kind = _NO_ARRAYS.get(type(value))
    return Fitted(value, kind and f"it is {kind}")


def fit_mesh(mesh: Mesh, place: Place, name: str | None, value: Value) -> Fitted:
    """Complete a mesh, or the sizes of its axes. Known axis types stay."""
    if isinstance(value, Unknown):
        return Fitted(MeshValue(mesh, place, name))
    if isinstance(value, Alternatives):
        fits = [fit_mesh(mesh, place, name, option) for option in value.options]
        return fits[0] if all(found.wrong for found in fits) else Fitted(value)
    if not isinstance(value, MeshValue):
        return Fitted(value)
    held = value.mesh
    pairs = zip(held.sizes, mesh.sizes, strict=False)
    if held.names != mesh.names or any(dims.equal(a, b) is False for a, b in pairs):
        return Fitted(value, f"it is {held}")
    return Fitted(value if held.sizes == mesh.sizes else replace(value, mesh=replace(held, sizes=mesh.sizes)))


def _fit_array(interpreter: Machine, described: Description, value: Array) -> Fitted:
    pattern = described.pattern
    if pattern.dtype is not None and value.dtype is not None and pattern.dtype != value.dtype:
        return Fitted(value, f"its dtype is {short_dtype(value.dtype)}")
    typed = replace(value, dtype=value.dtype or pattern.dtype)
    if value.shape is None:
        shape = _shape(interpreter, described)
        return Fitted(replace(typed, shape=shape, origin=described.place) if shape is not None else typed)
    pairs = pattern.of_rank(len(value.shape))
    if pairs is None:
        return Fitted(value, f"its shape is {_shape_text(value.shape)}")
    sizes = list(value.shape)
    for dimension, text in pairs:
        size = value.shape[dimension]
        wanted = _size(interpreter, described, text, size)
        if dims.equal(size, wanted) is False:
            return Fitted(value, f"its shape is {_shape_text(value.shape)}")
        if not described.annotation and isinstance(wanted, int):
            sizes[dimension] = wanted
    known = tuple(sizes)
    return Fitted(typed if known == value.shape else replace(typed, shape=known, origin=described.place))


def _shape(interpreter: Machine, described: Description) -> Shape | None:
    sizes = described.pattern.sizes
    if "..." in sizes:
        return None
    return tuple(_size(interpreter, described, text) for text in sizes)


def _shape_text(shape: Shape) -> str:
    return f"({', '.join(map(str, shape))}{',' * (len(shape) == 1)})"


# -- names of sizes -----------------------------------------------------------------------------------


def _size(interpreter: Machine, described: Description, text: str, held: Dim | None = None) -> Dim:
    """Return a size as written; ``held`` is its known value, which binds its name."""
    if text == "_":
        return dims.fresh() if held is None else held

    def size_of(name: str) -> Dim:
        return _named(interpreter, described, name, held if name == text else None)

    found = written_size(text, size_of)
    return found if found is not None else dims.fresh() if held is None else held


def _named(interpreter: Machine, described: Description, name: str, held: Dim | None) -> Dim:
    """Return the size of a name: unique in each call of a function, and in a module's top level."""
    names = described.names
    found = _bound(interpreter, name) if names is None else names.get(name)
    if found is None and not described.annotation:
        found = _variable(interpreter, name, described.place)
    if found is None:
        found = held if isinstance(held, int) else configured(interpreter.settings.dims, name)
    if found is None:
        found = dims.distinct(name) if held is None else held
    if names is None:
        names = interpreter.sizes.setdefault(_function_scope(interpreter.scope).born, {})
    names.setdefault(name, found)
    return found


def _bound(interpreter: Machine, name: str) -> Dim | None:
    """Return the size bound to the name in the running function or an enclosing one."""
    scope: Scope | None = _function_scope(interpreter.scope)
    top_level = scope is not None and scope.parent is None
    while scope is not None and (top_level or scope.parent is not None):
        found = interpreter.sizes.get(scope.born, {}).get(name)
        if found is not None:
            return found
        # Later runs' reads of it are not recorded, so this run is not cached.
        depends(scope.born)
        scope = scope.parent
    return None


def _function_scope(scope: Scope) -> Scope:
    while (scope.is_class or scope.is_comprehension) and scope.parent is not None:
        scope = scope.parent
    return scope


def _variable(interpreter: Machine, name: str, place: Place) -> Dim | None:
    """Return the size in a variable of the program, or in an attribute."""
    value = read(interpreter, name, place)
    return None if value is None else as_size(value)


def read(interpreter: Machine, name: str, place: Place) -> Value | None:
    """Return the value of a dotted name; None if its first part is not a variable of the program."""
    first, *attributes = name.split(".")
    if interpreter.find(first) is None:
        return None
    value = interpreter.lookup(first)
    with interpreter.silent():
        for attribute in attributes:
            value = interpreter.attribute(value, attribute, place)
    return value


def sized(interpreter: Machine, name: str, value: Value) -> Value:
    """Return the value of a variable or attribute; an unknown size is the one configured for its name."""
    if isinstance(value, Unknown):
        found = configured(interpreter.settings.dims, name)
        return value if found is None else Sized(value.reason, dim=found)
    if isinstance(value, Integer) and dims.is_anonymous(value.dim):
        found = configured(interpreter.settings.dims, name)
        return value if found is None else Const(found, value.origin)
    return value
