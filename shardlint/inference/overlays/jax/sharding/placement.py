"""Calls that place arrays: `device_put`, constraints, creation on devices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from shardlint.inference.domain.values import (
    NONE,
    Array,
    Bound,
    Const,
    Devices,
    Function,
    LibraryObject,
    ListValue,
    Partial,
    ShardingValue,
    Slice,
    SpecValue,
    Tuple,
    Value,
    as_items,
    as_shape,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.dtypes import as_dtype
from shardlint.inference.overlays.arrays.operands import given
from shardlint.inference.overlays.jax.configuration import DISABLE_JIT, is_set
from shardlint.inference.overlays.jax.explicit.device_lists import (
    has_no_devices,
    is_held_elsewhere,
    is_outside_mesh,
)
from shardlint.inference.overlays.jax.explicit.forbidden_collectives import may_reshard
from shardlint.inference.overlays.jax.explicit.memory_spaces import put_in_space
from shardlint.inference.overlays.jax.explicit.type_conversion import meshless
from shardlint.inference.overlays.jax.layouts.collected_arrays import put_on
from shardlint.inference.overlays.jax.sharding.creation_apis import CREATION, ON_DEVICES, SAMPLED
from shardlint.inference.overlays.jax.sharding.devices import one_process
from shardlint.inference.overlays.jax.sharding.made_arrays import note_split
from shardlint.inference.overlays.jax.sharding.placement_check import (
    CONSTRAINT,
    DEVICE_PUT,
    RESHARD,
    as_junk,
    device_of,
    on_device,
    place_array,
    place_unknown,
    record_mismatch,
)
from shardlint.inference.overlays.jax.transforms.jit_arguments import layout_of
from shardlint.inference.overlays.jax.transforms.spmd_axis_name import note_constraint, note_reshard
from shardlint.inference.overlays.jax.transforms.taint import followed
from shardlint.inference.overlays.pytrees.nodes import parts
from shardlint.inference.overlays.pytrees.prefixes import is_leaf, map_arrays, map_prefix, mismatch, traced
from shardlint.inference.overlays.pytrees.strange_leaves import refuse_leaves
from shardlint.inference.overlays.recording import record_call, record_of_value
from shardlint.inference.overlays.witness_values import data_of
from shardlint.laws.core.dims import Shape, equal
from shardlint.laws.core.values import Junk, Unknown, entry_axes
from shardlint.laws.core.verdicts import Accepted, Api, Rejected, Undecided, Verdict
from shardlint.laws.core.witness_data import Known, call_data, shape_data, tuple_data
from shardlint.laws.placement.jit_arguments import Layout, judge_process_data, judge_shards
from shardlint.laws.placement.judge import judge_placement
from shardlint.laws.versions.era import since
from shardlint.model.spans import Place
from shardlint.model.uses import Placement

Transfer = Callable[[Call], Value]


def _spread(call: Call, apis: tuple[Api, ...], tree: Value, target: Value) -> Value:
    """Place a tree of arrays on a sharding, or on a prefix tree of shardings."""

    def written() -> str | None:
        return call.interpreter.written(call.place_of(0, "x"))

    def place_leaf(leaf: Value, array: Array, path: str) -> Value:
        name = written() or array.name
        # A leaf that is named by its path in a tree is told from its siblings by that.
        if array.name is not None and not array.name.isidentifier() and (name or "").isidentifier():
            name = array.name
        subject = f"`{name}{path}`" if name else f"leaf {path}" if path else None
        return place_array(call.interpreter, apis, array, leaf, call.place, subject)

    if (
        isinstance(target, Tuple | ListValue | Const)
        and not is_leaf(target)
        and isinstance(as_junk(target), Junk)
    ):
        # A tuple of axis names, or a string, is not a tree of specs: JAX receives it as it is.
        if isinstance(tree, Array):
            return place_array(call.interpreter, apis, tree, target, call.place)
        if not isinstance(tree, Unknown):
            return tree
    if isinstance(target, Devices):
        _note(call, Accepted())
        return map_arrays(
            tree,
            lambda array, path: on_device(
                call.interpreter, array, put_on(array, target, call.place, written(), path)
            ),
        )
    if isinstance(target, LibraryObject) and device_of(target) is not None:
        return map_arrays(tree, lambda array, path: place_leaf(target, array, path))
    if isinstance(tree, Unknown):
        place_unknown(
            call.interpreter, apis, target, call.place, f"`{name}`" if (name := written()) else None
        )
        return tree
    if isinstance(target, Unknown):
        return map_arrays(tree, lambda array, path: place_leaf(target, array, path))
    if isinstance(target, LibraryObject) and parts(target) is None:
        return map_arrays(tree, lambda array, _: replace(array, sharding=None, typed=None, committed=None))
    text = mismatch(target, tree)
    if text is not None:
        record_mismatch(call.interpreter, apis[0], call.name, target, text, call.place)
        return Unknown("the trees differ")
    return map_prefix(target, tree, place_leaf)


def _note(call: Call, verdict: Verdict) -> None:
    """Record a call without a spec to judge: only coverage asks for it."""
    record_of_value(call.interpreter, call.name, verdict, call.place)


def _device_put(call: Call) -> Value:
    tree, device, *_ = call.bind("x", device=None, src=None, donate=None, may_alias=None)
    assert tree is not None
    if refuse_leaves(call, "jax.device_put", tree, call.place_of(0, "x"), structs=True):
        return Unknown("JAX rejects a leaf that is no array")
    if device is None or is_none(device):
        _note(call, Accepted())
        return traced(tree)
    if (moved := put_in_space(call, traced(tree), device)) is not None:
        return moved
    placed = _spread(call, DEVICE_PUT, traced(tree), device)
    note_split(call, tree, placed)
    return placed


def _constraint(call: Call) -> Value:
    tree, shardings = call.bind("x", "shardings")
    assert tree is not None and shardings is not None
    return constrained(call, tree, shardings)


def constrained(call: Call, tree: Value, shardings: Value) -> Value:
    """Return a tree as `with_sharding_constraint` returns it; the tree is the call's first argument."""
    note_constraint(call, tree, shardings)
    if _is_elsewhere(call, tree, shardings):
        return Unknown("JAX rejects this constraint")
    return followed(call.interpreter.context, call.place, _spread(call, CONSTRAINT, traced(tree), shardings))


def _is_elsewhere(call: Call, tree: Value, shardings: Value) -> bool:
    """Record arrays, outside of jit, that lie on other devices than the constraint asks for; return whether
    there are any."""
    found: list[bool] = []

    def look(leaf: Value, array: Array, _: str) -> Array:
        interpreter, home = call.interpreter, device_of(leaf) or leaf
        mesh = leaf.mesh if isinstance(leaf, ShardingValue) else leaf
        elsewhere = has_no_devices(interpreter, mesh, array, call.place)
        elsewhere = elsewhere or is_outside_mesh(interpreter, leaf, array, call.place)
        found.append(elsewhere or is_held_elsewhere(interpreter, array, home, call.place))
        return array

    if call.interpreter.context.in_jit is False and not is_set(call.interpreter, DISABLE_JIT):
        map_prefix(shardings, tree, look)
    return any(found)


def _reshard(call: Call) -> Value:
    """`jax.sharding.reshard(xs, out_shardings)`."""
    tree, shardings = call.bind("xs", "out_shardings")
    assert tree is not None and shardings is not None
    note_reshard(call, tree, shardings)
    result = _spread(call, RESHARD, traced(tree), shardings)
    return result if may_reshard(call, tree, result) else Unknown("JAX rejects this reshard")


def _callback(call: Call) -> Value:
    """`make_array_from_callback(shape, sharding, data_callback, dtype=)`: of the dtype of what the callback
    returns for the indices of a shard, unless one is given."""
    shape, sharding, callback, dtype = call.bind("shape", "sharding", "data_callback", dtype=None)
    part: Value = Unknown("no callback")
    if isinstance(callback, Function | Bound | Partial):
        bound = Unknown("where a shard begins or ends")
        dims, one = as_shape(shape), Slice(bound, bound, NONE)
        index = Unknown("the index of a shard") if dims is None else Tuple((one,) * len(dims))
        part = call.interpreter.call(callback, [index], {}, call.place)
        if _refuse_piece(call, dims, sharding, callback, part):
            return Unknown("JAX rejects what the callback returns")
    made = as_dtype(dtype) if given(dtype) else part.dtype if isinstance(part, Array) else None
    return _made(call, Api.CALLBACK, shape, sharding, made)


def _refuse_piece(
    call: Call, dims: Shape | None, sharding: Value | None, callback: Value, part: Value
) -> bool:
    """Record a callback that returns no shard, or the same one for all devices; return whether JAX rejects
    it."""
    layout = layout_of(sharding) if isinstance(sharding, ShardingValue) else None
    mesh = layout.mesh if layout is not None else None
    if layout is None or mesh is None or dims is None or not isinstance(part, Array) or part.shape is None:
        return False
    # Each of several processes is asked for the shards of its own devices, perhaps a single one.
    if not one_process(call.interpreter) or not isinstance(mesh.device_count, int):
        return False
    verdict = judge_shards(layout, dims, [part.shape] * mesh.device_count)
    if isinstance(verdict, Rejected):
        record_call(call, verdict, place=call.place_of(2, "data_callback"))
        return True
    split = [axis for entry in layout.spec.entries for axis in entry_axes(entry)]
    over = [axis for axis in split if equal(mesh.size_of(axis), 1) is False]
    if over and call.interpreter.returns_fixed_item(callback):
        named = " and ".join(f'"{axis}"' for axis in over)
        silent = (
            f"the callback does not read its index: all devices along {named} get the same piece of the data"
        )
        record_call(call, Accepted(), place=call.place_of(2, "data_callback"), silent=silent)
    return False


def _made(call: Call, api: Api, shape: Value | None, sharding: Value | None, dtype: str | None) -> Value:
    dims = as_shape(shape)
    array = Array(dims, dtype, origin=call.place)
    if isinstance(sharding, ShardingValue | SpecValue | Unknown):
        return place_array(call.interpreter, (api,), array, sharding, call.place)
    return array


def _from_data(call: Call) -> Value:
    """`make_array_from_process_local_data(sharding, local_data, global_shape=None)`.

    In one process it is `device_put`. With several, the global shape depends on them unless it is given.
    """
    sharding, data, shape = call.bind("sharding", "local_data", global_shape=None)
    whole = as_shape(shape)
    if isinstance(shape, Tuple) and whole is not None and isinstance(data, Array) and data.shape is not None:
        alone = "cpu devices" in call.interpreter.switches and one_process(call.interpreter)
        verdict = judge_process_data(data.shape, whole, alone=alone)
        if isinstance(verdict, Rejected):
            key: int | str = "global_shape" if "global_shape" in call.kwargs else 2
            record_call(call, verdict, place=call.place_of(2, "global_shape"), repaired={key: NONE})
            return Unknown("JAX rejects this data")
    same = shape is None or is_none(shape) or (isinstance(data, Array) and data.shape in (None, whole))
    if data is None or sharding is None or not same or not one_process(call.interpreter):
        return Array(whole, origin=call.place)
    places: dict[int | str, Place] = {0: call.place_of(1, "local_data")}
    put = replace(call, args=[data, sharding], kwargs={}, arg_places=places)
    return _spread(put, DEVICE_PUT, traced(data), sharding)


def _from_shards(call: Call) -> Value:
    """`make_array_from_single_device_arrays(shape, sharding, arrays, dtype=)`."""
    shape, sharding, arrays, _ = call.bind("shape", "sharding", "arrays", dtype=None)
    dims, items = as_shape(shape), as_items(arrays)
    held = [item for item in items or () if isinstance(item, Array)]
    made = Array(dims, held[0].dtype if held else None, origin=call.place)
    if not isinstance(sharding, ShardingValue) or (layout := layout_of(sharding)) is None or dims is None:
        _note(call, Undecided("the sharding is not known" if dims is not None else "shape not known"))
        return made
    verdict: Verdict = Undecided("the shards are not known")
    if items is not None and len(held) == len(items) and one_process(call.interpreter):
        # Each of several processes passes the shards of its own devices only.
        known = all(array.shape is not None for array in held)
        verdict = judge_shards(layout, dims, [array.shape for array in held if array.shape is not None])
        if not known:
            verdict = Undecided("the shapes of the shards are not known")
    if isinstance(verdict, Rejected):
        shards = _shards_data(sharding, dims, held)
        place = call.place_of(2, "arrays")
        record_of_value(call.interpreter, call.name, verdict, place, *shards)
        return Unknown("JAX rejects these shards")
    if isinstance(verdict, Accepted):
        _note(call, verdict)
    elif not _fits(call, made, sharding, layout, verdict):
        return Unknown("JAX rejects this sharding, or may")
    outside = call.interpreter.context.in_jit is False
    return replace(made, sharding=sharding, committed=sharding if outside else None)


def _fits(call: Call, made: Array, sharding: ShardingValue, layout: Layout, verdict: Verdict) -> bool:
    """Return whether a sharding fits the shape of an array of shards that are not known: it asks for
    `shard_shape` (`ArrayImpl._check_and_rearrange`)."""
    mesh, spec, shape = layout.mesh, layout.spec, made.shape
    if mesh is None or shape is None:
        _note(call, verdict)
        return True
    if not isinstance(judge_placement(Api.SHARD_SHAPE, mesh, spec, shape), Accepted):
        return (
            place_array(call.interpreter, (Api.SHARD_SHAPE,), made, sharding, call.place).sharding is not None
        )
    environment = call.interpreter.environment()
    call.interpreter.record(
        Placement(
            place=call.place,
            environment=environment,
            verdict=verdict,
            api=Api.SHARD_SHAPE,
            mesh=mesh,
            spec=spec,
            shape=shape,
        )
    )
    return True


def _shards_data(sharding: ShardingValue, shape: Shape, arrays: Sequence[Array]) -> tuple[Known, Known]:
    """Return the array of these shards, each on a device of its own as far as there are devices, and the
    array with one shard for each device."""
    home, whole = data_of(sharding), shape_data(shape)
    shapes = tuple_data(None if array.shape is None else shape_data(array.shape) for array in arrays)
    return call_data("an array of shards", (whole, home, shapes)), call_data(
        "an array of shards", (whole, home)
    )


def _struct(call: Call) -> Value:
    """`ShapeDtypeStruct(shape, dtype, sharding=)`; functions are lowered for a `core.ShapedArray` too."""
    shape, dtype, sharding, *_ = call.bind(
        "shape",
        "dtype",
        sharding=None,
        weak_type=None,
        vma=None,
        is_ref=None,
        manual_axis_type=None,
        memory_space=None,
        layout=None,
    )
    if call.name.endswith("ShapedArray"):
        sharding = call.kwargs.get("sharding")
    array = Array(
        as_shape(shape), as_dtype(dtype) if dtype is not None else None, struct=True, origin=call.place
    )
    if isinstance(sharding, ShardingValue | SpecValue | Unknown):
        return place_array(call.interpreter, (Api.SHAPE_DTYPE_STRUCT,), array, sharding, call.place)
    bare = sharding is None or is_none(sharding)
    return replace(array, typed=meshless(array.shape)) if bare and array.shape is not None else array


def _with_device(transfer: Transfer, apis: tuple[Api, ...]) -> Transfer:
    """Add a ``device=`` parameter, which is judged by these APIs, to a function."""

    def create(call: Call) -> Value:
        result, device = transfer(call), call.kwargs.get("device")
        if not isinstance(result, Array) or device is None or is_none(device):
            return result
        home = device_of(device) or device
        source = call.args[0] if apis[0] is Api.CONVERT and call.args else None
        if is_held_elsewhere(call.interpreter, source, home, call.place):
            return Unknown("JAX rejects this device")
        if isinstance(home, Devices):
            return on_device(call.interpreter, result, home)
        array = replace(result, origin=call.place)
        if apis[0] is Api.CONVERT and call.args and isinstance(call.args[0], Array):
            array = replace(array, typed=call.args[0].typed, sharding=call.args[0].sharding)
        placed = place_array(call.interpreter, apis, array, device, call.place)
        return replace(placed, typed=None) if isinstance(device, Unknown) else placed

    return create


def created(transfer: Transfer) -> Transfer:
    """Return a creation function (`jnp.zeros`) with ``device=``, or ``out_sharding=``."""

    def make(call: Call) -> Value:
        result = transfer(call)
        if isinstance(result, Array) and isinstance(call.kwargs.get("device"), ShardingValue | SpecValue):
            # While tracing, the sharding is ignored: only an array made outside jit is placed, and is built
            # from parts that have no weak type.
            return replace(result, weak=result.weak and call.interpreter.context.staged is True)
        return result

    placed, traced = (
        _with_device(make, (Api.CREATE, Api.CREATE_IN_JIT)),
        _with_device(make, (Api.CREATE_IN_JIT,)),
    )

    def create(call: Call) -> Value:
        if not _may_fill_traced(call):
            return placed(call)
        result = traced(call)
        return replace(result, typed=None, sharding=None) if isinstance(result, Array) else result

    return _with_out_sharding(_originating(create), (Api.CREATE_OUT, Api.CREATE_OUT_IN_JIT))


def uninitialized(transfer: Transfer) -> Transfer:
    """Return `jnp.empty`, which puts its array on a ``device=`` since 0.11.0; before it was `jnp.zeros`."""
    put, before = _originating(_with_device(transfer, DEVICE_PUT)), created(transfer)
    since_then = _with_out_sharding(put, (Api.EMPTY_OUT, Api.EMPTY_OUT_IN_JIT))
    return lambda call: since_then(call) if since("0.11.0") else before(call)


def _uninitialized_like(transfer: Transfer) -> Transfer:
    """Return `jnp.empty_like`, which since 0.11.0 asks ``device=`` for its shards inside jit too."""
    since_then, before = _originating(_with_device(transfer, (Api.CREATE,))), created(transfer)
    return lambda call: since_then(call) if since("0.11.0") else before(call)


def _originating(transfer: Transfer) -> Transfer:
    """Return a function whose array originates at the call."""

    def create(call: Call) -> Value:
        result = transfer(call)
        return replace(result, origin=call.place) if isinstance(result, Array) else result

    return create


def _with_out_sharding(transfer: Transfer, apis: tuple[Api, ...]) -> Transfer:
    """Add an ``out_sharding=`` parameter, which is judged by these APIs, to a function."""

    def create(call: Call) -> Value:
        result = transfer(call)
        if not isinstance(result, Array):
            return result
        return _as_out_sharding(call, apis, result)

    return create


def _may_fill_traced(call: Call) -> bool:
    """Return whether a function like `jnp.full` may fill with a traced array, as under `grad`: it is then not
    placed.
    """
    fill = call.argument(1, "fill_value") if "full" in call.name and "device" in call.kwargs else None
    return isinstance(fill, Array | Unknown) and call.interpreter.context.staged is False


def sampled(transfer: Transfer) -> Transfer:
    """Return a random draw with ``out_sharding=``."""
    return _with_out_sharding(transfer, (Api.RANDOM_OUT, Api.RANDOM_OUT_IN_JIT))


def _as_out_sharding(call: Call, apis: tuple[Api, ...], result: Array) -> Array:
    """Return the result placed by ``out_sharding=``, if it is passed."""
    target = call.kwargs.get("out_sharding")
    if target is None or is_none(target):
        return result
    return place_array(call.interpreter, apis, replace(result, origin=call.place), target, call.place)


TABLE: dict[str, Transfer] = {
    "jax.device_put": _device_put,
    "jax.lax.with_sharding_constraint": _constraint,
    "jax.sharding.reshard": _reshard,
    "jax.make_array_from_callback": _callback,
    "jax.make_array_from_process_local_data": _from_data,
    "jax.make_array_from_single_device_arrays": _from_shards,
    "jax.ShapeDtypeStruct": _struct,
    "jax.core.ShapedArray": _struct,
}

#: Creation functions also place their arrays.
AROUND: dict[str, Callable[[Transfer], Transfer]] = {
    **{f"jax.numpy.{name}": created for name in CREATION},
    "jax.numpy.empty": uninitialized,
    "jax.numpy.empty_like": _uninitialized_like,
    **{f"jax.numpy.{name}": partial(_with_device, apis=apis) for name, apis in ON_DEVICES.items()},
    **{f"jax.random.{name}": sampled for name in SAMPLED},
}
