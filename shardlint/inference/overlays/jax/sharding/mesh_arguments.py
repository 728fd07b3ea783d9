"""The arguments of meshes in the form of the laws: sizes, names, types, devices."""

from __future__ import annotations

from dataclasses import replace

from shardlint.inference.domain.iteration import constant, spec_items
from shardlint.inference.domain.values import (
    Array,
    Const,
    Devices,
    DictValue,
    External,
    Integer,
    ListValue,
    MeshValue,
    SetValue,
    ShardingValue,
    SpecValue,
    Tuple,
    Value,
    as_dim,
    as_items,
    as_size,
    as_str,
    is_none,
)
from shardlint.inference.evaluation.call import Call, CannotBind
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.jax.sharding.placement_check import (
    array_junk,
    junk_of,
    number_junk,
    spec_junk,
    text_of,
)
from shardlint.inference.overlays.recording import record_of_value
from shardlint.inference.overlays.witness_values import call_of, data_of
from shardlint.laws.core import dims
from shardlint.laws.core.dims import Dim
from shardlint.laws.core.values import AxisType, Junk, Unknown
from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.laws.core.witness_data import (
    NO_SPEC,
    NONE,
    ONE_DEVICE,
    Known,
    call_data,
    constant_data,
    devices_data,
    mesh_data,
)
from shardlint.laws.meshes.construction import Names, Sizes, Types

AXIS_TYPES = "jax.sharding.AxisType."


def take(
    call: Call, positional: int | None, required: tuple[str, ...], **defaults: Value | None
) -> list[Value | None]:
    """`Call.bind` for a fully known signature: arguments that do not fit are a TypeError, which is recorded.

    ``positional`` is the number of arguments that may be positional, None for all. Raises CannotBind.
    """
    try:
        bound = call.bind(*required, **defaults)
        if positional is not None and len(call.args) > positional:
            raise CannotBind(call.name)
        return bound
    except CannotBind:
        if not call.opaque:
            detail = _misfit(call, positional, required, (*required, *defaults))
            verdict = Rejected(Cause.BAD_ARGUMENT, "TypeError", "call", detail=detail)
            given, fitting = call_of(call.name, call.args, call.kwargs), _WORKING.get(call.name)
            repaired = None if fitting is None else call_data(call.name, fitting)
            record_of_value(call.interpreter, call.name, verdict, call.place, given, repaired)
        raise


_ONE_DEVICE = mesh_data(ONE_DEVICE)
#: Arguments of working calls, to repair those that do not fit.
_WORKING: dict[str, tuple[Known, ...]] = {
    "jax.experimental.mesh_utils.create_device_mesh": (("tuple", 8),),
    "jax.make_mesh": (("tuple", 1), ("tuple", "x")),
    "jax.set_mesh": (NONE,),
    "jax.sharding.AbstractMesh": (("tuple", 1), ("tuple", "x")),
    "jax.sharding.Mesh": (devices_data(range(1)), ("tuple", "x")),
    "jax.sharding.NamedSharding": (_ONE_DEVICE, NO_SPEC),
    "jax.sharding.get_abstract_mesh": (),
    "jax.sharding.get_mesh": (),
    "jax.sharding.no_collectives": (constant_data({"x"}),),
    "jax.sharding.use_abstract_mesh": (mesh_data(replace(ONE_DEVICE, abstract=True)),),
}


def _misfit(call: Call, positional: int | None, required: tuple[str, ...], order: tuple[str, ...]) -> str:
    """Return the reason why the arguments do not fit, in words."""
    limit = len(order) if positional is None else positional
    if len(call.args) > limit:
        return f"it takes {limit} arguments by position, not {len(call.args)}"
    for key in call.kwargs:
        if key not in order:
            return f"it has no argument `{key}`; it takes {', '.join(order)}"
    missing = [name for name in required[len(call.args) :] if name not in call.kwargs]
    return f"`{missing[0]}` is missing" if missing else "an argument is given twice"


def by_position(call: Call, fixed: dict[str, Value], order: tuple[str, ...]) -> dict[int | str, Value]:
    """Return arguments by position if the call passes them so, else by name."""
    placed: dict[int | str, Value] = {}
    for name, value in fixed.items():
        by_name = name in call.kwargs or order.index(name) >= len(call.args)
        placed[name if by_name else order.index(name)] = value
    return placed


def as_thing(value: Value | None) -> Junk | Unknown:
    """Return a value known not to be a mesh (or the expected kind), as text and class."""
    if isinstance(value, Const):
        return junk_of(value)
    if isinstance(value, Integer):
        return number_junk(value.dim)
    if isinstance(value, Tuple):
        hashable = all(isinstance(item, Const) for item in value.items)
        return Junk(text_of(value), "tuple", hashable, falsy=not value.items, data=data_of(value))
    if isinstance(value, ListValue):
        return Junk(
            "a list" if value.items is None else text_of(value), "list", hashable=False, data=data_of(value)
        )
    if isinstance(value, DictValue):
        return Junk(
            "a dict" if value.items is None else text_of(value), "dict", hashable=False, data=data_of(value)
        )
    if isinstance(value, SetValue):
        return Junk(text_of(value), "set", hashable=value.frozen, data=data_of(value))
    if isinstance(value, Devices):
        return Junk(
            "an array of devices" if value.numpy else "a list of devices", "devices", data=data_of(value)
        )
    if isinstance(value, SpecValue):
        return spec_junk(value.spec)
    if isinstance(value, ShardingValue):
        return Junk("a NamedSharding", "NamedSharding", data=data_of(value))
    if isinstance(value, MeshValue):
        return Junk(f"the mesh {value.mesh}", "Mesh", data=data_of(value))
    if isinstance(value, Array):
        return array_junk(value)
    return Unknown("a value that is not known")


# -- sizes ------------------------------------------------------------------------------------------


def sizes_of(value: Value | None, raw: bool = False) -> Sizes:
    """Return axis sizes. Each goes through ``int()``, except the ``raw`` ones of `AbstractMesh`."""
    if raw and isinstance(value, ListValue | DictValue | SetValue):
        return as_thing(value)
    if isinstance(value, Const) and isinstance(value.value, str) and not raw:
        return tuple(_size(Const(letter), raw) for letter in value.value)
    items = _items(value)
    if items is None:
        scalar = isinstance(value, Integer) or (
            isinstance(value, Const) and not isinstance(value.value, bytes)
        )
        return as_thing(value) if scalar else Unknown("axis sizes that are not known")
    return tuple(_size(item, raw) for item in items)


def _size(item: Value, raw: bool) -> Dim | Junk | Unknown:
    if (size := as_size(item)) is not None:
        return size
    if raw or not isinstance(item, Const):
        return as_thing(item)
    try:
        return int(item.value)
    except (TypeError, ValueError, OverflowError):
        return junk_of(item)


def _items(value: Value | None) -> tuple[Value, ...] | None:
    """Return the items of iterating a container, in order."""
    if isinstance(value, DictValue):
        return None if value.items is None else tuple(constant(key) for key in value.items)
    if isinstance(value, SpecValue):
        return spec_items(value)
    if isinstance(value, SetValue) and value.items is not None and len(value.items) == 1:
        return tuple(constant(item) for item in value.items)
    return as_items(value)


# -- names and types --------------------------------------------------------------------------------


def names_of(value: Value | None, abstract: bool = False) -> Names:
    """Return axis names. A string is one name; `AbstractMesh` takes each letter of it, and otherwise only
    tuples."""
    text = as_str(value)
    if text is not None:
        return tuple(text) if abstract else (text,)
    if abstract and isinstance(value, ListValue | DictValue | SetValue):
        return as_thing(value)
    items = as_items(value) if abstract else _items(value)
    if items is not None:
        return tuple(map(_name, items))
    if isinstance(value, Integer) or (isinstance(value, Const) and not isinstance(value.value, bytes)):
        return as_thing(value)
    return Unknown("axis names that are not known")


def _name(item: Value) -> str | Junk | Unknown | None:
    if isinstance(item, Const):
        return item.value if item.value is None or isinstance(item.value, str) else as_thing(item)
    plain = isinstance(item, Tuple | ListValue | DictValue | SetValue)
    return as_thing(item) if plain else Unknown("an axis name that is not known")


def known_names(names: Names) -> tuple[str, ...] | Unknown:
    """Return the names, if all of them are strings."""
    if isinstance(names, tuple):
        strings = tuple(name for name in names if isinstance(name, str))
        if len(strings) == len(names):
            return strings
    return names if isinstance(names, Unknown) else Unknown("axis names that are not known")


def types_of(value: Value | None) -> Types:
    """Return axis types as passed."""
    if value is None or is_none(value):
        return None
    if isinstance(value, Tuple):
        return tuple(_type(item) for item in value.items)
    return _type(value)


def _type(value: Value) -> AxisType | Junk | Unknown:
    if isinstance(value, External) and value.name.startswith(AXIS_TYPES):
        name = value.name.removeprefix(AXIS_TYPES)
        return AxisType(name) if name in set(AxisType) else Unknown("an axis type of another JAX")
    return as_thing(value)


def possible_types(types: Types, count: int, default: AxisType) -> list[tuple[AxisType, ...]]:
    """Return the possible types of this many axes: unknown ones are all Auto or all Explicit.

    Other mixtures do not matter: what JAX refuses of both it refuses of them.
    """
    row = types if isinstance(types, tuple) else (types,)
    if types is None or isinstance(types, Unknown):
        row = (types or default,) * count
    kinds = (AxisType.AUTO, AxisType.EXPLICIT)
    filled = [tuple(kind if isinstance(kind, AxisType) else other for kind in row) for other in kinds]
    return list(dict.fromkeys(filled))


# -- devices ----------------------------------------------------------------------------------------


def device_total(interpreter: Evaluator, devices: Value | None) -> Dim | None:
    """Return the number of devices that a mesh may use: those passed, else all."""
    if devices is None or is_none(devices):
        return interpreter.device_count
    if isinstance(devices, Devices):
        # For an array of more dimensions JAX counts the rows, and fails on the first of them.
        return devices.shape[0] if len(devices.shape) == 1 else None
    items = as_items(devices)
    known = items is not None and all(isinstance(item, Devices) for item in items)
    return len(items) if known and items is not None else None


def device_array(value: Value | None) -> Devices | None:
    """Return numpy's array of nested lists of devices."""
    if isinstance(value, Devices):
        return value
    if not isinstance(value, ListValue | Tuple) or value.items is None:
        return None
    if not value.items:
        return Devices((0,), numpy=True)
    rows = [device_array(item) for item in value.items]
    arrays = [row for row in rows if row is not None]
    if len(arrays) < len(rows) or any(row.shape != arrays[0].shape for row in arrays):
        return None
    known = [row.ids for row in arrays if row.ids is not None]
    ids = tuple(number for row in known for number in row) if len(known) == len(arrays) else None
    return Devices((len(rows), *arrays[0].shape), numpy=True, ids=ids)


def rank_of_no_devices(value: Value | None) -> int | None:
    """Return the rank of `numpy.array` for numbers and tuples of numbers, which are not devices."""
    if as_dim(value) is not None or isinstance(value, MeshValue) or is_none(value):
        return 0
    items = as_items(value)
    if items and all(as_dim(item) is not None for item in items):
        return 1
    return None


def open_shape(names: Names) -> tuple[Dim, ...] | Unknown:
    """Return the shape of an unknown device array: the rank of its names, or JAX raises; the sizes are
    open."""
    if not isinstance(names, tuple):
        return Unknown("devices that are not known")
    return tuple(dims.distinct(str(name), 1) for name in names)
