"""The arguments of a function under `jax.shard_map`: judged by ``in_specs``, and split into shards."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from shardlint.inference.domain.values import (
    Array,
    Const,
    DictValue,
    Integer,
    MeshValue,
    ShardingValue,
    SpecValue,
    Tuple,
    Value,
    as_items,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.context import Shard
from shardlint.inference.overlays.jax import joined_parts
from shardlint.inference.overlays.jax.layouts.apart_uses import note_requested
from shardlint.inference.overlays.jax.shard_map.regions import Mapped, Region
from shardlint.inference.overlays.jax.shard_map.split_dimensions import cut
from shardlint.inference.overlays.jax.sharding.placement_check import (
    laid_out,
    place_array,
    place_unknown,
    record_mismatch,
    rejected_at,
)
from shardlint.inference.overlays.jax.transforms.taint import MARK
from shardlint.inference.overlays.pytrees.prefixes import (
    is_leaf,
    leaves_in,
    map_arrays,
    map_prefix,
    mismatch,
    specs_in,
    traced,
)
from shardlint.inference.overlays.recording import record_of_value
from shardlint.laws.core.values import AxisType, Mesh, Unknown, entry_axes
from shardlint.laws.core.verdicts import Accepted, Api
from shardlint.laws.core.witness_data import NO_SPEC, NONE, apply_data, array_data, call_data, function_data
from shardlint.laws.placement.shard_shapes import shard_shape
from shardlint.laws.placement.spec_arity import judge_arity
from shardlint.laws.transforms.shard_map import inferred_spec, local_type
from shardlint.laws.transforms.traits import Trait, Traits
from shardlint.laws.transforms.varying import UNKNOWN
from shardlint.model.memory_uses import SHARD_MAP
from shardlint.model.uses import ArityUse

#: Leaves that a tree of specs may have by mistake.
_NO_SPECS = (Const, Integer, ShardingValue, Array, MeshValue)


def place_arguments(call: Call, mapped: Mapped, region: Region) -> list[Value]:
    """Judge the arguments of a call and return one shard of each.

    The mesh in force is the one that specs are judged on.
    """
    specs, args = mapped.in_specs, [traced(arg) for arg in call.args]
    if specs is None:
        return [map_arrays(arg, lambda array, _: _inferred(array, region)) for arg in args]
    columns = as_items(specs) if isinstance(specs, Tuple) else None
    if isinstance(specs, Tuple) and len(specs.items) != len(args):
        if not call.opaque:
            record_arity(call, mapped, Api.SHARD_MAP_IN, specs, len(args))
        return [Unknown("the specs do not fit") for _ in args]
    if is_leaf(specs):
        columns = (specs,) * len(args)
    text = mismatch(specs, Tuple(tuple(args))) if not call.opaque else None
    if text is not None:
        record_mismatch(call.interpreter, Api.SHARD_MAP_IN, mapped.title, specs, text, call.place)
    if columns is None and text is None:
        judge_specs(call, Api.SHARD_MAP_IN, specs, mapped)
    if columns is None or text is not None:
        return [Unknown("in_specs that are not known") for _ in args]
    return [
        _column(call, mapped, region, spec, arg, i)
        for i, (spec, arg) in enumerate(zip(columns, args, strict=True))
    ]


def named(shards: Sequence[Value], parameters: Sequence[str]) -> list[Value]:
    """Return arguments with the names of the body's parameters."""
    names = itertools.chain(parameters, itertools.repeat(None))
    return [
        replace(shard, name=name or shard.name) if isinstance(shard, Array) else shard
        for shard, name in zip(shards, names, strict=False)
    ]


def split(wholes: Sequence[Value], shards: Sequence[Value]) -> Iterator[Shard]:
    """Yield the arrays in arguments with their shards, leaf by leaf."""
    for whole, shard in zip(wholes, shards, strict=False):
        if isinstance(whole, Array) and isinstance(shard, Array):
            if whole.shape is not None and shard.shape is not None:
                yield Shard(shard.name, shard.shape, whole.shape)
        elif isinstance(whole, DictValue) and isinstance(shard, DictValue):
            yield from split(list((whole.items or {}).values()), list((shard.items or {}).values()))
        else:
            yield from split(as_items(whole) or (), as_items(shard) or ())


def record_arity(call: Call, mapped: Mapped, api: Api, specs: Tuple, due: int) -> None:
    """Record that there are more, or fewer, specs than arguments or results."""
    call.interpreter.record(
        ArityUse(
            place=specs.origin or call.place,
            environment=call.interpreter.environment(),
            verdict=judge_arity(api, len(specs.items), due),
            facts=mapped.called(call),
            api=api,
            function=mapped.title,
            given=len(specs.items),
            due=due,
        )
    )


def only_specs(call: Call, api: Api, specs: Value | None, mapped: Mapped) -> bool:
    """Return whether specs contain only specs, as far as is known: JAX checks that before any array.

    What is something else is recorded.
    """
    strays = [leaf for leaf in leaves_in(specs) if isinstance(leaf, _NO_SPECS) and not is_none(leaf)]
    refused = [
        rejected_at(
            call.interpreter,
            api,
            "trace",
            leaf,
            (None if isinstance(leaf, Array | MeshValue) else getattr(leaf, "origin", None)) or call.place,
            mapped.called(call),
        )
        for leaf in strays
    ]
    return not any(refused)


def judge_specs(call: Call, api: Api, specs: Value, mapped: Mapped) -> None:
    """Judge specs for unknown arrays: JAX checks the axes that they name before any array."""
    leaves = list(specs_in(specs))
    called = mapped.called(call)
    if not any(
        rejected_at(call.interpreter, api, "trace", leaf, leaf.origin or call.place, called)
        for leaf in leaves
    ):
        place_unknown(call.interpreter, (api,), specs, call.place, wrapped_at=mapped.place)


def _column(call: Call, mapped: Mapped, region: Region, spec: Value, arg: Value, position: int) -> Value:
    """Place one argument by its spec, or tree of specs."""

    def place_leaf(leaf: Value, array: Array, path: str) -> Value:
        return _shard(call, mapped, region, leaf, array, f"argument {position}{path}")

    if isinstance(arg, Unknown):
        judge_specs(call, Api.SHARD_MAP_IN, spec, mapped)
    shards = map_prefix(spec, arg, place_leaf)
    # An argument without a spec is closed over: the body receives it as it is, a number as a number.
    return call.args[position] if is_none(spec) and not isinstance(shards, Unknown) else shards


def _shard(call: Call, mapped: Mapped, region: Region, leaf: Value, array: Array, path: str) -> Value:
    """Judge one array and return one shard of it."""
    subject = f"`{array.name}`" if array.name else path
    mesh = region.judging
    if is_none(leaf):
        # No operation of the body accepts an array that is sharded in its type, which is recorded there.
        if array.typed is None or not any(map(entry_axes, array.typed.spec.entries)):
            _record_whole(call, mapped, leaf, array, subject)
        return replace(array, sharding=None)
    apis, at = (Api.SHARD_MAP_IN,), mapped.place
    placed = place_array(call.interpreter, apis, array, leaf, call.place, subject, at)
    if not isinstance(leaf, SpecValue) or not isinstance(mesh, MeshValue) or array.shape is None:
        return Array(None, array.dtype, origin=array.origin, name=array.name)
    if placed.sharding is None or region.manual is None:
        return Unknown("JAX rejects this argument, or the Manual axes are not known")
    if region.manual >= frozenset(mesh.mesh.names):
        # Along other axes than Manual ones an array stays as it is, whatever its spec.
        note_requested(call.interpreter, array, placed.sharding, SHARD_MAP, call.place, subject)
    return _cut(array, leaf, region, mesh.mesh)


def _cut(array: Array, leaf: SpecValue, region: Region, mesh: Mesh) -> Value:
    """Return one shard of an array that is split by a spec."""
    assert array.shape is not None
    local = laid_out(shard_shape, mesh, leaf.spec, array.shape)
    if region.checked is not False and (leaf.spec.unreduced or leaf.spec.reduced):
        # Operations on reduced and unreduced values have their own laws: nothing is claimed.
        return Array(local, array.dtype, array.weak, origin=array.origin, name=array.name).vary(UNKNOWN)
    axes = frozenset(axis for entry in leaf.spec.entries for axis in entry_axes(entry))
    inside, typed = region.inside, None
    # Outside tracing, operations do not propagate Explicit axes in types.
    if isinstance(inside, MeshValue) and local is not None:
        followed = region.traced or AxisType.EXPLICIT not in inside.mesh.types
        typed = local_type(inside.mesh, array.typed, len(local)) if followed else None
    shard = Array(
        local,
        array.dtype,
        array.weak,
        origin=array.origin,
        name=array.name,
        varying=axes | (array.varying if region.inherits else array.varying & {MARK}),
        may_vary=axes | (region.outer if array.may_vary is None else array.may_vary),
        # Without the check, an array may hold different data along an axis that its spec leaves out.
        equal=(region.manual or frozenset()) - region.outer - axes if region.checked else frozenset(),
        traits=frozenset((Trait.SPLIT, axis) for axis in axes) | _integers(array, region),
        laid=None
        if local is None or not axes
        else cut(sorted(axes | (region.manual or axes)), leaf.spec, len(local)),
        typed=typed,
    )
    return joined_parts.cut(array, shard, leaf.spec, mesh)


def _integers(array: Array, region: Region) -> Traits:
    """Return the trait of integers that a body is given."""
    exact = array.dtype is not None and array.dtype.startswith(("int", "uint"))
    axes = region.manual if exact and array.shape and region.manual is not None else ()
    return frozenset((Trait.GIVEN, axis) for axis in axes)


def _inferred(array: Array, region: Region) -> Value:
    """Return one shard of an array whose spec is inferred from its type."""
    mesh, typed = region.judging, array.typed
    if (
        typed is None
        or array.shape is None
        or not isinstance(region.mesh, MeshValue)
        or region.manual is None
    ):
        return Array(None, array.dtype, origin=array.origin, name=array.name)
    spec = inferred_spec(region.mesh.mesh, region.manual, typed.spec)
    if spec is None or not isinstance(mesh, MeshValue):
        return Unknown("a spec that cannot be inferred")
    return _cut(array, SpecValue(spec), region, mesh.mesh)


def _record_whole(call: Call, mapped: Mapped, leaf: Value, array: Array, subject: str) -> None:
    """Record an array that every device receives whole, since its in_specs are None."""
    if array.shape is None or not array.shape:
        return
    place = getattr(leaf, "origin", None) or mapped.place_of("in_specs")
    given = array_data(array.shape) or array_data((8,) * len(array.shape))
    negative = function_data(call_data("1 -", (("operand", 0),)))
    # The mesh is that of the context, where arguments are judged.
    calls = [
        apply_data(
            call_data("jax.shard_map", (negative,), {"in_specs": ("tuple", spec), "out_specs": NO_SPEC}),
            (given,),
        )
        for spec in (NONE, NO_SPEC)
    ]
    name = f"{mapped.name}(in_specs=None)"
    record_of_value(call.interpreter, name, Accepted(), place, *calls, silent=subject)
