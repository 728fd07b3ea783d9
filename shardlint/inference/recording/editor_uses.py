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
from shardlint.model.uses import ArrayUse, Fact, LocalUse, ValueUse

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine

#: Kinds of values that may be worth recording.
TELLING = frozenset({MeshValue, SpecValue, ShardingValue, Array, Alternatives})


def note_parameters(interpreter: Machine, code: Code, bound: dict[str, Value]) -> None:
    """Record the parameters of a function; of a body, their shapes on each device."""
    params = parameters(code)
    is_body = interpreter.context.body == code.key
    for parameter in (*params.posonly_params, *params.params, *(() if is_body else params.kwonly_params)):
        name = parameter.name.value
        if name in bound:
            place = NodePlace(code.header_unit, parameter.name)
            if is_body:
                _record_local(interpreter, place, name, bound[name], parameter=True)
            else:
                _record_value(interpreter, place, name, bound[name])


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
    """Record a name that holds a mesh, a spec, a sharding or an array."""
    name = node.value if isinstance(node, cst.Name) else node.attr.value
    _record_value(interpreter, interpreter.place(node), name, value)


def _record_value(interpreter: Machine, place: Place, name: str, value: Value) -> None:
    if type(value) not in TELLING or interpreter.is_silent:
        return
    around = interpreter.context
    in_body = around.body is not None or around.bound_axes != ()
    for option in options(value):
        if (sharding := _held(option)) is not None:
            mesh, spec, shape, dtype, facts = sharding
            interpreter.record(
                ValueUse(
                    place=place,
                    environment=interpreter.environment(),
                    facts=tuple(facts),
                    name=name,
                    mesh=mesh,
                    spec=spec,
                    shape=shape,
                    dtype=dtype,
                )
            )
        elif isinstance(option, Array) and option.shape is not None and not (option.numpy or in_body):
            interpreter.record(
                ArrayUse(
                    place=place,
                    environment=interpreter.environment(),
                    name=name,
                    shape=option.shape,
                    dtype=option.dtype,
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
    if isinstance(value, Array) and value.shape is not None:
        held = None if value.sharding is None else _held(value.sharding)
        if held is not None:
            return held[0], held[1], value.shape, value.dtype, held[4]
    return None


def _made(what: Mesh | Spec, origin: Place | None) -> list[Fact]:
    if origin is None:
        return []
    if isinstance(what, Mesh):
        return [Fact(f"the mesh has the axes {what}", origin, what)]
    return [Fact(f"{what} is written here", origin)]


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
