"""The sharding in the type of an array after a call that places it."""

from __future__ import annotations

from dataclasses import replace

from shardlint.inference.domain.values import Array
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.jax.explicit.type_conversion import (
    context_of,
    padded,
    replicated_here,
    type_of,
    typed_as,
)
from shardlint.laws.core.array_types import TypeSharding
from shardlint.laws.core.values import AxisType, Junk, Marker, Mesh, Spec, Unknown
from shardlint.laws.core.verdicts import Accepted, Api, Rejected, Verdict
from shardlint.laws.transforms.shard_map import inferred_spec

#: APIs that do not change the type of an argument.
_LOOK = frozenset({Api.JIT_IN, Api.JIT_ARGUMENT, Api.SHARD_MAP_IN})


def typed_by(
    interpreter: Evaluator,
    api: Api,
    array: Array,
    mesh: Mesh | Unknown | None,
    spec: Spec | Junk | Unknown | None,
    verdict: Verdict,
) -> TypeSharding | None:
    """Return the sharding in the type of an array after an API; None if it is unknown.

    A constraint leaves the type alone, as far as it constrains, but puts it on its mesh
    (`pjit._sharding_constraint_abstract_eval`); a creation function inside jit ignores ``device=``.
    """
    kind = type_of(array)
    assert kind is not None
    if isinstance(verdict, Rejected):
        return None
    if api in _LOOK:
        return kind.sharding
    if api is Api.CREATE_IN_JIT or (isinstance(verdict, Accepted) and verdict.dropped):
        return replicated_here(interpreter, array.shape)
    if api is Api.DEVICE_PUT_IN_JIT and isinstance(mesh, Mesh) and len(set(mesh.types)) > 1:
        return None
    if not isinstance(mesh, Mesh) or not isinstance(spec, Spec) or Marker.UNCONSTRAINED in spec.entries:
        return None
    if api in (Api.CONSTRAINT, Api.CONSTRAINT_EAGER):
        return _constrained(interpreter, kind.sharding, mesh, array)
    return typed_as(mesh, spec, array.shape)


def _constrained(
    interpreter: Evaluator, held: TypeSharding | None, mesh: Mesh, array: Array
) -> TypeSharding | None:
    if held is None or array.shape is None:
        return None
    context = context_of(interpreter)
    if not isinstance(context, Mesh) or set(context.types) != {AxisType.EXPLICIT}:
        return TypeSharding(replace(mesh, abstract=True), held.spec)
    return TypeSharding(held.mesh or context, held.spec)


def spec_in_type(interpreter: Evaluator, array: Array, mesh: Mesh | Unknown | None) -> Spec | None:
    """Return the sharding of an array, from its type, on a mesh whose axes are all Explicit; else None.

    The mesh may be a part of the array's, some of whose axes become Manual.
    """
    kind = type_of(array)
    if kind is None or kind.sharding is None or not isinstance(mesh, Mesh):
        return None
    if set(mesh.types) != {AxisType.EXPLICIT}:
        return None
    whole, spec = kind.sharding.mesh, kind.sharding.spec
    if whole in (None, replace(mesh, abstract=True)):
        return padded(spec, array.shape)
    held = inferred_spec(whole, mesh.names, spec) if whole is not None and _is_part(mesh, whole) else None
    return None if held is None else padded(held, array.shape)


def _is_part(mesh: Mesh, whole: Mesh) -> bool:
    """Return whether a mesh is some axes of another, in their order."""
    axes = zip(whole.names, whole.sizes, whole.types, strict=True)
    return tuple(axis for axis in axes if axis[0] in mesh.names) == tuple(
        zip(mesh.names, mesh.sizes, mesh.types, strict=True)
    )
