"""Uses for editors: names that hold meshes, specs and placed arrays, and shards in shard_map bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import libcst as cst

from shardlint.inference.domain.lattice import options
from shardlint.inference.domain.values import (
    Alternatives,
    Array,
    MeshValue,
    ShardingValue,
    SpecValue,
    Value,
)
from shardlint.inference.evaluation.context import Frame
from shardlint.inference.machine.code import Code, parameters
from shardlint.inference.syntax.units import NodePlace
from shardlint.laws.core.dims import Shape
from shardlint.laws.core.values import Mesh, Spec, Unknown
from shardlint.model.spans import Place
from shardlint.model.uses import Fact, LocalUse, ValueUse

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine

#: Kinds of values that may be worth recording.
TELLING = frozenset({MeshValue, SpecValue, ShardingValue, Array, Alternatives})


def note_parameters(interpreter: Machine, code: Code, bound: dict[str, Value]) -> None:
    """Record the parameters of a body."""
    params = parameters(code)
    for parameter in (*params.posonly_params, *params.params):
        name = parameter.name.value
        if name in bound:
            place = NodePlace(code.header_unit, parameter.name)
            _record_local(interpreter, place, name, bound[name], parameter=True)


def note_assigned(interpreter: Machine, target: cst.Name, value: Value) -> None:
    """Record an assigned value: within a body, but not in its callees, its shape on each device."""
    if interpreter.context.body is None:
        note_read(interpreter, target, value)
    elif _is_body(interpreter, interpreter.frame):
        _record_local(interpreter, interpreter.place(target), target.value, value, parameter=False)


def _is_body(interpreter: Machine, frame: Frame) -> bool:
    """Return whether a frame is that of the body of the enclosing shard_map."""
    if frame.function is None or frame.scope.is_comprehension:
        return False
    found: bool = frame.function.key == interpreter.context.body
    return found


def note_read(interpreter: Machine, node: cst.Name | cst.Attribute, value: Value) -> None:
    """Record a name that holds a mesh, a spec, a sharding or an array on a mesh."""
    if type(value) not in TELLING or interpreter.is_silent:
        return
    for option in options(value):
        if (sharding := _held(option)) is not None:
            mesh, spec, shape, dtype, facts = sharding
            interpreter.record(
                ValueUse(
                    place=interpreter.place(node),
                    environment=interpreter.environment(),
                    facts=tuple(facts),
                    name=node.value if isinstance(node, cst.Name) else node.attr.value,
                    mesh=mesh,
                    spec=spec,
                    shape=shape,
                    dtype=dtype,
                )
            )


_Held = tuple[Mesh | None, Spec | None, Shape | None, str | None, Sequence[Fact]]


def _held(value: Value) -> _Held | None:
    """Return the mesh, spec, shape and dtype of a value, with their origins; None if it has none."""
    if isinstance(value, MeshValue):
        return value.mesh, None, None, None, _made(value.mesh, value.origin)
    if isinstance(value, SpecValue):
        return None, value.spec, None, None, _made(value.spec, value.origin)
    if isinstance(value, ShardingValue):
        if not isinstance(value.mesh, MeshValue) or not isinstance(value.spec, SpecValue):
            return None
        mesh, spec = value.mesh, value.spec
        return (
            mesh.mesh,
            spec.spec,
            None,
            None,
            [*_made(spec.spec, spec.origin), *_made(mesh.mesh, mesh.origin)],
        )
    if isinstance(value, Array) and value.sharding is not None and value.shape is not None:
        held = _held(value.sharding)
        if held is not None:
            return held[0], held[1], value.shape, value.dtype, held[4]
    return None


def _made(what: Mesh | Spec, origin: Place | None) -> list[Fact]:
    words = f"the mesh has the axes {what}" if isinstance(what, Mesh) else f"{what} is written here"
    return [] if origin is None else [Fact(words, origin)]


def _record_local(interpreter: Machine, place: Place, name: str, value: Value, *, parameter: bool) -> None:
    shape, dtype = None, None
    if isinstance(value, Array) and not value.numpy:
        shape, dtype = value.shape, value.dtype
    interpreter.record(
        LocalUse(
            place=place,
            environment=interpreter.environment(),
            name=name,
            parameter=parameter,
            shape=Unknown("not known") if shape is None else shape,
            dtype=dtype,
        )
    )
