"""Meshes: building them, setting them, and reading them back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from shardlint.inference.calls import Call
from shardlint.inference.evaluator import Evaluator
from shardlint.inference.overlays import devices as device_arrays
from shardlint.inference.overlays import numpy_
from shardlint.inference.overlays.placing import shape_text
from shardlint.inference.values import (
    Bound,
    Const,
    Devices,
    DictValue,
    External,
    LibraryObject,
    ListValue,
    MeshValue,
    Native,
    Tuple,
    Value,
    as_dim,
    as_items,
    as_shape,
    as_str,
    integer,
    shape_value,
)
from shardlint.laws import dims
from shardlint.laws.dims import Dim, Shape
from shardlint.laws.meshes import judge_mesh
from shardlint.laws.values import AxisType, Mesh, Unknown
from shardlint.laws.verdicts import Rejected, Verdict
from shardlint.spans import Place
from shardlint.uses import Fact, MeshUse


def _names(value: Value | None, split: bool = False) -> tuple[str, ...] | Unknown:
    """Axis names: a tuple or list of strings, or one string (``split``: one axis a letter)."""
    text = as_str(value)
    if text is not None:
        return tuple(text) if split else (text,)
    items = as_items(value)
    names = [as_str(item) for item in items or ()]
    if items is None or any(name is None for name in names):
        return Unknown("axis names that are not known")
    return tuple(name for name in names if name is not None)


def _types(value: Value | None, count: int, default: AxisType) -> tuple[AxisType, ...] | Unknown:
    """Axis types: one for all, or one for each axis."""
    if value is None or (isinstance(value, Const) and value.value is None):
        return (default,) * count
    items = as_items(value)
    given = items if items is not None else (value,) * count
    found = [_axis_type(item) for item in given]
    return (
        Unknown("axis types that are not known")
        if None in found
        else tuple(t for t in found if t is not None)
    )


def _axis_type(value: Value) -> AxisType | None:
    prefix, _, name = value.name.rpartition(".") if isinstance(value, External) else ("", "", "")
    return AxisType(name) if prefix == "jax.sharding.AxisType" and name in set(AxisType) else None


def _build(
    call: Call,
    function: str,
    shape: Shape | Unknown,
    names: tuple[str, ...] | Unknown,
    types: tuple[AxisType, ...] | Unknown,
    devices: Dim | None,
    shape_place: Place,
    names_place: Place,
    facts: tuple[Fact, ...] = (),
) -> Value:
    """Judge and record the construction of a mesh, and return it."""
    count = None if isinstance(types, Unknown) else len(types)
    verdict = judge_mesh(function, shape, names, devices, types=count)
    _record(call, function, verdict, shape, names, devices, shape_place, names_place, facts)
    if isinstance(shape, Unknown) or isinstance(names, Unknown) or isinstance(types, Unknown):
        reason = next(v.reason for v in (shape, names, types) if isinstance(v, Unknown))
        return Unknown(f"a mesh: {reason}")
    if isinstance(verdict, Rejected) or not len(shape) == len(names) == len(types):
        return Unknown("JAX rejects this mesh")
    return MeshValue(Mesh(names, shape, types, function == "AbstractMesh"), call.place)


def _record(
    call: Call,
    function: str,
    verdict: Verdict,
    shape: Shape | Unknown,
    names: tuple[str, ...] | Unknown | None,
    devices: Dim | None,
    shape_place: Place,
    names_place: Place | None,
    facts: tuple[Fact, ...] = (),
) -> None:
    call.interpreter.record(
        MeshUse(
            place=call.place,
            environment=call.interpreter.environment(),
            verdict=verdict,
            facts=facts,
            function=function,
            shape=shape,
            names=names,
            devices=devices,
            names_place=names_place,
            shape_place=shape_place,
        )
    )


def _mesh(call: Call) -> Value:
    """``Mesh(devices, axis_names, axis_types=)``: its axes are Auto unless it is told otherwise."""
    devices, axis_names, axis_types = call.bind("devices", "axis_names", axis_types=None)
    names = _names(axis_names)
    shape: Shape | Unknown = Unknown("devices that are not known")
    if isinstance(devices, ListValue | Tuple):
        devices = _as_device_array(devices)
    facts: tuple[Fact, ...] = ()
    if isinstance(devices, Devices):
        shape = devices.shape
        if devices.origin is not None:
            facts = (Fact(f"the devices are arranged as {shape_text(shape)}", devices.origin),)
    elif not isinstance(names, Unknown):
        # The rank of the device array is that of the names, or JAX raises; the sizes stay open.
        shape = tuple(dims.distinct(name, 1) for name in names)
    count = len(names) if not isinstance(names, Unknown) else 0
    types = _types(axis_types, count, AxisType.AUTO)
    return _build(
        call,
        "Mesh",
        shape,
        names,
        types,
        None,
        call.place_of(0, "devices"),
        call.place_of(1, "axis_names"),
        facts,
    )


def _as_device_array(value: ListValue | Tuple) -> Devices | None:
    """`Mesh` makes an array of nested lists of devices."""
    rows = [
        _as_device_array(item) if isinstance(item, ListValue | Tuple) else item for item in value.items or ()
    ]
    arrays = [row for row in rows if isinstance(row, Devices)]
    if not arrays or len(arrays) < len(rows) or any(row.shape != arrays[0].shape for row in arrays):
        return None
    return Devices((len(rows), *arrays[0].shape), numpy=True)


def _make_mesh(call: Call) -> Value:
    """``make_mesh(axis_shapes, axis_names, axis_types=, devices=)``: Explicit axes since JAX 0.9."""
    shape_value_, names_value, types_value, devices = call.bind(
        "axis_shapes", "axis_names", axis_types=None, devices=None
    )
    shape = _sizes(shape_value_)
    names = _names(names_value)
    count = len(names) if not isinstance(names, Unknown) else 0
    types = _types(types_value, count, AxisType.EXPLICIT)
    available = _device_total(call.interpreter, devices)
    return _build(
        call,
        "make_mesh",
        shape,
        names,
        types,
        available,
        call.place_of(0, "axis_shapes"),
        call.place_of(1, "axis_names"),
    )


def _abstract_mesh(call: Call) -> Value:
    sizes, names_value, types_value, *_ = call.bind(
        "axis_sizes", "axis_names", axis_types=None, abstract_device=None
    )
    names = _names(names_value, split=True)
    count = len(names) if not isinstance(names, Unknown) else 0
    return _build(
        call,
        "AbstractMesh",
        _sizes(sizes),
        names,
        _types(types_value, count, AxisType.AUTO),
        None,
        call.place_of(0, "axis_sizes"),
        call.place_of(1, "axis_names"),
    )


def _sizes(value: Value | None) -> Shape | Unknown:
    """Axis sizes; whole floats are taken for integers, as JAX does."""
    items = as_items(value)
    if items is None:
        return Unknown("axis sizes that are not known")
    sizes = [as_dim(item) for item in items]
    for i, item in enumerate(items):
        if isinstance(item, Const) and isinstance(item.value, float) and item.value.is_integer():
            sizes[i] = int(item.value)
    return (
        Unknown("axis sizes that are not known")
        if None in sizes
        else tuple(s for s in sizes if s is not None)
    )


def _device_total(interpreter: Evaluator, devices: Value | None) -> Dim | None:
    """How many devices a mesh may take: those given, else all there are."""
    if devices is None or (isinstance(devices, Const) and devices.value is None):
        return interpreter.device_count
    if isinstance(devices, Devices):
        return dims.product(devices.shape)
    items = as_items(devices)
    known = items is not None and all(isinstance(item, Devices) for item in items)
    return len(items) if known and items is not None else None


def _create_device_mesh(call: Call) -> Value:
    """`mesh_utils.create_device_mesh(mesh_shape, devices=)`: a numpy array that takes every device."""
    shape_given, devices, *_ = call.bind(
        "mesh_shape",
        devices=None,
        contiguous_submeshes=None,
        allow_split_physical_axes=None,
    )
    shape = _sizes(shape_given)
    total = _device_total(call.interpreter, devices)
    place = call.place_of(0, "mesh_shape")
    verdict = judge_mesh("create_device_mesh", shape, None, total)
    _record(call, "create_device_mesh", verdict, shape, None, total, place, None)
    if isinstance(verdict, Rejected) or isinstance(shape, Unknown):
        return Unknown("a device mesh that is not known")
    return Devices(shape, numpy=True, origin=call.place)


def _hybrid_device_mesh(call: Call) -> Value:
    """The shapes within and across slices multiply."""
    inner, outer = _sizes(call.argument(0, "mesh_shape")), _sizes(call.argument(1, "dcn_mesh_shape"))
    if isinstance(inner, Unknown) or isinstance(outer, Unknown) or len(inner) != len(outer):
        return Unknown("a hybrid mesh that is not known")
    return Devices(tuple(a * b for a, b in zip(inner, outer, strict=True)), numpy=True, origin=call.place)


def reshape_devices(call: Call) -> Value:
    """``devices.reshape(...)``: numpy raises where the sizes do not multiply to the count."""
    devices = call.args[0]
    rest = call.args[1:]
    given = rest[0] if len(rest) == 1 else Tuple(tuple(rest))
    shape = as_shape(given)
    if isinstance(devices, Devices) and shape is not None and not call.opaque and not call.kwargs:
        total = dims.product(devices.shape)
        verdict = judge_mesh("reshape", shape, None, total)
        facts = (Fact(f"there are {total} devices", devices.origin),) if devices.origin is not None else ()
        _record(call, "reshape", verdict, shape, None, total, call.place_of(1, "shape"), None, facts)
        if isinstance(verdict, Rejected):
            return Unknown("numpy rejects this shape")
    result = device_arrays.METHODS["reshape"](call)
    return replace(result, origin=call.place) if isinstance(result, Devices) else result


def _numpy_reshape(call: Call) -> Value:
    """`np.reshape(devices, shape)` is checked as the method is; other arrays are numpy's."""
    if not isinstance(call.argument(0, "a"), Devices) or len(call.args) != 2 or call.kwargs:
        return numpy_.TABLE["numpy.reshape"](call)
    devices = call.args[0]
    assert isinstance(devices, Devices)
    call.args = [replace(devices, numpy=True), call.args[1]]
    return reshape_devices(call)


def _devices(call: Call) -> Value:
    return Devices((call.interpreter.device_count,), origin=call.place)


def _device_count(call: Call) -> Value:
    return integer(call.interpreter.device_count, call.place)


def _one_process(value: Value) -> Callable[[Call], Value]:
    """What holds with one process; with an unknown number of devices there may be several."""

    def answer(call: Call) -> Value:
        known = isinstance(call.interpreter.device_count, int)
        return value if known else Unknown("there may be several processes")

    return answer


def _local_count(call: Call) -> Value:
    count = call.interpreter.device_count
    return integer(count) if isinstance(count, int) else integer(dims.symbol("local_device_count", 1))


def _local_devices(call: Call) -> Value:
    count = call.interpreter.device_count
    return Devices(
        (count if isinstance(count, int) else dims.symbol("local_device_count", 1),), origin=call.place
    )


def _set_mesh(call: Call) -> Value:
    """`jax.set_mesh(mesh)` sets the mesh at once; as a context manager it puts the old one back."""
    (mesh,) = call.bind("mesh")
    interpreter, before = call.interpreter, call.interpreter.context.mesh
    known: MeshValue | Unknown = mesh if isinstance(mesh, MeshValue) else Unknown("a mesh that is not known")
    if interpreter.settings.mesh is not None and isinstance(known, Unknown):
        known = MeshValue(interpreter.settings.mesh)
    interpreter.context = replace(interpreter.context, mesh=known)
    previous: Value = Const(None) if before is None else before
    return LibraryObject("jax.set_mesh", {"mesh": known, "previous": previous})


def _current_mesh(call: Call) -> Value:
    mesh = call.interpreter.context.mesh
    return Unknown("no mesh is set") if mesh is None else mesh


def _config_update(call: Call) -> Value:
    name, value = call.bind("name", "val")
    count = as_dim(value)
    if as_str(name) == "jax_num_cpu_devices" and count is not None:
        call.interpreter.device_count = count
    return Const(None)


_AXES_OF_TYPE = {f"{kind.lower()}_axes": kind for kind in AxisType}


def mesh_attribute(interpreter: Evaluator, value: MeshValue, name: str, place: Place) -> Value:
    """``mesh.name``."""
    mesh = value.mesh
    if name == "shape":
        return DictValue({n: integer(s) for n, s in zip(mesh.names, mesh.sizes, strict=True)}, value.origin)
    if name == "axis_names":
        return Tuple(tuple(Const(n, value.origin) for n in mesh.names), value.origin)
    if name == "axis_sizes":
        return shape_value(mesh.sizes)
    if name == "axis_types":
        return Tuple(tuple(External(f"jax.sharding.AxisType.{t.value}") for t in mesh.types))
    if name == "size":
        return integer(mesh.device_count)
    if name == "shape_tuple":
        pairs = zip(mesh.names, mesh.sizes, strict=True)
        return Tuple(tuple(Tuple((Const(n), integer(s))) for n, s in pairs))
    if name == "devices" and not mesh.abstract:
        return Devices(mesh.sizes, numpy=True, origin=value.origin)
    if name == "empty":
        return Const(not mesh.names)
    if name == "abstract_mesh":
        return replace(value, mesh=replace(mesh, abstract=True))
    if name in _AXES_OF_TYPE:
        kinds = zip(mesh.names, mesh.types, strict=True)
        return Tuple(tuple(Const(axis) for axis, kind in kinds if kind is _AXES_OF_TYPE[name]))
    if name in ("local_mesh", "is_multi_process") and isinstance(interpreter.device_count, int):
        return value if name == "local_mesh" else Const(False)
    if name in ("__enter__", "__exit__"):
        return Bound(Native(f"Mesh.{name}", lambda call: value), value)
    return Unknown(f"`Mesh.{name}`")


TABLE: dict[str, Callable[[Call], Value]] = {
    "jax.sharding.Mesh": _mesh,
    "jax.make_mesh": _make_mesh,
    "jax.sharding.AbstractMesh": _abstract_mesh,
    "jax.experimental.mesh_utils.create_device_mesh": _create_device_mesh,
    "jax.experimental.mesh_utils.create_hybrid_device_mesh": _hybrid_device_mesh,
    "numpy.reshape": _numpy_reshape,
    "jax.devices": _devices,
    "jax.device_count": _device_count,
    "jax.local_device_count": _local_count,
    "jax.local_devices": _local_devices,
    "jax.process_count": _one_process(Const(1)),
    "jax.process_index": _one_process(Const(0)),
    "jax.set_mesh": _set_mesh,
    "jax.sharding.use_mesh": _set_mesh,
    "jax.sharding.use_abstract_mesh": _set_mesh,
    "jax.sharding.get_abstract_mesh": _current_mesh,
    "jax.sharding.get_mesh": _current_mesh,
    "jax.config.update": _config_update,
}
