"""The shardings in types, and the conversion between abstract values and the laws' types.

`jax.typeof(x).sharding` has Explicit axes only; the types of numpy arrays, Python numbers and arrays made
without a mesh have no mesh. The spec in a type has one entry for each dimension.
"""

from __future__ import annotations

from dataclasses import replace

from shardlint.inference.domain.values import (
    Array,
    Const,
    Integer,
    MeshValue,
    ShardingValue,
    SpecValue,
    Value,
)
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.laws.core.array_types import ArrayType, TypeSharding
from shardlint.laws.core.dims import Shape
from shardlint.laws.core.values import AxisType, Mesh, Spec, Unknown
from shardlint.laws.placement import axis_types
from shardlint.model.origins import plain_kind

_PYTHON_DTYPES: dict[type, str] = {bool: "bool", int: "int32", float: "float32", complex: "complex64"}


def compiled(interpreter: Evaluator, array: Array) -> Array:
    """Return an array as a compiled function returns it: outside of jit, it lies on the mesh that is set."""
    context = interpreter.context
    if context.in_jit is not False or context.mesh is None or array.typed is None:
        return array
    return replace(array, typed=None) if array.typed.mesh is None else array


def meshless(shape: Shape) -> TypeSharding:
    """Return the sharding in the type of a numpy array, or of an array made without a mesh."""
    return replicated(None, shape)


def replicated(mesh: Mesh | None, shape: Shape) -> TypeSharding:
    """Return the sharding in the type of an array that no Explicit axis splits."""
    return TypeSharding(mesh, Spec((None,) * len(shape)))


def typed_as(mesh: Mesh, spec: Spec, shape: Shape | None) -> TypeSharding | None:
    """Return the sharding in the type of an array with this placement (`core.modify_spec_for_auto_manual`).

    None if the rank, or an entry, is unknown.
    """
    if shape is None:
        return None
    entries = tuple(axis_types.in_type(mesh, entry) for entry in spec.entries)
    padded = (*entries, *(None,) * (len(shape) - len(entries)))[: len(shape)]
    if any(_unknown(entry) for entry in padded):
        return None
    explicit = {n for n, t in zip(mesh.names, mesh.types, strict=True) if t is AxisType.EXPLICIT}
    typed = Spec(padded, spec.unreduced & explicit, spec.reduced & explicit)
    return TypeSharding(replace(mesh, abstract=True), typed)


def padded(spec: Spec, shape: Shape | None) -> Spec:
    """Return the spec with one entry for each dimension."""
    missing = 0 if shape is None else len(shape) - len(spec)
    return replace(spec, entries=(*spec.entries, *(None,) * missing))


def _unknown(entry: object) -> bool:
    parts = entry if isinstance(entry, tuple) else (entry,)
    return any(isinstance(part, Unknown) for part in parts)


def context_of(interpreter: Evaluator) -> Mesh | Unknown | None:
    """Return the mesh of `jax.set_mesh` in the form of types, or None if none is set."""
    mesh = interpreter.context.mesh
    return replace(mesh.mesh, abstract=True) if isinstance(mesh, MeshValue) else mesh


def replicated_here(interpreter: Evaluator, shape: Shape | None) -> TypeSharding | None:
    """Return the sharding in the type of a library's new array: replicated over the context's mesh."""
    mesh = context_of(interpreter)
    return None if shape is None or isinstance(mesh, Unknown) else replicated(mesh, shape)


def type_of(value: Value) -> ArrayType | None:
    """Return the type of an operand of a library call; None for a value that is neither an array nor a
    number."""
    if isinstance(value, Array):
        typed = value.typed
        if typed is not None and value.shape is not None and len(typed.spec) != len(value.shape):
            typed = None
        if typed is None and value.shape is not None and value.numpy:
            typed = meshless(value.shape)
        return ArrayType(value.shape, value.dtype, typed, value.varying)
    if isinstance(value, Integer):
        return ArrayType((), "int32", meshless(()), frozenset())
    if isinstance(value, Const) and plain_kind(value.value) in _PYTHON_DTYPES:
        return ArrayType((), _PYTHON_DTYPES[plain_kind(value.value)], meshless(()), frozenset())
    return None


def has_explicit(mesh: Mesh | Unknown | None) -> bool:
    """Return whether a mesh has, or may have, Explicit axes."""
    return isinstance(mesh, Unknown) or (mesh is not None and AxisType.EXPLICIT in mesh.types)


def sharding_in_type(array: Array) -> ShardingValue | None:
    """Return ``x.sharding`` from the type; None unless all axes of its mesh are Explicit."""
    typed = array.typed
    if typed is None or typed.mesh is None or set(typed.mesh.types) != {AxisType.EXPLICIT}:
        return None
    return ShardingValue(MeshValue(typed.mesh), SpecValue(typed.spec))


def in_type(array: Array) -> Array:
    """Return ``jax.typeof(x)``: x with a sharding that has Explicit axes only."""
    typed = array.typed
    if typed is None or typed.mesh is None:
        return replace(array, struct=True, sharding=None)
    return replace(array, struct=True, sharding=ShardingValue(MeshValue(typed.mesh), SpecValue(typed.spec)))


def in_types_of(array: Array, mesh: Mesh) -> Array:
    """Return the array on a mesh with other axis types: its type has only axes that are Explicit there."""
    kind = type_of(array)
    if kind is None or kind.sharding is None or array.shape is None:
        return replace(array, sharding=None, typed=None)
    if kind.sharding.mesh is None:
        return replace(array, sharding=None, typed=replicated(replace(mesh, abstract=True), array.shape))
    if kind.sharding.mesh.names != mesh.names or kind.sharding.mesh.sizes != mesh.sizes:
        return replace(array, sharding=None, typed=None)
    return replace(array, sharding=None, typed=typed_as(mesh, kind.sharding.spec, array.shape))


def struct_type(array: Array) -> TypeSharding | None:
    """Return the sharding of a struct that `jax.eval_shape` returns: only meshes with all axes Explicit."""
    typed = array.typed
    if typed is None or array.shape is None or typed.mesh is None:
        return typed
    return typed if set(typed.mesh.types) == {AxisType.EXPLICIT} else meshless(array.shape)
