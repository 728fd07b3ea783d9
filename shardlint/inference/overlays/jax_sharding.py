"""`jax.sharding`: specs and shardings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from shardlint.inference.calls import Call
from shardlint.inference.evaluator import Evaluator
from shardlint.inference.overlays.placing import as_junk, as_mesh, laid_out, mesh_facts, place_array, text_of
from shardlint.inference.values import (
    Array,
    Bound,
    Const,
    DictValue,
    External,
    Integer,
    ListValue,
    MeshValue,
    Native,
    SetValue,
    ShardingValue,
    SpecValue,
    Tuple,
    Value,
    as_items,
    as_shape,
    shape_value,
)
from shardlint.laws.shardings import judge_sharding
from shardlint.laws.shards import shard_shape
from shardlint.laws.specs import judge_spec
from shardlint.laws.values import Entry, Junk, Marker, Name, Spec, Unknown
from shardlint.laws.verdicts import Accepted, Api, Rejected
from shardlint.spans import Place
from shardlint.uses import Fact, ShardingUse, SpecUse


def entry_of(value: Value) -> Entry:
    """One argument of ``P(...)`` as an entry: axis, axes, None, a marker, or what has no business there."""
    if isinstance(value, Tuple | ListValue):
        return Unknown("a list that is not known") if value.items is None else tuple(map(_part, value.items))
    return _part(value)


def _part(value: Value) -> Name:
    if isinstance(value, Const):
        if value.value is None or isinstance(value.value, str):
            return value.value
        return Junk(repr(value.value), type(value.value).__name__, falsy=not value.value)
    if isinstance(value, External) and value.name == "jax.sharding.PartitionSpec.UNCONSTRAINED":
        return Marker.UNCONSTRAINED
    if isinstance(value, Tuple | ListValue) and value.items is not None:
        return tuple(map(_part, value.items))
    if isinstance(value, SetValue | DictValue):
        hashable = isinstance(value, SetValue) and value.frozen
        kind = "dict" if isinstance(value, DictValue) else "frozenset" if hashable else "set"
        return Junk(text_of(value), kind, hashable=hashable)
    if isinstance(value, Integer):
        return Unknown("a number that is not known")
    return value if isinstance(value, Unknown) else Unknown("an entry that is not known")


def _axes(value: Value | None) -> frozenset[str] | Unknown:
    if value is None:
        return frozenset()
    if (
        isinstance(value, SetValue)
        and value.items is not None
        and all(isinstance(item, str) for item in value.items)
    ):
        return value.items
    return Unknown("axes that are not known")


def partition_spec(call: Call) -> Value:
    """``PartitionSpec(*entries, unreduced=, reduced=)``."""
    if call.opaque:
        return Unknown("a spec of unknown length")
    unreduced, reduced = _axes(call.kwargs.get("unreduced")), _axes(call.kwargs.get("reduced"))
    if isinstance(unreduced, Unknown) or isinstance(reduced, Unknown):
        return Unknown("a spec with unknown reduced axes")
    spec = Spec(tuple(map(entry_of, call.args)), unreduced, reduced)
    places = tuple(call.arg_places.get(i) for i in range(len(call.args)))
    verdict = judge_spec(spec)
    call.interpreter.record(
        SpecUse(
            place=call.place,
            environment=call.interpreter.environment(),
            verdict=verdict,
            spec=spec,
            entry_places=places,
        )
    )
    if isinstance(verdict, Rejected):
        return Unknown("JAX rejects this spec")
    normal = verdict.spec if isinstance(verdict, Accepted) and verdict.spec is not None else spec
    return SpecValue(normal, call.place, places)


def named_sharding(call: Call) -> Value:
    """``NamedSharding(mesh, spec, memory_kind=)``."""
    mesh, spec, *_ = call.bind("mesh", "spec", memory_kind=None, _logical_device_ids=None)
    assert mesh is not None and spec is not None
    holder = as_mesh(call.interpreter, mesh)
    given = as_junk(spec)
    known = holder.mesh if isinstance(holder, MeshValue) else holder
    verdict = judge_sharding(known, given)
    if isinstance(given, Unknown):
        return ShardingValue(holder, given, call.place)
    call.interpreter.record(
        ShardingUse(
            place=call.place if isinstance(given, Spec) else call.place_of(1, "spec"),
            environment=call.interpreter.environment(),
            verdict=verdict,
            facts=(*mesh_facts(holder), *_used_here(spec, call)),
            mesh=known,
            spec=given if isinstance(given, Spec) else "None" if given is None else given.text,
            entry_places=spec.places if isinstance(spec, SpecValue) else (),
        )
    )
    if isinstance(verdict, Rejected) or not isinstance(spec, SpecValue):
        return Unknown("JAX rejects this sharding")
    return ShardingValue(holder, spec, call.place)


def _used_here(spec: Value, call: Call) -> tuple[Fact, ...]:
    """The call, when the spec is written in another place."""
    if not isinstance(spec, SpecValue) or spec.origin is None:
        return ()
    if spec.origin == call.arg_places.get(1) or spec.origin == call.arg_places.get("spec"):
        return ()
    return (Fact(f"{spec.spec} meets the mesh here", call.place),)


def spec_attribute(interpreter: Evaluator, value: SpecValue, name: str, place: Place) -> Value:
    """``spec.name``."""
    if name == "_partitions" or name == "partitions":
        from shardlint.inference.iteration import spec_items

        return Tuple(spec_items(value))
    if name == "unreduced":
        return SetValue(value.spec.unreduced)
    return Unknown(f"`PartitionSpec.{name}`")


def sharding_attribute(interpreter: Evaluator, value: ShardingValue, name: str, place: Place) -> Value:
    """``sharding.name``."""
    if name in ("mesh", "spec"):
        return value.mesh if name == "mesh" else value.spec
    if name == "shard_shape":
        return Bound(Native("NamedSharding.shard_shape", _shard_shape), value)
    if name == "with_spec":
        return Bound(Native("NamedSharding.with_spec", _with_spec), value)
    if name == "update" or name == "with_memory_kind":
        return Bound(Native(f"NamedSharding.{name}", _updated), value)
    return Unknown(f"`NamedSharding.{name}`")


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


def _with_spec(call: Call) -> Value:
    sharding, spec = call.bind("self", "spec")
    if not isinstance(sharding, ShardingValue) or spec is None:
        return Unknown("NamedSharding.with_spec")
    return named_sharding(
        Call(call.interpreter, call.name, [sharding.mesh, spec], {}, call.place, False, call.arg_places)
    )


def _updated(call: Call) -> Value:
    """A copy with another memory kind is the same sharding; other changes are not followed."""
    return (
        call.args[0] if not (set(call.kwargs) - {"memory_kind", "kind"}) else Unknown("NamedSharding.update")
    )


TABLE: dict[str, Callable[[Call], Value]] = {
    "jax.sharding.PartitionSpec": partition_spec,
    "jax.sharding.NamedSharding": named_sharding,
}
