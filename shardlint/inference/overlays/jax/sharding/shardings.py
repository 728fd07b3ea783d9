"""`jax.sharding`: shardings and their attributes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from shardlint.inference.domain.iteration import ALIKE
from shardlint.inference.domain.values import (
    NONE,
    Array,
    Bound,
    Const,
    Devices,
    DictValue,
    LibraryObject,
    ListValue,
    MeshValue,
    Native,
    SetValue,
    ShardingValue,
    Slice,
    SpecValue,
    Tuple,
    Value,
    as_items,
    as_shape,
    as_str,
    integer,
    is_none,
    shape_value,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.evaluation.path_queries import ask
from shardlint.inference.overlays.jax.sharding.devices import one_process
from shardlint.inference.overlays.jax.sharding.mesh_arguments import as_thing, by_position, take
from shardlint.inference.overlays.jax.sharding.placement_check import (
    as_held,
    as_junk,
    as_mesh,
    laid_out,
    mesh_facts,
    place_array,
    text_of,
)
from shardlint.inference.overlays.jax.sharding.specs import partition_spec
from shardlint.inference.overlays.pytrees.prefixes import SINGLE_DEVICE
from shardlint.inference.overlays.recording import record_call, record_of_value
from shardlint.inference.overlays.witness_values import data_of
from shardlint.laws.core.dims import equal, fresh
from shardlint.laws.core.values import AxisType, Junk, Mesh, Spec, Unknown
from shardlint.laws.core.verdicts import Api, Cause, Rejected, Undecided
from shardlint.laws.core.witness_data import call_data, mesh_data, sharding_data
from shardlint.laws.meshes.contexts import PLACED_ONLY, judge_concrete
from shardlint.laws.placement.named_sharding import Memory, judge_sharding, replicated_axes
from shardlint.laws.placement.shard_shapes import shard_shape
from shardlint.model.spans import Place
from shardlint.model.uses import Fact, ShardingUse

NAMED = "jax.sharding.NamedSharding"
_ORDER = ("mesh", "spec", "memory_kind", "_logical_device_ids")


def named_sharding(call: Call) -> Value:
    """``NamedSharding(mesh, spec, memory_kind=)``."""
    mesh, spec, memory, _ = take(call, None, _ORDER[:2], memory_kind=None, _logical_device_ids=None)
    assert mesh is not None and spec is not None
    given = _spec(spec)
    other = None if isinstance(mesh, MeshValue) else as_thing(mesh)
    holder = as_mesh(call.interpreter, mesh) if isinstance(other, Unknown | None) else other
    known = holder.mesh if isinstance(holder, MeshValue) else None if is_none(mesh) else holder
    if is_none(mesh) and ask(call.interpreter, "forked"):
        # A caller without a mesh passes None, and a test that was not followed prevents this call.
        return Unknown("there may be no mesh")
    verdict = judge_sharding(known, given, _memory(memory))
    if isinstance(verdict, Rejected) and (verdict.cause is Cause.BAD_ARGUMENT or isinstance(holder, Junk)):
        key = "mesh" if isinstance(holder, Junk) else "memory_kind"
        record_call(
            call,
            verdict,
            function=NAMED,
            place=call.place_of(_ORDER.index(key), key),
            repaired=by_position(
                call, _WORKING if key == "mesh" else {"memory_kind": Const(None), **_P}, _ORDER
            ),
        )
        return Unknown("JAX rejects this sharding")
    if isinstance(holder, Junk):
        return Unknown("JAX rejects this sharding")
    if isinstance(given, Unknown):
        reason = spec.reason if isinstance(spec, Unknown) else given.reason
        record_of_value(call.interpreter, NAMED, Undecided(reason), call.place)
        return ShardingValue(holder, given, call.place, _held_in(memory))
    assert not isinstance(known, Junk | None)
    call.interpreter.record(
        ShardingUse(
            place=call.place if isinstance(given, Spec) else call.place_of(1, "spec"),
            environment=call.interpreter.environment(),
            verdict=verdict,
            facts=(*mesh_facts(holder), *_used_here(spec, call)),
            mesh=known,
            spec=as_held(given),
            entry_places=spec.places if isinstance(spec, SpecValue) else (),
        )
    )
    if isinstance(verdict, Rejected) or not isinstance(spec, SpecValue):
        return Unknown("JAX rejects this sharding")
    return ShardingValue(holder, spec, call.place, _held_in(memory))


def _held_in(memory: Value | None) -> str | None:
    """Return the kind of memory of a sharding; that of the device, which is the default, is None."""
    kind = None if memory is None or is_none(memory) else as_str(memory) or ""
    return None if kind == "device" else kind


_P: dict[str, Value] = {"spec": SpecValue(Spec())}
_WORKING: dict[str, Value] = {"mesh": MeshValue(Mesh(("x",), (1,), (AxisType.AUTO,))), **_P}


def _spec(value: Value) -> Spec | Junk | Unknown | None:
    """Return the value in the position of the spec."""
    given = as_junk(value)
    if not isinstance(given, Unknown):
        return given
    if isinstance(value, Tuple) and value.fields is None:
        # Whether a tuple can be hashed depends on its items.
        hashable = all(isinstance(item, Const | SpecValue) for item in value.items)
        return Junk(text_of(value), "tuple", data=data_of(value)) if hashable else given
    container = isinstance(value, ListValue | DictValue | SetValue) and value.items is not None
    return as_thing(value) if container or isinstance(value, ShardingValue | MeshValue | Array) else given


def _memory(value: Value | None) -> Memory:
    if value is None or is_none(value):
        return None
    text = as_str(value)
    return as_thing(value) if text is None else text


def _used_here(spec: Value, call: Call) -> tuple[Fact, ...]:
    """Return the call as a fact, if the spec is written elsewhere."""
    if not isinstance(spec, SpecValue) or spec.origin is None:
        return ()
    if spec.origin == call.arg_places.get(1) or spec.origin == call.arg_places.get("spec"):
        return ()
    return (Fact(f"{spec.spec} meets the mesh here", call.place),)


def sharding_attribute(interpreter: Evaluator, value: ShardingValue, name: str, place: Place) -> Value:
    """``sharding.name``."""
    if name in ("mesh", "spec"):
        return value.mesh if name == "mesh" else value.spec
    if name == "memory_kind" and value.memory:
        return Const(value.memory)
    if name in _METHODS:
        return Bound(Native(f"{NAMED}.{name}", _METHODS[name]), value)
    mesh = value.mesh.mesh if isinstance(value.mesh, MeshValue) else None
    if mesh is None:
        return Unknown(f"`NamedSharding.{name}`")
    if name in PLACED_ONLY and mesh.abstract:
        meshes = (mesh, replace(mesh, abstract=False))
        shardings = [sharding_data(mesh_data(on), data_of(value.spec)) for on in meshes]
        calls = [call_data(f"NamedSharding.{name}", (sharding,)) for sharding in shardings]
        record_of_value(interpreter, f"NamedSharding.{name}", judge_concrete(name, mesh), place, *calls)
        return Unknown(f"`NamedSharding.{name}` on an AbstractMesh")
    if name == "num_devices":
        return integer(mesh.device_count if mesh.names else 0)
    if name in ("device_set", "addressable_devices"):
        return Devices((mesh.device_count,))
    if isinstance(value.spec, SpecValue) and name in ("is_fully_replicated", "replicated_axes"):
        return _replication(mesh, value.spec.spec, name)
    return Unknown(f"`NamedSharding.{name}`")


def _replication(mesh: Mesh, spec: Spec, name: str) -> Value:
    axes = replicated_axes(mesh, spec)
    if isinstance(axes, Unknown):
        return axes
    if name == "replicated_axes":
        return SetValue(axes, frozen=True)
    if equal(mesh.device_count, 1):
        return Const(True)
    if spec.unreduced:
        return Const(False)
    split = [
        equal(mesh.size_of(axis), 1) for axis in mesh.names if axis not in axes and axis not in spec.reduced
    ]
    whole = False if False in split else None if None in split else True
    return Unknown("sizes that are not known") if whole is None else Const(whole)


# -- methods ------------------------------------------------------------------------------------------


def _shard_shape(call: Call) -> Value:
    sharding, shape = call.bind("self", "global_shape")
    dims = as_shape(shape) if as_items(shape) is not None else None
    if not isinstance(sharding, ShardingValue) or dims is None:
        return Unknown("shard_shape of something unknown")
    array = Array(dims, origin=call.place_of(1, "global_shape"))
    placed = place_array(call.interpreter, (Api.SHARD_SHAPE,), array, sharding, call.place)
    mesh, spec = sharding.mesh, sharding.spec
    if placed.sharding is None or not isinstance(mesh, MeshValue) or not isinstance(spec, SpecValue):
        return Unknown("shard_shape of something unknown")
    # Empty entries beyond the rank do no harm here.
    within = replace(spec.spec, entries=spec.spec.entries[: len(dims)])
    local = laid_out(shard_shape, mesh.mesh, within, dims)
    return Unknown("shard_shape on a mesh that makes no sense") if local is None else shape_value(local)


def _indices(call: Call) -> Value:
    """``sharding.devices_indices_map(shape)``: a dict of each device's slices. It asks for `shard_shape`
    first (`sharding.common_devices_indices_map`)."""
    shard, sharding = _shard_shape(call), call.args[0]
    sizes = as_items(shard)
    if sizes is None or not isinstance(sharding, ShardingValue) or not isinstance(sharding.mesh, MeshValue):
        return shard if isinstance(shard, Unknown) else Unknown("slices of devices")
    bound = Unknown("where the part of a device lies")
    slices = Tuple((Slice(bound, bound, NONE),) * len(sizes))
    every = call.name.endswith(".devices_indices_map") or one_process(call.interpreter)
    count = sharding.mesh.mesh.device_count if every else fresh(1)
    return LibraryObject(_INDICES, {"count": integer(count), "slices": slices}, call.place)


#: The kind of a dict of devices' slices.
_INDICES = "jax.sharding.devices_indices_map"


def _entries(of: Callable[[Value], Value]) -> Callable[[Call], Value]:
    """Return the method that gives a view of a dict of devices' slices; ``of`` makes an item from slices."""

    def view(call: Call) -> Value:
        held = call.args[0]
        assert isinstance(held, LibraryObject)
        each = of(held.fields["slices"])
        return LibraryObject(ALIKE, {"count": held.fields["count"], "each": each}, call.place)

    return view


METHODS: dict[tuple[str, str], Callable[[Call], Value]] = {
    (_INDICES, "items"): _entries(lambda slices: Tuple((Devices(()), slices))),
    (_INDICES, "keys"): _entries(lambda _: Devices(())),
    (_INDICES, "values"): _entries(lambda slices: slices),
}


def _with_spec(call: Call) -> Value:
    sharding, spec = call.bind("self", "spec")
    if not isinstance(sharding, ShardingValue) or spec is None:
        return Unknown("NamedSharding.with_spec")
    return _remade(call, sharding.mesh, spec, _memory_of(sharding))


def _updated(call: Call) -> Value:
    """``sharding.update(mesh=, spec=, memory_kind=)``: a spec may be a tuple of entries."""
    sharding = call.args[0]
    if not isinstance(sharding, ShardingValue) or call.opaque or len(call.args) > 1:
        return Unknown("NamedSharding.update")
    spec = call.kwargs.get("spec", sharding.spec)
    if (items := as_items(spec)) is not None:
        spec = partition_spec(Call(call.interpreter, "P", items, {}, call.place_of(None, "spec")))
    memory = call.kwargs.get("memory_kind") or _memory_of(sharding)
    return _remade(call, call.kwargs.get("mesh", sharding.mesh), spec, memory)


def _memory_of(sharding: ShardingValue) -> Value | None:
    if sharding.memory == "":
        return Unknown("a kind of memory that is not known")
    return None if sharding.memory is None else Const(sharding.memory)


def _with_memory_kind(call: Call) -> Value:
    sharding, kind = call.bind("self", "kind")
    if not isinstance(sharding, ShardingValue):
        return Unknown("NamedSharding.with_memory_kind")
    return _remade(call, sharding.mesh, sharding.spec, kind)


def _remade(call: Call, mesh: Value, spec: Value, memory: Value | None) -> Value:
    """Return a new sharding of these parts, judged as one."""
    kwargs = {} if memory is None else {"memory_kind": memory}
    places: dict[int | str, Place] = {
        0: call.place_of(None, "mesh"),
        1: call.place_of(1, "spec"),
        "memory_kind": call.place_of(1 if "memory_kind" not in call.arg_places else None, "memory_kind"),
    }
    return named_sharding(Call(call.interpreter, NAMED, [mesh, spec], kwargs, call.place, False, places))


_METHODS: dict[str, Callable[[Call], Value]] = {
    "shard_shape": _shard_shape,
    **dict.fromkeys(("devices_indices_map", "addressable_devices_indices_map"), _indices),
    "with_spec": _with_spec,
    "update": _updated,
    "with_memory_kind": _with_memory_kind,
}

# -- single devices ------------------------------------------------------------------------------------


def _single_device(call: Call) -> Value:
    """``SingleDeviceSharding(device, memory_kind=)``."""
    device, _ = call.bind("device", memory_kind=None)
    if not isinstance(device, Devices) or device.shape != ():
        return Unknown("a device that is not known")
    return LibraryObject(SINGLE_DEVICE, {"device": device})


def _of_single_device(_: Evaluator, value: LibraryObject, name: str, __: Place) -> Value:
    if name in ("device_set", "addressable_devices"):
        return Devices((1,))
    if name in ("is_fully_replicated", "is_fully_addressable"):
        return Const(True) if name == "is_fully_replicated" else Unknown("there may be several processes")
    return Const(1) if name == "num_devices" else Unknown(f"`SingleDeviceSharding.{name}`")


TABLE: dict[str, Callable[[Call], Value]] = {
    NAMED: named_sharding,
    SINGLE_DEVICE: _single_device,
    "jax.sharding.make_single_device_sharding": _single_device,
}
READERS = {ShardingValue: sharding_attribute, SINGLE_DEVICE: _of_single_device}
