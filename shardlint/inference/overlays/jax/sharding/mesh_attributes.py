"""Attributes of meshes, and meshes derived from others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from shardlint.inference.domain.values import (
    Array,
    Bound,
    Const,
    Devices,
    DictValue,
    External,
    MeshValue,
    Native,
    Tuple,
    Value,
    integer,
    is_none,
    shape_value,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.jax.sharding.devices import one_process
from shardlint.inference.overlays.jax.sharding.mesh_arguments import AXIS_TYPES
from shardlint.inference.overlays.jax.sharding.mesh_contexts import enter_mesh
from shardlint.inference.overlays.jax.sharding.meshes import TABLE as CONSTRUCTORS
from shardlint.inference.overlays.recording import record_of_value
from shardlint.laws.core.dims import fresh
from shardlint.laws.core.values import AxisType, Mesh, Unknown
from shardlint.laws.core.witness_data import call_data, mesh_data
from shardlint.laws.meshes.contexts import CONCRETE_ONLY, judge_concrete
from shardlint.model.spans import Place

_AXES_OF_TYPE = {f"{kind.lower()}_axes": kind for kind in AxisType}


def mesh_attribute(interpreter: Evaluator, value: MeshValue, name: str, place: Place) -> Value:
    """``mesh.name``."""
    if name in CONCRETE_ONLY and value.mesh.abstract:
        verdict = judge_concrete(name, value.mesh)
        concrete = replace(value.mesh, abstract=False)
        calls = [call_data(f"Mesh.{name}", (mesh_data(mesh),)) for mesh in (value.mesh, concrete)]
        record_of_value(interpreter, f"AbstractMesh.{name}", verdict, place, *calls)
        return Unknown(f"`AbstractMesh.{name}`")
    if name in _READERS:
        return _READERS[name](value)
    if name in _METHODS:
        return Bound(Native(f"jax.sharding.{_class(value.mesh)}.{name}", _METHODS[name]), value)
    return _of_process(interpreter, value, name)


def _of_process(interpreter: Evaluator, value: MeshValue, name: str) -> Value:
    """Return an attribute that depends on the process: of several, each has a part of the devices."""
    alone = one_process(interpreter)
    if name == "local_devices":
        count, ids = (value.mesh.device_count, value.ids) if alone else (fresh(1), None)
        return Devices((count,), origin=value.origin, ids=ids)
    if name != "local_mesh":
        return Unknown(f"`Mesh.{name}`")
    # `mesh._get_local_mesh` makes a new mesh of Auto axes.
    auto = (AxisType.AUTO,) * len(value.mesh.types)
    sizes = value.mesh.sizes if alone else tuple(fresh(1) for _ in value.mesh.sizes)
    return MeshValue(replace(value.mesh, sizes=sizes, types=auto), value.origin, value.name)


def _class(mesh: Mesh) -> str:
    return "AbstractMesh" if mesh.abstract else "Mesh"


def _names(value: MeshValue) -> Tuple:
    return Tuple(tuple(Const(name, value.origin) for name in value.mesh.names), value.origin)


def _types(mesh: Mesh) -> Tuple:
    return Tuple(tuple(map(_type, mesh.types)))


def _type(kind: AxisType) -> External:
    return External(f"{AXIS_TYPES}{kind.value}")


def _shape(value: MeshValue) -> DictValue:
    """Return `Mesh.shape`, an OrderedDict: a repeated name has the size of its last axis."""
    pairs = zip(value.mesh.names, value.mesh.sizes, strict=True)
    return DictValue({name: integer(size) for name, size in pairs}, value.origin)


def _pairs(value: MeshValue) -> Tuple:
    pairs = zip(value.mesh.names, value.mesh.sizes, strict=True)
    return Tuple(tuple(Tuple((Const(name), integer(size))) for name, size in pairs))


def _of_type(kind: AxisType) -> Callable[[MeshValue], Value]:
    def read(value: MeshValue) -> Value:
        pairs = zip(value.mesh.names, value.mesh.types, strict=True)
        return Tuple(tuple(Const(name) for name, its in pairs if its is kind))

    return read


def _all_of(kind: AxisType) -> Callable[[MeshValue], Value]:
    return lambda value: Const(bool(value.mesh.types) and set(value.mesh.types) == {kind})


def _any_of(kind: AxisType) -> Callable[[MeshValue], Value]:
    return lambda value: Const(kind in value.mesh.types)


_READERS: dict[str, Callable[[MeshValue], Value]] = {
    "shape": _shape,
    "shape_tuple": _pairs,
    "axis_names": _names,
    "axis_sizes": lambda value: shape_value(value.mesh.sizes),
    "axis_types": lambda value: _types(value.mesh),
    # The empty mesh has size 0, though the empty product is 1.
    "size": lambda value: integer(value.mesh.device_count if value.mesh.names else 0),
    "empty": lambda value: Const(not value.mesh.names or 0 in value.mesh.sizes),
    "devices": lambda value: Devices(value.mesh.sizes, numpy=True, origin=value.origin, ids=value.ids),
    "device_ids": lambda value: Array(value.mesh.sizes, "int64", numpy=True),
    "abstract_mesh": lambda value: replace(value, mesh=replace(value.mesh, abstract=True)),
    "_name_to_type": lambda value: DictValue(
        dict(zip(value.mesh.names, map(_type, value.mesh.types), strict=True))
    ),
    **{f"{kind.lower()}_axes": _of_type(kind) for kind in AxisType},
    **{f"are_all_axes_{kind.lower()}": _all_of(kind) for kind in AxisType},
    **{f"_any_axis_{kind.lower()}": _any_of(kind) for kind in AxisType},
}


def _update(call: Call) -> Value:
    """``mesh.update(devices=, axis_names=, axis_types=)``: another mesh of the same class."""
    mesh = call.args[0] if call.args else None
    if not isinstance(mesh, MeshValue):
        return Unknown("Mesh.update")
    first = "axis_sizes" if mesh.mesh.abstract else "devices"
    _, *given = call.bind(
        "self_", **{first: None, "axis_names": None, "axis_types": None}, **_abstract_device(mesh.mesh)
    )
    own = (shape_value(mesh.mesh.sizes), _names(mesh), _types(mesh.mesh))
    if not mesh.mesh.abstract:
        own = (Devices(mesh.mesh.sizes, numpy=True), *own[1:])  # type: ignore[assignment]
    args = [mine if new is None or is_none(new) else new for new, mine in zip(given, own, strict=False)]
    order = (first, "axis_names", "axis_types")
    places: dict[int | str, Place] = {i: call.place_of(i + 1, name) for i, name in enumerate(order)}
    name = f"jax.sharding.{_class(mesh.mesh)}"
    return CONSTRUCTORS[name](Call(call.interpreter, name, args, {}, call.place, False, places))


def _abstract_device(mesh: Mesh) -> dict[str, None]:
    return {"abstract_device": None} if mesh.abstract else {}


def _update_axis_types(call: Call) -> Value:
    """``abstract_mesh.update_axis_types({"x": AxisType.Explicit})``: ignores names that it lacks."""
    mesh, given = call.bind("self_", "name_to_type")
    if not isinstance(mesh, MeshValue) or not mesh.mesh.abstract:
        return Unknown("Mesh.update_axis_types")
    if not isinstance(given, DictValue) or given.items is None:
        return Unknown("axis types that are not known")
    pairs = zip(mesh.mesh.names, mesh.mesh.types, strict=True)
    types = Tuple(tuple(given.items.get(name, _type(kind)) for name, kind in pairs))
    return _update(Call(call.interpreter, call.name, [mesh], {"axis_types": types}, call.place))


def _enter(call: Call) -> Value:
    """``mesh.__enter__()``, in programs that leave the block elsewhere or never."""
    mesh = call.args[0]
    if isinstance(mesh, MeshValue):
        call.interpreter.context = enter_mesh(call.interpreter, mesh, call.place)
    return mesh


def _leave(call: Call) -> Value:
    """``mesh.__exit__(...)``: restores the mesh of the enclosing block."""
    interpreter = call.interpreter
    interpreter.context = replace(interpreter.context, legacy_mesh=Unknown("the mesh of another block"))
    return Const(False)


_METHODS: dict[str, Callable[[Call], Value]] = {
    "update": _update,
    "update_axis_types": _update_axis_types,
    "__enter__": _enter,
    "__exit__": _leave,
}

READERS = {MeshValue: mesh_attribute}
